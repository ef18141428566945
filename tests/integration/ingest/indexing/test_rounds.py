"""Whole rounds over a folder and over a (misbehaving) website: what is said, and what the stores hold."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from ingest.errors import SiteUnusable, StoreUnavailable
from ingest.indexing.indexer import Indexer
from ingest.indexing.rounds import Guard, Round, RoundSummary
from ingest.model import Site
from ingest.ports import PageState
from ingest.sites.fetch import HttpFetcher
from ingest.sites.folder import FolderFetcher
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from tests.fakes.docsite import DocSite, fails_first, redirect, status
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import TickingClock, html


@dataclass
class Bench:
    """Open stores, and rounds over them."""

    trees: SqliteTreeStore
    index: EdgeChunkIndex
    embedder: HashingEmbedder
    clock: TickingClock

    async def round(
        self, site: Site, *, accept: bool = False, since: datetime | None = None, trees: SqliteTreeStore | None = None
    ) -> RoundSummary:
        async with fetcher_of(site) as fetcher:
            return await self.make(site, fetcher, accept=accept, since=since, trees=trees).run()

    def make(
        self,
        site: Site,
        fetcher: FolderFetcher | HttpFetcher,
        *,
        accept: bool = False,
        since: datetime | None = None,
        trees: SqliteTreeStore | None = None,
        progress: Callable[[RoundSummary], None] = lambda summary: None,
    ) -> Round:
        store = trees or self.trees

        def indexer(missing: str | None) -> Indexer:
            return Indexer(
                site,
                trees=store,
                index=self.index,
                embedder=self.embedder,
                fetcher=fetcher,
                clock=self.clock,
                sizes=Sizes(60, 20),
                missing_page=missing,
            )

        return Round(
            site,
            trees=store,
            fetcher=fetcher,
            indexer=indexer,
            clock=self.clock,
            guard=Guard(),
            workers=4,
            accept=accept,
            since=since,
            chance=random.Random(1),
            progress=progress,
        )

    async def states(self, site: Site) -> dict[str, PageState]:
        return {state.key: state async for state in self.trees.scan(site.name)}

    async def live(self, site: Site) -> set[str]:
        """The last parts of the live pages' keys."""
        return {key.rsplit("/", 1)[1] for key, state in (await self.states(site)).items() if state.state == "live"}


@asynccontextmanager
async def fetcher_of(site: Site) -> AsyncIterator[FolderFetcher | HttpFetcher]:
    if site.is_folder:
        async with FolderFetcher(site) as folder:
            yield folder
    else:
        async with HttpFetcher(site, user_agent="ritbot/test", sleep=no_rest) as web:
            yield web


async def no_rest(seconds: float) -> None:
    """Retries come at once."""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    embedder = HashingEmbedder()
    async with (
        SqliteTreeStore(tmp_path / "trees.sqlite") as trees,
        EdgeChunkIndex(tmp_path / "chunks", embedder.dimensions) as index,
    ):
        yield Bench(trees, index, embedder, TickingClock())


@pytest.fixture
async def docs() -> AsyncIterator[DocSite]:
    async with DocSite() as server:
        yield server


def write(folder: Path, **pages: str) -> Site:
    folder.mkdir(exist_ok=True)
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(html(name, body), encoding="utf-8")
    return Site("docs", str(folder))


def many(count: int) -> dict[str, str]:
    return {f"p{n}": f"<p>This is page number {n}.</p>" for n in range(count)}


async def test_a_folder_is_indexed_and_an_unchanged_one_costs_nothing(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(7))
    first, second = await bench.round(site), await bench.round(site)
    assert (first.counts["new"], first.embedded, first.finished) == (7, 7, True)
    assert (second.counts["unchanged"], second.embedded) == (7, 0)


