"""The embedded event log: one SQLite file in the data folder.

What is appended is on disk when `append` returns. Topics have a fixed number of partitions, chosen by the key's CRC-32;
positions are never given twice, whatever is removed. One process holds the data folder, so a group has one consumer,
which reads all partitions: a second one in this process is refused. Another process may look at the log and append to
it (`ritbot dead-letters`): the consumer looks at the file from time to time.

Old records are swept as events.topics.Keeping says, on opening, after every `SWEEP_EVERY_APPENDS` and with the first
append an hour after that: what the compaction removes has been committed by all groups of the topic.
"""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Self

import structlog

from ingest.errors import GroupBusy, StoreUnavailable
from ingest.events.consumer import MAX_OFFSETS_AHEAD, STOP_SECONDS, Append, WindowedConsumer
from ingest.events.topics import KEEPING, Keeping, check_size
from ingest.events.window import Window
from ingest.ports import Clock, Consumer, Record
from ingest.stores.embedded.database import Database

PARTITIONS = 8
SWEEP_EVERY_APPENDS = 1000
_SWEEP_AFTER_SECONDS = 3600.0
_RECORDS_PER_READ = 500
_POLL_SECONDS = 0.2
_RETRY_SECONDS = 1.0

_SCHEMA = (
    "CREATE TABLE records (topic TEXT, part INTEGER, pos INTEGER, key BLOB NOT NULL, value BLOB, at REAL NOT NULL,"
    " PRIMARY KEY (topic, part, pos)) WITHOUT ROWID",
    "CREATE INDEX by_key ON records (topic, key, pos)",
    "CREATE TABLE ends (topic TEXT, part INTEGER, next INTEGER NOT NULL, PRIMARY KEY (topic, part)) WITHOUT ROWID",
    "CREATE TABLE offsets (topic TEXT, grp TEXT, part INTEGER, committed INTEGER NOT NULL,"
    " PRIMARY KEY (topic, grp, part)) WITHOUT ROWID",
)
_UPGRADES = {
    1: (  # the first version shared partitions among the members of a group
        "DROP TABLE members",
        "ALTER TABLE offsets DROP COLUMN owner",
        "ALTER TABLE offsets DROP COLUMN epoch",
    )
}

log = structlog.get_logger(__name__)


class SqliteEventLog:
    """`async with` opens the file, which is made if need be."""

    def __init__(self, path: Path, clock: Clock, *, keeping: Keeping = KEEPING) -> None:
        self._database = Database(path, _SCHEMA, schema_version=2, upgrades=_UPGRADES)
        self._clock = clock
        self._keeping = keeping
        self._consumers: dict[tuple[str, str], _SqliteConsumer] = {}
        self._appended = 0
        self._swept = 0.0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._database)
        try:
            await self._sweep()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        raw = key.encode("utf-8", "surrogateescape")
        check_size(topic, raw, value)
        partition = zlib.crc32(raw) % PARTITIONS
        at = self._clock.now().timestamp()

        def insert(connection: sqlite3.Connection) -> None:
            end = connection.execute(
                "INSERT INTO ends VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET next = next + 1 RETURNING next",
                (topic, partition),
            ).fetchone()[0]
            connection.execute(
                "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", (topic, partition, end - 1, raw, value, at)
            )

        await self._database.write(insert)
        for (read, _), consumer in self._consumers.items():
            if read == topic:
                consumer.look()
        self._appended += 1
        if self._appended % SWEEP_EVERY_APPENDS == 0 or at - self._swept >= _SWEEP_AFTER_SECONDS:
            await self._sweep()

    @asynccontextmanager
    async def consume(self, topic: str, group: str) -> AsyncIterator[Consumer]:
        """Raises GroupBusy where this process reads the topic for the group already."""
        if (topic, group) in self._consumers:
            raise GroupBusy(f"{group} is reading {topic} already, and reads it once")
        consumer = self._consumers[topic, group] = _SqliteConsumer(self._database, topic, group, self.append)
        try:
            async with consumer:
                yield consumer
        finally:
            del self._consumers[topic, group]

    async def read(self, topic: str) -> AsyncIterator[Record]:
        ends = await self._database.read(lambda connection: _ends(connection, topic))
        for partition, end in ends.items():
            start = 0
            while start < end:
                records = await self._database.read(
                    partial(_read_records, topic=topic, partition=partition, start=start, limit=_RECORDS_PER_READ)
                )
                for record in records:
                    if record.offset < end:
                        yield record
                start = records[-1].offset + 1 if records else end

    async def lag(self, topic: str, group: str) -> int:
        def count(connection: sqlite3.Connection) -> int:
            behind = connection.execute(
                "SELECT count(*) FROM records AS r LEFT JOIN offsets AS o ON o.topic = r.topic AND o.part = r.part"
                " AND o.grp = ? WHERE r.topic = ? AND r.pos >= coalesce(o.committed, 0)",
                (group, topic),
            )
            return int(behind.fetchone()[0])

        return await self._database.read(count)

    async def committed(self, topic: str, group: str) -> Mapping[int, int]:
        def look(connection: sqlite3.Connection) -> Mapping[int, int]:
            offsets = connection.execute(
                "SELECT part, committed FROM offsets WHERE topic = ? AND grp = ? AND committed > 0", (topic, group)
            )
            return dict(offsets.fetchall())

        return await self._database.read(look)

    async def replay(self, topic: str, group: str) -> None:
        if (topic, group) in self._consumers:
            raise GroupBusy(f"{group} is reading {topic}: stop it, then start over")
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE offsets SET committed = 0 WHERE topic = ? AND grp = ?", (topic, group)
            )
        )

    async def _sweep(self) -> None:
        now = self._clock.now().timestamp()
        await self._database.write(lambda connection: _sweep(connection, self._keeping, now))
        self._swept = now


