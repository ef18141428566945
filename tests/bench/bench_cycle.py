"""What a watch cycle costs where 100 pages are due: of 1,000 pages, and of 100,000, on both columns' tree stores.

    python -m tests.bench.bench_cycle             # PAGES=100000 DUE=100 by the environment

The pages' server answers that nothing changed; what is measured is what ritbot reads and writes. Beside it, what a cycle
costs in which the site is listed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from ingest.concurrency import for_each
from ingest.events.announce import Announcer
from ingest.indexing.page_reader import PageReader
from ingest.model import PageEvent, PageRecord, Site
from ingest.ports import Fetched, TreeStore, WatchState
from ingest.stores.cluster.opensearch import BulkItem, OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore, document_id, source_of, watch_source
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace, site_key
from ingest.watch.watch_cycle import WatchCycle
from tests.contract.records import BASE, live
from tests.fakes.site import ParseHere
from tests.servers.opensearch import OpenSearch as Node

MANY = int(os.environ.get("PAGES", "100000"))
FEW = MANY // 100
DUE = int(os.environ.get("DUE", "100"))
CYCLES = 3
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


class FixedClock:
    def now(self) -> datetime:
        return NOW


class NothingChanged:
    """A site's server; its sitemap lists `count` pages."""

    def __init__(self, count: int) -> None:
        self._listed = "\n".join(f"{BASE}p{n}" for n in range(count)).encode()

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        if url.endswith("/sitemap.txt"):
            return Fetched(url, 200, self._listed, "text/plain")
        return Fetched(url, 304 if etag else 404, b"")


class Counted:
    """The trees; `calls` by method, `states` that streams have given."""

    def __init__(self, trees: TreeStore) -> None:
        self._trees = trees
        self.calls: Counter[str] = Counter()
        self.given = 0

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        found = getattr(self._trees, name)
        return self._counting(found) if name in ("scan", "watching", "due") else found

    def _counting(self, stream: Any) -> Any:
        async def counting(*arguments: Any) -> AsyncIterator[Any]:
            async for state in stream(*arguments):
                self.given += 1
                yield state

        return counting


def contents(count: int) -> list[tuple[PageRecord, WatchState]]:
    """Pages of a site, each with when it is due; the due ones spread over all."""
    rows = []
    for n in range(count):
        record = live(f"p{n}")
        assert record.page is not None
        due_at = NOW if n % (count // DUE) == 0 else LATER
        seen = WatchState(record.key, "docs", etag="e", lastmod="", full_at=NOW, fetched_at=NOW)
        rows.append((record, replace(seen, hash=record.page.hash, due_at=due_at)))
    return rows


async def cycle(trees: TreeStore, count: int, *, listing: bool = False) -> tuple[float, Counted]:
    site, counted, fetcher = Site("docs", BASE, sitemap=f"{BASE}sitemap.txt"), Counted(trees), NothingChanged(count)

    async def send(event: PageEvent) -> None:
        raise AssertionError(f"nothing changed, and yet {event.key} is announced")

    began = time.perf_counter()
    summary = await WatchCycle(
        site,
        trees=counted,
        fetcher=fetcher,
        reader=PageReader(site, fetcher, ParseHere()),
        announcer=Announcer(trees, send, FixedClock()),
        clock=FixedClock(),
        pace=Pace(),
        guard=Guard(),
        chance=random.Random(1),
        listing=listing,
    ).run()
    assert summary.counts == {"same": DUE}, summary.counts
    return time.perf_counter() - began, counted


async def measure(trees: TreeStore, count: int, column: str) -> dict[str, float]:
    """Seconds and calls of a cycle; the best of a few."""
    whole = WatchState(site_key("docs"), "docs", sent="sitemap", full_at=NOW, due_at=LATER)
    due = [state for _, state in contents(count) if state.due_at == NOW]
    found: list[tuple[float, Counted]] = []
    for number in range(CYCLES + 1):
        await trees.watch(whole)
        for state in due:
            await trees.watch(state)
        listing = number == CYCLES
        seconds, counted = await cycle(trees, count, listing=listing)
        if listing:
            print(f"{column}, {count:,} pages, listed: {seconds:.2f} s, {counted.given:,} states read", flush=True)
        else:
            found.append((seconds, counted))
    seconds, counted = min(found, key=lambda each: each[0])
    calls = counted.calls.total()
    print(
        f"{column}, {count:,} pages, {DUE} due: {seconds:.2f} s, {counted.given:,} states read, {calls:,} calls",
        flush=True,
    )
    return {"seconds": seconds, "states": counted.given, "calls": calls}


@asynccontextmanager
async def sqlite(count: int) -> AsyncIterator[TreeStore]:
    """In memory: making 100,000 pages durable one by one takes a while, and is not what is measured."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        async with SqliteTreeStore(Path(folder) / "trees.sqlite") as trees:
            for record, state in contents(count):
                await trees.put(record, None)
                await trees.watch(state)
            yield trees


@asynccontextmanager
async def opensearch(node: Node, count: int) -> AsyncIterator[TreeStore]:
    name = f"cycle-{count}"
    async with OpenSearch(node.url, patience=60.0) as server, OpenSearchTreeStore(server, name) as trees:
        rows = contents(count)

        async def write(start: int) -> None:
            batch = rows[start : start + 1_000]
            await server.bulk(f"{name}-pages", [BulkItem(document_id(r.key), source_of(r)) for r, _ in batch])
            await server.bulk(f"{name}-watch", [BulkItem(document_id(s.key), watch_source(s)) for _, s in batch])

        await for_each(range(0, count, 1_000), write, 2)
        yield trees


async def main() -> None:
    with Node() as node:
        for column, opened in (("SQLite", sqlite), ("OpenSearch", partial(opensearch, node))):
            figures = []
            for count in (FEW, MANY):
                async with opened(count) as trees:
                    figures.append(await measure(trees, count, column))
            few, many = figures
            ratios = ", ".join(f"{what} {many[what] / few[what]:.2f}" for what in few)
            print(f"{column}, {MANY:,} pages to {FEW:,}, {DUE} due in both: {ratios} times", flush=True)


if __name__ == "__main__":
    structlog.configure(
        logger_factory=structlog.ReturnLoggerFactory(), processors=[structlog.processors.JSONRenderer()]
    )
    logging.disable(logging.CRITICAL)
    sys.exit(asyncio.run(main()))
