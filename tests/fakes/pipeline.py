"""A whole pipeline in one process: a site, its watcher, the event log, the indexer service, the stores.

async with pipeline(site) as pipe:
    await pipe.settle()                     # one cycle of the watcher, then the service until nothing is left
    pipe.clock.advance(hours=2)             # pages become due
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from deploy.wiring.stores import SystemClock
from ingest.events.announce import Announcer, tell_nodes, to_log
from ingest.events.codec import DeadLetter, load_dead, load_event, load_nodes
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import NODES, PAGES, dead_topic
from ingest.events.workers import WorkerPolicy
from ingest.indexing.indexer import Indexer
from ingest.indexing.indexers import Indexers
from ingest.indexing.page_reader import PageReader
from ingest.indexing.service import INDEXER_GROUP, Attempts, IndexerService
from ingest.model import NodesEvent, Page, PageEvent, PageRecord, Site
from ingest.ports import ChunkIndex, Fetcher, TreeStore
from ingest.sites.fetch import HttpFetcher
from ingest.sites.folder import FolderFetcher
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from ingest.watch.crawl import Crawl, CrawlSummary
from ingest.watch.cycle_summary import CycleSummary, Everything
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from ingest.watch.watcher import SiteWatcher
from tests.fakes.chunk_index import HeldChunks
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import PagesFetcher, ParseHere

SOON = WorkerPolicy(attempts=3, pause=0.01, longest=0.02, grace=5.0)
PACE = Pace(first=600, soonest=300, slowest=86_400, full=604_800, misses=3, missing_for=86_400, jitter=0.0)


BASE = "https://docs.example.test/"
Pages = dict[str, str | int | tuple[int, str]]
_MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


class MovingClock:
    """A millisecond later at each look, and later still when told."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    def advance(self, **by: float) -> None:
        self._now += timedelta(**by)


async def no_rest(seconds: float) -> None:
    """Retries of the fetcher come at once."""


def open_fetcher(site: Site) -> AbstractAsyncContextManager[Fetcher]:
    if site.is_folder:
        return FolderFetcher(site)
    plain = httpx.AsyncHTTPTransport(verify=False, trust_env=False)  # reading all authorities takes half of a cycle
    return HttpFetcher(site, user_agent="ritbot/test", sleep=no_rest, transport=plain)


