"""A worker's hold on a question: taken, kept and given back by compare-and-set on its exchange.

While a lease is held nobody else answers. Whoever holds it renews it, and sees within a moment when someone pressed
Stop or, after a long silence of its own, when another worker has taken over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from bot.errors import LeaseLost
from bot.model import Exchange, Question
from bot.ports import BotStore, VersionedExchange
from ingest.errors import Conflict, StoreUnavailable
from ingest.ports import Clock

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LeaseTimings:
    """Seconds: a lease lasts `lease` and is renewed after a third of it; every `look` seconds its holder looks whether it
    shall stop."""

    lease: float = 30.0
    look: float = 1.0


@dataclass(frozen=True, slots=True)
class HeldElsewhere:
    """Another worker has the question, until then."""

    until: datetime


class Lease:
    """The hold itself; made by `claim`. `stopped` is set when someone asked to stop, `lost` when it is not ours any more."""

    def __init__(self, store: BotStore, clock: Clock, timings: LeaseTimings, kept: VersionedExchange) -> None:
        self._store = store
        self._clock = clock
        self._timings = timings
        self._kept = kept
        self._changing = asyncio.Lock()
        self._owner = kept.exchange.owner
        self.stopped = asyncio.Event()
        self.lost = asyncio.Event()
        if kept.exchange.stop:
            self.stopped.set()

    @property
    def exchange(self) -> Exchange:
        return self._kept.exchange

    async def change(self, change: Callable[[Exchange], Exchange]) -> Exchange:
        """Change the exchange while it is ours. Raises LeaseLost, StoreUnavailable."""
        async with self._changing:
            while True:
                changed = change(self.exchange)
                try:
                    self._kept = VersionedExchange(changed, await self._store.keep(changed, self._kept.revision))
                    return changed
                except Conflict:
                    await self._look()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Renew and look, beside what is done meanwhile."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch(self) -> None:
        while not self.lost.is_set():
            await asyncio.sleep(self._timings.look)
            try:
                async with self._changing:
                    await self._look()
                if self._due():
                    await self.change(self._renewed)
            except LeaseLost:
                return
            except StoreUnavailable as error:
                log.warning("lease_not_renewed", reason=str(error))

    def _renewed(self, exchange: Exchange) -> Exchange:
        return replace(exchange, lease_until=self._clock.now() + timedelta(seconds=self._timings.lease))

    def _due(self) -> bool:
        until = self.exchange.lease_until
        return until is None or (until - self._clock.now()).total_seconds() < self._timings.lease * 2 / 3

    async def _look(self) -> None:
        """Read the exchange again. Raises LeaseLost."""
        kept = await self._store.exchange(self.exchange.question.id)
        if kept is None or kept.exchange.owner != self._owner or kept.exchange.over:
            self.lost.set()
            raise LeaseLost(f"question {self.exchange.question.id} is in other hands")
        self._kept = kept
        if kept.exchange.stop:
            self.stopped.set()


async def claim(
    store: BotStore, clock: Clock, timings: LeaseTimings, question: Question, owner: str
) -> Lease | HeldElsewhere | None:
    """Take the question. None: it has been answered. Raises StoreUnavailable. `owner` is another one for each worker
    and each try."""
    while True:
        kept, now = await store.exchange(question.id), clock.now()
        if kept and kept.exchange.over:
            return None
        if kept and kept.exchange.held(now) and kept.exchange.lease_until:
            return HeldElsewhere(kept.exchange.lease_until)
        exchange = kept.exchange if kept else Exchange(question)
        taken = replace(
            exchange,
            state="answering",
            owner=owner,
            lease_until=now + timedelta(seconds=timings.lease),
            attempts=exchange.attempts + 1,
            begun_at=exchange.begun_at or now,
        )
        try:
            return Lease(
                store,
                clock,
                timings,
                VersionedExchange(taken, await store.keep(taken, kept.revision if kept else None)),
            )
        except Conflict:
            continue  # someone was quicker: see what became of it


async def changed(store: BotStore, question_id: str, change: Callable[[Exchange], Exchange | None]) -> Exchange | None:
    """Change an exchange without a lease on it: what people do with it. None: it is not there, or `change` leaves it."""
    while kept := await store.exchange(question_id):
        exchange = change(kept.exchange)
        if exchange is None:
            return None
        try:
            await store.keep(exchange, kept.revision)
            return exchange
        except Conflict:
            continue
    return None


async def ask_to_stop(store: BotStore, question_id: str, *, withdrawn: bool = False) -> bool:
    """Put the mark on an answer that is under way or waiting; False where there is none, or it is over. `withdrawn`: the
    question is gone, and nothing is to be said."""

    def stopped(exchange: Exchange) -> Exchange | None:
        return None if exchange.over else replace(exchange, stop=True, withdrawn=exchange.withdrawn or withdrawn)

    marked = await changed(store, question_id, stopped)
    return marked is not None
