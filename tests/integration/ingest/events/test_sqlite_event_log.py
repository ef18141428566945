"""What only the embedded event log has: sweeping, one consumer a group, a file of an older version, a disk that fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.errors import GroupBusy, StoreUnavailable
from ingest.events.sqlite import SWEEP_EVERY_APPENDS, SqliteEventLog
from ingest.events.topics import PAGES, Keeping, dead_topic
from ingest.ports import Consumer, EventLog, Record

DAY = timedelta(days=1)
KEEPING = Keeping(compacted=DAY, others=2 * DAY, dead=30 * DAY)


class SetClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def open_log(folder: Path, clock: SetClock) -> SqliteEventLog:
    return SqliteEventLog(folder / "events.sqlite", clock, keeping=KEEPING)


async def values(log: EventLog, topic: str) -> list[tuple[str, bytes | None]]:
    return sorted([(record.key, record.value) async for record in log.read(topic)])


async def consume_all(log: EventLog, topic: str, group: str) -> None:
    async with log.consume(topic, group) as consumer:
        while found := await consumer.take(100, wait=0.5):
            for record in found:
                await consumer.acknowledge(record)


async def take_one(consumer: Consumer) -> Record:
    """Waits for as long as it takes."""
    while True:
        if found := await consumer.take(wait=1):
            return found[0]


def rename(folder: Path, table: str, name: str) -> None:
    """Make the file useless, or whole again, as a failing disk would."""
    connection = sqlite3.connect(folder / "events.sqlite", isolation_level=None)
    connection.execute(f"ALTER TABLE {table} RENAME TO {name}")
    connection.close()


async def append(log: EventLog, topic: str, pairs: Iterable[tuple[str, bytes]]) -> None:
    for key, value in pairs:
        await log.append(topic, key, value)


async def test_compaction_keeps_the_newest_record_of_each_key_for_ever(tmp_path: Path, clock: SetClock) -> None:
    async with open_log(tmp_path, clock) as log:
        await append(log, PAGES, [("a", b"1"), ("b", b"1"), ("a", b"2")])
        await consume_all(log, PAGES, "indexer")
    clock.time += 1000 * DAY
    async with open_log(tmp_path, clock) as log:
        assert await values(log, PAGES) == [("a", b"2"), ("b", b"1")]


async def test_compaction_leaves_what_is_young_or_what_a_group_has_still_to_read(
    tmp_path: Path, clock: SetClock
) -> None:
    async with open_log(tmp_path, clock) as log:
        await append(log, PAGES, [("a", b"1"), ("a", b"2")])
        await consume_all(log, PAGES, "late")
        await append(log, PAGES, [("a", b"3"), ("a", b"4")])
        await consume_all(log, PAGES, "quick")
        everything = [("a", b"1"), ("a", b"2"), ("a", b"3"), ("a", b"4")]
    async with open_log(tmp_path, clock) as log:
        assert await values(log, PAGES) == everything
    clock.time += 2 * DAY
    async with open_log(tmp_path, clock) as log:
        assert await values(log, PAGES) == everything[2:]
        await consume_all(log, PAGES, "late")
    async with open_log(tmp_path, clock) as log:
        assert await values(log, PAGES) == everything[3:]


async def test_other_topics_keep_their_records_for_a_time_and_dead_letters_longer(
    tmp_path: Path, clock: SetClock
) -> None:
    topics = ("some.topic", dead_topic("some.topic"))
    async with open_log(tmp_path, clock) as log:
        for topic in topics:
            await log.append(topic, "a", b"old")
        clock.time += 2 * DAY
        for topic in topics:
            await log.append(topic, "a", b"new")
        clock.time += DAY / 2
    async with open_log(tmp_path, clock) as log:
        assert [await values(log, topic) for topic in topics] == [[("a", b"new")], [("a", b"new"), ("a", b"old")]]


async def test_a_log_that_stays_open_is_swept_with_the_first_append_an_hour_later(
    tmp_path: Path, clock: SetClock
) -> None:
    async with open_log(tmp_path, clock) as log:
        await log.append("some.topic", "a", b"old")
        clock.time += 3 * DAY
        await log.append("some.topic", "b", b"new")
        assert await values(log, "some.topic") == [("b", b"new")]


async def test_offsets_are_never_given_twice_though_everything_was_swept(tmp_path: Path, clock: SetClock) -> None:
    async with open_log(tmp_path, clock) as log:
        await log.append("t", "a", b"1")
        await consume_all(log, "t", "g")
    clock.time += 10 * DAY
    async with open_log(tmp_path, clock) as log:
        assert await values(log, "t") == []
        await log.append("t", "a", b"2")
        async with log.consume("t", "g") as consumer:
            [record] = await consumer.take(wait=5)
            assert (record.offset, record.value) == (1, b"2")


async def test_a_log_that_stays_open_is_swept_too(tmp_path: Path, clock: SetClock) -> None:
    async with open_log(tmp_path, clock) as log:
        await log.append("t", "old", b"")
        clock.time += 3 * DAY
        for _ in range(SWEEP_EVERY_APPENDS - 1):
            await log.append("t", "new", b"")
        assert {key for key, _ in await values(log, "t")} == {"new"}


async def test_a_group_has_one_consumer_until_it_leaves(tmp_path: Path, clock: SetClock) -> None:
    async with open_log(tmp_path, clock) as log:
        await log.append("t", "a", b"1")
        async with log.consume("t", "g") as consumer, log.consume("t", "other"), log.consume("u", "g"):
            with pytest.raises(GroupBusy, match="g is reading t"):
                async with log.consume("t", "g"):
                    pass
            assert (await take_one(consumer)).value == b"1"
        async with log.consume("t", "g") as again:
            assert (await take_one(again)).value == b"1"


async def test_what_another_process_appends_is_read_too(tmp_path: Path, clock: SetClock) -> None:
    async with open_log(tmp_path, clock) as log, log.consume("t", "g") as consumer, open_log(tmp_path, clock) as other:
        assert await consumer.take(wait=0.1) == ()
        await other.append("t", "a", b"1")
        assert (await take_one(consumer)).value == b"1"


FIRST_VERSION = """
CREATE TABLE records (topic TEXT, part INTEGER, pos INTEGER, key BLOB NOT NULL, value BLOB, at REAL NOT NULL,
 PRIMARY KEY (topic, part, pos)) WITHOUT ROWID;
