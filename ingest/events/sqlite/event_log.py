"""The embedded event log: one SQLite file, for any number of consumers in one process or in several.

What is appended is on disk when `append` returns. Topics have a fixed number of partitions, chosen by the key's CRC-32;
positions are never given twice, whatever is removed. Old records are swept as events.topics.Keeping says, on opening,
after every `SWEEP_EVERY` appends and with the first append an hour after that: what the compaction removes has been
committed by all groups of the topic.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Self

from ingest.errors import GroupBusy
from ingest.events.sqlite.consumer import PARTITIONS, TIMING, SqliteConsumer, Timing, read_records
from ingest.events.topics import KEEPING, Keeping, check_size
from ingest.ports import Clock, Consumer, Record
from ingest.stores.embedded.database import Database

SWEEP_EVERY = 1000
SWEEP_AFTER = 3600.0
_PAGE = 500

SCHEMA = (
    "CREATE TABLE records (topic TEXT, part INTEGER, pos INTEGER, key BLOB NOT NULL, value BLOB, at REAL NOT NULL,"
    " PRIMARY KEY (topic, part, pos)) WITHOUT ROWID",
    "CREATE INDEX by_key ON records (topic, key, pos)",
    "CREATE TABLE ends (topic TEXT, part INTEGER, next INTEGER NOT NULL, PRIMARY KEY (topic, part)) WITHOUT ROWID",
    "CREATE TABLE offsets (topic TEXT, grp TEXT, part INTEGER, committed INTEGER NOT NULL, owner TEXT,"
    " epoch INTEGER NOT NULL, PRIMARY KEY (topic, grp, part)) WITHOUT ROWID",
    "CREATE TABLE members (topic TEXT, grp TEXT, member TEXT, seen REAL NOT NULL,"
    " PRIMARY KEY (topic, grp, member)) WITHOUT ROWID",
)


class SqliteEventLog:
    """`async with` opens the file, which is made if need be."""

    def __init__(self, path: Path, clock: Clock, *, keeping: Keeping = KEEPING, timing: Timing = TIMING) -> None:
        self._database = Database(path, SCHEMA, schema_version=1)
        self._clock = clock
        self._keeping = keeping
        self._timing = timing
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
        self._appended += 1
        if self._appended % SWEEP_EVERY == 0 or at - self._swept >= SWEEP_AFTER:
            await self._sweep()

    def consume(self, topic: str, group: str) -> AbstractAsyncContextManager[Consumer]:
        return SqliteConsumer(self._database, topic, group, self.append, self._clock, self._timing)

    async def read(self, topic: str) -> AsyncIterator[Record]:
        ends = await self._database.read(lambda connection: _ends(connection, topic))
        for partition, end in ends.items():
            start = 0
            while start < end:
                records = await self._database.read(
                    partial(read_records, topic=topic, partition=partition, start=start, limit=_PAGE)
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
        now = self._clock.now().timestamp()
        session = self._timing.session

        def rewind(connection: sqlite3.Connection) -> None:
            living = connection.execute(
                "SELECT count(*) FROM members WHERE topic = ? AND grp = ? AND seen BETWEEN ? AND ?",
                (topic, group, now - session, now + session),
            )
            if living.fetchone()[0]:
                raise GroupBusy(f"{group} is reading {topic}: stop it, then start over")
            connection.execute(
                "UPDATE offsets SET committed = 0, owner = NULL, epoch = epoch + 1 WHERE topic = ? AND grp = ?",
                (topic, group),
            )

        await self._database.write(rewind)

    async def _sweep(self) -> None:
        now = self._clock.now().timestamp()
        await self._database.write(lambda connection: _sweep(connection, self._keeping, now))
        self._swept = now


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
