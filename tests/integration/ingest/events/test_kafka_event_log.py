"""What only Kafka has: a broker that dies and comes back, topics' settings, logins, foreign records."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from ingest.errors import StoreUnavailable
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.kafka.group import GroupTiming
from ingest.events.topics import MAX_RECORD_BYTES, PAGES, Keeping, dead_topic
from ingest.ports import EventLog
from tests.contract.log_reading import JOINED, all_of, drain, one, read
from tests.servers.java import free_ports
from tests.servers.kafka import Kafka

TIMING = GroupTiming(session=2.0, hand_over=2.0)


@pytest.fixture
async def log(kafka: Kafka) -> AsyncIterator[EventLog]:
    async with KafkaEventLog(Connection((kafka.address,)), timing=TIMING) as log:
        yield log


@pytest.fixture
def topic() -> str:
    return f"test.{uuid4().hex}"


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that the test may kill."""
    with Kafka(tmp_path) as kafka:
        yield kafka


async def settings(kafka: Kafka, topic: str) -> dict[str, str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.address)
    await admin.start()
    try:
        [answer] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        return {entry[0]: entry[1] for entry in answer.resources[0][4]}
    finally:
        await admin.close()


async def test_topics_are_created_with_the_settings_that_keep_them(kafka: Kafka, topic: str) -> None:
    keeping = Keeping(compacted=timedelta(days=3), others=timedelta(days=5), dead=timedelta(days=50))
    async with KafkaEventLog(Connection((kafka.address,)), keeping=keeping, partitions=3) as log:
        for name in (PAGES, topic, dead_topic(topic)):
            await log.append(name, "k", b"x")
    pages, other, dead = [await settings(kafka, name) for name in (PAGES, topic, dead_topic(topic))]
    day = 24 * 3600 * 1000
    assert (pages["cleanup.policy"], pages["min.compaction.lag.ms"]) == ("compact", str(3 * day))
    assert (other["cleanup.policy"], other["retention.ms"]) == ("delete", str(5 * day))
    assert (dead["cleanup.policy"], dead["retention.ms"]) == ("delete", str(50 * day))
    assert int(dead["max.message.bytes"]) > 2 * MAX_RECORD_BYTES


async def test_a_missing_topic_is_named_where_topics_may_not_be_created(kafka: Kafka, topic: str) -> None:
    async with KafkaEventLog(Connection((kafka.address,)), create_topics=False) as log:
        with pytest.raises(StoreUnavailable, match=rf"no topic {topic}.*8 partitions.*cleanup\.policy=delete"):
            await log.append(topic, "k", b"x")


async def test_two_logs_may_create_a_topic_at_once(kafka: Kafka, topic: str) -> None:
    async def append(key: str) -> None:
        async with KafkaEventLog(Connection((kafka.address,))) as log:
            await log.append(topic, key, b"x")

    await asyncio.gather(*(append(f"k{number}") for number in range(3)))
    async with KafkaEventLog(Connection((kafka.address,))) as log:
        assert sorted(record.key for record in await read(log, topic)) == ["k0", "k1", "k2"]


async def test_a_broker_that_is_not_there_is_named() -> None:
    [port] = free_ports(1)
    with pytest.raises(StoreUnavailable, match=f"Kafka at 127.0.0.1:{port}"):
        async with KafkaEventLog(Connection((f"127.0.0.1:{port}",), timeout=2.0)):
            pass


async def test_nothing_that_was_acknowledged_is_lost_when_the_broker_is_killed(own_kafka: Kafka, topic: str) -> None:
    appended: list[str] = []
    handled: list[str] = []

    async with KafkaEventLog(Connection((own_kafka.address,), timeout=20.0), timing=TIMING) as log:

        async def write() -> None:
            for number in range(150):
                with suppress(StoreUnavailable):
                    await log.append(topic, f"key {number % 10}", str(number).encode())
                    appended.append(str(number))
                await asyncio.sleep(0.02)

        async def work() -> None:
            async with log.consume(topic, "g") as consumer:
                while True:
                    with suppress(StoreUnavailable):
                        for record in await consumer.take(5, wait=0.5):
                            handled.append((record.value or b"").decode())
                            await consumer.acknowledge(record)

        await log.append(topic, "key 0", b"first")
        writing, working = asyncio.create_task(write()), asyncio.create_task(work())
        await asyncio.sleep(1.0)
        await asyncio.to_thread(own_kafka.process.kill)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(own_kafka.start)
        await writing
        async with asyncio.timeout(40):
            while not set(appended) <= set(handled):
                await asyncio.wait([working], timeout=0.2)
                assert not working.done()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        assert len(appended) > 100
        kept = {(record.value or b"").decode() for record in await read(log, topic)}
        assert set(appended) <= kept


