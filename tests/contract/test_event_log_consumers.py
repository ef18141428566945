"""The Consumer port: handing out, acknowledging, and what becomes of what is not acknowledged.

Partitions that change hands between members of a group are Kafka's alone: the embedded log has one consumer a group,
since one process holds the data folder. They have their tests in tests/integration/ingest/events/test_kafka_groups.py."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from ingest.events.consumer import MAX_OFFSETS_AHEAD
from ingest.events.topics import dead_topic
from ingest.ports import Consumer, EventLog, Record
from tests.contract.conftest import SESSION
from tests.contract.log_reading import JOINED, SPREAD, all_of, append_all, drain, keys_in_one_partition, one, read


async def test_take_gives_what_there_is_at_once_and_at_most_what_was_asked_for(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD[:10])
    async with log.consume(topic, "g") as consumer:
        assert len(await all_of(consumer, 4)) == 4
        assert len(await all_of(consumer, 6)) == 6
        assert await consumer.take(100, wait=0.1) == ()


async def test_take_ends_as_soon_as_a_record_comes(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"1")
    async with log.consume(topic, "g") as consumer:
        await consumer.acknowledge(await one(consumer))
        waiting = asyncio.create_task(consumer.take(wait=60.0))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await log.append(topic, "k", b"2")
        async with asyncio.timeout(JOINED):
            assert [record.value for record in await waiting] == [b"2"]


async def test_a_take_that_is_cancelled_loses_no_record(log: EventLog, topic: str) -> None:
    async with log.consume(topic, "g") as consumer:
        waiting = asyncio.create_task(consumer.take(wait=JOINED))
        await asyncio.sleep(0.1)
        waiting.cancel()
        await log.append(topic, "k", b"x")
        assert (await one(consumer)).key == "k"


async def test_what_is_acknowledged_never_comes_again_and_all_else_does(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD[:6])
    async with log.consume(topic, "g") as consumer:
        records = await all_of(consumer, 6)
        by_partition: dict[int, list[Record]] = {}
        for record in records:
            by_partition.setdefault(record.partition, []).append(record)
        done = [min(found, key=lambda record: record.offset) for found in by_partition.values()]
        for record in done:
            assert await consumer.acknowledge(record)
    left = {record.key for record in records} - {record.key for record in done}
    assert {record.key for record in await drain(log, topic, "g")} == left


async def test_offsets_are_committed_up_to_the_first_record_that_is_not_done(log: EventLog, topic: str) -> None:
    keys = await keys_in_one_partition(log, topic, 4)
    await append_all(log, topic, keys)
    async with log.consume(topic, "g") as consumer:
        first, second, third, fourth = sorted(await all_of(consumer, 4), key=lambda record: record.offset)
        assert await consumer.acknowledge(third)
        assert await consumer.acknowledge(second)
        assert await log.lag(topic, "g") == 4
        assert await consumer.acknowledge(first)
        assert await log.lag(topic, "g") == 1
        assert consumer.holds(fourth)
    assert [record.key for record in await drain(log, topic, "g")] == [keys[3]]


async def test_a_record_is_acknowledged_once(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x")
    async with log.consume(topic, "g") as consumer:
        record = await one(consumer)
        assert await consumer.acknowledge(record)
        assert not await consumer.acknowledge(record)
        assert not await consumer.dead(record, "late")
    assert await read(log, dead_topic(topic)) == []


async def test_acknowledgements_at_once_are_all_committed(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD)
    async with log.consume(topic, "g") as consumer:
        records = await all_of(consumer, len(SPREAD))
        assert all(await asyncio.gather(*(consumer.acknowledge(record) for record in records)))
        assert await log.lag(topic, "g") == 0


async def test_two_records_of_one_key_are_never_in_hand_together(log: EventLog, topic: str) -> None:
    await append_all(log, topic, ["a", "a", "b"])
    async with log.consume(topic, "g") as consumer:
        records = await all_of(consumer, 2)
        assert sorted(record.key for record in records) == ["a", "b"]
        assert await consumer.take(10, wait=0.2) == ()
        [first] = [record for record in records if record.key == "a"]
        await consumer.acknowledge(first)
        second = await one(consumer)
        assert (second.key, second.offset > first.offset) == ("a", True)


async def test_what_is_given_back_comes_again_before_later_records_of_its_key(log: EventLog, topic: str) -> None:
    for value in (b"1", b"2"):
        await log.append(topic, "k", value)
    async with log.consume(topic, "g") as consumer:
        for _ in range(3):
            record = await one(consumer)
            assert record.value == b"1"
            consumer.give_back(record)
            assert not consumer.holds(record)
            assert not await consumer.acknowledge(record)
        await consumer.acknowledge(await one(consumer))
        assert (await one(consumer)).value == b"2"


async def test_several_tasks_may_take_and_no_record_is_handed_out_twice(log: EventLog, topic: str) -> None:
    keys = [f"key {number % 16}" for number in range(160)]
    await append_all(log, topic, keys)
    seen: list[Record] = []
    working: Counter[str] = Counter()

    async def work(consumer: Consumer) -> None:
        while len(seen) < len(keys):
            for record in await consumer.take(3, wait=0.2):
                working[record.key] += 1
                assert working[record.key] == 1
                seen.append(record)
                await asyncio.sleep(0)
                working[record.key] -= 1
                assert await consumer.acknowledge(record)

    async with log.consume(topic, "g") as consumer, asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(work(consumer))
    assert len({(record.partition, record.offset) for record in seen}) == len(seen) == len(keys)
    for key in set(keys):
        offsets = [record.offset for record in seen if record.key == key]
        assert offsets == sorted(offsets)


async def test_a_consumer_reads_only_so_far_ahead_of_what_is_not_done(log: EventLog, topic: str) -> None:
    keys = await keys_in_one_partition(log, topic, 24)
    count = 2 * MAX_OFFSETS_AHEAD
    for number in range(count):
        await log.append(topic, keys[number % len(keys)], str(number).encode())
    async with log.consume(topic, "g") as consumer:
        stuck = await one(consumer)
        seen = 1
        while found := await consumer.take(100, wait=0.5):
            seen += len(found)
            for record in found:
                assert await consumer.acknowledge(record)
        assert seen < count
        await consumer.acknowledge(stuck)
        async with asyncio.timeout(JOINED):
            while seen < count:
                found = await consumer.take(100, wait=0.5)
                seen += len(found)
                for record in found:
                    assert await consumer.acknowledge(record)
        assert seen == count
    assert await log.lag(topic, "g") == 0


async def test_long_work_costs_no_partition(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD[:8])
    async with log.consume(topic, "g") as consumer:
        records = await all_of(consumer, 8)
        await asyncio.sleep(SESSION + 1.0)
        assert all([await consumer.acknowledge(record) for record in records])
        assert await consumer.take(wait=0.3) == ()
    assert await log.lag(topic, "g") == 0


async def test_an_error_in_the_work_leaves_the_group_and_loses_nothing(log: EventLog, topic: str) -> None:
    await append_all(log, topic, ["a", "b"])

    async def fail() -> None:
        async with log.consume(topic, "g") as consumer:
            await all_of(consumer, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert sorted(record.key for record in await drain(log, topic, "g")) == ["a", "b"]
