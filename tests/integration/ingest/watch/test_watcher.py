"""The watcher of a site: what is held back, what is accepted, folders, and everything that may go wrong with itself."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SiteUnusable, StoreUnavailable
from ingest.model import Site
from ingest.ports import Fetched, Fetcher, WatchState
from ingest.sites.fetch import HttpFetcher
from ingest.watch.report import accept, watch_report
from ingest.watch.schedule import site_key
from ingest.watch.watcher import folder_changes
from tests.fakes.docsite import DocSite, page, redirect, status
from tests.fakes.pipeline import Pipeline, open_fetcher, pipeline
from tests.fakes.publishing import many, publish, write
from tests.fakes.site import html
from tests.waiting import eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "html", **many(12))
    return tmp_path / "html"


@pytest.fixture
async def shelf(folder: Path) -> AsyncIterator[Pipeline]:
    """A pipeline over a folder, indexed."""
    async with pipeline(Site("docs", str(folder))) as pipe:
        await pipe.settle()
        yield pipe


# --- the guard


async def test_when_many_pages_would_go_none_goes_and_the_alert_stays(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(20))
    await pipe.settle()
    docs.pages.update({f"/p{n}": status(410) for n in range(7)})
    pipe.clock.advance(hours=1)
    summary = await pipe.settle()
    assert (len(summary.gone), len(summary.held)) == (0, 7)
    assert len(await pipe.live()) == 20
    report = await watch_report(pipe.trees, "docs")
    assert report.alerts
    assert report.held[0] == (docs.url("/p0"), "HTTP 410")
    pipe.clock.advance(days=3)
    await pipe.settle()
    assert len(await pipe.live()) == 20


async def test_what_is_accepted_goes_and_does_not_count_against_what_follows(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(20))
    await pipe.settle()
    docs.pages.update({f"/p{n}": status(410) for n in range(7)})
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert len(await accept(pipe.trees, pipe.events, pipe.clock, "docs")) == 7
    await pipe.work()
    assert len(await pipe.live()) == 13
    assert not (await watch_report(pipe.trees, "docs")).alerts
    docs.pages["/p8"] = status(410)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert len(await pipe.live()) == 12
    assert await accept(pipe.trees, pipe.events, pipe.clock, "docs") == []


async def test_a_site_does_not_vanish_in_small_steps(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(20))
    await pipe.settle()
    for n in range(0, 12, 3):
        docs.pages.update({f"/p{m}": status(410) for m in range(n, n + 3)})
        pipe.clock.advance(hours=1)
        await pipe.settle()
    assert len(await pipe.live()) == 17
    assert len((await watch_report(pipe.trees, "docs")).held) == 9


async def test_held_pages_that_come_back_are_no_alert_any_more(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(20))
    await pipe.settle()
    docs.pages.update({f"/p{n}": status(410) for n in range(7)})
    pipe.clock.advance(hours=1)
    await pipe.settle()
    publish(docs, **many(20))
    pipe.clock.advance(days=1)
    await pipe.settle()
    assert not (await watch_report(pipe.trees, "docs")).alerts
    assert len(await pipe.sent()) == 20


async def test_a_login_page_to_which_everything_redirects_takes_nothing_with_it(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(20))
    await pipe.settle()
    docs.pages["/login"] = html("Log in", "<p>Please enter your name and your password to go on reading.</p>")
    docs.pages.update({f"/p{n}": redirect("/login") for n in range(20)})
    pipe.clock.advance(hours=1)
    summary = await pipe.settle()
    assert len(summary.held) == 20
    assert len(await pipe.live() - {"login"}) == 20


async def test_pages_that_move_together_each_to_its_own_place_are_no_loss(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(12))
    await pipe.settle()
    before = {n: await pipe.ids(docs.url(f"/p{n}")) for n in range(12)}
    for n in range(12):
        docs.pages[f"/q{n}"] = docs.pages[f"/p{n}"]
        docs.pages[f"/p{n}"] = redirect(f"/q{n}", 301)
    pipe.clock.advance(hours=1)
    summary = await pipe.settle()
    assert len(summary.held) == 0
    assert await pipe.live() == {f"q{n}" for n in range(12)}
    assert {n: await pipe.ids(docs.url(f"/q{n}")) for n in range(12)} == before
    assert await pipe.stray() == {}


async def test_pages_that_the_settings_leave_out_now_go(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(4))
    await pipe.settle()
    pipe.site = replace(pipe.site, exclude=("/p3$",))
    assert [reason for _, reason in (await pipe.settle()).gone] == ["no longer part of the site"]
    assert await pipe.live() == {"p0", "p1", "p2"}


# --- finding pages


async def test_a_site_without_a_sitemap_is_followed_by_its_links_and_new_pages_are_found(
    pipe: Pipeline, docs: DocSite
) -> None:
    docs.pages["/"] = redirect("/home")
    docs.pages["/home"] = html("Home", "<p>Start.</p><a href='/a'>a</a>")
    docs.pages["/a"] = html("A", "<p>Page a.</p><a href='/b#x'>b</a><a href='https://elsewhere.test/'>out</a>")
    docs.pages["/b"] = html("B", "<p>Page b.</p>")
    await pipe.settle()
    assert await pipe.live() == {"home", "a", "b"}
    docs.pages["/b"] = html("B", "<p>Page b.</p><a href='/c'>c</a>")
    docs.pages["/c"] = html("C", "<p>Page c.</p>")
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"home", "a", "b", "c"}


async def test_a_sitemap_that_lists_the_first_page_only_hides_no_later_page(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, index=html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a>"))
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    docs.pages["/b"] = html("B", "<p>Page b.</p>")
    await pipe.settle()
    assert await pipe.live() == {"index", "a", "b"}
    docs.pages["/a"] = html("A", "<p>Page a.</p><a href='/c'>c</a>")
    docs.pages["/c"] = html("C", "<p>Page c.</p>")
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"index", "a", "b", "c"}


async def test_a_page_that_breaks_the_reader_keeps_no_other_out(pipe: Pipeline, docs: DocSite) -> None:
    class Breaking:
        def __init__(self, fetcher: Fetcher) -> None:
            self._fetcher = fetcher

        async def fetch(self, url: str, **validators: str | None) -> Fetched:
            if url.endswith("/p1"):
                raise ZeroDivisionError("a bug")
            return await self._fetcher.fetch(url, **validators)

    @asynccontextmanager
    async def breaking(site: Site) -> AsyncIterator[Any]:
        async with open_fetcher(site) as fetcher:
            yield Breaking(fetcher)

    publish(docs, **many(3))
    pipe.open_fetcher = breaking
    summary = await pipe.cycle()
    assert (summary.counts["changed"], summary.counts["failed"]) == (2, 1)
    assert "a bug" in (await watch_report(pipe.trees, "docs")).failing[0][1]


async def test_a_site_that_cannot_be_opened_is_an_alert(tmp_path: Path) -> None:
    async with pipeline(Site("docs", "https://docs.example.test/", ca_file=str(tmp_path / "none.pem"))) as pipe:
        pipe.open_fetcher = lambda site: HttpFetcher(site, user_agent="ritbot/test")
        summary = await pipe.cycle()
        assert summary.problem
        assert "ca_file" in ((await watch_report(pipe.trees, "docs")).problem or "")


async def test_pages_are_looked_at_ever_less_often_until_they_change(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    looks = []
    for _ in range(24):
        pipe.clock.advance(minutes=10)
        before = docs.count("/a")
        await pipe.cycle()
        looks.append(docs.count("/a") - before)
    quarters = [sum(looks[n : n + 6]) for n in range(0, 24, 6)]
    assert quarters[0] > quarters[-1]
    assert max(looks) == 1


# --- losing things


async def test_an_event_that_was_lost_is_found_missing_and_sent_again(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    publish(docs, a=html("A", "<p>Page a, edited.</p>"))
    pipe.clock.advance(hours=1)
    real, pipe.events = pipe.events, Forgetful()  # type: ignore[assignment]
    await pipe.cycle()
    pipe.events = real
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a, edited."


class Forgetful:
    """An event log that says yes and keeps nothing."""

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        """Lost."""


async def test_without_an_indexer_the_same_change_is_sent_ever_less_often(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    for _ in range(24):
        await pipe.cycle()
        pipe.clock.advance(hours=1)
    assert 2 <= len(await pipe.sent()) <= 8
    await pipe.work()
    assert await pipe.live() == {"a"}


async def test_losing_what_the_watcher_remembers_costs_looks_and_nothing_else(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(5))
    await pipe.settle()
    async for state in pipe.trees.watching("docs"):
        await pipe.trees.watch(WatchState(state.key, "docs"))
    embedded, sent = len(pipe.embedder.embedded), len(await pipe.sent())
    await pipe.settle()
    assert (len(pipe.embedder.embedded), len(await pipe.sent())) == (embedded, sent)


async def test_two_watchers_at_once_do_no_harm(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(8))
    for version in range(3):
        publish(docs, **{n: b.replace("number", f"number {version}") for n, b in many(8).items()})
        await asyncio.gather(pipe.watcher().ask(), pipe.watcher().ask())
        await asyncio.gather(pipe.cycle(), pipe.cycle())
        await pipe.work()
    assert len(await pipe.live()) == 8
    assert "number 2" in (await pipe.page(docs.url("/p1"))).nodes[0].text
    assert await pipe.stray() == {}
    assert await pipe.dead() == []


async def test_a_cycle_that_is_cut_off_is_made_good_by_the_next(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(12))
    cut = asyncio.create_task(pipe.cycle())
    await eventually(lambda: docs.count("/p5") > 0)
    cut.cancel()
    with suppress(asyncio.CancelledError):
        await cut
    await pipe.settle()
    await pipe.settle()
    assert len(await pipe.live()) == 12


async def test_a_store_that_fails_ends_the_cycle_with_its_own_error(pipe: Pipeline, docs: DocSite) -> None:
    class Failing:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        async def reserve(self, key: str, site: str) -> int:
            raise StoreUnavailable("the disk is full")

    publish(docs, **many(3))
    real, pipe.trees = pipe.trees, Failing()  # type: ignore[assignment]
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await pipe.cycle()


async def test_a_running_watcher_outlives_a_store_that_is_away(pipe: Pipeline, docs: DocSite) -> None:
    class AwayAtFirst:
        left = 3

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        async def reserve(self, key: str, site: str) -> int:
            self.left -= 1
            if self.left >= 0:
                raise StoreUnavailable("no answer")
            return await real.reserve(key, site)

    publish(docs, a=html("A", "<p>Page a.</p>"))
    real, pipe.trees = pipe.trees, AwayAtFirst()  # type: ignore[assignment]
    running = asyncio.create_task(pipe.watcher(every=0.02).run())
    await eventually(lambda: docs.count("/a") == 4)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    pipe.trees = real
    await pipe.settle()
    assert await pipe.live() == {"a"}


# --- asking


async def test_what_someone_asks_for_is_looked_at_whatever_its_turn_and_its_validators(
    pipe: Pipeline, docs: DocSite
) -> None:
    docs.pages["/a"] = page(html("A", "<p>Page a.</p>"), etag='"1"')
    publish(docs, b=html("B", "<p>Page b.</p>"))
    for _ in range(2):
        await pipe.settle()
        pipe.clock.advance(hours=1)
    docs.pages["/a"] = page(html("A", "<p>Page a, edited.</p>"), etag='"1"')
    docs.pages["/new"] = html("New", "<p>Not listed.</p>")
    looks = docs.count("/b")
    await pipe.settle()
    pipe.clock.advance(seconds=10)
    asked = await pipe.watcher().ask([docs.url("/a"), docs.url("/new"), "https://elsewhere.test/x"])
    await pipe.settle()
    assert asked == 2
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a, edited."
    assert await pipe.live() == {"a", "b", "new"}
    assert docs.count("/b") == looks + 1


async def test_asking_for_the_whole_site_looks_at_every_page_once(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(3))
    await pipe.settle()
    docs.requests.clear()
    assert await pipe.watcher().ask() == 1
    await pipe.settle()
    await pipe.settle()
    assert [docs.count(f"/p{n}") for n in range(3)] == [1, 1, 1]


async def test_a_running_watcher_wakes_when_asked_and_ends_when_cancelled(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    watcher = pipe.watcher()

    async def has_sent(events: int) -> bool:
        return len(await pipe.sent()) == events

    running = asyncio.create_task(watcher.run())
    async with asyncio.timeout(20):
        await eventually(lambda: has_sent(1))
        await pipe.work()
        publish(docs, a=html("A", "<p>Page a, edited.</p>"))
        await watcher.ask([docs.url("/a")])
        await eventually(lambda: has_sent(2))
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert running.cancelled()


# --- folders


async def test_a_file_written_anew_is_looked_at_at_once(shelf: Pipeline, folder: Path) -> None:
    write(folder, p1=html("Page 1", "<p>Edited.</p>"))
    summary = await shelf.settle()
    assert summary.counts["changed"] == 1
    assert "Edited." in {node.text for node in (await shelf.page((folder / "p1.html").as_uri())).nodes}


async def test_a_file_that_is_gone_goes_when_no_build_can_explain_it(shelf: Pipeline, folder: Path) -> None:
    (folder / "p1.html").unlink()
    await shelf.settle()
    assert "p1.html" in await shelf.live()
    shelf.clock.advance(seconds=61)
    await shelf.settle()
    assert "p1.html" not in await shelf.live()
    assert await shelf.index.count() == 11
    assert not (await watch_report(shelf.trees, "docs")).alerts


async def test_a_folder_that_is_built_anew_loses_nothing(shelf: Pipeline, folder: Path) -> None:
    before = await shelf.ids((folder / "p1.html").as_uri())
    shutil.rmtree(folder)
    assert (await shelf.settle()).problem
    write(folder)
    assert "is empty" in ((await shelf.settle()).problem or "")
    write(folder, **dict(list(many(12).items())[:4]))
    shelf.clock.advance(seconds=61)
    await shelf.settle()
    write(folder, **many(12))
    await shelf.settle()
    assert len(await shelf.live()) == 12
    assert await shelf.ids((folder / "p1.html").as_uri()) == before
    assert not (await watch_report(shelf.trees, "docs")).alerts


async def test_a_renamed_file_keeps_its_ids(shelf: Pipeline, folder: Path) -> None:
    before, embedded = await shelf.ids((folder / "p1.html").as_uri()), len(shelf.embedder.embedded)
    (folder / "p1.html").rename(folder / "a-much-longer-name.html")
    await shelf.settle()
    assert await shelf.ids((folder / "a-much-longer-name.html").as_uri()) == before
    assert len(shelf.embedder.embedded) == embedded
    assert len(await shelf.live()) == 12


async def test_changes_in_a_folder_wake_its_watcher(folder: Path) -> None:
    stop = asyncio.Event()
    heard: set[str] = set()

    async def listen() -> None:
        async for paths in folder_changes(str(folder), stop, quiet=0.05):
            heard.update(paths)

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(20):
        while not heard:
            (folder / "p1.tmp").write_text(html("Page 1", "<p>Edited.</p>"), encoding="utf-8")  # as editors save
            (folder / "p1.tmp").rename(folder / "p1.html")
            await asyncio.sleep(0.1)
        stop.set()
        await listening
    assert heard == {str(folder / "p1.html")}


async def test_a_folder_that_is_swapped_ends_the_listening_with_a_change(folder: Path) -> None:
    heard: set[str] = set()

    async def listen() -> None:
        async for paths in folder_changes(str(folder), asyncio.Event(), quiet=0.05):
            heard.update(paths)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(1.0)  # nobody says when it has begun to listen
    os.rename(folder, f"{folder}-old")
    write(folder, **many(2))
    async with asyncio.timeout(20):
        await listening
    assert str(folder) in heard


async def test_a_folder_that_is_not_there_cannot_be_listened_to(tmp_path: Path) -> None:
    with pytest.raises(SiteUnusable, match="cannot be watched"):
        await anext(folder_changes(str(tmp_path / "none"), asyncio.Event()))


async def test_the_watcher_of_a_folder_ends_when_cancelled(shelf: Pipeline) -> None:
    running = asyncio.create_task(shelf.watcher().run())

    async def looked() -> bool:
        return await shelf.trees.watched(site_key("docs")) is not None

    await eventually(looked)
    running.cancel()
    async with asyncio.timeout(20):
        with suppress(asyncio.CancelledError):
            await running
    assert running.cancelled()
    state = await shelf.trees.watched(site_key("docs"))
    assert state is not None
    assert state.error is None
