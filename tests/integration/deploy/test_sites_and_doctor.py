"""What `ritbot sites` and `ritbot doctor` say of pages that fail and of events that could not be handled."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Self

import pytest
from rich.console import Console

from deploy.commands.documents.sites import MAX_FAILING_SHOWN, list_sites
from deploy.commands.upkeep.doctor import doctor
from deploy.settings.index import IndexSettings
from deploy.settings.root import Settings
from deploy.settings.site import SiteSettings
from deploy.wiring.events import open_events
from deploy.wiring.stores import SystemClock, open_trees
from ingest.errors import FetchFailed, Unreachable
from ingest.events.topics import PAGES
from ingest.indexing.service import INDEXER_GROUP, MAX_DEAD_LETTERS_IN_A_ROW
from ingest.model import PARSER_VERSION
from ingest.ports import Fetched, WatchState
from ingest.stores.embedded.folder import DataFolder
from ingest.text.words import ANALYSER_VERSION
from ingest.watch.schedule import site_key
from ingest.watch.site_tally import PageKind
from tests.contract.log_reading import one
from tests.contract.records import BASE, live, without_page


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "data").mkdir()
    site = SiteSettings(name="docs", start="https://docs.example/")
    return Settings(index=IndexSettings(folder=tmp_path / "data"), sites=(site,))


async def listed(settings: Settings, pages: PageKind | None = None, width: int = 60) -> str:
    out = StringIO()
    assert await list_sites(settings, Console(file=out, width=width), "docs", pages=pages) == 0
    return out.getvalue()


class Answers:
    """A site that answers everything with this status, or fails so."""

    def __init__(self, status: int = 200, failure: FetchFailed | None = None) -> None:
        self.status, self.failure = status, failure

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        if self.failure:
            raise self.failure
        return Fetched(url, self.status, b"")


WELL = Answers()


async def found(settings: Settings, site: Answers = WELL) -> tuple[int, str]:
    out = StringIO()
    return await doctor(settings, Console(file=out, width=200), None, lambda _: site), out.getvalue()


async def remember(settings: Settings, *states: WatchState) -> None:
    async with open_trees(settings) as trees:
        for state in states:
            await trees.watch(state)


def page(path: str) -> WatchState:
    return WatchState(f"https://docs.example/{path}", "docs", fetched_at=SystemClock().now())


async def test_sites_names_pages_that_gave_no_answer_and_those_not_found(settings: Settings) -> None:
    await remember(
        settings,
        page("well"),
        replace(page("slow"), failures=2, error="no answer within 20 seconds"),
        replace(page("lost"), misses=1),
        replace(page("held"), misses=3, going="404 three times"),
        WatchState(site_key("docs"), "docs", error="The sitemap is not XML"),
    )
    shown = await listed(settings)
    assert "  https://docs.example/slow  (no answer within 20 seconds)\n" in shown
    assert "  https://docs.example/lost  (not found, but not taken for gone yet)\n" in shown
    assert "  The sitemap is not XML\n" in shown
    assert "held" not in shown
    assert "well" not in shown


async def test_sites_stays_short_where_everything_fails(settings: Settings) -> None:
    await remember(settings, *(replace(page(f"p{n}"), failures=1, error="503") for n in range(MAX_FAILING_SHOWN + 5)))
    shown = await listed(settings)
    assert shown.count("  (503)\n") == MAX_FAILING_SHOWN
    assert "and 5 more: --pages failing" in shown
    assert (await listed(settings, "failing")).count("  (503)\n") == MAX_FAILING_SHOWN + 5


async def test_sites_lists_the_pages_of_a_kind_with_the_reason_and_cuts_nothing(settings: Settings) -> None:
    long = "a-page-with-a-name-that-is-longer-than-a-narrow-terminal-is-wide"
    async with open_trees(settings) as trees:
        await trees.put(live("well"), None)
        await trees.put(without_page(long, "skipped", reason="noindex"), None)
        await trees.put(without_page("nowhere", "gone", reason="HTTP 404"), None)
        await trees.put(without_page("twin", "alias", target=f"{BASE}well"), None)
    await remember(settings, replace(page("slow"), failures=1, error="503"), replace(page("lost"), misses=1))
    rows = {
        "skipped": [f"{BASE}{long}  (noindex)"],
        "failing": ["https://docs.example/slow  (503)"],
        "missing": [
            "https://docs.example/lost  (not found, but not taken for gone yet)",
            f"{BASE}nowhere  (HTTP 404)",
        ],
        "all": [
            "https://docs.example/lost  (not found, but not taken for gone yet)",
            "https://docs.example/slow  (503)",
            f"{BASE}{long}  (skipped: noindex)",
            f"{BASE}nowhere  (gone: HTTP 404)",
            f"{BASE}twin  (the same as {BASE}well)",
            f"{BASE}well  (2 sections)",
        ],
    }
    for kind, expected in rows.items():
        shown = await listed(settings, kind)  # type: ignore[arg-type]
        head, counts, *lines = shown.splitlines()
        assert head == "docs  https://docs.example/"
        assert counts.startswith("  1 page, 2 sections, 1 skipped, 1 failing, 2 missing;")
        assert [line.strip() for line in lines if "  (" in line] == sorted(expected)
        assert "…" not in shown


async def test_doctor_tells_of_failing_pages_waiting_events_and_dead_letters(settings: Settings) -> None:
    _, before = await found(settings)
    assert "Event log: a file in the data folder; 0 events wait for an indexer" in before
    await remember(settings, replace(page("slow"), failures=2, error="503"), replace(page("lost"), misses=1))
    async with open_events(settings) as events:
        await events.append(PAGES, "a", b"no event")
        async with events.consume(PAGES, INDEXER_GROUP) as consumer:
            await consumer.dead(await one(consumer), "not a page event")
        await events.append(PAGES, "b", b"x")
    status, after = await found(settings)
    assert status == 1
    assert "Watching docs: 1 page gave no answer, 1 was not found" in after
    assert "Event log: a file in the data folder; 1 event waits for an indexer" in after
    assert "✗ Dead letters: 1 event could not be handled\n  → See why: ritbot dead-letters" in after


async def test_doctor_tells_when_the_indexer_gives_up_no_more_pages(settings: Settings) -> None:
    async with open_events(settings) as events, events.consume(PAGES, INDEXER_GROUP) as consumer:
        for number in range(MAX_DEAD_LETTERS_IN_A_ROW - 1):
            await events.append(PAGES, f"p{number}", b"x")
            await consumer.dead(await one(consumer), "ZeroDivisionError: a bug (attempt 5)")
    status, shown = await found(settings)
    assert status == 1
    assert f"Indexing: {MAX_DEAD_LETTERS_IN_A_ROW - 1} pages were given up within a day; the indexer stops" in shown


async def test_doctor_beside_a_process_that_holds_the_folder_finds_no_fault_and_tells_of_the_sites(
    settings: Settings,
) -> None:
    async with open_trees(settings) as trees:
        await trees.put(live("a"), None)
    async with DataFolder(settings.index.folder, command="ritbot serve"):
        status, said = await found(settings)
    assert status == 0
    assert "✓ Site docs (https://docs.example/): 1 live\n" in said
    assert "· Search index: not looked at, since another process works with it\n" in said
    assert "is in use by `ritbot serve`" in said


async def test_doctor_tells_pages_of_another_version_from_those_of_other_settings(settings: Settings) -> None:
    async with open_trees(settings) as trees:
        for path, parser, analyser in (
            ("a", "0", ANALYSER_VERSION),
            ("b", PARSER_VERSION, "0"),
            ("c", PARSER_VERSION, ANALYSER_VERSION),
        ):
            record = live(path, analyser_version=f"{analyser}/9+9/other", chunk_ids=())
            assert record.page is not None
            await trees.put(replace(record, page=replace(record.page, parser_version=parser)), None)
    _, said = await found(settings)
    assert "Versions: 2 pages were read by another version of ritbot\n  → Run: ritbot reindex\n" in said
    assert "Versions: 1 page was cut and embedded with other settings\n  → Run: ritbot reembed\n" in said


async def test_doctor_tells_of_pages_that_fail_by_their_share_and_by_their_age(settings: Settings) -> None:
    now = SystemClock().now()
    whole = WatchState(site_key("docs"), "docs", fetched_at=now)
    await remember(settings, whole, *(page(f"p{n}") for n in range(19)))
    async with open_trees(settings) as trees:
        await trees.put(live("p1", chunk_ids=()), None)
    assert "Everything is in order." in (await found(settings))[1]
    await remember(settings, replace(page("slow"), failures=2, error="503", failing_since=now))
    status, few = await found(settings)
    assert (status, "Everything is in order." in few) == (0, False)
    assert "Some pages fail, too few and not long enough to act." in few
    await remember(settings, replace(page("slow"), failures=2, error="503", failing_since=now - timedelta(days=4)))
    assert (await found(settings))[0] == 1
    await remember(settings, page("slow"), *(replace(page(f"p{n}"), misses=1, missed_since=now) for n in range(3)))
    status, many = await found(settings)
    assert status == 1
    assert "✗ Watching docs: 0 pages gave no answer, 3 were not found" in many


@pytest.mark.parametrize("made", [False, True])
async def test_doctor_with_nothing_indexed_says_what_to_do(tmp_path: Path, made: bool) -> None:
    if made:
        (tmp_path / "data").mkdir()
    status, said = await found(Settings(index=IndexSettings(folder=tmp_path / "data")))
    assert status == 1
    assert "ritbot index FOLDER or URL." in said
    assert "1 thing to mend." in said
    assert "in order" not in said


async def test_doctor_with_a_site_of_which_nothing_is_indexed_is_not_in_order(settings: Settings) -> None:
    status, said = await found(settings)
    assert status == 1
    assert "✗ Site docs (https://docs.example/): not indexed yet\n  → Run: ritbot index docs\n" in said


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (Answers(503), "https://docs.example/ answered with status 503"),
        (Answers(404), "https://docs.example/ answered with status 404"),
        (Answers(failure=Unreachable("there is no host docs.example")), "there is no host docs.example"),
        (Answers(failure=FetchFailed("it broke off")), "it broke off"),
    ],
)
async def test_doctor_asks_each_site_whether_it_answers(settings: Settings, site: Answers, reason: str) -> None:
    async with open_trees(settings) as trees:
        await trees.put(live("a", chunk_ids=()), None)
    assert (await found(settings))[0] == 0
    status, said = await found(settings, site)
    assert status == 1
    assert f"✗ Site docs cannot be reached: {reason}\n" in said
