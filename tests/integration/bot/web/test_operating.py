"""Pages for whoever runs ritbot, over HTTP: who sees them, and what they say."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.gaps.gap import Gap, Place
from bot.gaps.report import GapOwner, GapReport
from bot.model import ChangedSource, ChangeNote, Exchange, Question
from bot.ports import BotStore
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.operating import MAX_ROWS, Operated, OperatorWeb, SiteStatus
from bot.web.responses import HEADERS
from ingest.errors import StoreUnavailable
from ingest.events.codec import DeadLetter
from ingest.events.dead_letters import KeptLetter
from ingest.model import Site
from ingest.ports import Record
from ingest.watch.report import WatchReport
from ingest.watch.site_tally import SiteTally
from tests.fakes.exchanges import NOON, SetClock, answered, waiting

PAGES = ("/web/answers", "/web/stale", "/web/sites", "/web/events", "/web/gaps", "/web/answer?id=T1:C1:1.000100")
PROXY = ProxyAccess("X-User", ["127.0.0.0/8"])
RECORD = Record("docs.pages", 0, 7, "https://docs.example.test/<b>", b"", NOON)


@dataclass
class Installation:
    """What operators look at."""

    status: list[SiteStatus] = field(default_factory=list)
    lag: dict[str, int] = field(default_factory=lambda: {"docs.pages": 1234})
    dead: list[KeptLetter] = field(default_factory=list)
    reports: list[GapReport] = field(default_factory=list)
    down: bool = False

    async def sites(self) -> Sequence[SiteStatus]:
        if self.down:
            raise StoreUnavailable("disk /srv full")
        return self.status

    async def waiting(self) -> Mapping[str, int]:
        return self.lag

    async def letters(self) -> Sequence[KeptLetter]:
        return self.dead

    async def gaps(self, only: str | None) -> Sequence[GapReport]:
        return [report for report in self.reports if only in (None, report.gap.id)]


@dataclass
class Operating:
    store: BotStore
    installation: Installation
    client: httpx.AsyncClient

    async def get(self, path: str, name: str = "ada") -> httpx.Response:
        return await self.client.get(path, headers={"X-User": name} if name else {})

    async def page(self, path: str) -> str:
        answer = await self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def keep(self, *exchanges: Exchange) -> None:
        for exchange in exchanges:
            await self.store.keep(exchange, None)


def link(page: str, path: str) -> str:
    """Where the one link of the page whose address holds this leads, as a request names it."""
    [href] = [found for found in re.findall(r'href="([^"]*)"', page) if path in found]
    return httpx.URL("http://ritbot.test/web/answers").join(unescape(href)).raw_path.decode()


@asynccontextmanager
async def operating(folder: Path, access: WebAccess = PROXY) -> AsyncIterator[Operating]:
    there = Installation()
    async with SqliteBotStore(folder / "bot.sqlite", KeySeal([]), SetClock()) as store:
        operated = Operated(there.sites, there.waiting, there.letters, there.gaps)
        clock = SetClock(NOON + timedelta(days=1))
        app = Starlette(routes=OperatorWeb(store, access, clock, operated, ["ada"]).routes())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ritbot.test") as client:
            yield Operating(store, there, client)


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Operating]:
    async with operating(tmp_path) as web:
        yield web


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("access", "name"), [(PROXY, ""), (PROXY, "bob"), (PROXY, "Ada"), (OpenAccess(), "ada")])
async def test_nobody_but_an_operator_sees_anything(tmp_path: Path, path: str, access: WebAccess, name: str) -> None:
    async with operating(tmp_path, access) as web:
        await web.keep(answered(1))
        answer = await web.get(path, name)
    assert answer.status_code == 403
    assert "Question 1?" not in answer.text
    assert "1,234" not in answer.text


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_for_no_search_engine_and_runs_no_foreign_script(web: Operating, path: str) -> None:
    await web.keep(answered(1))
    answer = await web.get(path)
    assert answer.status_code == 200
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.text.count("<h1>") == 1
    assert '<meta name="robots" content="noindex' in answer.text
    for name in ("answers", "stale", "sites", "events"):
        assert f'href="../web/{name}"{" aria-current" if path == f"/web/{name}" else ""}' in answer.text


async def test_the_list_has_the_newest_first_and_leads_to_the_older_ones(web: Operating) -> None:
    await web.keep(*(answered(number) for number in range(1, MAX_ROWS + 3)), waiting(60))
    newest = await web.page("/web/answers")
    assert [newest.find(f">Question {number}?<") >= 0 for number in (60, 52, 4, 3)] == [True, True, True, False]
    assert newest.index(">Question 60?<") < newest.index(">Question 52?<")
    assert "1 × bad" in newest
    page = await web.page(link(newest, "before="))
    assert [f">Question {number}?<" in page for number in (4, 3, 2, 1)] == [False, True, True, True]
    assert "before=" not in page
    assert ">Question 60?<" in await web.page("/web/answers?before=nonsense")


async def test_one_answer_shows_what_was_offered_read_and_cited(web: Operating) -> None:
    kept = answered(1)
    assert kept.answer
    shown = tuple((number, f"n{number}", ("Docs", "Keys", f"Rotating {number}")) for number in (1, 2, 3))
    trace = replace(kept.answer.trace, shown=shown)
    changed = (ChangedSource(1, "stale", ("n1",), NOON, "Rotate the keys once a year.", "Never."),)
    await web.keep(replace(kept, answer=replace(kept.answer, trace=trace), changed=changed))
    page = " ".join((await web.page("/web/answer?id=T1:C1:1.000100")).split())
    for number, use in ((1, "cited"), (2, "read"), (3, "offered")):
        assert f'<a href="../n/n{number}?show">Rotating {number}</a> <span class="badge {use}">{use}</span>' in page
    assert "Understood as: How often are keys rotated?" in page
    assert "the cited words changed" in page
    assert "U9 found it bad: not what U9 meant" in page
    assert "Searched for “rotate keys”; 2 sections offered" in page
    assert "3 sections offered, 2 read, 1 cited" in page
    assert "1,200 tokens in, 80 out · $0.0031" in page
    assert 'href="https://slack.com/archives/C1/p91"' in page


@pytest.mark.parametrize("identity", ["T1:C1:%/?#\\ \"'…🦊 \n", "T1:C1:" + "x" * 500])
async def test_an_answer_is_found_whatever_its_id_is(web: Operating, identity: str) -> None:
    await web.keep(answered(1, id=identity))
    page = await web.page("/web/answers")
    assert "Question 1?" in await web.page(link(page, "answer?id="))


async def test_a_question_that_is_not_there_is_told(web: Operating) -> None:
    for path in ("/web/answer", "/web/answer?id=T1"):
        answer = await web.get(path)
        assert (answer.status_code, "No such question" in answer.text) == (404, True)


async def test_what_people_and_models_write_is_text(web: Operating) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    kept = answered(1, text=evil, user=evil)
    assert kept.answer
    text = f"{evil}\n\n[go](javascript:alert(1)) [on](https://docs.example.test/) **{evil}** `{evil}`\n\n| {evil} |\n|---|\n| x |\n"
    answer = replace(kept.answer, text=text, note=evil)
    changed = (ChangedSource(1, "gone", ("n1",), NOON, evil, evil, "https://docs.example.test/"),)
    await web.keep(replace(kept, answer=answer, standalone=evil, changed=changed, note=ChangeNote(unsent=evil)))
    for path in PAGES:
        page = await web.page(path)
        assert "<script>alert" not in page
        assert "<img" not in page
        assert 'href="javascript' not in page
    assert '<a href="https://docs.example.test/" rel="noreferrer">on</a>' in await web.page(PAGES[-1])


async def test_stale_answers_say_what_changed_and_whether_it_was_told(web: Operating) -> None:
    def changed(number: int, state: str, **note: object) -> Exchange:
        source = ChangedSource(1, state, ("n1",), NOON, "once a year", "twice a year")  # type: ignore[arg-type]
        return replace(answered(number), changed=(source,), note=ChangeNote(**note))  # type: ignore[arg-type]

    await web.keep(
        changed(1, "stale", ts="9.9"), changed(2, "marked"), changed(3, "gone", unsent="archived"), answered(4)
    )
    page = await web.page("/web/stale")
    assert [f"Question {number}?" in page for number in (1, 2, 3, 4)] == [True, False, True, False]
    assert page.index("Question 3?") < page.index("Question 1?")
    assert "before: </span>once a year" in page
    assert "now: </span>twice a year" in page
    assert "told in the thread, message 9.9" in page
    assert "not told: archived" in page


async def test_a_question_that_was_not_answered_is_shown_too(web: Operating) -> None:
    question: Question = waiting(1).question
    await web.keep(Exchange(question, state="refused"))
    assert "refused" in await web.page("/web/answer?id=T1:C1:1.000100")


async def test_sites_say_how_fresh_they_are_and_what_is_wrong(web: Operating) -> None:
    site = Site("guide", "https://docs.example.test/", ())
    tally = SiteTally(None, pages=2, sections=1300, checked_at=NOON, skipped={"https://docs.example.test/s": "noindex"})
    gone = (("https://docs.example.test/g", "404"),)
    report = WatchReport("guide", 2, NOON, "the sitemap <is> no XML", gone, (), ("https://docs.example.test/m",))
    web.installation.status = [SiteStatus(site, tally, report)]
    page = await web.page("/web/sites")
    for said in ("see to it", "2 pages, 1,300 sections", "1 day ago", "the sitemap &lt;is&gt; no XML", "Held back", "noindex", "taken for gone yet"):  # fmt: skip
        assert said in page
    web.installation.status = [SiteStatus(site, SiteTally(None), WatchReport("guide", 0, None, None, (), (), ()))]
    page = await web.page("/web/sites")
    assert "not indexed" in page
    assert "never" in page


async def test_events_say_what_waits_and_what_could_not_be_handled(web: Operating) -> None:
    assert "None: every event could be handled." in await web.page("/web/events")
    web.installation.dead = [KeptLetter(DeadLetter(RECORD, "ParseFailed: <html>"), NOON, True)]
    page = await web.page("/web/events")
    assert "1,234 events" in page
    assert "https://docs.example.test/&lt;b&gt;" in page
    assert "ParseFailed: &lt;html&gt;" in page


async def test_a_store_that_does_not_answer_is_told_in_plain_words(web: Operating) -> None:
    web.installation.down = True
    answer = await web.get("/web/sites")
    assert (answer.status_code, "/srv" in answer.text) == (503, False)


async def test_gaps_are_listed_where_the_answer_should_stand_and_one_is_shown_with_all_of_it(web: Operating) -> None:
    pin = Place("n1", ("Pump", "<Keys>"), "https://docs.example.test/keys#expiry")
    fixed = Gap("bbbb0002", NOON, pin=replace(pin, link="file:///docs/keys.html"), state="fixed", fixed_by="docs#7")
    times = (NOON - timedelta(days=9), NOON, NOON)
    web.installation.reports = [
        GapReport(Gap("aaaa0001", NOON, pin=pin), times, GapOwner("k", "Security"), ("How do I <b>rotate</b>?",), 1),
        GapReport(fixed, times[:1], None, ("Windows?",)),
    ]
    page = await web.page("/web/gaps")
    for said in (
        "Pump › &lt;Keys&gt;",
        "How do I &lt;b&gt;rotate&lt;/b&gt;?",
        "Security",
        "nobody&#39;s",
        "3 questions",
    ):
        assert said in page
    for said in ("fixed by docs#7", "1 question asked in private", "weeks: 0, 0, 0, 0, 0, 0, 1, 2", "▁▁▁▁▁▁▅█"):
        assert said in page
    assert "Open in the documentation" not in page
    one = await web.page(link(page, "id=aaaa0001"))
    assert f'href="{pin.link}"' in one
    assert "ritbot gaps aaaa0001 --state taken" in one
    assert "Windows?" not in one
    assert "file://" not in await web.page("/web/gaps?id=bbbb0002")
    assert "There is no such gap" in await web.page("/web/gaps?id=%3Cb%3E")
    web.installation.reports = []
    assert "There is no gap." in await web.page("/web/gaps")
