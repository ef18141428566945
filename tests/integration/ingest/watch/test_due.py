"""Watch cycles between two listings of a site: they read and look at what is due, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.model import Site
from ingest.watch.cycle_summary import CycleSummary
from ingest.watch.schedule import site_key
from ingest.watch.watcher import SiteWatcher
from tests.fakes.docsite import DocSite, redirect, slow, status
from tests.fakes.pipeline import Pipeline, pipeline
from tests.fakes.publishing import many, publish, write
from tests.fakes.site import html
from tests.waiting import eventually


class NoWholeSite:
    """The trees, of which nobody may ask for everything."""

    def __init__(self, trees: Any) -> None:
        self._trees = trees

    def __getattr__(self, name: str) -> Any:
        assert name not in ("scan", "watching"), f"{name} reads the whole site"
        return getattr(self._trees, name)


@pytest.fixture
async def pipe(pipe: Pipeline, docs: DocSite) -> Pipeline:
    """Pages p0 … p9 behind a sitemap, indexed."""
    publish(docs, **many(10))
    await pipe.settle()
    return pipe


async def between_listings(pipe: Pipeline, *due: str) -> SiteWatcher:
    """A watcher that has listed the site and need not do so for days; of the pages these alone are due."""
    watcher = pipe.watcher()
    await watcher.cycle()
    later = pipe.clock.now().replace(year=2030)
    async for state in pipe.trees.watching("docs"):
        due_at = None if state.key in due else later
        await pipe.trees.watch(replace(state, due_at=due_at))
    return watcher


async def list_now(pipe: Pipeline) -> None:
    await pipe.watcher().cycle()
    await pipe.work()


async def test_only_what_is_due_is_read_and_looked_at(pipe: Pipeline, docs: DocSite) -> None:
    real = pipe.trees
    pipe.trees = NoWholeSite(real)  # type: ignore[assignment]
    with pytest.raises(AssertionError, match="whole site"):
        await pipe.watcher().cycle()
    pipe.trees = real
    await between_listings(pipe, docs.url("/p1"), docs.url("/p2"))
    pipe.trees = NoWholeSite(real)  # type: ignore[assignment]
    watcher = pipe.watcher()
    watcher.list_next = False
    docs.pages["/p2"] = html("Page 2", "<p>This is page number 2, edited.</p>")
    docs.requests.clear()
    summary = await watcher.cycle()
    assert summary.counts == {"same": 1, "changed": 1}
    assert [docs.count(path) for path in ("/p1", "/p2", "/p3", "/sitemap.xml")] == [1, 1, 0, 0]
    await pipe.work()
    assert (await pipe.page(docs.url("/p2"))).nodes[0].text.endswith("edited.")
    assert (await watcher.cycle()).counts == {}


async def test_a_page_that_is_gone_waits_for_the_listing_which_weighs_all_losses(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe, docs.url("/p1"))
    docs.pages["/p1"] = status(410)
    docs.requests.clear()
    for _ in range(2):
        assert (await watcher.cycle()).counts == {}
    assert docs.count("/p1") == 1
    pipe.clock.advance(days=3000)
    await list_now(pipe)
    assert "p1" not in await pipe.live()


async def test_a_page_that_moved_waits_for_the_listing_and_keeps_its_ids(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe, docs.url("/p1"))
    before = await pipe.ids(docs.url("/p1"))
    docs.pages["/q1"], docs.pages["/p1"] = docs.pages["/p1"], redirect("/q1", 301)
    assert (await watcher.cycle()).counts == {}
    pipe.clock.advance(days=3000)
    await list_now(pipe)
    assert await pipe.ids(docs.url("/q1")) == before


async def test_what_someone_asks_for_does_not_wait(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe)
    docs.pages["/new"] = html("New", "<p>In no sitemap.</p>")
    docs.pages["/p1"] = html("Page 1", "<p>Edited.</p>")
    await watcher.ask([docs.url("/new"), docs.url("/p1")])
    await watcher.cycle()
    await pipe.work()
    assert {"new", "p1"} <= await pipe.live()
    assert (await pipe.page(docs.url("/p1"))).nodes[0].text == "Edited."


async def test_asking_for_the_whole_site_lists_it(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe)
    await watcher.ask()
    assert (await watcher.cycle()).counts == {"same": 10}
    assert (await watcher.cycle()).counts == {}


async def test_a_page_that_went_is_left_at_rest(pipe: Pipeline, docs: DocSite) -> None:
    docs.pages["/p1"] = status(410)
    pipe.clock.advance(days=1)
    await list_now(pipe)
    docs.requests.clear()
    watcher = await between_listings(pipe, docs.url("/p1"))
    await watcher.cycle()
    assert docs.count("/p1") == 0
    assert docs.url("/p1") not in {state.key async for state in pipe.trees.due("docs", pipe.clock.now())}


async def test_a_new_page_found_by_a_link_is_indexed_when_the_site_is_listed(docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>")
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    async with pipeline(Site("docs", docs.url("/"), allow_private=True, obey_robots=False)) as pipe:
        await pipe.settle()
        watcher = await between_listings(pipe, docs.url("/a"))
        docs.pages["/a"] = html("A", "<p>Page a.</p><a href='/new'>new</a>")
        docs.pages["/new"] = html("New", "<p>A new page.</p>")
        assert (await watcher.cycle()).counts == {"changed": 1}
        pipe.clock.advance(days=3000)
        docs.pages["/a"] = html("A", "<p>Page a.</p>")  # what was found is not forgotten
        await list_now(pipe)
        assert await pipe.live() == {"", "a", "new"}


async def test_a_site_is_listed_the_more_seldom_the_longer_that_takes(pipe: Pipeline) -> None:
    class Slow(NoWholeSite):
        def __getattr__(self, name: str) -> Any:
            return self.scan if name == "scan" else getattr(self._trees, name)

        async def scan(self, site: str) -> AsyncIterator[Any]:
            pipe.clock.advance(seconds=20)
            async for state in self._trees.scan(site):
                yield state

    real, pipe.trees = pipe.trees, Slow(pipe.trees)  # type: ignore[assignment]
    began = pipe.clock.now()
    await pipe.cycle()
    whole = await real.watched(site_key("docs"))
    assert whole is not None
    assert whole.due_at is not None
    assert (whole.due_at - began).total_seconds() == pytest.approx(1000, rel=0.01)


# --- pages that are named


@asynccontextmanager
async def running(watcher: SiteWatcher) -> AsyncIterator[None]:
    """With a limit on how long what is waited for may take."""
    task = asyncio.create_task(watcher.run())
    try:
        async with asyncio.timeout(30):
            yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def named(pipe: Pipeline, docs: DocSite) -> Callable[..., Awaitable[CycleSummary]]:
    """Looks at these pages alone, while nobody may ask for everything, and nothing is due."""

    async def look(*paths: str) -> CycleSummary:
        watcher = await between_listings(pipe)
        real, pipe.trees = pipe.trees, NoWholeSite(pipe.trees)  # type: ignore[assignment]
        docs.requests.clear()
        summary = await pipe.watcher().cycle(dict.fromkeys(map(docs.url, paths)))
        pipe.trees = real
        assert watcher.list_next is False
        return summary

    return look


async def test_named_pages_cost_themselves(
    pipe: Pipeline, docs: DocSite, named: Callable[..., Awaitable[CycleSummary]]
) -> None:
    docs.pages["/p1"] = html("Page 1", "<p>This is page number 1, edited.</p>")
    summary = await named("/p1", "/p2")
    assert summary.counts == {"changed": 1, "same": 1}
    assert not summary.wants_listing
    assert [docs.count(path) for path in ("/p1", "/p2", "/p3", "/sitemap.xml")] == [1, 1, 0, 0]
    later = {state.key: state.due_at async for state in pipe.trees.watching("docs")}
    assert later[docs.url("/p3")] == later[docs.url("/p9")] != later[docs.url("/p1")]


@pytest.mark.parametrize(
    "answer",
    [status(410), status(404), redirect("/p2", 301), html("Log in", "<p>Your name and your password, please.</p>")],
    ids=["gone", "missing", "moved", "another text"],
)
async def test_a_named_page_that_is_no_edit_is_left_to_a_listing(
    pipe: Pipeline, docs: DocSite, named: Callable[..., Awaitable[CycleSummary]], answer: Any
) -> None:
    docs.pages["/p1"] = answer
    before = await pipe.sent()
    summary = await named("/p1")
    assert (summary.wants_listing, summary.counts) == (True, {})
    assert await pipe.sent() == before


async def test_a_new_page_that_is_named_is_not_even_read(
    pipe: Pipeline, docs: DocSite, named: Callable[..., Awaitable[CycleSummary]]
) -> None:
    docs.pages["/new"] = html("New", "<p>A new page.</p>")
    assert (await named("/new")).wants_listing
    assert docs.count("/new") == 0


async def test_named_pages_do_not_wait_for_a_cycle_that_takes_long(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe)
    docs.pages["/p1"] = slow(60, "too late")
    docs.requests.clear()
    async with running(watcher):
        await watcher.ask()
        await eventually(lambda: len(docs.requests) >= 10)
        docs.pages["/p2"] = html("Page 2", "<p>This is page number 2, edited.</p>")
        sent = len(await pipe.sent())
        await watcher.ask([docs.url("/p2")])
        await watcher.ask([docs.url("/p2")])
        await has_sent(pipe, sent + 1)


async def test_a_named_page_that_is_new_is_indexed_at_once(pipe: Pipeline, docs: DocSite) -> None:
    watcher = await between_listings(pipe)
    async with running(watcher):
        docs.pages["/new"] = html("New", "<p>In no sitemap.</p>")
        sent = len(await pipe.sent())
        await watcher.ask([docs.url("/new")])
        await has_sent(pipe, sent + 1)


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Pipeline]:
    """Pages p0 … p9 in a folder, indexed."""
    write(tmp_path / "html", **many(10))
    async with pipeline(Site("docs", str(tmp_path / "html"))) as pipe:
        await pipe.settle()
        yield pipe


async def has_sent(pipe: Pipeline, events: int) -> None:
    async def sent() -> bool:
        return len(await pipe.sent()) >= events

    await eventually(sent)


async def touched(touch: Callable[[int], None], seen: Callable[[], Awaitable[bool]]) -> None:
    """Again and again until it is seen: nobody says when a watcher has begun to listen. Quiet in between, as a listing
    waits for."""
    for turn in range(8):
        touch(turn)
        with suppress(TimeoutError):
            await eventually(seen, within=3.0)
            return
    raise TimeoutError


async def test_a_file_written_anew_costs_its_page(shelf: Pipeline, tmp_path: Path) -> None:
    await between_listings(shelf)
    shelf.trees = NoWholeSite(shelf.trees)  # type: ignore[assignment]
    watcher = shelf.watcher()
    watcher.list_next = False

    def edit(turn: int) -> None:
        write(tmp_path / "html", p1=html("Page 1", f"<p>This is page number 1, edited {turn}.</p>"))
        (tmp_path / "html" / "logo.png").write_bytes(b"...")

    async def sent() -> bool:
        return len(await shelf.sent()) > 10

    before = await shelf.trees.watched((tmp_path / "html" / "p1.html").as_uri())
    async with running(watcher):
        await touched(edit, sent)
    after = await shelf.trees.watched((tmp_path / "html" / "p1.html").as_uri())
    assert before
    assert after
    assert after.lastmod != before.lastmod
    assert watcher.list_next is False


async def test_a_new_file_is_indexed_at_once(shelf: Pipeline, tmp_path: Path) -> None:
    watcher = await between_listings(shelf)

    async def sent() -> bool:
        return len(await shelf.sent()) > 10

    async with running(watcher):
        await touched(lambda turn: write(tmp_path / "html", new=html("New", f"<p>A new page, {turn}.</p>")), sent)


async def test_a_file_that_is_gone_is_missed_at_once(shelf: Pipeline, tmp_path: Path) -> None:
    watcher = await between_listings(shelf)

    async def missed() -> bool:
        return any([state.misses async for state in shelf.trees.watching("docs")])

    async with running(watcher):
        await touched(lambda turn: (tmp_path / "html" / f"p{turn}.html").unlink(missing_ok=True), missed)
