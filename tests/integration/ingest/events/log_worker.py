"""A consumer in a process of its own, for tests that kill it: `python -m tests.integration.ingest.events.log_worker KIND WHERE TOPIC`.

It prints "handled KEY VALUE" for each record before it acknowledges it, and goes on for ever.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from deploy.wiring.stores import SystemClock
from ingest.events.kafka import group
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import EventLog

SESSION = 1.5


def open_log(kind: str, where: str) -> AbstractAsyncContextManager[EventLog]:
    """`where`: the file, or the broker's address."""
    if kind == "sqlite":
        return SqliteEventLog(Path(where), SystemClock())
    return KafkaEventLog(Connection((where,)), timing=group.GroupTiming(session=SESSION, hand_over=SESSION))


async def work(kind: str, where: str, topic: str) -> None:
    async with open_log(kind, where) as log, log.consume(topic, "workers") as consumer:
        print("ready", flush=True)  # noqa: T201 - this is how the test hears of it
        while True:
            for record in await consumer.take(4, wait=0.5):
                print("handled", record.key, (record.value or b"").decode(), flush=True)  # noqa: T201
                await asyncio.sleep(0.005)
                await consumer.acknowledge(record)


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
