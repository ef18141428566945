"""The watcher of a site: a tick every few minutes, and at once when someone says that something changed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import NoReturn

import structlog

from ingest.errors import IngestError, SiteUnusable
from ingest.events.announce import Announcer
from ingest.model import Site
from ingest.ports import Clock, EventLog, Fetcher, TreeStore, WatchState
from ingest.sites.scope import in_scope
from ingest.urls import page_key
from ingest.watch.files import folder_changes
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace, site_key
from ingest.watch.watch_cycle import CycleSummary, WatchCycle

log = structlog.get_logger()

_LONGEST_BACKOFF = 3_600.0


class SiteWatcher:
    """`every`: seconds between ticks. `open_fetcher` gives a new fetcher for each tick, so that robots.txt and
    certificates are read anew. Any number of watchers may watch one site."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        log: EventLog,
        open_fetcher: Callable[[Site], AbstractAsyncContextManager[Fetcher]],
        clock: Clock,
        pace: Pace,
        guard: Guard,
        every: float = 300.0,
        workers: int = 8,
        chance: random.Random | None = None,
    ) -> None:
        self.site = site
        self._trees = trees
        self._announcer = Announcer(trees, log, clock)
        self._open_fetcher = open_fetcher
        self._clock = clock
        self._pace = pace
        self._guard = guard
        self._every = every
        self._workers = workers
        self._chance = chance or random.Random()
        self._woken = asyncio.Event()

    async def tick(self) -> CycleSummary:
        """Look at what is due. A site that cannot be opened is an alert, not an error. Raises store and log errors."""
        try:
            async with self._open_fetcher(self.site) as fetcher:
                return await WatchCycle(
                    self.site,
                    trees=self._trees,
                    fetcher=fetcher,
                    announcer=self._announcer,
                    clock=self._clock,
                    pace=self._pace,
                    guard=self._guard,
                    chance=self._chance,
                    workers=self._workers,
                ).run()
        except SiteUnusable as error:
            log.warning("site_unusable", site=self.site.name, reason=str(error))
            await self._trees.watch(replace(await self._state(site_key(self.site.name)), error=str(error)))
            return CycleSummary(self.site.name, problem=str(error))

    async def ask(self, urls: Iterable[str] | None = None) -> int:
        """Someone says that these pages changed (None: any may have): they are looked at in full by the next tick, which
        comes at once here, and in due time at any other watcher of the site. How many are pages of the site."""
        keys = [site_key(self.site.name)]
        if urls is not None:
            keys = sorted({page_key(url) for url in urls if in_scope(self.site, url)})
        for key in keys:
            await self._trees.watch(replace(await self._state(key), asked_at=self._clock.now()))
        if keys:
            self._woken.set()
        return len(keys)

    async def run(self) -> NoReturn:
        """Watch until cancelled; being cancelled at any point loses nothing."""
        stop = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                if self.site.is_folder:
                    group.create_task(self._listen(stop))
                await self._keep_ticking()
        finally:
            stop.set()

    async def _keep_ticking(self) -> NoReturn:
        failures = 0
        while True:
            self._woken.clear()
            pause = self._every
            try:
                tally = await self.tick()
                failures = 0
                if self.site.is_folder and tally.counts["missed"]:
                    pause = min(pause, self._pace.absent_for)  # see soon whether a build was under way
            except IngestError as error:
                failures += 1
                pause = min(self._every * 2.0 ** min(failures - 1, 20), _LONGEST_BACKOFF)
                log.warning("tick_failed", site=self.site.name, failures=failures, reason=str(error))
            try:
                async with asyncio.timeout(pause * (1 - self._pace.jitter * self._chance.random())):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _listen(self, stop: asyncio.Event) -> None:
        """Wake when files change, while that can be watched; the folder is scanned every tick all the same."""
        while not stop.is_set():
            try:
                async for files in folder_changes(self.site.start, stop):
                    log.info("files_changed", site=self.site.name, files=files)
                    self._woken.set()
            except SiteUnusable as error:
                log.info("folder_not_watched", site=self.site.name, reason=str(error))
                await asyncio.sleep(self._every)

    async def _state(self, key: str) -> WatchState:
        return await self._trees.watched(key) or WatchState(key, self.site.name)
