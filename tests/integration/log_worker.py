"""A consumer in a process of its own, for tests that kill it: `python -m tests.integration.log_worker KIND WHERE TOPIC`.

It prints "handled KEY VALUE" for each record before it acknowledges it, and goes on for ever.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from deploy.compose import SystemClock
from ingest.events import kafka_group, sqlite_group
from ingest.events.kafka import KafkaEventLog
from ingest.events.kafka_client import Connection
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import EventLog

SESSION = 1.5


def open_log(kind: str, where: str) -> AbstractAsyncContextManager[EventLog]:
    """`where`: the file, or the broker's address."""
    if kind == "sqlite":
        timing = sqlite_group.Timing(session=SESSION, hand_over=SESSION, poll=0.02)
        return SqliteEventLog(Path(where), SystemClock(), timing=timing)
    return KafkaEventLog(Connection((where,)), timing=kafka_group.Timing(session=SESSION, hand_over=SESSION))


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
