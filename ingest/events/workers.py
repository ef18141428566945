"""Workers on a topic: several tasks that take records from one consumer and settle each, until they are stopped.

Whoever settles a record acknowledges it or sends it to the dead letters; one that is still in hand then is given back. While
the event log does not answer the workers wait. `WorkerPolicy` says for how long, here and to those who settle.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from ingest.concurrency import set_within
from ingest.errors import StoreUnavailable, Undecodable
from ingest.ports import Consumer, EventLog, Record
from ingest.retry import RetryPolicy

log = structlog.get_logger()

T = TypeVar("T")
Settle = Callable[[Consumer, Record], Awaitable[None]]
"""Brings a record to an end, or leaves it. What it raises, but StoreUnavailable, ends all workers."""


@dataclass(frozen=True, slots=True)
class WorkerPolicy(RetryPolicy):
    """`attempts`: tries before a record is given up. `grace`, in seconds: what is in hand when the workers stop may take so
    long to finish."""

    grace: float = 20.0


WORKER_POLICY = WorkerPolicy()


class Workers:
    """`parallel`: records in hand at once."""

    def __init__(
        self,
        events: EventLog,
        topic: str,
        group: str,
        settle: Settle,
        *,
        parallel: int,
        patience: WorkerPolicy = WORKER_POLICY,
        chance: random.Random | None = None,
    ) -> None:
        self._events = events
        self._topic = topic
        self._group = group
        self._settle = settle
        self._parallel = parallel
        self._patience = patience
        self._chance = chance or random.Random()
        self._stop = asyncio.Event()
        self._busy: set[asyncio.Task[None] | None] = set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """`run` takes no more records, lets those in hand finish within the grace, and ends."""
        self._stop.set()

    async def run(self) -> None:
        """Until `stop`. Raises RecordTooLarge where the log holds what cannot be read, and what `settle` raises:
        nothing is skipped then."""
        async with self._events.consume(self._topic, self._group) as consumer:
            workers = {asyncio.create_task(self._work(consumer)) for _ in range(self._parallel)}
            stopping = asyncio.create_task(self._stop.wait())
            try:
                await asyncio.wait({stopping, *workers}, return_when=asyncio.FIRST_COMPLETED)
                self._stop.set()  # also where a worker failed: the others finish what they hold
                for idle in workers - self._busy:
                    idle.cancel()
                await asyncio.wait(workers, timeout=self._patience.grace)
            finally:
                for task in (stopping, *workers):
                    task.cancel()
                ended = await asyncio.gather(*workers, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error

    async def pause(self, failures: int, asked: float | None = None) -> None:
        """Wait after so many failures, but not longer than until the workers stop. `asked`: seconds that a server asked
        for."""
        seconds = self._patience.after(failures, self._chance.random())
        await self.wait(max(seconds, min(asked or 0.0, self._patience.longest)))

    async def wait(self, seconds: float) -> None:
        """Wait, but not longer than until the workers stop."""
        await set_within(self._stop, seconds)

    async def _work(self, consumer: Consumer) -> None:
        failures, me = 0, asyncio.current_task()
        while not self._stop.is_set():
            try:
                records = await consumer.take(1, 60.0)
                self._busy.add(me)
                for record in records:
                    try:
                        await self._settle(consumer, record)
                    finally:
                        consumer.give_back(record)  # unless it was brought to an end
                failures = 0
            except StoreUnavailable as error:
                failures += 1
                log.warning("event_log_unavailable", topic=self._topic, failures=failures, reason=str(error))
                await self.pause(failures)
            finally:
                self._busy.discard(me)


async def decoded(consumer: Consumer, record: Record, load: Callable[[bytes | None], T]) -> T | None:
    """What a record says; one that says nothing goes to the dead letters. `load` raises Undecodable. Raises StoreUnavailable."""
    try:
        return load(record.value)
    except Undecodable as error:
        log.error("event_undecodable", topic=record.topic, offset=record.offset, reason=str(error))
        await consumer.dead(record, str(error))
        return None
