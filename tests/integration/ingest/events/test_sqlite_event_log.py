"""What only the embedded event log has: sweeping, sessions in a file, a disk that fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.errors import StoreUnavailable
from ingest.events.sqlite import event_log
from ingest.events.sqlite.consumer import PARTITIONS, Membership, Timing
from ingest.events.sqlite.event_log import SqliteEventLog
from ingest.events.topics import PAGES, Keeping, dead_topic
from ingest.ports import Consumer, EventLog, Record

DAY = timedelta(days=1)
KEEPING = Keeping(compacted=DAY, others=2 * DAY, dead=30 * DAY)
TIMING = Timing(session=2.0, hand_over=1.0, poll=0.01)


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
    return SqliteEventLog(folder / "events.sqlite", clock, keeping=KEEPING, timing=TIMING)


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
        for _ in range(event_log.SWEEP_EVERY - 1):
            await log.append("t", "new", b"")
        assert {key for key, _ in await values(log, "t")} == {"new"}


def test_a_member_whose_time_lies_ahead_is_taken_for_dead(tmp_path: Path) -> None:
    with sqlite3.connect(":memory:") as connection:
        for statement in event_log.SCHEMA:
            connection.execute(statement)
        before, after = (Membership("t", "g", session=10.0) for _ in range(2))
        held, _ = before.renew(connection, now=1_000_000.0)
        assert len(held) == PARTITIONS
        held, _ = after.renew(connection, now=5.0)
        assert len(held) == PARTITIONS
        assert not before.store(connection, held[0], 3)
    connection.close()


def test_an_offset_of_an_earlier_epoch_is_not_stored(tmp_path: Path) -> None:
    with sqlite3.connect(":memory:") as connection:
        for statement in event_log.SCHEMA:
            connection.execute(statement)
        slow, other = (Membership("t", "g", session=10.0) for _ in range(2))
        [held, *_], _ = slow.renew(connection, now=0.0)
        assert slow.store(connection, held, 4)
        other.renew(connection, now=20.0)
        other.leave(connection)
        [again, *_], _ = slow.renew(connection, now=21.0)
        assert (again.partition, again.committed) == (held.partition, 4)
        assert not slow.store(connection, held, 9)
        assert slow.store(connection, again, 5)
    connection.close()


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
