"""The indexer service: takes page events from docs.pages and brings the stores in step, side by side.

A record is acknowledged when every store has the page, so that a crash anywhere hands it out again; the
Indexer makes a second time harmless. A page that cannot be handled is tried again, then goes to the dead
letters with the reason, and what was known of it is still served. While a store does not answer nothing is
given up: records wait. Where page after page cannot be handled, the service halts instead.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from ingest.errors import (
    INSTALLATION,
    Blocked,
    FetchFailed,
    PageTooCostly,
    PageTooLarge,
    StoreUnavailable,
    TooManyDeadLetters,
    Undecodable,
    UnknownSite,
)
from ingest.events.announce import Announcer
from ingest.events.codec import load_event
from ingest.events.dead_letters import dead_letters
from ingest.events.topics import PAGES
from ingest.events.workers import WORKER_POLICY, WorkerPolicy, Workers
from ingest.indexing.indexer import Outcome
from ingest.model import PageEvent
from ingest.ports import Clock, Consumer, EventLog, Record, TreeStore, WatchState

log = structlog.get_logger()

INDEXER_GROUP = "indexer"

Handle = Callable[[PageEvent], Awaitable[Outcome]]
"""Brings one page in step: Indexers.handle."""

_HOPELESS = (Blocked, PageTooCostly, UnknownSite)
"""Errors of a page that trying again does not mend."""
_NOT_OURS = tuple(error.__name__ for error in (FetchFailed, PageTooLarge, *_HOPELESS))
"""Dead letters with these reasons say something of a server or of the settings, nothing of ritbot."""

MAX_DEAD_LETTERS_IN_A_ROW = 20
"""So many pages, with no other between them that could be indexed, and the service halts: the 16 that it has in hand by
default may all be strange, a release that breaks on every page must not give up a site."""
DEAD_LETTERS_REMEMBERED = timedelta(days=1)
"""Whoever is started again and again counts what was given up before: else it would give up a few with each start."""


@dataclass(slots=True)
class Totals:
    """What the service did since it started: `outcomes` by kind; inputs embedded; records given up."""

    outcomes: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    dead: int = 0


class Attempts:
    """How often handling a page was begun, across crashes; kept in the page's watch state.

    A page can kill the process that handles it (the system's own memory limit does not ask first); the event then comes
    again to the next process, and the next. Counting before each attempt is what ends that."""

    def __init__(self, trees: TreeStore) -> None:
        self._trees = trees

    async def begin(self, event: PageEvent) -> int:
        """An attempt begins; how many were begun before and came to no end. An event that the record has handled is not
        counted: it costs nothing."""
        stored = await self._trees.get(event.key)
        if stored and event.seq <= stored.record.seq:
            return 0
        state = await self._state(event)
        before = state.begun if state.begun_seq == event.seq else 0
        await self._trees.watch(replace(state, begun=before + 1, begun_seq=event.seq))
        return before

    async def end(self, event: PageEvent) -> None:
        """The event came to an end that left no mark in the record, or was given back unharmed."""
        state = await self._state(event)
        if state.begun and state.begun_seq == event.seq:
            await self._trees.watch(replace(state, begun=0))

    async def _state(self, event: PageEvent) -> WatchState:
        return await self._trees.watched(event.key) or WatchState(event.key, event.site)


class _Streak:
    """The pages that were given up since one was indexed, by whichever process."""

    def __init__(self, events: EventLog, clock: Clock, most: int) -> None:
        self._events = events
        self._clock = clock
        self._most = most
        self._reading = asyncio.Lock()
        self._keys: set[str] | None = None
        """None: what other processes gave up before is not read yet."""

    def ends(self) -> None:
        self._keys = set()

    async def given_up(self, key: str, reason: str) -> None:
        """Raises TooManyDeadLetters, and then the page must not be given up; errors of the log."""
        if not counts_in_a_row(reason):
            return
        async with self._reading:
            before = await recently_given_up(self._events, self._clock.now()) if self._keys is None else set()
        if self._keys is None:  # a page may have been indexed meanwhile
            self._keys = before
        if len(self._keys | {key}) >= self._most:
            raise TooManyDeadLetters(
                f"{self._most} pages in a row could not be indexed, so the indexer has stopped; what waits is not lost. "
                f"The last was {key}: {reason}. If ritbot is at fault, start the version before, or one that is mended, and "
                "send them back: ritbot dead-letters --replay all. If the pages are, let them be: ritbot dead-letters --drop"
            )
        self._keys.add(key)


def counts_in_a_row(reason: str) -> bool:
    """Of a dead letter: whether it may be ritbot that is at fault."""
    return not reason.startswith(_NOT_OURS)


async def recently_given_up(events: EventLog, now: datetime) -> set[str]:
    """Keys of the pages that were given up within a day, and whose letters wait, where ritbot may be at fault."""
    return {
        kept.letter.record.key
        async for kept in dead_letters(events, PAGES)
        if kept.waits and kept.since >= now - DEAD_LETTERS_REMEMBERED and counts_in_a_row(kept.letter.reason)
    }


class IndexerService:
    """`parallel`: pages in hand at once; their texts are embedded in common batches. Any number of services may share
    the topic."""

    def __init__(
        self,
        events: EventLog,
        handle: Handle,
        *,
        announcer: Announcer,
        attempts: Attempts,
        clock: Clock,
        parallel: int = 16,
        patience: WorkerPolicy = WORKER_POLICY,
        chance: random.Random | None = None,
        group: str = INDEXER_GROUP,
        max_dead_in_a_row: int = MAX_DEAD_LETTERS_IN_A_ROW,
    ) -> None:
        self._streak = _Streak(events, clock, max_dead_in_a_row)
        self._workers = Workers(events, PAGES, group, self._settle, parallel=parallel, patience=patience, chance=chance)
        self._handle = handle
        self._announcer = announcer
        self._attempts = attempts
        self._patience = patience
        self.totals = Totals()

    def stop(self) -> None:
        """`run` takes no more records, lets those in hand finish within the grace, and ends."""
        self._workers.stop()

    async def run(self) -> None:
        """Until `stop`. Raises RecordTooLarge where the log holds what cannot be read, and errors of the installation
        (FolderBusy, IndexMismatch, ModelMissing): nothing is skipped then. Raises TooManyDeadLetters where page after page
        cannot be indexed: what is in hand is given back."""
        try:
            await self._workers.run()
        finally:
            log.info("indexer_stopped", dead=self.totals.dead, **self.totals.outcomes)

    async def _settle(self, consumer: Consumer, record: Record) -> None:
        """Bring the record to an end, acknowledged or dead, or leave it to whoever takes it next."""
        try:
            event = load_event(record.value)
        except Undecodable as error:
            await self._give_up(consumer, record, str(error))
            return
        try:
            reason = await self._bring_in_step(consumer, record, event)
            if reason is None:
                await consumer.acknowledge(record)
            elif reason:
                await self._give_up(consumer, record, reason)
        except TooManyDeadLetters:
            await self._attempts.end(event)  # the next process tries it as if nothing had been
            raise

    async def _bring_in_step(self, consumer: Consumer, record: Record, event: PageEvent) -> str | None:
        """Try until it is done (None), hopeless (the reason), or the record is not ours or the service stops ("")."""
        begun: int | None = None
        failures = outages = 0
        while consumer.holds(record) and not (self._workers.stopping and failures + outages):
            try:
                if begun is None and (begun := await self._attempts.begin(event)) >= self._patience.attempts:
                    await self._attempts.end(event)
                    return f"the indexer ended {begun} times while it handled this page"
                outcome = await self._handle(event)
                await self._follow_up(event, outcome)
            except StoreUnavailable as error:
                outages += 1
                log.warning("store_unavailable", key=event.key, outages=outages, reason=str(error))
                await self._workers.pause(outages)
            except _HOPELESS as error:
                return f"{type(error).__name__}: {error}"
            except INSTALLATION:
                raise
            except Exception as error:  # whatever a page does, the others go on
                failures += 1
                log.warning("page_failed", key=event.key, seq=event.seq, failures=failures, reason=repr(error))
                if failures >= self._patience.attempts:
                    return f"{type(error).__name__}: {error} (attempt {failures})"
                await self._workers.pause(failures, getattr(error, "retry_after", None))
            else:
                self._streak.ends()
                self.totals.outcomes[outcome.kind] += 1
                self.totals.embedded += outcome.embedded
                return None
        await self._attempts.end(event)
        return ""

    async def _follow_up(self, event: PageEvent, outcome: Outcome) -> None:
        """What the outcome says of other pages is announced before the record is acknowledged. An event whose end leaves
        no mark in the record is ended in the watch state."""
        for key in outcome.revisit:
            await self._announcer.changed(event.site, key)
        if outcome.left_alone:
            await self._attempts.end(event)

    async def _give_up(self, consumer: Consumer, record: Record, reason: str) -> None:
        await self._streak.given_up(record.key, reason)
        log.error("page_given_up", key=record.key, partition=record.partition, offset=record.offset, reason=reason)
        dead = await consumer.dead(record, reason)
        self.totals.dead += dead  # others may be counted meanwhile