class _SqliteConsumer(WindowedConsumer):
    """The group's only consumer: all partitions are its own from the first moment to the last."""

    def __init__(self, database: Database, topic: str, group: str, append: Append) -> None:
        super().__init__(append)
        self._database = database
        self._topic = topic
        self._group = group
        self._news = asyncio.Event()

    async def __aenter__(self) -> Self:
        offsets = await self._database.write(self._join)
        self._windows = {partition: Window(offset) for partition, offset in offsets.items()}
        self._start(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._commit_finished(STOP_SECONDS)
        await self._stop()
        self._windows.clear()

    def look(self) -> None:
        """Something was appended: read at once."""
        self._news.set()

    async def _store_offset(self, partition: int, offset: int) -> bool:
        await self._database.write(
            lambda connection: connection.execute(
                "UPDATE offsets SET committed = max(committed, ?) WHERE topic = ? AND grp = ? AND part = ?",
                (offset, self._topic, self._group, partition),
            )
        )
        return True

    def _join(self, connection: sqlite3.Connection) -> dict[int, int]:
        """By partition, where the group goes on. A row of each, so that a sweep knows of the group."""
        group = (self._topic, self._group)
        connection.executemany(
            "INSERT INTO offsets VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING",
            [(*group, partition) for partition in range(PARTITIONS)],
        )
        return dict(
            connection.execute("SELECT part, committed FROM offsets WHERE topic = ? AND grp = ?", group).fetchall()
        )

    async def _run(self) -> None:
        """Nothing but a cancellation ends it: what goes wrong is shown by `take` until it is over."""
        while True:
            try:
                self._news.clear()
                await self._read()
                self._trouble = None
                with suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_SECONDS):
                        await self._news.wait()
            except StoreUnavailable as error:
                log.warning("event_log_not_answering", topic=self._topic, error=str(error))
                self._trouble = error
                self._wake()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read(self) -> None:
        open_ = {partition: window for partition, window in self._windows.items() if window.span < MAX_OFFSETS_AHEAD}
        starts = {partition: (window.next, MAX_OFFSETS_AHEAD - window.span) for partition, window in open_.items()}
        found = await self._database.read(
            lambda connection: {
                partition: _read_records(connection, self._topic, partition, start, limit)
                for partition, (start, limit) in starts.items()
            }
        )
        if any(found.values()):
            for partition, records in found.items():
                open_[partition].add(records)
            self._wake()


def _read_records(
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


def _ends(connection: sqlite3.Connection, topic: str) -> dict[int, int]:
    return dict(connection.execute("SELECT part, next FROM ends WHERE topic = ? ORDER BY part", (topic,)).fetchall())


def _sweep(connection: sqlite3.Connection, keeping: Keeping, now: float) -> None:
    """Removes what is past its time: of a compacted topic only what has a newer record of its key and has been
    committed by every group."""
    for (topic,) in connection.execute("SELECT DISTINCT topic FROM ends").fetchall():
        before = now - keeping.period(topic).total_seconds()
        if not keeping.is_compacted(topic):
            connection.execute("DELETE FROM records WHERE topic = ? AND at < ?", (topic, before))
            continue
        connection.execute(
            "DELETE FROM records WHERE topic = :topic AND at < :before"
            " AND EXISTS (SELECT 1 FROM records AS newer WHERE newer.topic = records.topic AND newer.key = records.key"
            " AND newer.pos > records.pos)"
            " AND NOT EXISTS (SELECT 1 FROM offsets WHERE offsets.topic = records.topic AND offsets.part = records.part"
            " AND offsets.committed <= records.pos)",
            {"topic": topic, "before": before},
        )
