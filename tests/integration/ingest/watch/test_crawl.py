"""Whole crawls of a folder and over a (misbehaving) website: what is said, and what the stores hold."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SiteUnusable, StoreUnavailable
from ingest.model import Site
from ingest.watch.crawl import CrawlSummary
from ingest.watch.removal_guard import Guard
from ingest.watch.report import watch_report
from tests.fakes.docsite import DocSite, fails_first, status
from tests.fakes.pipeline import Pipeline, pipeline
from tests.fakes.publishing import write
from tests.fakes.site import html


@pytest.fixture
async def pipe(tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with pipeline(folder_of(tmp_path / "html")) as pipe:
        yield pipe


def folder_of(folder: Path, **bodies: str) -> Site:
    write(folder, **{name: html(name, body) for name, body in bodies.items()})
    return Site("docs", str(folder))


def many(count: int) -> dict[str, str]:
    return {f"p{n}": f"<p>This is page number {n}.</p>" for n in range(count)}


async def crawl(pipe: Pipeline, site: Site, **how: Any) -> CrawlSummary:
    pipe.site = site
    return await pipe.crawl(**how)


async def test_a_folder_is_indexed_and_an_unchanged_one_costs_nothing(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(7))
    first, second = await crawl(pipe, site), await crawl(pipe, site)
    assert (first.outcomes["new"], first.embedded, first.finished) == (7, 7, True)
    assert (second.outcomes["unchanged"], second.embedded) == (7, 0)


async def test_one_edited_section_embeds_that_section_only(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", a="<p>One.</p><h2>B</h2><p>Two.</p><h2>C</h2><p>Three.</p>", b="<p>Other.</p>")
    await crawl(pipe, site)
    folder_of(tmp_path / "html", a="<p>One.</p><h2>B</h2><p>Two, edited.</p><h2>C</h2><p>Three.</p>")
    summary = await crawl(pipe, site)
    assert (summary.outcomes["changed"], summary.outcomes["unchanged"], summary.embedded) == (1, 1, 1)


async def test_a_page_that_left_the_folder_leaves_no_chunk(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(3))
    await crawl(pipe, site)
    (tmp_path / "html" / "p1.html").unlink()
    summary = await crawl(pipe, site)
    assert [reason for _, reason in summary.cycle.gone] == ["no longer in the folder"]
    assert await pipe.live() == {"p0.html", "p2.html"}
    assert await pipe.index.count() == 2


async def test_many_renamed_files_are_no_loss(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(12))
    await crawl(pipe, site)
    for n in range(12):
        (tmp_path / "html" / f"p{n}.html").rename(tmp_path / "html" / f"renamed-{n}.html")
    summary = await crawl(pipe, site)
    assert (summary.cycle.held, summary.embedded, summary.outcomes["moved"]) == ([], 0, 12)
    assert await pipe.live() == {f"renamed-{n}.html" for n in range(12)}


async def test_a_page_over_the_size_limit_is_skipped_with_the_reason(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", a="<p>Small.</p>", b="<p>" + "large " * 2_000 + "</p>")
    summary = await crawl(pipe, replace(site, max_bytes=5_000))
    assert (summary.outcomes["new"], summary.skipped["too_large"], summary.cycle.failed) == (1, 1, [])


async def test_links_of_a_nofollow_page_are_not_followed(pipe: Pipeline, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>", head="<meta name=robots content=nofollow>")
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    site = Site("docs", docs.url("/"), allow_private=True)
    await crawl(pipe, site)
    assert await pipe.live() == {""}


async def test_when_many_pages_would_go_nothing_goes_until_it_is_accepted(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(20))
    await crawl(pipe, site)
    for n in range(6):
        (tmp_path / "html" / f"p{n}.html").unlink()
    held = await crawl(pipe, site)
    assert (len(held.cycle.held), held.cycle.gone) == (6, [])
    assert await pipe.index.count() == 20
    accepted = await crawl(pipe, site, accept=True)
    assert (len(accepted.cycle.gone), accepted.cycle.held) == (6, [])
    assert await pipe.index.count() == 14


async def test_up_to_five_pages_may_go_whatever_their_share(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(6))
    await crawl(pipe, site)
    for n in range(5):
        (tmp_path / "html" / f"p{n}.html").unlink()
    assert len((await crawl(pipe, site)).cycle.gone) == 5


async def test_an_emptied_folder_is_an_error_and_removes_nothing(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(3))
    await crawl(pipe, site)
    for path in (tmp_path / "html").iterdir():
        path.unlink()
    with pytest.raises(SiteUnusable):
        await crawl(pipe, site)
    assert await pipe.index.count() == 3


async def test_pages_that_are_not_indexed_are_counted_by_reason(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", a="<p>Text.</p>")
    (tmp_path / "html" / "b.html").write_text("<meta name=robots content=noindex><h1>B</h1><p>x</p>", encoding="utf-8")
    (tmp_path / "html" / "c.html").write_text("", encoding="utf-8")
    summary = await crawl(pipe, site)
    assert summary.outcomes["new"] == 1
    assert summary.skipped["noindex"] == 1
    assert sum(summary.skipped.values()) == 2


async def test_a_page_that_answers_404_goes_and_one_that_fails_stays(pipe: Pipeline, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a><a href='/c'>c</a>")
    docs.pages.update({f"/{n}": html(n, f"<p>Page {n}.</p>") for n in "abc"})
    site = Site("docs", docs.url("/"), allow_private=True)
    await crawl(pipe, site)
    docs.pages["/a"] = status(404)
    docs.pages["/b"] = status(503)
    docs.pages["/"] = html("Home", "<p>Start.</p>")
    summary = await crawl(pipe, site)
    assert [key for key, _ in summary.cycle.gone] == [docs.url("/a")]
    assert [url for url, _ in summary.cycle.failed] == [docs.url("/b")]
    assert await pipe.live() == {"", "b", "c"}


async def test_a_passing_failure_is_tried_again(pipe: Pipeline, docs: DocSite) -> None:
    fine = html("Home", "<p>Start.</p>")
    docs.pages["/"] = fails_first(2, status(503), status(200, fine))
    summary = await crawl(pipe, Site("docs", docs.url("/"), allow_private=True))
    assert (summary.outcomes["new"], summary.cycle.failed) == (1, [])


async def test_what_the_site_answers_for_any_address_is_never_a_page(pipe: Pipeline, docs: DocSite) -> None:
    lost = html("Oops", "<p>We looked everywhere for what you asked us to find and there was none of it at all.</p>")

    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/gone'>x</a>")
    docs.pages["/gone"] = lost
    site = Site("docs", docs.url("/"), allow_private=True)
    name = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=24))
    docs.pages[f"/{name}.html"] = lost
    summary = await crawl(pipe, site)
    assert summary.skipped["soft_404"] == 1
    assert await pipe.live() == {""}


async def test_an_interrupted_crawl_goes_on_where_it_was(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(30))
    began = pipe.clock.now()
    seen: list[CrawlSummary] = []

    def stop_after_five(summary: CrawlSummary) -> None:
        seen.append(summary)
        if summary.cycle.done == 5:
            stopped.cancel()

    stopped = asyncio.create_task(crawl(pipe, site, progress=stop_after_five))
    with pytest.raises(asyncio.CancelledError):
        await stopped
    assert not seen[-1].finished
    done = len(await pipe.live())
    rest = await crawl(pipe, site, since=began)
    assert 5 <= done < 30
    assert rest.cycle.looked_at_before + rest.outcomes["unchanged"] == done
    assert rest.outcomes["new"] == 30 - done
    assert rest.embedded <= 30 - done  # a page that was cut short after its chunks were written has its vectors
    assert rest.cycle.gone == []
    assert len(await pipe.live()) == 30


async def test_a_store_that_fails_ends_the_crawl_with_its_own_error(pipe: Pipeline, tmp_path: Path) -> None:
    class Failing:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        async def put(self, record: object, expected: object) -> str:
            raise StoreUnavailable("the disk is full")

    site = folder_of(tmp_path / "html", **many(3))
    real, pipe.trees = pipe.trees, Failing()  # type: ignore[assignment]
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await crawl(pipe, site)


async def test_what_an_interrupted_crawl_could_not_read_or_find_is_looked_at_when_it_goes_on(
    pipe: Pipeline, docs: DocSite
) -> None:
    docs.pages["/sitemap.txt"] = "\n".join(docs.url(f"/{name}") for name in "abc")
    docs.pages.update({f"/{n}": html(n, f"<p>Page {n}.</p>") for n in "abc"})
    site = Site("docs", docs.url("/"), sitemap="/sitemap.txt", allow_private=True)
    await crawl(pipe, site)
    began = pipe.clock.now()
    docs.pages.update({"/a": status(503), "/b": status(404)})

    def stop_at_the_end(summary: CrawlSummary) -> None:
        if summary.cycle.done == 3:
            stopped.cancel()

    stopped = asyncio.create_task(crawl(pipe, site, progress=stop_at_the_end))
    with pytest.raises(asyncio.CancelledError):
        await stopped
    rest = await crawl(pipe, site, since=began)
    assert rest.cycle.looked_at_before == 1
    assert [key for key, _ in rest.cycle.failed] == [docs.url("/a")]
    assert [key for key, _ in rest.cycle.gone] == [docs.url("/b")]


async def test_where_pages_are_found_by_links_an_interrupted_crawl_finds_the_rest(
    pipe: Pipeline, docs: DocSite
) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a>")
    docs.pages.update({f"/{n}": html(n, f"<p>Page {n}.</p>") for n in "ab"})
    site = Site("docs", docs.url("/"), allow_private=True)
    began = pipe.clock.now()

    def stop_after_two(summary: CrawlSummary) -> None:
        if summary.cycle.done == 2:
            stopped.cancel()

    stopped = asyncio.create_task(crawl(pipe, site, progress=stop_after_two))
    with pytest.raises(asyncio.CancelledError):
        await stopped
    rest = await crawl(pipe, site, since=began)
    assert await pipe.live() == {"", "a", "b"}
    assert rest.embedded <= 1


async def test_a_page_is_fetched_once_and_handled_as_it_was_read(pipe: Pipeline, docs: DocSite) -> None:
    site = Site("docs", docs.url("/"), allow_private=True, obey_robots=False)
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>")
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    await crawl(pipe, site)
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a>")
    docs.pages["/b"] = html("B", "<p>Page b, new.</p>")
    docs.requests.clear()
    await crawl(pipe, site)
    assert [docs.count(path) for path in ("/", "/a", "/b")] == [1, 1, 1]


async def test_a_rebuild_handles_pages_that_have_not_changed(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(3))
    await crawl(pipe, site)
    for key in await pipe.states():
        await pipe.index.delete(await pipe.index.ids_of(key))
    summary = await crawl(pipe, site, rebuild=True)
    assert (summary.outcomes["changed"], summary.embedded) == (3, 3)
    assert await pipe.stray() == {}


async def test_every_page_is_written_down_as_checked_changed_or_not(pipe: Pipeline, tmp_path: Path) -> None:
    site = folder_of(tmp_path / "html", **many(2))
    await crawl(pipe, site)
    pipe.clock.advance(days=2)
    now = pipe.clock.now()
    await crawl(pipe, site)
    assert all([(await pipe.record(key)).checked_at > now for key in await pipe.states()])


async def test_a_watcher_that_comes_after_looks_when_pages_are_due_and_sends_nothing(
    pipe: Pipeline, tmp_path: Path
) -> None:
    await crawl(pipe, folder_of(tmp_path / "html", **many(3)))
    assert (await pipe.cycle()).counts.total() == 0
    pipe.clock.advance(hours=2)
    assert (await pipe.cycle()).counts == {"same": 3}
    assert await pipe.sent() == []


async def test_what_a_crawl_held_back_the_watcher_tells_and_a_crawl_that_accepts_lets_go(
    pipe: Pipeline, tmp_path: Path
) -> None:
    site = folder_of(tmp_path / "html", **many(20))
    await crawl(pipe, site)
    for n in range(6):
        (tmp_path / "html" / f"p{n}.html").unlink()
    await crawl(pipe, site)
    assert len((await watch_report(pipe.trees, "docs")).held) == 6
    await crawl(pipe, site, accept=True)
    assert not (await watch_report(pipe.trees, "docs")).alerts
    for n in range(6, 11):  # what was accepted does not count against what goes next
        (tmp_path / "html" / f"p{n}.html").unlink()
    assert len((await crawl(pipe, site)).cycle.gone) == 5


@pytest.mark.parametrize(
    ("going", "live", "holds"), [(5, 10, False), (6, 60, False), (6, 59, True), (0, 0, False), (6, 0, True)]
)
def test_the_guard_holds_beyond_both_its_bounds(going: int, live: int, holds: bool) -> None:
    assert Guard().holds(going, live) is holds
