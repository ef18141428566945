"""Dead letters: looking at them, sending them back to be handled again, and letting them be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from ingest.errors import StoreUnavailable
from ingest.events.codec import DeadLetter, load_dead
from ingest.events.topics import dead_topic
from ingest.ports import EventLog

DEAD_LETTER_GROUP = "ritbot.dead-letters"
"""The consumer group whose offsets say which dead letters are settled: sent back, or let be."""

_MAX_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class KeptLetter:
    """A dead letter as the log keeps it: since when, and whether it waits to be settled."""

    letter: DeadLetter
    since: datetime
    waits: bool


async def dead_letters(log: EventLog, topic: str) -> AsyncIterator[KeptLetter]:
    """All that the topic's dead-letter topic keeps, those that are settled among them. Raises Undecodable."""
    settled = await log.committed(dead_topic(topic), DEAD_LETTER_GROUP)
    async for record in log.read(dead_topic(topic)):
        waits = record.offset >= settled.get(record.partition, 0)
        yield KeptLetter(load_dead(record.value), record.timestamp, waits)


async def settle(log: EventLog, topic: str, *, again: bool = True) -> int:
    """Settle the topic's dead letters that wait, those that come meanwhile left out: `again` appends each to the topic
    once more, else they are let be. How many there were.

    A letter is appended before it is acknowledged: stopped half-way, the next call goes on, and may repeat one.
    Raises Undecodable for a letter that is none, StoreUnavailable if letters do not come."""
    dead = dead_topic(topic)
    waiting = await log.lag(dead, DEAD_LETTER_GROUP)
    done = 0
    if not waiting:
        return 0
    async with log.consume(dead, DEAD_LETTER_GROUP) as consumer:
        while done < waiting:
            found = await consumer.take(wait=_MAX_WAIT_SECONDS)
            if not found:
                raise StoreUnavailable(f"{waiting - done} dead letters of {topic} did not come: is the log busy?")
            [record] = found
            if again:
                letter = load_dead(record.value)
                await log.append(topic, letter.record.key, letter.record.value)
            await consumer.acknowledge(record)
            done += 1
    return done


async def send_again(log: EventLog, topic: str, key: str) -> int:
    """Append the dead letters of one key to the topic again, be they settled or not; how many. They stay as they are:
    what is handled twice does no harm. Raises Undecodable."""
    found = [kept.letter.record async for kept in dead_letters(log, topic) if kept.letter.record.key == key]
    for record in found:
        await log.append(topic, key, record.value)
    return len(found)
