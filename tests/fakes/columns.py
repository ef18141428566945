"""The two columns of stores, each with a site that can be indexed into it, compared and looked at.

async with embedded(folder) as column:
    await column.publish({URL: html("Title", "<p>…</p>")})
    report = await column.reconciler(repair=True).run()
    await column.holds()                                    # all of the index: by page, its chunks with their vectors
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.indexing.projection import Projection
from ingest.indexing.reconcile import Reconciler
from ingest.model import PageEvent, Scope, Site
from ingest.ports import ChunkIndex, TreeStore
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import START, PagesFetcher, ParseHere, TickingClock

SITE = Site("docs", "https://docs.example.test/")
SIZES = Sizes(60, 20)
WRITES = ("put", "upsert", "delete", "watch", "reserve", "forget")

Pages = dict[str, str | int | tuple[int, str]]


class Counted:
    """A store whose writes are counted, by name. `before`: what is done, once, before any call of a method goes on."""

    def __init__(self, store: Any, before: Mapping[str, Callable[[], Awaitable[None]]] | None = None) -> None:
        self._store = store
        self._before = before or {}
        self._done: dict[str, asyncio.Future[None]] = {}
        self.writes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in WRITES and name not in self._before:
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            if name in self._before:
                if name not in self._done:
                    self._done[name] = asyncio.ensure_future(self._before[name]())
                await self._done[name]
            if name in WRITES:
                self.writes.append(name)
            return await method(*args, **kwargs)

        return call


@dataclass
class Column:
    """The parts, and what tests do with them."""

    trees: TreeStore
    index: ChunkIndex
    site: Site = SITE
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    fetcher: PagesFetcher = field(default_factory=lambda: PagesFetcher({}))
    clock: TickingClock = field(default_factory=TickingClock)

    def indexer(self, trees: Any = None, index: Any = None) -> Indexer:
        return Indexer(
            self.site,
            trees=trees or self.trees,
            index=index or self.index,
            embedder=self.embedder,
            reader=PageReader(self.site, self.fetcher, ParseHere()),
            clock=self.clock,
            sizes=SIZES,
        )

    async def publish(self, pages: Pages, indexer: Indexer | None = None) -> None:
        self.fetcher.pages.update(pages)
        for url in pages:
            key = page_key(url)
            seq = await self.trees.reserve(key, self.site.name)
            await (indexer or self.indexer()).handle(PageEvent(key, self.site.name, seq, "changed", url, START))

    def reconciler(
        self, *, trees: Any = None, index: Any = None, sites: tuple[str, ...] = ("docs",), **how: Any
    ) -> Reconciler:
        index = index or self.index
        projection = Projection(index, self.embedder, SIZES)
        return Reconciler(trees or self.trees, index, projection, dict.fromkeys(sites, "en"), **how)

    async def holds(self) -> dict[str, dict[str, tuple[str, list[float]]]]:
        """By page, its chunks with their inputs and vectors, those in the page's own site and version only."""
        found: dict[str, dict[str, tuple[str, list[float]]]] = {}
        async for key, _ in self.index.pages():
            stored = await self.trees.get(key)
            record = stored.record if stored else None
            scope = Scope(frozenset({record.site}), frozenset({record.version})) if record else Scope()
            ids = await self.index.ids_of(key, scope)
            vectors = await self.index.vectors(ids.values())
            found[key] = {
                name: (known, [round(x, 4) for x in vectors.get(known, [])]) for name, known in sorted(ids.items())
            }
        return found


@asynccontextmanager
async def embedded(folder: Path) -> AsyncIterator[Column]:
    async with (
        SqliteTreeStore(folder / "trees.sqlite") as trees,
        EdgeChunkIndex(folder / "chunks", HashingEmbedder.dimensions) as index,
    ):
        yield Column(trees, index)


@asynccontextmanager
async def cluster(opensearch: str, qdrant: str, name: str) -> AsyncIterator[Column]:
    async with (
        OpenSearch(opensearch, patience=10.0) as server,
        OpenSearchTreeStore(server, name) as trees,
        OpenSearchWords(server, name) as words,
        QdrantVectors(qdrant, HashingEmbedder.dimensions, name, patience=10.0) as vectors,
        SplitChunkIndex(vectors, words) as index,
    ):
        yield Column(trees, index)
