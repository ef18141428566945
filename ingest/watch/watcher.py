"""The watcher of a site: a watch cycle every few minutes, and at once when someone says that something changed, or, in a
folder, the operating system does (watchfiles).

Pages that are named, by the webhook or by files that were written anew, cost themselves and nothing else: they are looked
at beside the cycles, those that are named meanwhile together. Only where one of them turns out to be new, to have moved or to
go, the site is looked at as a whole.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import NoReturn

import structlog
from watchfiles import Change, awatch

from ingest.concurrency import set_within
from ingest.errors import IngestError, SiteUnusable
from ingest.events.announce import Announcer, to_log
from ingest.indexing.page_reader import PageReader
from ingest.model import Site
from ingest.ports import Clock, EventLog, Fetcher, PageParser, TreeStore, WatchState
from ingest.sites.folder import pages_at
from ingest.sites.scope import in_scope
from ingest.urls import page_key
from ingest.watch.cycle_summary import CycleSummary
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace, site_key
from ingest.watch.watch_cycle import WatchCycle

log = structlog.get_logger()

MAX_BACKOFF_SECONDS = 3_600.0
"""Between two cycles while a store or the log does not answer."""
MAX_NAMED_PAGES = 1_000
"""Where more are named at once, the whole site is looked at instead."""
MAX_UNQUIET_SECONDS = 20.0
"""A folder that goes on changing is listed all the same."""


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
        self._named: dict[str, str | None] = {}
        self._news = asyncio.Event()
        self.list_next = True  # what the settings say of a site may have changed while nobody watched

    async def cycle(self, named: Mapping[str, str | None] = {}) -> CycleSummary:
        """Look at what is due, or only at what is named (WatchCycle). A site that cannot be opened is an alert, not an error.
        Raises store and log errors."""
        listing = False
        if not named:
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
                    named=named,
                ).run()
        except SiteUnusable as error:
            log.warning("site_unusable", site=self.site.name, reason=str(error))
            await self._trees.watch(replace(await self._state(site_key(self.site.name)), error=str(error)))
            return CycleSummary(self.site.name, warnings=[str(error)])

    async def ask(self, urls: Iterable[str] | None = None) -> int:
        """Someone says that these pages changed (None: any may have): they are looked at in full, at once here, and in due
        time at any other watcher of the site. How many are pages of the site."""
        keys = [site_key(self.site.name)]
        if urls is not None:
            keys = sorted({page_key(url) for url in urls if in_scope(self.site, url)})
        for key in keys:
            await self._trees.watch(replace(await self._state(key), asked_at=self._clock.now(), due_at=None))
        if urls is None:
            self._woken.set()
        else:
            self._name(dict.fromkeys(keys))
        return len(keys)

    async def run(self) -> NoReturn:
        """Watch until cancelled; being cancelled at any point loses nothing."""
        stop = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                if self.site.is_folder:
                    group.create_task(self._listen(stop))
                group.create_task(self._keep_looking())
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
            await set_within(self._woken, pause * (1 - self._pace.jitter * self._chance.random()))

    def _name(self, pages: Mapping[str, str | None]) -> None:
        """These are looked at soon, each once however often it is named until then."""
        self._named.update(pages)
        if len(self._named) > MAX_NAMED_PAGES:
            self._named.clear()
            self._list_now()
        elif self._named:
            self._news.set()

    def _list_now(self) -> None:
        self.list_next = True
        self._woken.set()

    async def _keep_looking(self) -> NoReturn:
        """At what is named, beside the cycles. What goes wrong here is left to the next cycle."""
        while True:
            await self._news.wait()
            self._news.clear()
            named, self._named = self._named, {}
            try:
                wants_listing = (await self.cycle(named)).wants_listing
            except IngestError as error:
                log.warning("named_pages_failed", site=self.site.name, pages=len(named), reason=str(error))
                wants_listing = True
            if wants_listing:
                self._list_now()

    async def _listen(self, stop: asyncio.Event) -> None:
        """Hear of files that change, while that can be watched; the folder is listed when that is due all the same. Pages
        written anew are looked at by themselves; for any other change the folder is listed, once it is quiet."""
        unlisted: float | None = None
        while not stop.is_set():
            try:
                async for paths in folder_changes(self.site.start, stop):
                    now = time.monotonic()
                    if paths:
                        log.info("files_changed", site=self.site.name, files=len(paths))
                        pages = await asyncio.to_thread(pages_at, self.site, paths)
                        unlisted = unlisted or (now if pages is None else None)
                        self._name(pages or {})
                    if unlisted and (not paths or now - unlisted > MAX_UNQUIET_SECONDS):
                        unlisted = None
                        self._list_now()
            except SiteUnusable as error:
                log.info("folder_not_watched", site=self.site.name, reason=str(error))
                if unlisted:
                    unlisted = None
                    self._list_now()
                await asyncio.sleep(self._every)

    async def _state(self, key: str) -> WatchState:
        return await self._trees.watched(key) or WatchState(key, self.site.name)


async def folder_changes(folder: str, stop: asyncio.Event, quiet: float = 0.25) -> AsyncIterator[frozenset[str]]:
    """After each burst of changes, once nothing more has changed for `quiet` seconds (at most ten times as long), the paths
    that it touched, but for what came and went; and again none each second in which nothing changes. Ends when `stop` is set,
    and when another folder has taken this one's place (a build that is swapped in), with the folder itself as what
    changed: listen anew then. Raises SiteUnusable where the folder is not there or cannot be watched (too few watches): then
    it must be scanned."""
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
            if await asyncio.to_thread(_identity, folder) != watched:
                yield frozenset([folder])
                return
            yield await asyncio.to_thread(_touched, changes)
    except (OSError, RuntimeError) as error:
        raise SiteUnusable(f"The folder {folder} cannot be watched ({error}); it is scanned instead") from error


def _touched(changes: set[tuple[Change, str]]) -> frozenset[str]:
    came = {path for change, path in changes if change is Change.added}
    return frozenset(path for _, path in changes if path not in came or os.path.lexists(path))


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
