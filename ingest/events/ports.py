"""The event log as a port: topics of keyed records, consumer groups, committed offsets, dead letters. Kafka's words.

Every sentence here is a test in tests/contract/test_event_log*.py, which the embedded adapter and Kafka's both pass; what
is said of several members, in tests/integration/ingest/events/test_kafka_groups.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an EventLog, as Kafka has it. `value` None is a tombstone; `timestamp` (UTC) says when it was
    appended. Offsets grow within a partition and may have gaps."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes | None
    timestamp: datetime


class Consumer(Protocol):
    """One member of a consumer group, open inside `async with log.consume(…)`. Several tasks may use it at once.

    The members share the topic's partitions: each partition has one holder. Kafka's groups have any number of members,
    those of the embedded log one, since one process holds the data folder. A partition changes hands when members
    come, leave or fall silent; its holder first stops handing out, finishes what is in hand within a bound, and commits.
    A consumer that is not asked for records keeps its partitions, however long its work takes, and reads only a
    bounded number of records ahead. Leaving gives what is not acknowledged to the others.
    """

    async def take(self, most: int = 1, wait: float = 1.0) -> Sequence[Record]:
        """Up to `most` records to work on side by side: as soon as there is one, or none after `wait` seconds.

        Two records of one key are never in hand together: the next is handed out when the one before it is
        acknowledged. Where there is nothing and the log does not answer, raises StoreUnavailable after `wait`; where it
        holds a record that is too large to be read, RecordTooLarge: nothing is skipped.
        """
        ...

    async def acknowledge(self, record: Record) -> bool:
        """The record is done. Offsets are committed up to the first record that is not: work that finished out of order
        is held back until the gap closes. What is contiguous is committed on return. False, and nothing has changed:
        the record is not in this consumer's hand (any more). Raises StoreUnavailable: the record is done, and its
        offset is committed with a later one, or on leaving."""
        ...

    async def dead(self, record: Record, reason: str) -> bool:
        """Append the record to `<topic>.dead` as a DeadLetter (events.codec); once that is durable, acknowledge it.
        False, and nothing is appended: the record is not in this consumer's hand."""
        ...

    def give_back(self, record: Record) -> None:
        """Not done: the record is handed out again, before later records of its key."""
        ...

    def holds(self, record: Record) -> bool:
        """Whether the record is in this consumer's hand: False once its partition has gone to another member."""
        ...


class EventLog(Protocol):
    """Topics of keyed records. Records of one key keep their order. Every record reaches every group at least
    once, also when consumers die at any moment.

    docs.pages is compacted: of each key at least the newest record stays for ever. Other topics keep their records
    for a set time.
    """

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        """Durable on return. Raises RecordTooLarge, and then nothing was appended; StoreUnavailable, and then
        it may have been: append again."""
        ...

    def consume(self, topic: str, group: str) -> AbstractAsyncContextManager[Consumer]:
        """Join the group. Raises GroupBusy where it takes no more members (the embedded log's second one). A new group starts with the oldest record that the topic keeps."""
        ...

    def read(self, topic: str) -> AsyncIterator[Record]:
        """All that the topic keeps now, oldest first in each partition; no group is touched."""
        ...

    async def lag(self, topic: str, group: str) -> int:
        """How many records the group has not committed yet; where a log was compacted, at most so many."""
        ...

    async def committed(self, topic: str, group: str) -> Mapping[int, int]:
        """By partition, the offset that the group goes on with; partitions of which it committed nothing are left out."""
        ...

    async def replay(self, topic: str, group: str) -> None:
        """The group starts over with the oldest record. Raises GroupBusy while the group has members."""
        ...