@dataclass
class Pipeline:
    """The parts; `trees` and `index` are what the indexer is given, and may be wrapped."""

    site: Site
    trees: TreeStore
    index: ChunkIndex
    events: SqliteEventLog
    embedder: HashingEmbedder
    open_fetcher: Callable[[Site], AbstractAsyncContextManager[Fetcher]] = open_fetcher
    clock: MovingClock = field(default_factory=MovingClock)
    pace: Pace = PACE
    patience: WorkerPolicy = SOON
    parallel: int = 4

    def watcher(self, every: float = 300.0) -> SiteWatcher:
        return SiteWatcher(
            self.site,
            trees=self.trees,
            log=self.events,
            open_fetcher=self.open_fetcher,
            parser=ParseHere(),
            clock=self.clock,
            pace=self.pace,
            guard=Guard(),
            every=every,
            chance=random.Random(1),
            workers=4,
        )

    def indexer(
        self, site: Site, reader: PageReader, wrap: Callable[[Any], Any] = lambda store: store, **more: Any
    ) -> Indexer:
        return Indexer(
            site,
            trees=wrap(self.trees),
            index=wrap(self.index),
            embedder=self.embedder,
            reader=reader,
            clock=self.clock,
            sizes=Sizes(60, 20),
            tell=tell_nodes(wrap(self.events)),
            **more,
        )

    def indexers(self, wrap: Callable[[Any], Any] = lambda store: store) -> Indexers:
        def make(site: Site, fetcher: Fetcher) -> Indexer:
            return self.indexer(site, PageReader(site, fetcher, ParseHere(), chance=random.Random(1)), wrap)

        sites = {self.site.name: self.site}
        return Indexers(sites, make=make, open_fetcher=self.open_fetcher, clock=self.clock)

    def service(self, indexers: Indexers) -> IndexerService:
        return IndexerService(
            self.events,
            indexers.handle,
            announcer=Announcer(self.trees, to_log(self.events), self.clock),
            attempts=Attempts(self.trees),
            clock=SystemClock(),
            parallel=self.parallel,
            patience=self.patience,
            chance=random.Random(1),
        )

    async def cycle(self) -> CycleSummary:
        return await self.watcher().cycle()

    async def work(self, wrap: Callable[[Any], Any] = lambda store: store) -> IndexerService:
        """Run the service until nothing is left to do. What ends it early is raised."""
        async with self.indexers(wrap) as indexers:
            service = self.service(indexers)
            running = asyncio.create_task(service.run())
            while await self.events.lag(PAGES, INDEXER_GROUP):
                if (await asyncio.wait([running], timeout=0.01))[0]:
                    break
            service.stop()
            await running
        return service

    async def crawl(
        self,
        *,
        rebuild: bool = False,
        progress: Callable[[CrawlSummary], None] = lambda summary: None,
        **everything: Any,
    ) -> CrawlSummary:
        async with self.open_fetcher(self.site) as fetcher:
            return await Crawl(
                self.site,
                trees=self.trees,
                fetcher=fetcher,
                parser=ParseHere(),
                make_indexer=partial(self.indexer, rebuild=rebuild),
                clock=self.clock,
                guard=Guard(),
                everything=Everything(**everything),
                workers=4,
                chance=random.Random(1),
                progress=progress,
            ).run()

    async def settle(self) -> CycleSummary:
        summary = await self.cycle()
        await self.work()
        return summary

    # --- what is there now

    async def record(self, url: str) -> PageRecord:
        stored = await self.trees.get(page_key(url))
        assert stored is not None, f"nothing is known of {url}"
        return stored.record

    async def page(self, url: str) -> Page:
        record = await self.record(url)
        assert record.page is not None, f"{url} is {record.state}"
        return record.page

    async def ids(self, url: str) -> dict[str, str]:
        """Title -> node id of a live page."""
        return {node.title: node.id for node in (await self.page(url)).nodes}

    async def states(self) -> dict[str, str]:
        return {state.key: state.state async for state in self.trees.scan(self.site.name)}

    async def live(self) -> set[str]:
        """The last parts of the live pages' keys."""
        return {key.rpartition("/")[2] for key, state in (await self.states()).items() if state == "live"}

    async def sent(self) -> list[PageEvent]:
        """All events that the log holds."""
        return [load_event(record.value) async for record in self.events.read(PAGES)]

    async def told(self) -> list[NodesEvent]:
        """What became of known sections, as the log holds it."""
        return [load_nodes(record.value) async for record in self.events.read(NODES)]

    async def dead(self) -> list[DeadLetter]:
        return [load_dead(record.value) async for record in self.events.read(dead_topic(PAGES))]

    async def stray(self) -> dict[str, set[str]]:
        """By page, chunks that only one side knows: the record, or the index."""
        found: dict[str, set[str]] = {}
        for key in await self.states():
            listed = set((await self.record(key)).chunk_ids)
            if wrong := listed ^ set(await self.index.ids_of(key)):
                found[key] = wrong
        return found


@asynccontextmanager
async def pipeline(site: Site, **parts: Any) -> AsyncIterator[Pipeline]:
    """On the embedded stores, in a file system in memory where there is one: these tests would spend most of their time
    waiting for the disk, and are not about it."""
    embedder = HashingEmbedder()
    with TemporaryDirectory(dir=_MEMORY) as name:
        folder = Path(name)
        async with (
            SqliteTreeStore(folder / "trees.sqlite") as trees,
            EdgeChunkIndex(folder / "chunks", embedder.dimensions) as index,
            SqliteEventLog(folder / "events.sqlite", SystemClock()) as events,
        ):
            yield Pipeline(site, trees, index, events, embedder, **parts)


def listing(pages: Pages) -> str:
    """The sitemap of what can be read."""
    shown = [url for url, answer in pages.items() if not isinstance(answer, int) and not url.endswith(".xml")]
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in shown)}</urlset>"


@asynccontextmanager
async def small_pipeline(pages: Pages) -> AsyncIterator[Pipeline]:
    """All in memory, over pages by URL, which may change."""
    fetcher = PagesFetcher(pages)

    def opening(site: Site) -> AbstractAsyncContextManager[Any]:
        return nullcontext(fetcher)

    memory = Path(":memory:")
    async with (
        SqliteTreeStore(memory) as trees,
        SqliteEventLog(memory, SystemClock()) as events,
    ):
        index: Any = HeldChunks()
        yield Pipeline(Site("docs", BASE), trees, index, events, HashingEmbedder(), open_fetcher=opening)
