"""The note in an answer's thread when words that it quoted have changed: one for an answer, whoever sends it and dies over it.

A note is due a while after the first change, so that several are one; not in quiet hours, and only so many a day in a
channel: the others wait for the next day. Whoever sends moves the due time on first, by compare-and-set, so that nobody else
does; where that process dies, the next looks in the thread before it posts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

import structlog

from bot.answering.lease import changed
from bot.errors import DeliveryFailed
from bot.model import ChangeNote, ChannelSettings, Exchange
from bot.ports import BotStore, Delivery, VersionedExchange
from ingest.errors import Conflict
from ingest.ports import Clock
from ingest.rounds import Rounds

log = structlog.get_logger()

SENDING = timedelta(minutes=5)
"""So long a note is left to whoever began to send it; sending itself is given up after half of that."""
MAX_ATTEMPTS = 30
"""Times that sending a note is begun: an outage of some hours."""


@dataclass(frozen=True, slots=True)
class NotePolicy:
    """`quiet`: (from, to), hours of the day in `zone` in which nothing is posted; equal: none. `per_day`: notes in a channel;
    0: any number."""

    quiet: tuple[int, int] = (0, 0)
    zone: tzinfo = UTC
    per_day: int = 10

    def quiet_until(self, now: datetime) -> datetime | None:
        """When quiet hours end, None where there are none now."""
        first, last = self.quiet
        local = now.astimezone(self.zone)
        begins = local.replace(hour=first, minute=0, second=0, microsecond=0)
        if first == last or not (
            first <= local.hour < last if first < last else local.hour >= first or local.hour < last
        ):
            return None
        ends = begins.replace(hour=last)
        return (ends if ends > local else ends + timedelta(days=1)).astimezone(UTC)


class ChangeNotes(Rounds):
    """`every`: seconds between two looks at what is due. `settings_of`: a channel's settings, with their defaults."""

    def __init__(
        self,
        store: BotStore,
        delivery: Delivery,
        clock: Clock,
        *,
        settings_of: Callable[[str, str], Awaitable[ChannelSettings]],
        policy: NotePolicy,
        every: float = 15.0,
    ) -> None:
        super().__init__(every, "notes_not_sent")
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._settings_of = settings_of
        self._policy = policy

    async def look(self) -> None:
        """All that are due now, one after the other. Raises StoreUnavailable."""
        while not self._stop.is_set() and (due := await self._store.due_notes(self._clock.now())):
            for question in due:
                kept = await self._store.exchange(question)
                if kept and kept.exchange.note and kept.exchange.note.due_at:
                    await self._attend(kept, kept.exchange.note, kept.exchange.note.due_at)

    async def _attend(self, kept: VersionedExchange, note: ChangeNote, due_at: datetime) -> None:
        exchange, now = kept.exchange, self._clock.now()
        question = exchange.question
        if due_at > now:
            return
        settings = await self._settings_of(question.team, question.channel)
        wanted = settings.change_notes and settings.mode != "off"
        posts = wanted and not note.ts and any(source.stale for source in exchange.changed)
        later = await self._later(exchange, now) if posts and not note.attempts else None
        claimed = replace(note, due_at=later or now + SENDING, attempts=note.attempts + (later is None))
        if exchange.posted is None or note.unsent:
            claimed, later = replace(note, due_at=None), now
        try:
            await self._store.keep(replace(exchange, note=claimed), kept.revision)
        except Conflict:
            return  # someone else has it, or it was judged again: it is found again where it is due
        if later is None:
            await self._send(exchange, claimed, posts=posts)

    async def _later(self, exchange: Exchange, now: datetime) -> datetime | None:
        """When the note may be posted, None for now, and then it is counted."""
        if quiet := self._policy.quiet_until(now):
            return quiet
        tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        counter = f"changed:{exchange.question.team}:{exchange.question.channel}:{now:%Y-%m-%d}"
        if self._policy.per_day and await self._store.add(counter, 1, tomorrow) > self._policy.per_day:
            return tomorrow
        return None

    async def _send(self, exchange: Exchange, note: ChangeNote, *, posts: bool) -> None:
        question, unsent, ts = exchange.question.id, "", note.ts
        try:
            async with asyncio.timeout(SENDING.total_seconds() / 2):
                ts = await self._delivery.tell_changed(exchange, post=posts) or ts
        except (DeliveryFailed, TimeoutError) as error:
            passing = not isinstance(error, DeliveryFailed) or error.passing
            log.warning("note_not_sent", question=question, attempts=note.attempts, reason=str(error) or "timeout")
            if passing and note.attempts < MAX_ATTEMPTS:
                return  # it is due again when SENDING is over
            unsent = str(error) or "timeout"

        def ended(now: Exchange) -> Exchange:
            again = self._clock.now() if now.changed != exchange.changed and not unsent else None
            return replace(now, note=ChangeNote(due_at=again, ts=ts, unsent=unsent))

        await changed(self._store, question, ended)
        result = "unsent" if unsent else "posted" if ts != note.ts else "marked"
        log.info("note_sent", question=question, result=result, unsent=unsent)
