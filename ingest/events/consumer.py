"""What the consumers of both event logs have in common: windows over partitions, and what is handed out of them.

An adapter fills `_windows` in a background task, says in `_store_offset` how an offset is committed, and calls `_wake`
when something changed. What goes wrong in the background is raised by `take` for as long as it lasts.
"""

from __future__ import annotations

import asyncio
import heapq
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import islice

from ingest.errors import StoreUnavailable
from ingest.events.codec import DeadLetter, dump_dead
from ingest.events.topics import dead_topic
from ingest.events.window import Window
from ingest.ports import Record

MAX_OFFSETS_AHEAD = 200
"""How many offsets of a partition a consumer reads past the first record that is not acknowledged."""

STOP_SECONDS = 10.0
"""How long leaving may take: committing what is finished, letting go of the group."""

Append = Callable[[str, str, bytes | None], Awaitable[None]]


class WindowedConsumer(ABC):
    """The port's Consumer, but for where records come from and offsets go."""

    def __init__(self, append: Append) -> None:
        self._append = append
        self._windows: dict[int, Window] = {}
        self._trouble: BaseException | None = None
        self._background: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._committing = asyncio.Lock()

    @abstractmethod
    async def _store_offset(self, partition: int, offset: int) -> bool:
        """Commit. False if the group does not take it now, and then `_windows` says whether the partition is still held."""

    async def take(self, most: int = 1, wait: float = 1.0) -> Sequence[Record]:
        deadline = asyncio.get_running_loop().time() + wait
        while True:
            self._changed.clear()
            if records := self._hand_out(most):
                return records
            if self._trouble is not None and not isinstance(self._trouble, StoreUnavailable):
                raise self._trouble.with_traceback(None) from None  # waiting does not mend it
            try:
                async with asyncio.timeout_at(deadline):
                    await self._changed.wait()
            except TimeoutError:
                # Only now, so that a caller who tries again does not do so without pause.
                if self._trouble is not None:
                    raise self._trouble.with_traceback(None) from None
                return ()

    async def acknowledge(self, record: Record) -> bool:
        if not self.holds(record):
            return False
        window = self._windows[record.partition]
        window.finish(record)
        self._wake()
        return await self._commit(record.partition, window)

    async def dead(self, record: Record, reason: str) -> bool:
        if not self.holds(record):
            return False
        await self._append(dead_topic(record.topic), record.key, dump_dead(DeadLetter(record, reason)))
        return await self.acknowledge(record)

    def give_back(self, record: Record) -> None:
        if self.holds(record):
            self._windows[record.partition].give_back(record)
            self._wake()

    def holds(self, record: Record) -> bool:
        window = self._windows.get(record.partition)
        return window is not None and window.holds(record)

    def _hand_out(self, most: int) -> Sequence[Record]:
        """Over all partitions, those that have waited longest first."""
        by_age = heapq.merge(
            *(window.ready() for window in self._windows.values()), key=lambda record: record.timestamp
        )
        records = list(islice(by_age, most))
        for record in records:
            self._windows[record.partition].hand_out(record)
        return records

    async def _commit(self, partition: int, window: Window) -> bool:
        """Commit what is contiguous; False where the partition has gone."""
        return await self._try_commit(partition, window)

    async def _try_commit(self, partition: int, window: Window) -> bool:
        """Acknowledgements that wait here for each other are covered by one commit."""
        async with self._committing:
            if self._windows.get(partition) is not window:
                return False
            offset = window.committable
            if offset > window.committed:
                if not await self._store_offset(partition, offset):
                    return False
                window.committed = offset
                self._wake()
            return True

    async def _commit_finished(self, within: float) -> None:
        """What earlier commits failed to commit. Where it fails again, it is done again by whoever comes next."""
        with suppress(TimeoutError, StoreUnavailable):
            async with asyncio.timeout(within):
                for partition, window in list(self._windows.items()):
                    await self._try_commit(partition, window)

    def _wake(self) -> None:
        """Those who wait for records look again."""
        self._changed.set()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._background = asyncio.create_task(work)
        self._background.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """It ends by cancellation only; anything else is a defect that must not pass for an empty topic."""
        if not task.cancelled():
            self._trouble = task.exception()
            self._wake()

    async def _stop(self) -> None:
        if self._background is not None:
            self._background.cancel()
            with suppress(asyncio.CancelledError):
                await self._background
