"""The watcher of a site: a watch cycle every few minutes, and at once when someone says that something changed, or, in a
folder, the operating system does (watchfiles)."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import NoReturn

import structlog
from watchfiles import awatch

from ingest.errors import IngestError, SiteUnusable
from ingest.events.announce import Announcer, to_log
from ingest.indexing.page_reader import PageReader
from ingest.model import Site
from ingest.ports import Clock, EventLog, Fetcher, PageParser, TreeStore, WatchState
from ingest.sites.scope import in_scope
from ingest.urls import page_key
from ingest.watch.cycle_summary import CycleSummary
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace, site_key
from ingest.watch.watch_cycle import WatchCycle

log = structlog.get_logger()

MAX_BACKOFF_SECONDS = 3_600.0
"""Between two cycles while a store or the log does not answer."""


class SiteWatcher:
    """`every`: seconds between cycles. `open_fetcher` gives a new fetcher for each cycle, so that robots.txt and
    certificates are read anew. Any number of watchers may watch one site."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        log: EventLog,
        open_fetcher: Callable[[Site], AbstractAsyncContextManager[Fetcher]],
        parser: PageParser,
        clock: Clock,
        pace: Pace,
        guard: Guard,
        every: float = 300.0,
        workers: int = 8,
        chance: random.Random | None = None,
    ) -> None:
        self.site = site
        self._trees = trees
        self._announcer = Announcer(trees, to_log(log), clock)
        self._open_fetcher = open_fetcher
        self._parser = parser
        self._clock = clock
        self._pace = pace
        self._guard = guard
        self._every = every
        self._workers = workers
        self._chance = chance or random.Random()
        self._woken = asyncio.Event()
        self.list_next = True  # what the settings say of a site may have changed while nobody watched

    async def cycle(self) -> CycleSummary:
        """Look at what is due. A site that cannot be opened is an alert, not an error. Raises store and log errors."""
        listing, self.list_next = self.list_next, False
        try:
            async with self._open_fetcher(self.site) as fetcher:
                return await WatchCycle(
                    self.site,
                    trees=self._trees,
                    fetcher=fetcher,
                    reader=PageReader(self.site, fetcher, self._parser, chance=self._chance),
                    announcer=self._announcer,
                    clock=self._clock,
                    pace=self._pace,
                    guard=self._guard,
                    chance=self._chance,
                    workers=self._workers,
                    listing=listing,
                ).run()
        except SiteUnusable as error:
            log.warning("site_unusable", site=self.site.name, reason=str(error))
            await self._trees.watch(replace(await self._state(site_key(self.site.name)), error=str(error)))
            return CycleSummary(self.site.name, warnings=[str(error)])

    async def ask(self, urls: Iterable[str] | None = None) -> int:
        """Someone says that these pages changed (None: any may have): they are looked at in full by the next cycle, which
        comes at once here, and in due time at any other watcher of the site. How many are pages of the site."""
        keys = [site_key(self.site.name)]
        if urls is not None:
            keys = sorted({page_key(url) for url in urls if in_scope(self.site, url)})
        for key in keys:
            await self._trees.watch(replace(await self._state(key), asked_at=self._clock.now(), due_at=None))
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
                await self._keep_watching()
        finally:
            stop.set()

    async def _keep_watching(self) -> NoReturn:
        failures = 0
        while True:
            self._woken.clear()
            pause = self._every
            try:
                summary = await self.cycle()
                failures = 0
                if self.site.is_folder and summary.counts["missed"]:
                    pause = min(pause, self._pace.absent_for)  # see soon whether a build was under way
            except IngestError as error:
                self.list_next = True
                failures += 1
                pause = min(self._every * 2.0 ** min(failures - 1, 20), MAX_BACKOFF_SECONDS)
                log.warning("cycle_failed", site=self.site.name, failures=failures, reason=str(error))
            try:
                async with asyncio.timeout(pause * (1 - self._pace.jitter * self._chance.random())):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _listen(self, stop: asyncio.Event) -> None:
        """Wake when files change, while that can be watched; the folder is listed when that is due all the same."""
        while not stop.is_set():
            try:
                async for files in folder_changes(self.site.start, stop):
                    log.info("files_changed", site=self.site.name, files=files)
                    self.list_next = True
                    self._woken.set()
            except SiteUnusable as error:
                log.info("folder_not_watched", site=self.site.name, reason=str(error))
                await asyncio.sleep(self._every)

    async def _state(self, key: str) -> WatchState:
        return await self._trees.watched(key) or WatchState(key, self.site.name)


async def folder_changes(folder: str, stop: asyncio.Event, quiet: float = 2.0) -> AsyncIterator[int]:
    """After each burst of changes, once nothing more has changed for `quiet` seconds (at most ten times as long), how
    many files it touched. Ends when `stop` is set, and when another folder has taken this one's place (a build that
    is swapped in): listen anew then. Raises SiteUnusable where the folder is not there or cannot be watched (too
    few watches): then it must be scanned."""
    pause = int(quiet * 1000)
    watched = await asyncio.to_thread(_identity, folder)
    if watched is None:
        raise SiteUnusable(f"The folder {folder} is not there and cannot be watched")
    try:
        async for changes in awatch(
            folder,
            step=pause,
            debounce=10 * pause,
            stop_event=stop,
            rust_timeout=1000,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            replaced = await asyncio.to_thread(_identity, folder) != watched
            if changes or replaced:
                yield max(len(changes), 1)
            if replaced:
                return
    except (OSError, RuntimeError) as error:
        raise SiteUnusable(f"The folder {folder} cannot be watched ({error}); it is scanned instead") from error


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
