"""`ritbot watch`: keep the index in step with the sites until stopped. Watcher and indexer in one process, joined by
the event log in the data folder."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from rich.console import Console

from deploy.compose import Stores, SystemClock, open_fetcher, open_stores, open_trees
from deploy.known_sites import known_sites
from deploy.settings import Settings
from ingest.attempts import Attempts
from ingest.events.announce import Announcer
from ingest.events.sqlite import SqliteEventLog
from ingest.indexers import Indexers
from ingest.losses import Guard
from ingest.model import Site
from ingest.ports import EventLog
from ingest.service import IndexerService, Totals
from ingest.watch.report import accept
from ingest.watch.schedule import Pace
from ingest.watch.watcher import SiteWatcher


async def watch(settings: Settings, sites: Sequence[Site], console: Console) -> None:
    """Until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    for site in sites:
        known = known.with_site(site)
    async with open_stores(settings, "ritbot watch") as stores, _open_events(settings) as events:
        known.save()
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        console.print(f"Watching {', '.join(site.name for site in sites)}. Ctrl-C ends.")
        totals = await _run(stores, events, sites, stop)
    done = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.outcomes.items())) or "nothing changed"
    console.print(f"Stopped: {done}; {totals.embedded} embedded, {totals.dead} given up.")


async def _run(stores: Stores, events: EventLog, sites: Sequence[Site], stop: asyncio.Event) -> Totals:
    """Both roles side by side; if one ends by an error, so does the other."""
    settings, announcer = stores.settings, Announcer(stores.trees, events, stores.clock)
    watchers = [_watcher(stores, events, site) for site in sites]
    by_name = {site.name: site for site in sites}
    async with Indexers(by_name, make=stores.indexer, open_fetcher=open_fetcher, clock=stores.clock) as indexers:
        service = IndexerService(
            events,
            indexers.handle,
            announcer=announcer,
            attempts=Attempts(stores.trees),
            parallel=settings.index.concurrency,
        )
        serving = asyncio.create_task(service.run())
        watching = [asyncio.create_task(watcher.run()) for watcher in watchers]
        stopping = asyncio.create_task(stop.wait())
        try:
            ended, _ = await asyncio.wait({serving, stopping, *watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            service.stop()
            for task in (stopping, *watching):
                task.cancel()
            await asyncio.gather(serving, stopping, *watching, return_exceptions=True)
        for role in (serving, *watching):
            if (role in ended or role is serving) and not role.cancelled() and (error := role.exception()):
                raise error
        return service.totals


def _watcher(stores: Stores, events: EventLog, site: Site) -> SiteWatcher:
    watch, index = stores.settings.watch, stores.settings.index
    pace = Pace(
        first=watch.first,
        soonest=watch.soonest,
        slowest=watch.slowest,
        full=watch.full,
        misses=watch.misses,
        missing_for=watch.missing_for,
    )
    return SiteWatcher(
        site,
        trees=stores.trees,
        log=events,
        open_fetcher=open_fetcher,
        clock=stores.clock,
        pace=pace,
        guard=Guard(index.guard_share, index.guard_pages),
        every=watch.every,
        workers=index.concurrency,
    )


async def let_go(settings: Settings, site: str, console: Console) -> int:
    """Let the pages go that the guard holds back; the running watcher, or the next, removes them."""
    async with open_trees(settings) as trees, _open_events(settings) as events:
        keys = await accept(trees, events, SystemClock(), site)
    for key in keys:
        console.print(f"Goes: {key}", soft_wrap=True)
    console.print(f"{len(keys)} pages of {site} may go." if keys else f"Nothing of {site} is held back.")
    return 0


@asynccontextmanager
async def _open_events(settings: Settings) -> AsyncIterator[EventLog]:
    folder = settings.index.folder
    folder.mkdir(parents=True, exist_ok=True)
    async with SqliteEventLog(folder / "events.sqlite", SystemClock()) as events:
        yield events
