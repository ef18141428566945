"""The questions of a gap are asked again when its place changes, and it says whether they are answered now.

A change (docs.nodes) makes the gaps that watch one of its sections due a while later, so that several edits are one occasion; who
asks moves the due time on first, by compare-and-set, so that nobody else does. Nothing of these answers is kept but how many
there were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.answering.quota import spend, spent
from bot.gaps.gap import UNSOLVED, AskedAgain, Gap
from bot.gaps.grouping import change_gap
from bot.model import Exchange
from bot.ports import BotStore, Gaps, VersionedGap
from ingest.errors import Conflict
from ingest.events.codec import load_nodes
from ingest.events.topics import NODES
from ingest.events.workers import Workers, decoded
from ingest.model import NodesEvent
from ingest.ports import Clock, Consumer, EventLog, Record
from ingest.rounds import Rounds
from navigator.answer import Answer

log = structlog.get_logger()

GAPS_GROUP = "gaps"
"""Reads what became of sections."""
WAIT = timedelta(minutes=15)
"""From the first change to asking."""
ASKING = timedelta(minutes=30)
"""So long a gap is left to whoever began to ask; asking itself is given up after half of that."""
MAX_ASKED = 3
"""Questions of a gap that are asked again, the newest that differ."""
PARALLEL = 4
"""Records in hand at once."""

AskAgain = Callable[[Exchange], Awaitable[Answer]]
"""What the answer to a question would be today."""


class GapChanges:
    """The service that hears of changes: any number may run side by side."""

    def __init__(self, events: EventLog, gaps: Gaps, clock: Clock, *, wait: timedelta = WAIT) -> None:
        self._gaps = gaps
        self._clock = clock
        self._wait = wait
        self._workers = Workers(events, NODES, GAPS_GROUP, self._settle, parallel=PARALLEL)
        self.run = self._workers.run
        self.stop = self._workers.stop

    async def _settle(self, consumer: Consumer, record: Record) -> None:
        """Bring the record to an end, acknowledged or dead, or leave it to whoever takes it next."""
        event = await decoded(consumer, record, load_nodes)
        if event is None:
            return
        nodes = {node for change in event.changes for node in (change.node, *change.parts)}
        for gap_id in await self._gaps.watching(nodes):
            if await change_gap(self._gaps, gap_id, partial(self._due, event=event)):
                log.info("gap_changed", gap=gap_id, key=event.key)
        await consumer.acknowledge(record)

    def _due(self, gap: Gap, event: NodesEvent) -> Gap | None:
        """Counted from the first change; where somebody is asking already, once more after that."""
        if gap.state not in UNSOLVED:
            return None
        due_at = self._clock.now() + self._wait
        changed_by = f"the change of {event.key} on {event.at:%Y-%m-%d}"
        return replace(gap, changed_by=changed_by, due_at=min(due_at, gap.due_at or due_at))


@dataclass(frozen=True, slots=True)
class AskingLimits:
    """`per_day`: questions in a day (UTC), 0: none. `daily_cost`: US dollars that all answers may cost in a day, 0: any sum; half
    of it is left to people."""

    per_day: int = 20
    daily_cost: float = 0.0


class AskingAgain(Rounds):
    """`every`: seconds between two looks at what is due."""

    def __init__(
        self, store: BotStore, gaps: Gaps, ask: AskAgain, clock: Clock, limits: AskingLimits, *, every: float = 30.0
    ) -> None:
        super().__init__(every, "gaps_not_asked_again")
        self._store = store
        self._gaps = gaps
        self._ask = ask
        self._clock = clock
        self._limits = limits

    async def look(self) -> None:
        """All that are due now, one after the other. Raises StoreUnavailable."""
        for gap_id in await self._gaps.due(self._clock.now()):
            kept = None if self._stop.is_set() else await self._gaps.gap(gap_id)
            if kept and kept.gap.due_at and kept.gap.due_at <= self._clock.now():
                await self._attend(kept)

    async def _attend(self, kept: VersionedGap) -> None:
        closed = kept.gap.state not in UNSOLVED
        claimed = replace(kept.gap, due_at=None if closed else self._clock.now() + ASKING)
        try:
            await self._gaps.keep(claimed, kept.revision)
        except Conflict:
            return  # someone else has it, or it changed again: it is found again where it is due
        if closed:
            return
        asked = answered = 0
        try:
            async with asyncio.timeout(ASKING.total_seconds() / 2):
                for exchange in await self._questions(claimed):
                    if not await self._may_ask():
                        break
                    answer = await self._ask(exchange)
                    await spend(self._store, answer.trace.usage, self._clock.now())
                    asked += answer.outcome != "failed"
                    answered += answers(answer, exchange)
        except TimeoutError:
            log.warning("gap_not_asked_again", gap=claimed.id, reason="timeout")
        await change_gap(self._gaps, claimed.id, partial(self._ended, claimed=claimed, asked=asked, answered=answered))
        log.info("gap_asked_again", gap=claimed.id, asked=asked, answered=answered)

    async def _questions(self, gap: Gap) -> list[Exchange]:
        found: dict[str, Exchange] = {}
        for each in reversed(await self._store.asked_in_vain(gap.id)):
            if len(found) == MAX_ASKED:
                break
            if kept := await self._store.exchange(each.question):
                found.setdefault(kept.exchange.asked, kept.exchange)
        return list(found.values())

    async def _may_ask(self) -> bool:
        """Whether one more question is within what a day may take, and then it is counted."""
        now, limits = self._clock.now(), self._limits
        if limits.daily_cost and await spent(self._store, now) >= limits.daily_cost / 2:
            return False
        return await self._store.add(f"gaps:{now:%Y-%m-%d}", 1, _tomorrow(now)) <= limits.per_day

    def _ended(self, gap: Gap, claimed: Gap, asked: int, answered: int) -> Gap:
        """Where nothing could be asked today, it is due tomorrow."""
        now = self._clock.now()
        again = None if asked else _tomorrow(now)
        ended = replace(gap, due_at=again if gap.due_at == claimed.due_at else gap.due_at)
        if not asked:
            return ended
        ended = replace(ended, asked_again=AskedAgain(now, asked, answered))
        if answered < asked or gap.state not in UNSOLVED:
            return ended
        return replace(ended, due_at=None).put("fixed", now, claimed.changed_by)


def answers(answer: Answer, before: Exchange) -> bool:
    """Whether it answers a question of which the documentation fell short before: all of it stands in sections, and not only in
    such as said the same to the answer that was wanting."""
    sources = before.answer.sources if before.answer else ()
    known = {(each.node_id, each.node_hash) for source in sources for each in source.citations}
    cited = {(each.node_id, each.node_hash) for source in answer.sources for each in source.citations}
    return answer.outcome == "answered" and not answer.unsupported and bool(cited - known)


def _tomorrow(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
