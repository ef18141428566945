"""Consumer groups of the embedded event log: who holds which partition, and the consumer that holds some.

Members say every third of a session that they live. Each may hold its fair share of the topic's partitions: it takes
free ones and those of members that fell silent, and lets go of what it holds above its share as soon as nothing of it
is in hand. Every take-over gives the partition a new epoch; an offset is stored only under the epoch it was read in.
"""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Self

import structlog

from ingest.errors import StoreUnavailable
from ingest.events.consumer import AHEAD, Append, WindowedConsumer
from ingest.events.window import Window
from ingest.ports import Clock, Record
from ingest.stores.embedded.database import Database

PARTITIONS = 8
_RETRY_AFTER = 1.0
_STOP_WITHIN = 10.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """In seconds. `session`: a member silent for so long is taken for dead. `hand_over`: how long work in hand may hold up
    a partition that is due to another member. `poll`: how often the file is looked at."""

    session: float = 10.0
    hand_over: float = 30.0
    poll: float = 0.2


TIMING = Timing()


@dataclass(frozen=True, slots=True)
class Holding:
    """A partition that a member holds."""

    partition: int
    epoch: int
    committed: int


@dataclass(frozen=True, slots=True)
class Share:
    """How many partitions are a member's due."""

    least: int
    most: int