async def test_an_append_while_the_broker_is_away_fails_in_time_and_works_afterwards(
    own_kafka: Kafka, topic: str
) -> None:
    async with KafkaEventLog(Connection((own_kafka.address,), timeout=1.5)) as log:
        await log.append(topic, "k", b"1")
        await asyncio.to_thread(own_kafka.process.kill)
        async with asyncio.timeout(15):
            with pytest.raises(StoreUnavailable, match=topic):
                await log.append(topic, "k", b"2")
        await asyncio.to_thread(own_kafka.start)
        await append_at_last(log, topic, b"3")
        values = [record.value for record in await read(log, topic)]
    assert (values[0], values[-1]) == (b"1", b"3")


async def append_at_last(log: EventLog, topic: str, value: bytes) -> None:
    for _ in range(20):
        with suppress(StoreUnavailable):
            await log.append(topic, "k", value)
            return
    pytest.fail("the log does not recover")


async def test_a_topic_that_was_deleted_is_created_again(kafka: Kafka, topic: str) -> None:
    async with KafkaEventLog(Connection((kafka.address,), timeout=1.5)) as log:
        await log.append(topic, "k", b"1")
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka.address)
        await admin.start()
        await admin.delete_topics([topic])
        await admin.close()
        await append_at_last(log, topic, b"2")
        assert [record.value for record in await read(log, topic)][-1:] == [b"2"]


async def test_large_records_of_other_programs_are_handed_out_whole(log: EventLog, kafka: Kafka, topic: str) -> None:
    await log.append(topic, "k", b"small")
    large = b"x" * (MAX_RECORD_BYTES * 3)
    producer = AIOKafkaProducer(bootstrap_servers=kafka.address, max_request_size=4 * MAX_RECORD_BYTES)
    await producer.start()
    try:
        await producer.send_and_wait(topic, large, b"k")
        await producer.send_and_wait(topic, b"after", None)
        await producer.send_and_wait(topic, b"after", b"\xff")
    finally:
        await producer.stop()
    records = await drain(log, topic, "g")
    assert [record.value for record in records if record.key == "k"] == [b"small", large]
    assert {record.key for record in records} == {"k", "", "\udcff"}


async def test_records_that_the_broker_deleted_hold_nothing_back(kafka: Kafka, topic: str) -> None:
    async with KafkaEventLog(Connection((kafka.address,)), timing=TIMING, partitions=1) as log:
        for number in range(6):
            await log.append(topic, f"k{number}", b"x")
        async with log.consume(topic, "g") as consumer:
            await consumer.acknowledge(await one(consumer))
        await delete_before(kafka, topic, 4)
        assert await log.lag(topic, "g") == 2
        assert [record.offset for record in await drain(log, topic, "g")] == [4, 5]
        await log.replay(topic, "g")
        assert [record.offset for record in await drain(log, topic, "g")] == [4, 5]


async def delete_before(kafka: Kafka, topic: str, offset: int) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.address)
    await admin.start()
    try:
        await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=offset)})
    finally:
        await admin.close()


async def test_leaving_with_work_in_hand_takes_a_moment_only(log: EventLog, topic: str) -> None:
    await log.append(topic, "k", b"x")
    loop = asyncio.get_running_loop()
    async with log.consume(topic, "g") as consumer:
        await one(consumer)
        before = loop.time()
    assert loop.time() - before < TIMING.rebalance
    async with log.consume(topic, "g") as consumer:
        assert await all_of(consumer, 1)
    assert loop.time() - before < JOINED


def test_a_login_and_tls_become_the_clients_arguments(tmp_path: Path) -> None:
    plain = Connection(("a:1", "b:2"), timeout=5.0).options()
    assert plain == {"bootstrap_servers": ["a:1", "b:2"], "request_timeout_ms": 5000, "security_protocol": "PLAINTEXT"}
    login = Connection(("a:1",), tls=True, username="u", password="secret", mechanism="SCRAM-SHA-512")
    options = login.options()
    assert options["security_protocol"] == "SASL_SSL"
    assert (options["sasl_mechanism"], options["sasl_plain_username"]) == ("SCRAM-SHA-512", "u")
    assert options["sasl_plain_password"] == "secret"
    assert isinstance(options["ssl_context"], ssl.SSLContext)
    assert options["ssl_context"].verify_mode == ssl.CERT_REQUIRED
    assert "secret" not in repr(login)
    assert Connection(("a:1",), tls=True).options()["security_protocol"] == "SSL"


def test_a_tls_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    for content in (None, "no certificate"):
        file = tmp_path / "ca.pem"
        if content is not None:
            file.write_text(content)
        with pytest.raises(StoreUnavailable, match=r"ca\.pem"):
            Connection(("a:1",), tls=True, ca_file=str(file)).options()
    with pytest.raises(StoreUnavailable, match=r"own\.pem"):
        Connection(("a:1",), tls=True, certificate_file=str(tmp_path / "own.pem")).options()
