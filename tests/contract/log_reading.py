"""How tests read an event log."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.ports import Consumer, EventLog, Record

JOINED = 15.0
"""Seconds within which a consumer has joined its group and has its first record, on a busy machine."""
QUIET = 0.4
"""Seconds without a record after which a reading consumer takes its partitions for empty."""
SPREAD = [f"key {number}" for number in range(64)]
"""Keys enough for every partition to get some."""


async def read(log: EventLog, topic: str) -> list[Record]:
    return [record async for record in log.read(topic)]


async def append_all(log: EventLog, topic: str, keys: Sequence[str], value: bytes = b"x") -> None:
    for key in keys:
        await log.append(topic, key, value)


async def one(consumer: Consumer) -> Record:
    """The next record; it must come."""
    [record] = await consumer.take(wait=JOINED)
    return record


async def all_of(consumer: Consumer, count: int) -> list[Record]:
    """So many records, none of them acknowledged."""
    records: list[Record] = []
    while len(records) < count:
        found = await consumer.take(count - len(records), wait=JOINED)
        assert found, f"only {len(records)} of {count} came"
        records += found
    return records


async def drain(log: EventLog, topic: str, group: str) -> list[Record]:
    """All that the group has not committed, acknowledged."""
    records: list[Record] = []
    async with log.consume(topic, group) as consumer:
        while await log.lag(topic, group):
            for record in await consumer.take(100, wait=QUIET):
                assert await consumer.acknowledge(record)
                records.append(record)
    return records


async def keys_in_one_partition(log: EventLog, topic: str, count: int) -> Sequence[str]:
    """Keys that share a partition, found by appending some to another topic with as many partitions."""
    probe = f"{topic}.probe"
    while True:
        for number in range(16 * count):
            await log.append(probe, f"key {number}", b"")
        partitions: dict[int, list[str]] = {}
        for record in await read(log, probe):
            partitions.setdefault(record.partition, []).append(record.key)
        longest = max(partitions.values(), key=len)
        assert len(longest) >= count
        return longest[:count]