class Membership:
    """One member of a group, as statements inside transactions."""

    def __init__(self, topic: str, group: str, session: float) -> None:
        self._group = {"topic": topic, "grp": group}
        self._me = uuid.uuid4().hex
        self._session = session

    def renew(self, connection: sqlite3.Connection, now: float) -> tuple[list[Holding], Share]:
        """Say that this member lives, take free partitions up to its share. What it holds now, and the share."""
        group, me = self._group, self._me
        connection.execute(
            "INSERT INTO members VALUES (:topic, :grp, :me, :now) ON CONFLICT DO UPDATE SET seen = :now",
            {**group, "me": me, "now": now},
        )
        # A time that lies ahead is a clock that was set back: no sign of life either.
        connection.execute(
            "DELETE FROM members WHERE topic = :topic AND grp = :grp AND NOT seen BETWEEN :oldest AND :newest",
            {**group, "oldest": now - self._session, "newest": now + self._session},
        )
        counted = connection.execute("SELECT count(*) FROM members WHERE topic = :topic AND grp = :grp", group)
        living = int(counted.fetchone()[0])
        share = Share(least=PARTITIONS // living, most=-(-PARTITIONS // living))
        connection.executemany(
            "INSERT INTO offsets VALUES (:topic, :grp, :partition, 0, NULL, 0) ON CONFLICT DO NOTHING",
            [{**group, "partition": partition} for partition in range(PARTITIONS)],
        )
        held = len(self._held(connection))
        connection.execute(
            "UPDATE offsets SET owner = :me, epoch = epoch + 1 WHERE topic = :topic AND grp = :grp AND part IN ("
            " SELECT part FROM offsets WHERE topic = :topic AND grp = :grp AND (owner IS NULL OR owner NOT IN"
            " (SELECT member FROM members WHERE topic = :topic AND grp = :grp)) ORDER BY part LIMIT :room)",
            {**group, "me": me, "room": max(0, share.most - held)},
        )
        return self._held(connection), share

    def store(self, connection: sqlite3.Connection, holding: Holding, offset: int) -> bool:
        """Commit an offset under the epoch in which the partition was taken."""
        return self._update(connection, holding, "committed = :offset", offset)

    def release(self, connection: sqlite3.Connection, holding: Holding) -> None:
        self._update(connection, holding, "owner = NULL")

    def leave(self, connection: sqlite3.Connection) -> None:
        mine = {**self._group, "me": self._me}
        connection.execute("DELETE FROM members WHERE topic = :topic AND grp = :grp AND member = :me", mine)
        connection.execute("UPDATE offsets SET owner = NULL WHERE topic = :topic AND grp = :grp AND owner = :me", mine)

    def _held(self, connection: sqlite3.Connection) -> list[Holding]:
        rows = connection.execute(
            "SELECT part, epoch, committed FROM offsets WHERE topic = :topic AND grp = :grp AND owner = :me ORDER BY part",
            {**self._group, "me": self._me},
        )
        return [Holding(*row) for row in rows]

    def _update(self, connection: sqlite3.Connection, holding: Holding, change: str, offset: int = 0) -> bool:
        done = connection.execute(
            f"UPDATE offsets SET {change} WHERE topic = :topic AND grp = :grp AND part = :partition"
            " AND owner = :me AND epoch = :epoch",
            {
                **self._group,
                "partition": holding.partition,
                "me": self._me,
                "epoch": holding.epoch,
                "offset": offset,
            },
        )
        return done.rowcount == 1


class SqliteConsumer(WindowedConsumer):
    """Opened by SqliteEventLog.consume."""

    def __init__(
        self, database: Database, topic: str, group: str, append: Append, clock: Clock, timing: Timing
    ) -> None:
        super().__init__(append)
        self._database = database
        self._topic = topic
        self._clock = clock
        self._timing = timing
        self._membership = Membership(topic, group, timing.session)
        self._holdings: dict[int, Holding] = {}
        self._due: dict[int, float] = {}
        self._renew_at = 0.0
        self._settled.set()

    async def __aenter__(self) -> Self:
        await self._renew()
        self._start(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._commit_finished(_STOP_WITHIN)
        await self._stop()
        self._windows.clear()
        await self._database.write(self._membership.leave)

    async def _store_offset(self, partition: int, offset: int) -> bool:
        holding = self._holdings[partition]
        stored = await self._database.write(lambda connection: self._membership.store(connection, holding, offset))
        if not stored:
            self._drop(partition)
        return stored

    async def _run(self) -> None:
        """Nothing but a cancellation ends it: what goes wrong is shown by `take` until it is over."""
        while True:
            try:
                if _now() >= self._renew_at:
                    await self._renew()
                await self._hand_over()
                await self._read()
                self._trouble = None
                await asyncio.sleep(self._timing.poll)
            except StoreUnavailable as error:
                _log.warning("event_log_not_answering", topic=self._topic, error=str(error))
                self._trouble = error
                self._wake()
                await asyncio.sleep(_RETRY_AFTER)

    async def _renew(self) -> None:
        now = self._clock.now().timestamp()
        held, share = await self._database.write(lambda connection: self._membership.renew(connection, now))
        hungry = len(held) < share.least
        self._renew_at = _now() + (self._timing.poll if hungry else self._timing.session / 3)
        holdings = {holding.partition: holding for holding in held}
        for partition, known in list(self._holdings.items()):
            if partition not in holdings or holdings[partition].epoch != known.epoch:
                self._drop(partition)
        for partition, holding in holdings.items():
            if partition not in self._windows:
                self._holdings[partition] = holding
                self._windows[partition] = Window(holding.committed)
        for partition in sorted(self._windows)[share.most :]:
            self._due.setdefault(partition, _now() + self._timing.hand_over)
            self._handing_over.add(partition)

    async def _hand_over(self) -> None:
        """Let go of partitions that are due to others, when nothing of them is in hand or the time is up."""
        for partition in sorted(self._handing_over):
            if self._windows[partition].done or _now() >= self._due[partition]:
                holding = self._holdings[partition]
                async with self._committing:
                    self._drop(partition)
                await self._database.write(partial(self._membership.release, holding=holding))

    async def _read(self) -> None:
        wanted = {
            partition: (window.next, AHEAD - window.span)
            for partition, window in self._windows.items()
            if partition not in self._handing_over and window.span < AHEAD
        }
        records = await self._database.read(lambda connection: _following(connection, self._topic, wanted))
        for partition, found in records.items():
            if found and partition in self._windows:
                self._windows[partition].add(found)
                self._wake()

    def _drop(self, partition: int) -> None:
        self._windows.pop(partition, None)
        self._holdings.pop(partition, None)
        self._due.pop(partition, None)
        self._handing_over.discard(partition)
        self._wake()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _following(
    connection: sqlite3.Connection, topic: str, wanted: dict[int, tuple[int, int]]
) -> dict[int, Sequence[Record]]:
    return {
        partition: read_records(connection, topic, partition, start, limit)
        for partition, (start, limit) in wanted.items()
    }


def read_records(
    connection: sqlite3.Connection, topic: str, partition: int, start: int, limit: int
) -> Sequence[Record]:
    """The records of a partition from an offset on."""
    rows = connection.execute(
        "SELECT pos, key, value, at FROM records WHERE topic = ? AND part = ? AND pos >= ? ORDER BY pos LIMIT ?",
        (topic, partition, start, limit),
    )
    return [
        Record(topic, partition, pos, key.decode("utf-8", "surrogateescape"), value, datetime.fromtimestamp(at, UTC))
        for pos, key, value, at in rows
    ]
