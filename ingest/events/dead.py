"""Dead letters: looking at them, and sending them back to be handled again."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ingest.errors import StoreUnavailable
from ingest.events.codec import DeadLetter, load_dead
from ingest.events.topics import dead_topic
from ingest.ports import EventLog

GROUP = "ritbot.dead-letters"
"""The consumer group whose offsets say which dead letters were sent back."""

_PATIENCE = 60.0


async def dead_letters(log: EventLog, topic: str) -> AsyncIterator[DeadLetter]:
    """All that the topic's dead-letter topic keeps, those that were sent back among them. Raises Undecodable."""
    async for record in log.read(dead_topic(topic)):
        yield load_dead(record.value)


async def send_back(log: EventLog, topic: str) -> int:
    """Append the topic's dead letters to it again, each once, those that come meanwhile left out; how many there were.

    A letter is appended before it is acknowledged: stopped half-way, the next call goes on, and may repeat one.
    Raises Undecodable for a letter that is none, StoreUnavailable if letters do not come."""
    dead = dead_topic(topic)
    waiting = await log.lag(dead, GROUP)
    sent = 0
    async with log.consume(dead, GROUP) as consumer:
        while sent < waiting:
            found = await consumer.take(wait=_PATIENCE)
            if not found:
                raise StoreUnavailable(f"{waiting - sent} dead letters of {topic} did not come: is the log busy?")
            [record] = found
            letter = load_dead(record.value)
            await log.append(topic, letter.record.key, letter.record.value)
            await consumer.acknowledge(record)
            sent += 1
    return sent
