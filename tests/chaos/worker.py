"""A watcher, an indexer, or both in a process of their own, to be killed: the classes of ingest/ as `ritbot watch` and
`ritbot indexer` put them together, but with an embedder without a model and with short pauses, so that it is at
work within two seconds.

    python -m tests.chaos.worker COLUMN START watch|index|both

Its log goes to the standard output as JSON lines: `event_handled` for every event that the stores have, `site_watched`
after every cycle. SIGTERM ends it in good order.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from deploy.wiring.stores import SystemClock
from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.events.announce import Announcer, Tell, tell_nodes, to_log, told_nobody
from ingest.events.workers import WorkerPolicy
from ingest.indexing.indexer import Indexer
from ingest.indexing.indexers import Indexers
from ingest.indexing.page_reader import PageReader
from ingest.indexing.parse_process import ParseProcess
from ingest.indexing.service import Attempts, IndexerService
from ingest.model import Site
from ingest.ports import EventLog, Fetcher, PageParser
from ingest.sites.fetch import HttpFetcher
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from ingest.watch.watcher import SiteWatcher
from tests.chaos.columns import Column, Stores, open_events, open_stores

log = structlog.get_logger()

SITE = "docs"
EVERY = 0.3
PACE = Pace(first=0.3, soonest=0.2, slowest=0.6, full=0.5, misses=2, missing_for=0.5, window=5.0, listing_share=1.0)
ANY_LOSS = Guard(share=1.0, pages=100_000)
"""The guard would keep pages that an index made from scratch does not have."""
SOON = WorkerPolicy(attempts=100_000, pause=0.05, longest=0.5, grace=3.0)
"""So many attempts that no page is given up, however often its indexer is killed."""
_AGAIN = 0.5


def docs_site(start: str) -> Site:
    return Site(SITE, start, sitemap=f"{start}sitemap.xml", allow_private=True, obey_robots=False, timeout=5.0)


def open_fetcher(site: Site) -> HttpFetcher:
    return HttpFetcher(site, user_agent="ritbot/chaos")


def make_watcher(stores: Stores, events: EventLog, site: Site, parser: PageParser) -> SiteWatcher:
    return SiteWatcher(
        site,
        trees=stores.trees,
        log=events,
        open_fetcher=open_fetcher,
        parser=parser,
        clock=SystemClock(),
        pace=PACE,
        guard=ANY_LOSS,
        every=EVERY,
    )


def make_indexer(stores: Stores, site: Site, reader: PageReader, tell: Tell = told_nobody) -> Indexer:
    return Indexer(
        site,
        trees=stores.trees,
        index=stores.index,
        embedder=stores.embedder,
        reader=reader,
        clock=SystemClock(),
        sizes=stores.sizes,
        tell=tell,
    )


@asynccontextmanager
async def make_service(
    stores: Stores, events: EventLog, site: Site, parser: PageParser
) -> AsyncIterator[IndexerService]:
    clock = SystemClock()

    def make(site: Site, fetcher: Fetcher) -> Indexer:
        reader = PageReader(site, fetcher, parser, chance=random.Random())
        return make_indexer(stores, site, reader, tell_nodes(events))

    async with Indexers({site.name: site}, make=make, open_fetcher=open_fetcher, clock=clock) as indexers:
        yield IndexerService(
            events,
            indexers.handle,
            announcer=Announcer(stores.trees, to_log(events), clock),
            attempts=Attempts(stores.trees),
            clock=clock,
            parallel=8,
            patience=SOON,
        )


async def work(column: Column, site: Site, roles: str) -> None:
    """Until SIGTERM, or until a role fails."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(open_stores(column))
        events = await stack.enter_async_context(open_events(column))
        parser = await stack.enter_async_context(ParseProcess())
        service = await stack.enter_async_context(make_service(stores, events, site, parser))
        async with asyncio.TaskGroup() as group:
            if roles in ("index", "both"):
                group.create_task(service.run())
            if roles in ("watch", "both"):
                watching = group.create_task(make_watcher(stores, events, site, parser).run())
            await stop.wait()
            service.stop()
            if roles in ("watch", "both"):
                watching.cancel()


async def main(column: Column, start: str, roles: str) -> None:
    """Servers may be away when it starts, and another embedding model may have taken over: whoever keeps services
    running starts it again."""
    while True:
        try:
            return await work(column, docs_site(start), roles)
        except* (IndexMismatch, StoreUnavailable) as error:
            log.warning("worker_starts_again", reason=str(error.exceptions[0]))
        await asyncio.sleep(_AGAIN)


if __name__ == "__main__":
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
    )
    asyncio.run(main(Column(**json.loads(sys.argv[1])), sys.argv[2], sys.argv[3]))
