"""Members of a consumer group: sharing partitions, handing them over, losing them. Only Kafka has several."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.kafka.group import GroupTiming
from ingest.events.topics import dead_topic
from ingest.ports import Consumer, EventLog, Record
from tests.contract.log_reading import JOINED, SPREAD, all_of, append_all, one, read
from tests.servers.kafka import Kafka
from tests.waiting import eventually

HAND_OVER = 1.5
"""Seconds for which work in hand may hold up a rebalance."""


@pytest.fixture
async def log(kafka: Kafka) -> AsyncIterator[EventLog]:
    async with KafkaEventLog(Connection((kafka.address,)), timing=GroupTiming(session=1.5, hand_over=HAND_OVER)) as log:
        yield log


@pytest.fixture
def topic() -> str:
    return f"test.{uuid4().hex}"


async def test_members_share_the_partitions_and_each_record_goes_to_one(log: EventLog, topic: str) -> None:
    async with log.consume(topic, "g") as one_member, log.consume(topic, "g") as other_member:
        taken: dict[int, list[Record]] = {1: [], 2: []}

        async def work(number: int, consumer: Consumer) -> None:
            while True:
                for record in await consumer.take(5, wait=0.2):
                    taken[number].append(record)
                    await consumer.acknowledge(record)

        workers = [asyncio.create_task(work(1, one_member)), asyncio.create_task(work(2, other_member))]
        async with asyncio.timeout(JOINED):
            while not (taken[1] and taken[2]):
                await append_all(log, topic, SPREAD[:16])
                await asyncio.sleep(0.2)
            for found in taken.values():
                found.clear()
            await append_all(log, topic, SPREAD, b"counted")

            async def all_committed() -> bool:
                return sum(map(len, taken.values())) >= len(SPREAD) and not await log.lag(topic, "g")

            await eventually(all_committed)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    counted = [[record for record in found if record.value == b"counted"] for found in taken.values()]
    assert sorted(record.key for found in counted for record in found) == sorted(SPREAD)
    assert not {record.partition for record in counted[0]} & {record.partition for record in counted[1]}
    assert all(counted)


async def test_partitions_that_a_member_did_not_know_of_are_found_soon(log: EventLog, kafka: Kafka, topic: str) -> None:
    async with log.consume(topic, "g") as member:
        await append_all(log, topic, SPREAD)
        for record in await all_of(member, len(SPREAD)):
            await member.acknowledge(record)
        admin, producer = (each(bootstrap_servers=kafka.address) for each in (AIOKafkaAdminClient, AIOKafkaProducer))
        try:
            await admin.start()
            await admin.create_partitions({topic: NewPartitions(total_count=9)})
            await producer.start()
            await producer.send_and_wait(topic, b"in the new one", b"key", partition=8)
        finally:
            await admin.close()
            await producer.stop()
        [record] = await member.take(wait=3 * JOINED)
        assert record.value == b"in the new one"


async def test_a_newcomer_waits_for_work_in_hand_and_it_is_not_done_twice(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD)
    async with log.consume(topic, "g") as old:
        in_hand = await all_of(old, len(SPREAD))
        async with log.consume(topic, "g") as new:
            await asyncio.sleep(HAND_OVER / 3)
            assert all([await old.acknowledge(record) for record in in_hand])
            await append_all(log, topic, SPREAD, b"later")
            assert (await one(new)).value == b"later"
            assert all(record.value == b"later" for record in await new.take(100, wait=0.3))


async def test_work_that_outlasts_the_hand_over_is_lost_where_the_partition_goes_and_kept_where_it_stays(
    log: EventLog, topic: str
) -> None:
    await append_all(log, topic, SPREAD)
    async with log.consume(topic, "g") as old:
        in_hand = await all_of(old, len(SPREAD))
        async with log.consume(topic, "g") as new:
            again = [await one(new)]
            while found := await new.take(100, wait=2.0):
                again += found
            lost = [record for record in in_hand if not old.holds(record)]
            assert sorted(record.key for record in again) == sorted(record.key for record in lost)
            assert 0 < len(lost) < len(in_hand)
            assert not await old.acknowledge(lost[0])
            assert not await old.dead(lost[0], "late")
            old.give_back(lost[0])
            assert await old.take(100, wait=0.3) == ()
            kept = [record for record in in_hand if old.holds(record)]
            assert all([await old.acknowledge(record) for record in kept])
            assert await log.lag(topic, "g") == len(lost)
            assert all([await new.acknowledge(record) for record in again])
    assert await log.lag(topic, "g") == 0
    assert await read(log, dead_topic(topic)) == []


async def test_leaving_gives_what_is_not_done_to_the_others_at_once(log: EventLog, topic: str) -> None:
    async with log.consume(topic, "g") as stays:
        async with log.consume(topic, "g") as leaves:
            await append_all(log, topic, SPREAD)
            in_hand = [await one(leaves), *await leaves.take(100, wait=0.3)]
        assert not leaves.holds(in_hand[0])
        assert not await leaves.acknowledge(in_hand[0])
        records = await all_of(stays, len(SPREAD))
    assert sorted(record.key for record in records) == sorted(SPREAD)


async def test_members_that_are_too_many_wait_and_step_in(log: EventLog, topic: str) -> None:
    await append_all(log, topic, SPREAD)
    async with log.consume(topic, "g") as last:
        consumers = [log.consume(topic, "g") for _ in range(9)]
        for consumer in consumers:
            await consumer.__aenter__()
        for consumer in consumers:
            await consumer.__aexit__(None, None, None)
        records = await all_of(last, len(SPREAD))
    assert sorted(record.key for record in records) == sorted(SPREAD)
