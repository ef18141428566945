"""From a change of the site to a chunk that a search finds, on both columns in one run.

    python -m tests.bench.bench_events            # PAGES=100 EDITS=20 by the environment

Watcher and indexer run in this process with the pauses that `ritbot` has by default, and with the real embedding model;
Kafka and OpenSearch are real, Qdrant is the stand-in of tests/fakes. Memory is that of the commands as processes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from deploy.wiring.stores import SystemClock
from ingest.embedding.minilm import MiniLMEmbedder
from ingest.events.announce import Announcer, to_log
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import PAGES
from ingest.indexing.indexer import Indexer
from ingest.indexing.indexers import Indexers
from ingest.indexing.page_reader import PageReader
from ingest.indexing.parse_process import ParseProcess
from ingest.indexing.service import INDEXER_GROUP, Attempts, IndexerService
from ingest.model import Site
from ingest.ports import ChunkIndex, EventLog, Fetcher, TreeStore, Vector
from ingest.sites.fetch import HttpFetcher
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from ingest.watch.watcher import SiteWatcher
from tests.bench.memory import memory
from tests.fakes.docsite import DocSite
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.site import html
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch as Node

COUNT = int(os.environ.get("PAGES", "100"))
EDITS = int(os.environ.get("EDITS", "20"))
SECTIONS = 8
_WORDS = (
    "anchor broker cluster delta engine format gateway header index journal kernel ledger module node offset".split()
)
_GLANCE = 0.005


@dataclass(slots=True)
class Pages:
    """The site: `texts` by page and section, served anew by `publish`."""

    docs: DocSite
    texts: list[list[str]]
    bar: int = 0

    def publish(self) -> None:
        for number in range(len(self.texts)):
            self.docs.pages[f"/p{number}"] = self._html(number)
        listed = "\n".join(self.docs.url(f"/p{number}") for number in range(len(self.texts)))
        self.docs.pages["/sitemap.txt"] = listed

    def _html(self, number: int) -> str:
        parts = "".join(f"<h2 id='s{at}'>{text}" for at, text in enumerate(self.texts[number]))
        text = html(f"Page {number}", parts)
        return text.replace("<body>", f"<body><nav>Bar {self.bar}: <a href='/p0'>home</a></nav>")


def new_pages(docs: DocSite) -> Pages:
    chance = random.Random(1)

    def section(page: int, at: int) -> str:
        return f"Part {at} of {page}</h2><p>{' '.join(chance.choices(_WORDS, k=70))}.</p>"

    return Pages(docs, [[section(page, at) for at in range(SECTIONS)] for page in range(COUNT)])


class Counting:
    """The embedder; `inputs` counts what it embedded."""

    def __init__(self, inner: MiniLMEmbedder) -> None:
        self._inner = inner
        self.inputs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.inputs += len(texts)
        return await self._inner.embed(texts)


class Stamped:
    """The log; `sent_at` says when the last event was appended."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.sent_at = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        self.sent_at = time.perf_counter()
        await self._log.append(topic, key, value)


@dataclass(slots=True)
class Bench:
    """One column at work: watcher and service run."""

    pages: Pages
    trees: TreeStore
    index: ChunkIndex
    events: Stamped
    embedder: Counting
    watcher: SiteWatcher
    service: IndexerService

    async def published(self, done: Callable[[], Awaitable[bool]]) -> float:
        """Seconds from the webhook's "all" until it is so and nothing is left to do."""
        self.pages.publish()
        began = time.perf_counter()
        await self.watcher.ask()
        await until(done)
        seconds = time.perf_counter() - began
        await until(self.idle)
        return seconds

    async def idle(self) -> bool:
        return bool(await self.events.lag(PAGES, INDEXER_GROUP) == 0)

    async def all_indexed(self) -> bool:
        return sum(self.service.totals.outcomes.values()) >= COUNT

    async def edited(self, page: int, word: str, *, heading: bool = False) -> tuple[float, float, int]:
        """Seconds from the webhook and from the event until a search finds the new word; inputs embedded for it."""
        before = self.embedder.inputs
        text = self.pages.texts[page][0]
        self.pages.texts[page][0] = f"{word} {text}" if heading else text.replace("<p>", f"<p>{word} ")
        self.pages.publish()
        called = time.perf_counter()
        await self.watcher.ask([self.pages.docs.url(f"/p{page}")])
        await until(partial(self.finds, word))
        found = time.perf_counter()
        await until(self.idle)
        return found - called, found - self.events.sent_at, self.embedder.inputs - before

    async def finds(self, word: str) -> bool:
        """`word` must be a term as it is."""
        return bool(await self.index.words([word], 1))


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    while not await check():  # noqa: ASYNC110 - what is waited for is in other processes
        await asyncio.sleep(_GLANCE)


