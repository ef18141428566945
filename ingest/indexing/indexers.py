"""An Indexer for each site, opened when the first event of the site comes.

What a site's indexer learned from its server (robots.txt, what it answers for pages that do not exist) gets old: after
a while the site is opened anew, and the old one is closed when its last page is done.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime, timedelta
from typing import Self

import structlog

from ingest.errors import UnknownSite
from ingest.indexing.indexer import Indexer, Outcome
from ingest.model import PageEvent, Site
from ingest.ports import Clock, Fetcher

log = structlog.get_logger()


class _Open:
    """An open site and how many pages are in its hands."""

    def __init__(self, indexer: Indexer, since: datetime, resources: AsyncExitStack) -> None:
        self.indexer = indexer
        self.since = since
        self.resources = resources
        self.in_hand = 0
        self.outdated = False


class Indexers:
    """`make` gives the Indexer of a site with its fetcher. `keep`: seconds after which a site is opened anew."""

    def __init__(
        self,
        sites: Mapping[str, Site],
        *,
        make: Callable[[Site, Fetcher], Indexer],
        open_fetcher: Callable[[Site], AbstractAsyncContextManager[Fetcher]],
        clock: Clock,
        keep: float = 3_600.0,
    ) -> None:
        self._sites = sites
        self._make = make
        self._open_fetcher = open_fetcher
        self._clock = clock
        self._keep = timedelta(seconds=keep)
        self._open: dict[str, _Open] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for site in list(self._open):
            await self._open.pop(site).resources.aclose()

    async def handle(self, event: PageEvent) -> Outcome:
        """As Indexer.handle. Raises UnknownSite, and SiteUnusable where the site cannot be opened."""
        site = await self._site(event.site)
        site.in_hand += 1
        try:
            return await site.indexer.handle(event)
        finally:
            site.in_hand -= 1
            if site.outdated and not site.in_hand:
                await site.resources.aclose()

    async def _site(self, name: str) -> _Open:
        if name not in self._sites:
            raise UnknownSite(f"there is no site called {name}; add it to the settings, or drop its events")
        async with self._opening[name]:
            there = self._open.get(name)
            if there is not None and abs(self._clock.now() - there.since) < self._keep:  # a clock may be set back
                return there
            fresh = await self._opened(self._sites[name])
            self._open[name] = fresh
            if there is not None:
                there.outdated = True
                if not there.in_hand:
                    await there.resources.aclose()
            return fresh

    async def _opened(self, site: Site) -> _Open:
        async with AsyncExitStack() as resources:
            fetcher = await resources.enter_async_context(self._open_fetcher(site))
            log.info("site_opened", site=site.name)
            return _Open(self._make(site, fetcher), self._clock.now(), resources.pop_all())
