"""The consumer over a client that does what aiokafka has been seen to do: skip, hang, fall silent, fail.

The client is the real one, on a real broker, with one fault in front.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import CommitFailedError, KafkaError, RecordTooLargeError

from ingest.errors import RecordTooLarge, StoreUnavailable
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.kafka.group import GroupTiming, KafkaConsumer
from ingest.ports import EventLog, Record
from tests.contract.log_reading import JOINED, all_of, drain, one
from tests.servers.kafka import Kafka

KEYS = [f"key {number}" for number in range(12)]


class Client(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """A client like any other."""

    async def fetched(self, **how: Any) -> Any:
        return await super().getmany(**how)


class Skips(Client):
    """aiokafka#1173: the position passes a record that is never given out."""

    async def getmany(self, **how: Any) -> Any:
        if await self.fetched(**how):
            raise RecordTooLargeError("a record is larger than the fetch size")
        return {}


class Deaf(Client):
    """aiokafka#625: in the group, and silent."""

    async def getmany(self, **how: Any) -> Any:
        await asyncio.sleep(0.05)
        return {}


class Hangs(Client):
    """aiokafka#1037: a call that never ends."""

    async def getmany(self, **how: Any) -> Any:
        await asyncio.Event().wait()


class Fails(Client):
    """aiokafka#1046: an error after the position has moved."""

    async def getmany(self, **how: Any) -> Any:
        if await self.fetched(**how):
            raise KafkaError("something broke")
        return {}


class CommitFails(Client):
    """The first commit fails, in the way that `error` says."""

    error: type[KafkaError] = KafkaError
    failed = False

    async def commit(self, offsets: Any = None) -> None:
        if not self.failed:
            self.failed = True
            raise self.error("no")
        await super().commit(offsets)


class LosesGroup(CommitFails):
    """The first commit comes in the middle of a rebalance."""

    error = CommitFailedError


class IsForgotten(Client):
    """The coordinator no longer knows this member when it commits for the first time."""

    known = True

    async def commit(self, offsets: Any = None) -> None:
        if self.known:
            self.known = False
            self._coordinator.reset_generation()
        await super().commit(offsets)


@pytest.fixture
def topic() -> str:
    return f"test.{uuid4().hex}"


@pytest.fixture
async def log(kafka: Kafka, topic: str) -> AsyncIterator[EventLog]:
    """With a record of each key."""
    async with KafkaEventLog(Connection((kafka.address,))) as log:
        for key in KEYS:
            await log.append(topic, key, b"x")
        yield log


def over(
    kafka: Kafka, log: EventLog, topic: str, *kinds: type[AIOKafkaConsumer], hand_over: float = 0.2, **options: Any
) -> KafkaConsumer:
    """A consumer whose first client is of the first kind, and so on; the last kind serves for all that follow."""
    clients = iter(kinds)
    last = kinds[-1]
    connection = Connection((kafka.address,), timeout=2.0)

    def connect() -> AIOKafkaConsumer:
        return next(clients, last)(
            **connection.options(),
            group_id="g",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=2000,
            heartbeat_interval_ms=200,
            **options,
        )

    return KafkaConsumer(
        connection, connect, topic, "g", log.append, GroupTiming(session=1.0, hand_over=hand_over, watch=0.5)
    )


async def test_a_record_too_large_halts_the_consumer_and_is_not_skipped(
    kafka: Kafka, log: EventLog, topic: str
) -> None:
    async with over(kafka, log, topic, Skips) as consumer:
        for wait in (2.0, 0.1):
            with pytest.raises(RecordTooLarge):
                await consumer.take(wait=wait)
    assert await log.lag(topic, "g") == len(KEYS)
    assert sorted(record.key for record in await drain(log, topic, "g")) == sorted(KEYS)


@pytest.mark.parametrize("fault", [Deaf, Hangs, Fails])
async def test_a_client_that_gives_nothing_is_replaced_and_no_record_is_lost(
    kafka: Kafka, log: EventLog, topic: str, fault: type[AIOKafkaConsumer]
) -> None:
    async with over(kafka, log, topic, fault, Client) as consumer:
        records: list[Record] = []
        async with asyncio.timeout(JOINED):
            while len(records) < len(KEYS):
                try:
                    records += await consumer.take(len(KEYS), wait=0.5)
                except StoreUnavailable:
                    continue
        assert all([await consumer.acknowledge(record) for record in records])
    assert sorted(record.key for record in records) == sorted(KEYS)
    assert await log.lag(topic, "g") == 0


async def test_a_commit_in_the_middle_of_a_rebalance_is_done_when_it_is_over(
    kafka: Kafka, log: EventLog, topic: str
) -> None:
    async with over(kafka, log, topic, LosesGroup) as consumer:
        assert await consumer.acknowledge(await one(consumer))
        assert await log.lag(topic, "g") == len(KEYS) - 1


async def test_a_member_that_was_forgotten_joins_again_without_waiting_for_work_it_cannot_commit(
    kafka: Kafka, log: EventLog, topic: str
) -> None:
    async with over(kafka, log, topic, IsForgotten, hand_over=60.0) as consumer:
        records = await all_of(consumer, len(KEYS))
        async with asyncio.timeout(JOINED):
            assert await consumer.acknowledge(records[0])
        assert all(consumer.holds(record) for record in records[1:])
        assert all([await consumer.acknowledge(record) for record in records[1:]])
        assert await consumer.take(wait=0.3) == ()
    assert await log.lag(topic, "g") == 0


async def test_a_commit_that_fails_is_made_good_by_the_next_or_on_leaving(
    kafka: Kafka, log: EventLog, topic: str
) -> None:
    async with over(kafka, log, topic, CommitFails) as consumer:
        records = await all_of(consumer, len(KEYS))
        with pytest.raises(StoreUnavailable, match="committing"):
            await consumer.acknowledge(records[0])
        for record in records[1:]:
            assert await consumer.acknowledge(record)
    assert await log.lag(topic, "g") == 0


async def test_work_longer_than_the_clients_patience_costs_nothing(kafka: Kafka, log: EventLog, topic: str) -> None:
    async with over(kafka, log, topic, Client, max_poll_interval_ms=800) as consumer:
        records = await all_of(consumer, len(KEYS))
        await asyncio.sleep(3.0)
        assert all([await consumer.acknowledge(record) for record in records])
        assert await consumer.take(wait=0.5) == ()
    assert await log.lag(topic, "g") == 0