async def test_one_edited_section_embeds_that_section_only(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", a="<p>One.</p><h2>B</h2><p>Two.</p><h2>C</h2><p>Three.</p>", b="<p>Other.</p>")
    await bench.round(site)
    write(tmp_path / "html", a="<p>One.</p><h2>B</h2><p>Two, edited.</p><h2>C</h2><p>Three.</p>")
    summary = await bench.round(site)
    assert (summary.counts["changed"], summary.counts["unchanged"], summary.embedded) == (1, 1, 1)


async def test_a_page_that_left_the_folder_leaves_no_chunk(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(3))
    await bench.round(site)
    (tmp_path / "html" / "p1.html").unlink()
    summary = await bench.round(site)
    assert [reason for _, reason in summary.gone] == ["no longer in the folder"]
    assert await bench.live(site) == {"p0.html", "p2.html"}
    assert await bench.index.count() == 2


async def test_a_renamed_file_keeps_its_ids_and_embeds_nothing(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(3))
    await bench.round(site)
    old = next(key for key in await bench.states(site) if key.endswith("p1.html"))
    before = await bench.trees.get(old)
    (tmp_path / "html" / "p1.html").rename(tmp_path / "html" / "zz-much-longer-name.html")
    summary = await bench.round(site)
    after = await bench.trees.get(old.replace("p1.html", "zz-much-longer-name.html"))
    assert before is not None
    assert before.record.page is not None
    assert after is not None
    assert after.record.page is not None
    assert [n.id for n in after.record.page.nodes] == [n.id for n in before.record.page.nodes]
    assert (summary.embedded, len(summary.gone)) == (0, 1)


async def test_many_renamed_files_are_no_loss(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(12))
    await bench.round(site)
    for n in range(12):
        (tmp_path / "html" / f"p{n}.html").rename(tmp_path / "html" / f"renamed-{n}.html")
    summary = await bench.round(site)
    assert (summary.held_back, summary.embedded, len(summary.gone)) == ([], 0, 12)
    assert await bench.live(site) == {f"renamed-{n}.html" for n in range(12)}


async def test_a_page_that_the_settings_leave_out_now_goes(bench: Bench, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a>")
    docs.pages.update({f"/{n}": html(n, f"<p>Page {n}.</p>") for n in "ab"})
    await bench.round(Site("docs", docs.url("/"), allow_private=True))
    narrowed = Site("docs", docs.url("/"), allow_private=True, exclude=("/b$",))
    summary = await bench.round(narrowed)
    assert [reason for _, reason in summary.gone] == ["no longer part of the site"]
    assert await bench.live(narrowed) == {"", "a"}


async def test_a_page_over_the_size_limit_is_skipped_with_the_reason(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", a="<p>Small.</p>", b="<p>" + "large " * 2_000 + "</p>")
    summary = await bench.round(replace(site, max_bytes=5_000))
    assert (summary.counts["new"], summary.skipped["too_large"], summary.failed) == (1, 1, [])


async def test_links_of_a_nofollow_page_are_not_followed(bench: Bench, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>", head="<meta name=robots content=nofollow>")
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    site = Site("docs", docs.url("/"), allow_private=True)
    await bench.round(site)
    assert await bench.live(site) == {""}


async def test_when_many_pages_would_go_nothing_goes_until_it_is_accepted(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(20))
    await bench.round(site)
    for n in range(6):
        (tmp_path / "html" / f"p{n}.html").unlink()
    held = await bench.round(site)
    assert (len(held.held_back), held.gone) == (6, [])
    assert await bench.index.count() == 20
    accepted = await bench.round(site, accept=True)
    assert (len(accepted.gone), accepted.held_back) == (6, [])
    assert await bench.index.count() == 14


async def test_up_to_five_pages_may_go_whatever_their_share(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(6))
    await bench.round(site)
    for n in range(5):
        (tmp_path / "html" / f"p{n}.html").unlink()
    assert len((await bench.round(site)).gone) == 5


async def test_an_emptied_folder_is_an_error_and_removes_nothing(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(3))
    await bench.round(site)
    for path in (tmp_path / "html").iterdir():
        path.unlink()
    with pytest.raises(SiteUnusable):
        await bench.round(site)
    assert await bench.index.count() == 3


async def test_pages_that_are_not_indexed_are_counted_by_reason(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", a="<p>Text.</p>")
    (tmp_path / "html" / "b.html").write_text("<meta name=robots content=noindex><h1>B</h1><p>x</p>", encoding="utf-8")
    (tmp_path / "html" / "c.html").write_text("", encoding="utf-8")
    summary = await bench.round(site)
    assert summary.counts["new"] == 1
    assert summary.skipped["noindex"] == 1
    assert sum(summary.skipped.values()) == 2


async def test_a_website_is_followed_by_its_links(bench: Bench, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>")
    docs.pages["/a"] = html("A", "<p>Page a.</p><a href='/b#x'>b</a><a href='https://elsewhere.test/'>out</a>")
    docs.pages["/b"] = html("B", "<p>Page b.</p>")
    site = Site("docs", docs.url("/"), allow_private=True)
    summary = await bench.round(site)
    assert (summary.counts["new"], summary.failed) == (3, [])


async def test_a_page_that_answers_404_goes_and_one_that_fails_stays(bench: Bench, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a><a href='/b'>b</a><a href='/c'>c</a>")
    docs.pages.update({f"/{n}": html(n, f"<p>Page {n}.</p>") for n in "abc"})
    site = Site("docs", docs.url("/"), allow_private=True)
    await bench.round(site)
    docs.pages["/a"] = status(404)
    docs.pages["/b"] = status(503)
    docs.pages["/"] = html("Home", "<p>Start.</p>")
    summary = await bench.round(site)
    assert [key for key, _ in summary.gone] == [docs.url("/a")]
    assert [url for url, _ in summary.failed] == [docs.url("/b")]
    assert await bench.live(site) == {"", "b", "c"}


async def test_a_passing_failure_is_tried_again(bench: Bench, docs: DocSite) -> None:
    fine = html("Home", "<p>Start.</p>")
    docs.pages["/"] = fails_first(2, status(503), status(200, fine))
    summary = await bench.round(Site("docs", docs.url("/"), allow_private=True))
    assert (summary.counts["new"], summary.failed) == (1, [])


async def test_a_moved_page_keeps_its_ids_and_embeds_nothing(bench: Bench, docs: DocSite) -> None:
    body = html("Guide", "<p>The guide.</p><h2 id='x'>Part</h2><p>The part.</p>")
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/old'>guide</a>")
    docs.pages["/old"] = body
    site = Site("docs", docs.url("/"), allow_private=True)
    await bench.round(site)
    before = await bench.trees.get(docs.url("/old"))
    docs.pages["/old"] = redirect("/new", 301)
    docs.pages["/new"] = body
    summary = await bench.round(site)
    after = await bench.trees.get(docs.url("/new"))
    assert before is not None
    assert before.record.page is not None
    assert after is not None
    assert after.record.page is not None
    assert [n.id for n in after.record.page.nodes] == [n.id for n in before.record.page.nodes]
    assert (summary.counts["moved"], summary.embedded, summary.gone) == (1, 0, [])
    assert (await bench.states(site))[docs.url("/old")].target == docs.url("/new")


async def test_a_redirect_to_where_nothing_is_counts_as_gone(bench: Bench, docs: DocSite) -> None:
    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/a'>a</a>")
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    site = Site("docs", docs.url("/"), allow_private=True)
    await bench.round(site)
    docs.pages["/a"] = redirect("/error", 302)
    docs.pages["/error"] = html("Page not found", "<p>Sorry, this page does not exist.</p>")
    summary = await bench.round(site)
    assert [key for key, _ in summary.gone] == [docs.url("/a")]
    assert await bench.live(site) == {""}


async def test_what_the_site_answers_for_any_address_is_never_a_page(bench: Bench, docs: DocSite) -> None:
    lost = html("Oops", "<p>We looked everywhere for what you asked us to find and there was none of it at all.</p>")

    docs.pages["/"] = html("Home", "<p>Start.</p><a href='/gone'>x</a>")
    docs.pages["/gone"] = lost
    site = Site("docs", docs.url("/"), allow_private=True)
    async with fetcher_of(site) as fetcher:
        probe = bench.make(site, fetcher)
        name = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=24))
        docs.pages[f"/{name}.html"] = lost
        summary = await probe.run()
    assert summary.skipped["soft_404"] == 1
    assert await bench.live(site) == {""}


async def test_an_interrupted_round_goes_on_where_it_was(bench: Bench, tmp_path: Path) -> None:
    site = write(tmp_path / "html", **many(30))
    began = bench.clock.now()
    async with fetcher_of(site) as fetcher:
        stopping: list[asyncio.Task[RoundSummary]] = []

        def stop_after_five(summary: RoundSummary) -> None:
            if summary.done == 5:
                stopping[0].cancel()

        stopped = bench.make(site, fetcher, progress=stop_after_five)
        stopping.append(asyncio.create_task(stopped.run()))
        with pytest.raises(asyncio.CancelledError):
            await stopping[0]
    assert not stopped.summary.finished
    done = len(await bench.live(site))
    rest = await bench.round(site, since=began)
    assert 5 <= done < 30
    assert rest.counts["handled before"] == done
    assert rest.counts["new"] == 30 - done
    assert rest.gone == []
    assert len(await bench.live(site)) == 30


async def test_a_store_that_fails_ends_the_round_with_its_own_error(bench: Bench, tmp_path: Path) -> None:
    class Failing:
        def __getattr__(self, name: str) -> object:
            return getattr(bench.trees, name)

        async def put(self, record: object, expected: object) -> str:
            raise StoreUnavailable("the disk is full")

    site = write(tmp_path / "html", **many(3))
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await bench.round(site, trees=Failing())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("going", "live", "holds"), [(5, 10, False), (6, 60, False), (6, 59, True), (0, 0, False), (6, 0, True)]
)
def test_the_guard_holds_beyond_both_its_bounds(going: int, live: int, holds: bool) -> None:
    assert Guard().holds(going, live) is holds