async def measure(bench: Bench) -> dict[str, str]:
    fetched = bench.pages.docs.requests
    first = await bench.published(bench.all_indexed)
    chunks = bench.embedder.inputs

    async def seen_again() -> bool:
        return sum(seen.path.startswith("/p") for seen in fetched) >= COUNT

    republished = []
    for _ in range(2):  # the same bytes, then another navigation bar
        fetched.clear()
        republished.append(await bench.published(seen_again))
        bench.pages.bar += 1
    of_bar = bench.embedder.inputs - chunks
    edits = [await bench.edited(n % COUNT, f"zebra{n}") for n in range(EDITS)]
    renames = [await bench.edited(n % COUNT, f"yak{n}", heading=True) for n in range(EDITS // 4)]
    return {
        f"first index of {COUNT} pages, {chunks} chunks": f"{COUNT / first:.1f} pages/s",
        "the same pages again": f"{COUNT / republished[0]:.1f} pages/s",
        "all pages with a new navigation bar": f"{COUNT / republished[1]:.1f} pages/s",
        "webhook -> searchable": spread([edit[0] for edit in edits]),
        "event -> searchable": spread([edit[1] for edit in edits]),
        "embeddings for an edited section": f"{statistics.mean(edit[2] for edit in edits):g}",
        "embeddings for a renamed heading": f"{statistics.mean(rename[2] for rename in renames):g}",
        "embeddings for a new navigation bar": str(of_bar),
    }


def spread(seconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return f"p50 {statistics.median(seconds):.2f} s, p95 {cuts[18]:.2f} s"


@asynccontextmanager
async def at_work(trees: TreeStore, index: ChunkIndex, log: EventLog, embedder: Counting) -> AsyncIterator[Bench]:
    clock, events = SystemClock(), Stamped(log)
    async with DocSite() as docs, ParseProcess() as parser, AsyncExitStack() as stack:
        pages = new_pages(docs)
        site = Site("bench", docs.url("/"), sitemap=docs.url("/sitemap.txt"), allow_private=True, obey_robots=False)

        def open_fetcher(site: Site) -> HttpFetcher:
            return HttpFetcher(site, user_agent="ritbot/bench")

        def make(site: Site, fetcher: Fetcher) -> Indexer:
            sizes = Sizes.fit(embedder.window, 160, 64)
            return Indexer(
                site,
                trees=trees,
                index=index,
                embedder=embedder,
                reader=PageReader(site, fetcher, parser, chance=random.Random()),
                clock=clock,
                sizes=sizes,
            )

        indexers = Indexers({site.name: site}, make=make, open_fetcher=open_fetcher, clock=clock)
        await stack.enter_async_context(indexers)
        announcer = Announcer(trees, to_log(log), clock)
        service = IndexerService(log, indexers.handle, announcer=announcer, attempts=Attempts(trees), clock=clock)
        watcher = SiteWatcher(
            site,
            trees=trees,
            log=events,
            open_fetcher=open_fetcher,
            parser=parser,
            clock=clock,
            pace=Pace(),
            guard=Guard(),
        )
        pages.publish()
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(service.run())
            watching = group.create_task(watcher.run())
            yield Bench(pages, trees, index, events, embedder, watcher, service)
            watching.cancel()
            service.stop()
            await serving


async def embedded(folder: Path, model: MiniLMEmbedder) -> dict[str, str]:
    embedder = Counting(model)
    async with (
        SqliteTreeStore(folder / "trees.sqlite") as trees,
        EdgeChunkIndex(folder / "chunks", model.dimensions) as index,
        SqliteEventLog(folder / "events.sqlite", SystemClock()) as log,
        at_work(trees, index, log, embedder) as bench,
    ):
        return await measure(bench)


async def cluster(kafka: Kafka, node: Node, qdrant: QdrantServer, model: MiniLMEmbedder) -> dict[str, str]:
    embedder = Counting(model)
    async with (
        OpenSearch(node.url) as server,
        OpenSearchTreeStore(server, "bench") as trees,
        OpenSearchWords(server, "bench") as words,
        QdrantVectors(qdrant.url, model.dimensions, "bench") as vectors,
        SplitChunkIndex(vectors, words) as index,
        KafkaEventLog(Connection((kafka.address,), prefix="bench.")) as log,
        at_work(trees, index, log, embedder) as bench,
    ):
        return await measure(bench)


async def main() -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        for part in ("data", "kafka", "qdrant", "memory"):
            (folder / part).mkdir()
        kafka = stack.enter_context(Kafka(folder / "kafka"))
        node = stack.enter_context(Node())
        qdrant = stack.enter_context(QdrantServer(folder / "qdrant"))
        async with MiniLMEmbedder() as model:
            await model.embed_query("warm")
            columns = [await embedded(folder / "data", model), await cluster(kafka, node, qdrant, model)]
        print(f"| {'':44} | {'embedded':24} | {'Kafka + OpenSearch':24} |")
        print(f"|{'-' * 46}|{'-' * 26}|{'-' * 26}|")
        for what in columns[0]:
            print(f"| {what:44} | {columns[0][what]:24} | {columns[1][what]:24} |")
        for role, megabytes in (await memory(folder / "memory", kafka, node, qdrant)).items():
            print(f"memory of {role}: {megabytes} MB")


if __name__ == "__main__":
    structlog.configure(
        logger_factory=structlog.ReturnLoggerFactory(), processors=[structlog.processors.JSONRenderer()]
    )
    logging.disable(logging.CRITICAL)
    sys.exit(asyncio.run(main()))
