"""The event log on Kafka: an idempotent producer that waits for all replicas, and topics made as they should be kept.

A topic that is missing is created on its first use, where that is allowed; one that is there is left as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Self

import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, NoError, TopicAlreadyExistsError, for_code

from ingest.errors import StoreUnavailable
from ingest.events.kafka.client import (
    MAX_REQUEST_BYTES,
    TOO_LARGE,
    Connection,
    as_record,
    meaning,
    reader,
    start,
    translated,
)
from ingest.events.kafka.group import TIMING, GroupTiming, KafkaConsumer
from ingest.events.topics import KEEPING, Keeping, check_size
from ingest.ports import Consumer, Record

_STOP_SECONDS = 10.0
_GLANCE_SECONDS = 0.05
_METADATA_SECONDS = 10.0
"""So long a member may not know of partitions that are there: the broker that it asked may not have heard of a topic that was
just created, and until it asks again it holds nothing. aiokafka asks every five minutes."""

log = structlog.get_logger(__name__)


class KafkaEventLog:
    """`partitions` counts for topics that are created here; those of a keyed topic are never changed afterwards."""

    def __init__(
        self,
        connection: Connection,
        *,
        create_topics: bool = True,
        partitions: int = 8,
        keeping: Keeping = KEEPING,
        timing: GroupTiming = TIMING,
    ) -> None:
        self._connection = connection
        self._create_topics = create_topics
        self._partitions = partitions
        self._keeping = keeping
        self._timing = timing
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._known: set[str] = set()

    async def __aenter__(self) -> Self:
        await self._started()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._give_up(self._producer)

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        raw = key.encode("utf-8", "surrogateescape")
        check_size(topic, raw, value)
        await self._ensure(topic)
        producer = await self._started()
        try:
            async with asyncio.timeout(self._connection.timeout):
                await producer.send_and_wait(self._connection.named(topic), value, raw)
        except (KafkaError, OSError) as error:
            self._known.discard(topic)
            if isinstance(error, KafkaError) and not error.retriable and not isinstance(error, TOO_LARGE):
                # Such a producer refuses all that follows: the next append gets a new one.
                await self._give_up(producer)
            raise meaning(self._connection, f"appending to {topic}", error) from error

    @asynccontextmanager
    async def consume(self, topic: str, group: str) -> AsyncIterator[Consumer]:
        await self._ensure(topic)
        options, named = self._connection.options(), self._connection.named

        def connect() -> AIOKafkaConsumer:
            return AIOKafkaConsumer(
                **options,
                group_id=named(group),
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                session_timeout_ms=int(self._timing.session * 1000),
                heartbeat_interval_ms=int(self._timing.session * 1000 / 10),
                rebalance_timeout_ms=int(self._timing.rebalance * 1000),
                metadata_max_age_ms=int(_METADATA_SECONDS * 1000),
                max_partition_fetch_bytes=MAX_REQUEST_BYTES,
            )

        consumer = KafkaConsumer(self._connection, connect, named(topic), named(group), self.append, self._timing)
        async with consumer:
            yield consumer

    async def read(self, topic: str) -> AsyncIterator[Record]:
        partitions = await self._partitions_of(topic)
        with translated(self._connection, f"reading {topic}"):
            async with reader(self._connection, partitions) as kafka:
                oldest = await kafka.beginning_offsets(partitions)
                ends = await kafka.end_offsets(partitions)
                open_ = [partition for partition in partitions if oldest[partition] < ends[partition]]
                kafka.assign(open_ or partitions)
                await kafka.seek_to_beginning()
                while any([await kafka.position(partition) < ends[partition] for partition in open_]):
                    for partition, found in (await kafka.getmany(timeout_ms=1000)).items():
                        for record in found:
                            if record.offset < ends[partition]:
                                yield as_record(self._connection, record)

    async def lag(self, topic: str, group: str) -> int:
        partitions = await self._partitions_of(topic)
        with translated(self._connection, f"looking at the offsets of {group}"):
            async with reader(self._connection, partitions, group) as kafka, asyncio.timeout(self._connection.timeout):
                ends = await kafka.end_offsets(partitions)
                oldest = await kafka.beginning_offsets(partitions)
                committed = {partition: await kafka.committed(partition) or 0 for partition in partitions}
                return sum(ends[each] - max(oldest[each], committed[each]) for each in partitions)

    async def committed(self, topic: str, group: str) -> Mapping[int, int]:
        partitions = await self._partitions_of(topic)
        with translated(self._connection, f"looking at the offsets of {group}"):
            async with reader(self._connection, partitions, group) as kafka, asyncio.timeout(self._connection.timeout):
                offsets = {each.partition: await kafka.committed(each) for each in partitions}
                return {partition: offset for partition, offset in offsets.items() if offset is not None}

    async def replay(self, topic: str, group: str) -> None:
        partitions = await self._partitions_of(topic)
        with translated(self._connection, f"starting {group} over"):
            async with reader(self._connection, partitions, group) as kafka, asyncio.timeout(self._connection.timeout):
                # While the group has members, the broker takes no offsets from one who is none.
                await kafka.commit(await kafka.beginning_offsets(partitions))

    async def _partitions_of(self, topic: str) -> list[TopicPartition]:
        await self._ensure(topic)
        producer, name = await self._started(), self._connection.named(topic)
        with translated(self._connection, f"looking for {name}"):
            async with asyncio.timeout(self._connection.timeout):
                return [TopicPartition(name, partition) for partition in sorted(await producer.partitions_for(name))]

    async def _started(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None:
                with translated(self._connection, "connecting"):
                    self._producer = await self._new_producer()
            return self._producer

    async def _new_producer(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            **self._connection.options(), enable_idempotence=True, acks="all", max_request_size=MAX_REQUEST_BYTES
        )
        try:
            await start(producer, self._connection.timeout)
        except BaseException:
            await _stopped(producer)
            raise
        return producer

    async def _give_up(self, producer: AIOKafkaProducer | None) -> None:
        if producer is not None and producer is self._producer:
            self._producer = None
            await _stopped(producer)

    async def _ensure(self, topic: str) -> None:
        if topic in self._known:
            return
        with translated(self._connection, f"looking for {topic}"):
            admin = AIOKafkaAdminClient(**self._connection.options())
            try:
                await start(admin, self._connection.timeout)
                async with asyncio.timeout(self._connection.timeout):
                    if self._connection.named(topic) not in await admin.list_topics():
                        await self._create(admin, topic)
            finally:
                await admin.close()
        self._known.add(topic)

    async def _create(self, admin: AIOKafkaAdminClient, topic: str) -> None:
        settings, named = self._settings(topic), self._connection.named(topic)
        if not self._create_topics:
            raise StoreUnavailable(
                f"{self._connection.name} has no topic {named}, and ritbot may not create topics: create it with"
                f" {self._partitions} partitions and {', '.join(f'{name}={value}' for name, value in settings.items())}"
            )
        brokers = len((await admin.describe_cluster())["brokers"])
        replicas = min(3, brokers)
        if replicas == 3:
            settings["min.insync.replicas"] = "2"
        answer = await admin.create_topics([NewTopic(named, self._partitions, replicas, topic_configs=settings)])
        for name, code, *message in answer.topic_errors:
            error = for_code(code)
            if error not in (NoError, TopicAlreadyExistsError):
                raise StoreUnavailable(
                    f"{self._connection.name} does not create the topic {name}: {error.__name__} {message}"
                )
        while any(each["error_code"] for each in await admin.describe_topics([named])):  # noqa: ASYNC110 - brokers tell nobody
            await asyncio.sleep(_GLANCE_SECONDS)
        log.info("topic_created", topic=named, partitions=self._partitions, replicas=replicas, **settings)

    def _settings(self, topic: str) -> dict[str, str]:
        milliseconds = str(int(self._keeping.period(topic).total_seconds() * 1000))
        if self._keeping.is_compacted(topic):
            return {"cleanup.policy": "compact", "min.compaction.lag.ms": milliseconds}
        return {"cleanup.policy": "delete", "retention.ms": milliseconds, "max.message.bytes": str(MAX_REQUEST_BYTES)}


async def _stopped(producer: AIOKafkaProducer) -> None:
    """Without brokers a producer never gets rid of what it holds: what was not acknowledged is given up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_STOP_SECONDS):
            await producer.stop()
            return
    await producer.client.close()
