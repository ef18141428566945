"""One tick of the watcher of a site: every page that is due is looked at once, and what changed is announced.

Nothing is kept in memory from tick to tick, and nothing here changes a record: whoever kills a watcher, or
starts two, loses and harms nothing. What was not announced is found again by the next tick.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from ingest.errors import FetchFailed, IngestError, SiteUnusable
from ingest.events.announce import Announcer
from ingest.indexing.duplicates import duplicates_of, original
from ingest.indexing.page_reader import PageReader, PageReading, missing_page
from ingest.model import PageRecord, Site
from ingest.ports import Clock, Fetcher, PageState, TreeStore, WatchState
from ingest.sites.discover import Frontier, discover
from ingest.sites.scope import in_scope, version_of
from ingest.urls import page_key
from ingest.watch import schedule
from ingest.watch.classify import Classification, classify
from ingest.watch.moves import Move, MoveMatcher, New
from ingest.watch.removal_guard import NOT_IN_FOLDER, NOT_OF_SITE, Guard, absent
from ingest.watch.removals import Removals
from ingest.watch.schedule import Pace
from ingest.watch.watch_states import WatchStates

log = structlog.get_logger()

_HOPS = 5
"""So many pages that lead on to another are followed; beyond that they lead nowhere."""
_UNLISTED = "unlisted"


@dataclass(slots=True)
class CycleSummary:
    """What a tick did. `counts`: pages looked at by verdict (`failed`: no answer). `removed` were announced as gone; `held`
    would go, but the guard keeps them. `problem`: why pages could not be listed as usual."""

    site: str
    counts: Counter[str] = field(default_factory=Counter)
    removed: int = 0
    held: int = 0
    problem: str | None = None


class WatchCycle:
    """One for each tick. Raises store and log errors, which end the tick."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        fetcher: Fetcher,
        announcer: Announcer,
        clock: Clock,
        pace: Pace,
        guard: Guard,
        chance: random.Random,
        workers: int = 8,
    ) -> None:
        self._site = site
        self._trees = trees
        self._fetcher = fetcher
        self._announcer = announcer
        self._clock = clock
        self._guard = guard
        self._chance = chance
        self._workers = workers
        self._ledger = WatchStates(site.name, trees, clock, pace, chance)
        self._reader: PageReader | None = None
        self._opening = asyncio.Lock()
        self._looked: set[str] = set()
        self._lastmods: Mapping[str, str] = {}
        self.tally = CycleSummary(site.name)

    async def run(self) -> CycleSummary:
        began, tally = self._clock.now(), self.tally
        records = {state.key: state async for state in self._trees.scan(self._site.name)}
        self._live = frozenset(key for key, state in records.items() if state.state == "live")
        await self._ledger.read()
        site, ledger, announcer = self._site.name, self._ledger, self._announcer
        self._removals = Removals(site, self._trees, ledger, announcer, self._guard, self._live)
        self._arrivals = MoveMatcher(site, ledger, announcer, self._removals, self._guard, records, self._live)
        frontier = await self._frontier(records)
        if frontier is not None:
            await frontier.visit_all(self._visit, self._workers)
            for key in absent(frontier.source, frontier.complete, records.values(), frontier.lastmods):
                await self._absent(records[key])
            for key in self._live:
                if not in_scope(self._site, key):
                    self._removals.lose(ledger.of(key), NOT_OF_SITE)
            await self._arrivals.settle()
            tally.removed, tally.held = await self._removals.weigh()
        await ledger.listed(began, tally.problem)
        log.info("site_watched", site=site, removed=tally.removed, held=tally.held, **tally.counts)
        return tally

    # --- which pages

    async def _frontier(self, records: Mapping[str, PageState]) -> Frontier | None:
        """The pages to go through; None where nothing at all can be said of a folder. A listing that is broken is an
        alert: what is known is looked at all the same, nothing is new and nothing is missing."""
        known = [key for key, state in records.items() if state.state in ("live", "alias", "skipped")]
        known += self._ledger.asked()
        ledger = self._ledger
        try:
            frontier = await discover(self._site, self._fetcher, known=known)
        except SiteUnusable as error:
            self.tally.problem = str(error)
            return None if self._site.is_folder else _unlisted(self._site, known)
        self.tally.problem = " ".join(frontier.warnings) or None
        if frontier.source == "links" and ledger.whole.sent == "sitemap" and self._sitemap_may_return():
            return _unlisted(self._site, known)
        if frontier.complete:
            self._lastmods = dict.fromkeys(self._live, _UNLISTED) | frontier.lastmods
        ledger.whole = replace(ledger.whole, sent=frontier.source, missed_since=None)
        return frontier

    def _sitemap_may_return(self) -> bool:
        """For a while a sitemap that is lost is expected back, and links are not followed instead."""
        now, whole = self._clock.now(), self._ledger.whole
        since = whole.missed_since or now
        if (now - since).total_seconds() >= self._ledger.pace.missing_for:
            return False
        self._ledger.whole = replace(whole, missed_since=since)
        lost = f"The sitemap of site {self._site.name} lists no pages any more; new pages are not found meanwhile."
        self.tally.problem = f"{lost} {self.tally.problem or ''}".strip()
        return True

    # --- looking

    async def _visit(self, url: str) -> tuple[str, ...]:
        """Look at a page if it is due; the links found."""
        key, now = page_key(url), self._clock.now()
        state, whole, lastmod = self._ledger.of(key), self._ledger.whole, self._lastmods.get(key)
        hinted = not state.failures and schedule.is_hinted(state, lastmod, self._site)
        if key in self._looked or not (hinted or schedule.is_due(state, whole, now)):
            return ()
        self._looked.add(key)
        full = schedule.wants_full(state, whole, now, self._ledger.pace)
        stored = await self._trees.get(key)
        record = stored.record if stored else None
        try:
            reading = await self._read(key, record, state, full)
            full = reading.kind != "unmodified"
            state = schedule.looked(state, now, full=full, lastmod=lastmod, hinted=hinted)
            await self._act(record, state, reading)
        except FetchFailed as error:
            await self._fail(state, str(error), error.retry_after)
            return ()
        except IngestError:
            raise
        except Exception as error:  # one page that breaks the code must not keep the others out
            log.exception("page_not_looked_at", url=url)
            await self._fail(state, f"internal error, please report: {type(error).__name__}: {error}")
            return ()
        return (*reading.links, reading.target) if reading.target else reading.links

    async def _fail(self, state: WatchState, error: str, retry_after: float | None = None) -> None:
        self.tally.counts["failed"] += 1
        await self._ledger.failed(state, error, retry_after)

    async def _read(self, key: str, record: PageRecord | None, state: WatchState, full: bool) -> PageReading:
        """Validators are sent only while they stand for the very tree that is indexed."""
        async with self._opening:
            if self._reader is None:
                probe = await missing_page(self._site, self._fetcher, self._chance)
                self._reader = PageReader(self._site, self._fetcher, probe)
        if full or record is None or record.page is None or record.page.hash != state.hash:
            return await self._reader.read(key, key)
        return await self._reader.read(key, key, etag=state.etag, last_modified=state.last_modified)

    # --- deciding

    async def _act(self, record: PageRecord | None, state: WatchState, reading: PageReading) -> None:
        page, twins, first = reading.page, list[str](), None
        if page is not None:
            twins = await duplicates_of(self._trees, self._site.name, version_of(self._site, page.key), page)
            first = await original(self._trees, page, twins)
        verdict = classify(record, reading, first)
        self.tally.counts[verdict.kind] += 1
        if verdict.kind == "same":
            if page is not None:
                state = replace(state, etag=reading.etag, last_modified=reading.last_modified, hash=page.hash)
            await self._ledger.kept(state)
        elif verdict.kind == "changed":
            seen = page.hash if page else f"{reading.kind}: {reading.reason}"
            await self._changed(record, New(state, seen, tuple(twins)))
        elif verdict.kind == "moved" and reading.target:
            await self._moved(record, state, reading.target)
        else:
            await self._lost(state, verdict)

    async def _changed(self, record: PageRecord | None, new: New) -> None:
        """Where pages are live already, one that is not may be one of them at a new address: that is seen at the end."""
        if self._live and not (record and record.state == "live"):
            self._arrivals.came(new)
        else:
            await self._arrivals.announce(new)

    async def _moved(self, record: PageRecord | None, state: WatchState, target: str) -> None:
        found = await self._destination(target)
        was = record.state if record else None
        if found is not None:
            self._arrivals.moved(Move(state, was, *found))
        elif was == "live":
            await self._lost(state, Classification("missed", f"redirects to {target}, which is no page of this site"))
        else:
            await self._ledger.kept(state)

    async def _destination(self, target: str) -> tuple[str, PageReading] | None:
        """The key where a page that moved is now, and what that gives. None if it is no page of the site."""
        assert self._reader is not None
        for _ in range(_HOPS):
            if not in_scope(self._site, target):
                return None
            key = page_key(target)
            reading = await self._reader.read(key, target)
            if reading.kind != "moved" or reading.target is None:
                return key, reading
            target = reading.target
        return None

    async def _lost(self, state: WatchState, verdict: Classification) -> None:
        if verdict.kind == "missed":
            state = await self._ledger.missed(state)
            if not schedule.is_gone(state, self._clock.now(), self._ledger.pace):
                self._removals.miss(state)
                return
        self._removals.lose(state, verdict.reason)

    async def _absent(self, record: PageState) -> None:
        """A file that is not in the folder any more."""
        state, now = self._ledger.of(record.key), self._clock.now()
        if record.state != "live":
            if schedule.is_due(state, self._ledger.whole, now):
                await self._announcer.removed(self._site.name, record.key, NOT_IN_FOLDER)
                await self._ledger.announced(state, f"left: {NOT_IN_FOLDER}")
            return
        self.tally.counts["missed"] += 1
        state = await self._ledger.missed(state)
        if schedule.is_absent(state, now, self._ledger.pace):
            self._removals.lose(state, NOT_IN_FOLDER)
        else:
            self._removals.miss(state)


def _unlisted(site: Site, known: list[str]) -> Frontier:
    """What is known of a site whose pages cannot be listed."""
    return Frontier(site, "sitemap", [], known=known, complete=False)