CREATE INDEX by_key ON records (topic, key, pos);
CREATE TABLE ends (topic TEXT, part INTEGER, next INTEGER NOT NULL, PRIMARY KEY (topic, part)) WITHOUT ROWID;
CREATE TABLE offsets (topic TEXT, grp TEXT, part INTEGER, committed INTEGER NOT NULL, owner TEXT,
 epoch INTEGER NOT NULL, PRIMARY KEY (topic, grp, part)) WITHOUT ROWID;
CREATE TABLE members (topic TEXT, grp TEXT, member TEXT, seen REAL NOT NULL,
 PRIMARY KEY (topic, grp, member)) WITHOUT ROWID;
INSERT INTO records VALUES ('t', 2, 0, x'61', x'31', 1767225600.0), ('t', 2, 1, x'62', x'32', 1767225600.0);
INSERT INTO ends VALUES ('t', 2, 2);
INSERT INTO offsets VALUES ('t', 'g', 2, 1, 'a member that was killed', 7);
INSERT INTO members VALUES ('t', 'g', 'a member that was killed', 1767225600.0);
PRAGMA user_version = 1;
"""


async def test_a_file_of_the_first_version_keeps_its_records_and_offsets(tmp_path: Path, clock: SetClock) -> None:
    with closing(sqlite3.connect(tmp_path / "events.sqlite")) as connection:
        connection.executescript(FIRST_VERSION)
    async with open_log(tmp_path, clock) as log:
        assert await values(log, "t") == [("a", b"1"), ("b", b"2")]
        async with log.consume("t", "g") as consumer:
            record = await take_one(consumer)
            assert (record.offset, record.value) == (1, b"2")
            await consumer.acknowledge(record)
        assert await log.committed("t", "g") == {2: 2}


async def test_a_file_that_is_no_log_is_named(tmp_path: Path, clock: SetClock) -> None:
    (tmp_path / "events.sqlite").write_bytes(b"no database at all, " * 100)
    with pytest.raises(StoreUnavailable, match=r"events\.sqlite"):
        async with open_log(tmp_path, clock):
            pass


async def test_trouble_with_the_file_is_raised_by_take_and_over_when_it_is_over(
    tmp_path: Path, clock: SetClock
) -> None:
    async with open_log(tmp_path, clock) as log:
        await log.append("t", "a", b"1")
        async with log.consume("t", "g") as consumer:
            [record] = await consumer.take(wait=5)
            await consumer.acknowledge(record)
            rename(tmp_path, "records", "hidden")
            with pytest.raises(StoreUnavailable):
                await take_one(consumer)
            rename(tmp_path, "hidden", "records")
            await log.append("t", "a", b"2")
            await asyncio.sleep(2.0)
            assert (await take_one(consumer)).value == b"2"
