"""One watch cycle over a site: every page that is due is looked at once, and what changed is announced.

Most cycles read and look at what is due and nothing else. What needs the whole site (its listing, what is absent from it,
which new page is an old one that moved, how many would go) is done when a listing is due; a page that turns out to need it
waits until then. Where pages are named, these alone are looked at, and one that needs the whole site is told of.

Nothing is kept in memory from cycle to cycle, and nothing here changes a record: whoever kills a watcher, or
starts two, loses and harms nothing. What was not announced is found again by the next cycle.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog

from ingest.concurrency import for_each
from ingest.errors import Blocked, FetchFailed, IngestError, SiteUnusable
from ingest.events.announce import Announcer
from ingest.indexing.duplicates import duplicates_of, original
from ingest.indexing.page_reader import Destination, PageReader, PageReading
from ingest.model import PageRecord, Site
from ingest.ports import Clock, Fetcher, PageState, TreeStore, WatchState
from ingest.sites.discover import Frontier, Source, discover
from ingest.sites.scope import in_scope, version_of
from ingest.sites.traps import MAX_COPIES
from ingest.text.likeness import Likeness, brief
from ingest.urls import equivalent, page_key
from ingest.watch import schedule
from ingest.watch.classify import Classification, classify
from ingest.watch.cycle_summary import CycleSummary, Everything, led_away, no_page, no_text, one_text
from ingest.watch.moves import Move, MoveMatcher, New, new_page
from ingest.watch.removal_guard import NOT_IN_FOLDER, NOT_OF_SITE, Guard, Job, Removals
from ingest.watch.schedule import Pace
from ingest.watch.turned import MAX_WITNESSES, MIN_ALIKE, Doubts, Suspect, is_doubtful
from ingest.watch.watch_states import WatchStates

log = structlog.get_logger()

_UNLISTED = "unlisted"


class WatchCycle:
    """One for each cycle. `reader` reads the site's pages, `fetcher` its listing. Raises store and log errors, which end
    the cycle, and SiteUnusable if `everything` is wanted. `listing`: the site is listed, due or not. `named`: by key, each with
    what a listing would say of its last change, None where that is not known. `progress` is called when something was done."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        fetcher: Fetcher,
        reader: PageReader,
        announcer: Announcer,
        clock: Clock,
        pace: Pace,
        guard: Guard,
        chance: random.Random,
        workers: int = 8,
        listing: bool = False,
        named: Mapping[str, str | None] = {},
        everything: Everything | None = None,
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        self._site = site
        self._trees = trees
        self._fetcher = fetcher
        self._reader = reader
        self._announcer = announcer
        self._clock = clock
        self._guard = guard
        self._workers = workers
        self._list_it = listing
        self._named = named
        self._everything = everything
        self._progress = progress
        self._chance = chance
        self._states = WatchStates(site.name, trees, clock, pace, chance)
        self._known: frozenset[str] = frozenset()
        self._waiting_asked = False
        self._frontier: Frontier | None = None
        self._looked: set[str] = set()
        self._lastmods = named
        self._gave_page = False
        self._not_found: set[str] = set()
        self.summary = CycleSummary(site.name)

    async def run(self) -> CycleSummary:
        self._began, summary = self._clock.now(), self.summary
        await self._states.read_whole()
        wanted = self._everything is not None or self._list_it
        self._whole = not self._named and (wanted or schedule.is_listing_due(self._states.whole, self._began))
        if self._named:
            await self._look_at(self._named)
        elif not self._whole:
            await self._look_at_due()
            self._whole = self._waiting_asked
        if self._whole:
            await self._look_at_all()
        log.info(
            "named_pages_watched" if self._named else "site_watched",
            site=self._site.name,
            looked_at="all" if self._whole else "named" if self._named else "due",
            removed=len(summary.gone),
            held=len(summary.held),
            **summary.counts,
        )
        return summary

    def linked_from(self, key: str) -> str | None:
        """The page whose link led to this one first; None where none did."""
        return self._frontier.linked_from(key) if self._frontier else None

    async def _look_at_due(self) -> None:
        """Where someone asked for a page that needs the whole site, that comes now."""
        due = [state.key for state in await self._states.read_due(self._began)]
        self._known = frozenset(due)
        await self._look_at(due)
        await self._states.passed(self._began)

    async def _look_at(self, keys: Iterable[str]) -> None:
        source: Source = "links" if self._states.whole.sent == "links" else "sitemap"
        in_site = [key for key in keys if in_scope(self._site, key)]
        self._frontier = Frontier(self._site, source, [], known=in_site, complete=False, traps=self._traps())
        await self._visit_all(self._frontier)

    async def _look_at_all(self) -> None:
        began, summary = self._clock.now(), self.summary
        records = {state.key: state async for state in self._trees.scan(self._site.name)}
        self._live = frozenset(key for key, state in records.items() if state.state == "live")
        self._copies = Counter(state.target or "" for state in records.values() if state.state == "alias")
        summary.live = len(self._live)
        await self._states.read_all()
        site, states, announcer = self._site.name, self._states, self._announcer
        accept = self._everything is not None and self._everything.accept
        self._removals = Removals(site, self._trees, states, announcer, self._guard, self._live, accept=accept)
        self._moves = MoveMatcher(site, states, announcer, self._removals, self._guard, records, self._live)
        self._doubts = Doubts(
            self._site, states, self._reader, self._moves, self._removals, self._guard, self._live, accept=accept
        )
        summary.gone = self._removals.gone
        self._frontier = await self._list(records)
        seconds = (self._clock.now() - began).total_seconds()
        if self._frontier is not None:
            await self._visit_all(self._frontier)
            if self._leads_nowhere(self._frontier, records):
                self._frontier.follow_links()
                await self._visit_all(self._frontier)
            summary.astray |= self._frontier.astray
            states.whole = replace(states.whole, traps=tuple(sorted(self._frontier.traps.closed)))
            await self._ask_witnesses()
            self._tell_of_one_text(self._frontier)
            if await self._weigh_doubts(self._frontier):
                await self._find_absent(self._frontier, records)
                await self._do(self._moves.moves())
                await self._do(self._moves.arrivals())
                await self._do(await self._removals.weigh())
                summary.held = self._removals.held
            if not self._live and (summary.stopped or not self._gave_page):
                summary.empty = True
                summary.warnings += [] if summary.stopped else [no_page(self._site, summary)]
        # A build may be under way in the folder: that is seen soon.
        soon = self._site.is_folder and (self._frontier is None or bool(summary.counts["missed"]))
        await states.listed(self._began, seconds, summary.problem, soon=soon)

    # --- which pages

    async def _list(self, records: Mapping[str, PageState]) -> Frontier | None:
        """The pages to go through; None where nothing at all can be said of a folder. A listing that is broken is an
        alert: what is known is looked at all the same, nothing is new and nothing is missing."""
        known = [key for key, state in records.items() if state.state in ("live", "alias", "skipped")]
        known += self._states.asked()
        states = self._states
        handled = self._looked_at_before()
        self.summary.looked_at_before = len(handled)
        try:
            frontier = await discover(self._site, self._fetcher, known=known, handled=handled, traps=self._traps())
        except SiteUnusable as error:
            if self._everything:
                raise
            self.summary.warnings = [str(error)]
            return None if self._site.is_folder else _unlisted(self._site, known)
        self.summary.warnings = frontier.warnings
        if frontier.source == "links" and states.whole.sent == "sitemap" and self._sitemap_may_return():
            return _unlisted(self._site, known)
        if frontier.complete:
            self._lastmods = dict.fromkeys(self._live, _UNLISTED) | frontier.lastmods
        states.whole = replace(states.whole, sent=frontier.source, missed_since=None)
        return frontier

    def _traps(self) -> frozenset[str]:
        """Those that earlier cycles found; where everything is looked at they are found anew."""
        return frozenset() if self._everything else frozenset(self._states.whole.traps)

    def _looked_at_before(self) -> list[str]:
        """Of a cycle that goes on where another was interrupted: the pages that the other has brought to an end."""
        since = self._everything.since if self._everything else None
        return [] if since is None else [state.key for state in self._states if schedule.is_settled(state, since)]

    def _sitemap_may_return(self) -> bool:
        """For a while a sitemap that is lost is expected back, and links are not followed instead."""
        now, whole = self._clock.now(), self._states.whole
        since = whole.missed_since or now
        if (now - since).total_seconds() >= self._states.pace.missing_for:
            return False
        self._states.whole = replace(whole, missed_since=since)
        lost = f"The sitemap of site {self._site.name} lists no pages any more; new pages are not found meanwhile."
        self.summary.warnings.insert(0, lost)
        return True

    def _leads_nowhere(self, frontier: Frontier, records: Mapping[str, PageState]) -> bool:
        """The sitemap lists addresses, and there is no page at any of them: as they are, or when they were looked at last."""

        def is_dead(key: str) -> bool:
            state, known = self._states.of(key), records.get(key)
            looked = state.fetched_at is not None and not state.failures
            return key in self._not_found or (
                key not in self._looked and looked and (not known or known.state == "gone")
            )

        listed = frontier.lastmods if frontier.source == "sitemap" and frontier.complete else ()
        return bool(listed) and all(map(is_dead, listed))

    # --- looking

    async def _visit_all(self, frontier: Frontier) -> None:
        async def visit(url: str) -> Sequence[str]:
            links = await self._visit(url)
            self.summary.done += 1
            self.summary.found = frontier.found
            self._progress()
            return links

        self.summary.found = frontier.found
        self._progress()
        await frontier.visit_all(visit, self._workers)

    async def _visit(self, url: str, *, due: bool = False) -> Sequence[str]:
        """Look at a page if it is `due`, or its state says so; the links found."""
        key, now = page_key(url), self._clock.now()
        state, lastmod = await self._states.look_up(key), self._lastmods.get(key)
        hinted = not state.failures and schedule.is_hinted(state, lastmod, self._site)
        due = due or hinted or key in self._named
        if key in self._looked or not (due or self._is_due(state, now)):
            return ()
        self._looked.add(key)
        links: Sequence[str] = ()
        async with self._others_go_on(state):
            stored = await self._trees.get(key)
            record = stored.record if stored else None
            if not self._whole and record and record.state in ("gone", "moved") and self._is_at_rest(state):
                await self._states.rested(state)
                return ()
            if record is None and key in self._named:
                self.summary.wants_listing = True  # it may be an old one that moved
                return ()
            reading = await self._read(key, record, state, now)
            links = (*reading.links, reading.target) if reading.target else reading.links
            if record and record.state == "alias" and not self._leads_on(record):
                links = ()
            full = reading.kind != "unmodified"
            if reading.likeness and self._frontier:
                self._frontier.note(url, reading.likeness, reading.reason != "soft_404")
            if reading.kind == "missing":
                self._not_found.add(key)
            await self._act(record, schedule.looked(state, now, full=full, lastmod=lastmod, hinted=hinted), reading)
        return links

    def _leads_on(self, alias: PageRecord) -> bool:
        """Copies have led to what there is. Addresses without end give copies, which lead to ever more of them."""
        return self._everything is not None or (self._whole and self._copies[alias.target or ""] < MAX_COPIES)

    def _is_due(self, state: WatchState, now: datetime) -> bool:
        if self._everything is None:
            return schedule.is_due(state, self._states.whole, now)
        # Where pages are found by their links, only a page that is looked at again tells how to go on.
        by_links = self._frontier is not None and self._frontier.source == "links"
        return by_links or not schedule.is_settled(state, self._everything.since or self._began)

    def _is_at_rest(self, state: WatchState) -> bool:
        """Nothing but its own time names the page: no link and nobody who asked."""
        return state.key in self._known and not schedule.is_asked(state, self._states.whole, self._clock.now())

    @asynccontextmanager
    async def _others_go_on(self, state: WatchState) -> AsyncIterator[None]:
        """What goes wrong with one page is written down, and must not keep the others out."""
        try:
            yield
        except FetchFailed as error:
            (self.summary.blocked if isinstance(error, Blocked) else self.summary.failed).append(
                (state.key, str(error))
            )
            await self._fail(state, str(error), error.retry_after)
        except IngestError:
            raise
        except Exception as error:
            log.exception("page_not_looked_at", url=state.key)
            reason = f"internal error, please report: {type(error).__name__}: {error}"
            self.summary.failed.append((state.key, reason))
            await self._fail(state, reason)

    async def _fail(self, state: WatchState, error: str, retry_after: float | None = None) -> None:
        self.summary.counts["failed"] += 1
        await self._states.failed(state, error, retry_after)

    async def _read(self, key: str, record: PageRecord | None, state: WatchState, now: datetime) -> PageReading:
        """Validators are sent only while they stand for the very tree that is indexed."""
        full = self._everything is not None or schedule.wants_full(state, self._states.whole, now, self._states.pace)
        if full or record is None or record.page is None or record.page.hash != state.hash:
            return await self._reader.read(key, key)
        return await self._reader.read(key, key, etag=state.etag, last_modified=state.last_modified)

    async def _do(self, jobs: Sequence[Job]) -> None:
        """Side by side: each is about pages of its own."""

        async def work(job: Job) -> None:
            async with self._others_go_on(job.state):
                await job.do()
            self._progress()

        await for_each(jobs, work, self._workers)

    # --- deciding

    async def _act(self, record: PageRecord | None, state: WatchState, reading: PageReading) -> None:
        page, duplicates, first = reading.page, list[str](), None
        if page is not None:
            self._gave_page = True
            duplicates = await duplicates_of(self._trees, self._site.name, version_of(self._site, page.key), page)
            first = await original(self._trees, page, duplicates)
        elif reading.kind in ("skipped", "missing") and not self._gave_page and not self.summary.unread:
            self.summary.unread.append((state.key, no_text(state.key, reading.reason or "", reading.detail)))
        verdict = classify(record, reading, first)
        before = record.page.likeness if record and record.state == "live" and record.page else None
        moved_to = reading.target if verdict.kind == "moved" and self._whole else None
        found = await self._reader.destination(moved_to) if moved_to else None
        doubtful = before is not None and is_doubtful(self._site, verdict, reading, found, before, bool(duplicates))
        if not self._whole and (doubtful or self._needs_all(verdict, record)):
            await self._wait(state.key, record)
            return
        if before and doubtful:
            self._doubts.suspects.append(self._suspect(state, verdict, reading, found, before, duplicates))
            return
        self.summary.counts[verdict.kind] += 1
        if verdict.kind == "same":
            if self._everything:
                await self._announcer.changed(self._site.name, state.key, seen=reading.seen)
            if page is not None:
                state = replace(state, etag=reading.etag, last_modified=reading.last_modified, hash=page.hash)
            await self._states.kept(state)
        elif verdict.kind == "changed":
            await self._changed(record, new_page(state, reading, duplicates), reading.links)
        elif verdict.kind == "moved" and reading.target:
            await self._moved(record, state, reading.target, found)
        else:
            await self._lost(state, verdict)

    def _needs_all(self, verdict: Classification, record: PageRecord | None) -> bool:
        is_edit = verdict.kind == "changed" and record is not None and record.state == "live"
        return verdict.kind != "same" and not is_edit

    async def _wait(self, key: str, record: PageRecord | None) -> None:
        if key in self._named:
            self.summary.wants_listing = True
        elif schedule.is_asked(self._states.of(key), self._states.whole, self._clock.now()):
            self._waiting_asked = True
            self._looked.discard(key)
        else:
            await self._states.waits(key, ask=record is None or record.state in ("gone", "moved"))

    async def _changed(self, record: PageRecord | None, new: New, links: Sequence[str]) -> None:
        """Where pages are live already, one that is not may be one of them at a new address: that is seen at the end."""
        if not self._whole:
            await self._announcer.changed(self._site.name, new.state.key, seen=new.says and brief(new.says))
            await self._states.announced(new.state, new.sent)
        elif record and record.state == "live":
            await self._moves.announce(new)
        else:
            ready = self._doubts.came(new, links)
            await self._do([Job(ready_now.state, partial(self._moves.announce, ready_now)) for ready_now in ready])

    async def _moved(self, record: PageRecord | None, state: WatchState, to: str, found: Destination | None) -> None:
        if not (self._site.is_folder or state.key != page_key(self._site.start) or in_scope(self._site, to)):
            self.summary.astray = True
            self.summary.warnings.append(led_away(self._site, state.key, to))
        was = record.state if record else None
        if found is not None:
            self._moves.moved(Move(state, was, *found))
        elif was == "live":
            await self._lost(state, Classification("missed", f"redirects to {to}, which is no page of this site"))
        else:
            await self._states.kept(state)

    async def _lost(self, state: WatchState, verdict: Classification) -> None:
        if verdict.kind == "missed":
            state = await self._states.missed(state)
            if not schedule.is_gone(state, self._clock.now(), self._states.pace):
                self._removals.miss(state)
                return
        self._removals.lose(state, verdict.reason)

    # --- a bad day (ingest/watch/turned.py)

    def _suspect(
        self,
        state: WatchState,
        verdict: Classification,
        reading: PageReading,
        found: Destination | None,
        before: Likeness,
        duplicates: Sequence[str],
    ) -> Suspect:
        says, stands_in = reading.likeness, reading.stands_in
        lacking = verdict.reason if verdict.kind == "turned" else None
        if verdict.kind == "moved":
            says, stands_in = (found[1].likeness, found[1].stands_in) if found else (None, None)
            lacking = None if found else f"redirects to {reading.target}, which is no page of this site"

        async def believe() -> None:
            self.summary.counts["missed" if lacking else verdict.kind] += 1
            if lacking:
                self._removals.lose(state, lacking)
            elif found:
                self._moves.moved(Move(state, "live", *found))
            elif verdict.kind == "changed":
                await self._moves.announce(new_page(state, reading, duplicates))
            else:
                await self._lost(state, verdict)

        is_start = not self._site.is_folder and equivalent(state.key) == equivalent(self._site.start)
        return Suspect(state, before, says, believe, lacking, bool(duplicates), is_start, stands_in, found and found[0])

    async def _ask_witnesses(self) -> None:
        """Other pages tell whether the site has a bad day."""
        others = sorted(self._live - self._looked) if self._doubts.suspects else []

        async def look(key: str) -> None:
            await self._visit(key, due=True)

        await for_each(self._chance.sample(others, min(len(others), MAX_WITNESSES)), look, self._workers)

    def _tell_of_one_text(self, frontier: Frontier) -> None:
        """Where nothing is indexed yet, nothing tells a page that is down from one that is so: someone should look."""
        same, looked = frontier.traps.most_said(), len(self._looked)
        if not (self._live or frontier.trapped) and MIN_ALIKE <= same < looked and self._guard.stops(same, looked):
            self.summary.warnings.append(one_text(self._site, same, looked))

    async def _weigh_doubts(self, frontier: Frontier) -> bool:
        """Whether the site can be believed."""
        doubts, summary = self._doubts, self.summary
        unheard = await doubts.weigh(self._looked, trapped=frontier.trapped)
        summary.counts.update(["missed"] * len(doubts.missed))
        summary.failed += doubts.missed
        if unheard is not None:
            summary.warnings.append(unheard)
            summary.held, summary.stopped = doubts.held, True
            log.warning("site_turned", site=self._site.name, pages=len(doubts.held), live=summary.live, reason=unheard)
            return False
        await self._do([Job(suspect.state, suspect.believe) for suspect in doubts.believed])
        return True

    # --- what is not there any more

    async def _find_absent(self, frontier: Frontier, records: Mapping[str, PageState]) -> None:
        """Of a folder that was listed whole, absence is enough; of a website only the page itself can say that it is
        gone. What the settings leave out now goes from both."""
        if frontier.source == "folder" and frontier.complete:
            for record in records.values():
                if record.state not in ("gone", "moved") and record.key not in frontier.lastmods:
                    await self._absent(record)
        for key in self._live:
            if not in_scope(self._site, key):
                self._removals.lose(self._states.of(key), NOT_OF_SITE)

    async def _absent(self, record: PageState) -> None:
        """A file that is not in the folder any more."""
        state = self._states.of(record.key)
        if record.state != "live":
            if self._is_due(state, self._clock.now()):
                await self._announcer.removed(self._site.name, record.key, NOT_IN_FOLDER)
                await self._states.announced(state, f"left: {NOT_IN_FOLDER}")
            return
        self.summary.counts["missed"] += 1
        state = await self._states.missed(state)
        if schedule.is_absent(state, self._clock.now(), self._states.pace):
            self._removals.lose(state, NOT_IN_FOLDER)
        else:
            self._removals.miss(state)


def _unlisted(site: Site, known: list[str]) -> Frontier:
    """What is known of a site whose pages cannot be listed."""
    return Frontier(site, "sitemap", [], known=known, complete=False)
