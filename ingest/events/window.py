"""The records of one partition between being read and being committed. Pure.

Invariants: a key has at most one record in hand; records of a key are handed out by offset; `committable` never passes
a record that is not finished, and everything before it is finished.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator

from ingest.ports import Record


class Window:
    """`start`: the committed offset, which is the next record's, as Kafka has it."""

    def __init__(self, start: int) -> None:
        self.next = start
        """The offset after the last record that was read."""
        self.committed = start
        self._waiting: list[Record] = []
        self._in_hand: dict[int, Record] = {}

    @property
    def committable(self) -> int:
        """The offset of the first record that is not finished."""
        waiting = [self._waiting[0].offset] if self._waiting else []
        return min([self.next, *waiting, *self._in_hand])

    @property
    def span(self) -> int:
        """How many offsets lie between the first unfinished record and the end of what was read."""
        return self.next - self.committable

    @property
    def done(self) -> bool:
        """Nothing is in hand, and all that is finished is committed."""
        return not self._in_hand and self.committed >= self.committable

    def add(self, records: Iterable[Record]) -> None:
        """Records as they follow in the partition. What was read before is passed over."""
        for record in records:
            if record.offset >= self.next:
                self._waiting.append(record)
                self.next = record.offset + 1

    def ready(self) -> Iterator[Record]:
        """What may be handed out now, by offset: of each key the first, if none of the key is in hand."""
        busy = {record.key for record in self._in_hand.values()}
        for record in self._waiting:
            if record.key not in busy:
                busy.add(record.key)
                yield record

    def hand_out(self, record: Record) -> None:
        self._waiting.remove(record)
        self._in_hand[record.offset] = record

    def holds(self, record: Record) -> bool:
        """Whether this very record is in hand; one that was read again since is another."""
        return self._in_hand.get(record.offset) is record

    def finish(self, record: Record) -> None:
        del self._in_hand[record.offset]

    def give_back(self, record: Record) -> None:
        insort(self._waiting, self._in_hand.pop(record.offset), key=lambda waiting: waiting.offset)
