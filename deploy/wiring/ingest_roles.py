"""The two roles that bring documents in, the watchers of the sites and the indexer, over what a process has opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from starlette.routing import BaseRoute

from deploy.serving.docs_hook import DocsHook
from deploy.serving.health import Check
from deploy.serving.roles import Role
from deploy.settings.root import Settings
from deploy.wiring.stores import Stores, open_fetcher
from ingest.events.announce import Announcer, tell_nodes, to_log
from ingest.events.topics import PAGES
from ingest.indexing.indexer import Indexer
from ingest.indexing.indexers import Indexers
from ingest.indexing.service import INDEXER_GROUP, Attempts, IndexerService, Totals
from ingest.model import Site
from ingest.ports import Clock, EventLog, Fetcher, PageParser, TreeStore
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace, site_key
from ingest.watch.watcher import SiteWatcher

DEFAULT_PACE = Pace()


class Watching:
    """The watchers of `sites`, each a role. They look at sites, at this pace, and announce what changed."""

    def __init__(
        self,
        settings: Settings,
        sites: Sequence[Site],
        *,
        trees: TreeStore,
        events: EventLog,
        parser: PageParser,
        clock: Clock,
        pace: Pace = DEFAULT_PACE,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._make = partial(
            SiteWatcher,
            trees=trees,
            log=events,
            open_fetcher=open_fetcher,
            parser=parser,
            clock=clock,
            pace=pace,
            guard=Guard(settings.index.guard_share),
            every=settings.watch.every,
            workers=settings.index.concurrency,
        )
        self._watchers = {site.name: self._make(site) for site in sites}
        self._asks = {name: watcher.ask for name, watcher in self._watchers.items()}
        self._added: asyncio.Queue[SiteWatcher] = asyncio.Queue()

    def add(self, site: Site) -> None:
        """Watch this site, too, from now on: in the last of `roles`."""
        if site.name not in self._watchers:
            watcher = self._watchers[site.name] = self._make(site)
            self._asks[site.name] = watcher.ask
            self._added.put_nowait(watcher)

    def roles(self) -> list[Role]:
        """One a site, and one for those that are added."""
        own = [Role(f"watcher of {name}", watcher.run) for name, watcher in self._watchers.items()]
        return [*own, Role("watchers of added sites", self._watch_added)]

    async def _watch_added(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                watcher = await self._added.get()
                group.create_task(watcher.run(), name=f"watcher of {watcher.site.name}")

    def routes(self) -> Sequence[BaseRoute]:
        """Where a publishing pipeline may call, if a secret is set."""
        secret = self._settings.http.hook_secret
        if secret is None:
            return ()
        return DocsHook(secret.get_secret_value(), self._asks, self._clock.now).app().routes


@asynccontextmanager
async def open_indexing(stores: Stores, events: EventLog, sites: Mapping[str, Site]) -> AsyncIterator[IndexerService]:
    """The service that brings the stores in step with the events of `sites`."""

    def make(site: Site, fetcher: Fetcher) -> Indexer:
        return stores.indexer(site, stores.reader(site, fetcher), tell_nodes(events))

    async with Indexers(sites, make=make, open_fetcher=open_fetcher, clock=stores.clock) as indexers:
        yield IndexerService(
            events,
            indexers.handle,
            announcer=Announcer(stores.trees, to_log(events), stores.clock),
            attempts=Attempts(stores.trees),
            clock=stores.clock,
            parallel=stores.settings.index.concurrency,
        )


def indexer_role(service: IndexerService) -> Role:
    return Role("indexer", service.run, service.stop)


def indexing_checks(trees: TreeStore, events: EventLog, stores: Stores | None = None) -> dict[str, Check]:
    """What these roles need: of a watcher alone, the trees and the log."""
    found: dict[str, Check] = {
        "page trees": lambda: trees.watched(site_key("any")),
        "event log": lambda: events.lag(PAGES, INDEXER_GROUP),
    }
    return found | ({"search index": stores.index.count} if stores else {})


def told(totals: Totals) -> str:
    """What the indexer did, as a sentence."""
    done = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.outcomes.items())) or "nothing changed"
    return f"Stopped: {done}; {totals.embedded} embedded, {totals.dead} given up."
