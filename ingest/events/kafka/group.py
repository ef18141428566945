"""A member of a Kafka consumer group that keeps its place however long work takes, and survives what its client does not.

A background task keeps polling, so that the group never takes long work for death; partitions with enough unfinished
records are paused. When the group rebalances, nothing more is handed out, work in hand may finish within a bound, and
its offsets are committed. A partition that comes back, and that nobody else committed meanwhile, goes on where it was:
work in hand stays in hand. Positions are this class's own (Window.next) and set anew after each rebalance, since the
client's may have moved past records that it never gave out.

The client is replaced when it fails, hangs in a rebalance, or stops fetching though there is something to fetch.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Self

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError, RecordTooLargeError

from ingest.events.consumer import MAX_OFFSETS_AHEAD, STOP_SECONDS, Append, WindowedConsumer
from ingest.events.kafka.client import Connection, as_record, meaning, start
from ingest.events.window import Window
from ingest.ports import Record

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class GroupTiming:
    """In seconds. `session`: a member silent for so long is taken for dead. `hand_over`: how long work in hand may hold up
    a rebalance. `watch`: a client that gives nothing for so long, though there is something, is replaced."""

    session: float = 30.0
    hand_over: float = 30.0
    watch: float = 60.0

    @property
    def rebalance(self) -> float:
        """How long the others wait for a member to join anew: it commits, then lets work finish."""
        return 2 * self.hand_over + self.session


TIMING = GroupTiming()
_POLL_MILLISECONDS = 300
_RECORDS_PER_POLL = 100
_RESTART_SECONDS = 1.0
_GLANCE_SECONDS = 0.02

Connect = Callable[[], AIOKafkaConsumer]


class KafkaConsumer(WindowedConsumer, ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """Opened by KafkaEventLog.consume. `connect` makes a client that is neither started nor subscribed.

    `_settled` is set while it is known which partitions are held: nothing is handed out otherwise. `_refused` says that
    the group takes no commits from this member."""

    def __init__(
        self, connection: Connection, connect: Connect, topic: str, group: str, append: Append, timing: GroupTiming
    ) -> None:
        super().__init__(append)
        self._connection = connection
        self._connect = connect
        self._topic = topic
        self._group = group
        self._timing = timing
        self._kafka: AIOKafkaConsumer | None = None
        self._settled = asyncio.Event()
        self._refused = False
        self._progress = asyncio.Event()
        self._rebalances = 0
        self._settled_at = 0
        self._assigned = False
        self._halted = False
        self._stalled: dict[TopicPartition, int] = {}

    async def __aenter__(self) -> Self:
        self._start(self._run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._commit_finished(STOP_SECONDS)
        await self._stop()

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Called by the client before it joins anew; its heartbeats go on meanwhile."""
        self._rebalances += 1
        self._assigned = False
        self._settled.clear()
        await self._commit_finished(self._timing.hand_over)
        await self._quiet(self._timing.hand_over)

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._rebalances += 1
        for lost in set(self._windows) - {partition.partition for partition in assigned}:
            del self._windows[lost]
        self._assigned = True

    def _hand_out(self, most: int) -> Sequence[Record]:
        return super()._hand_out(most) if self._settled.is_set() else ()

    async def _commit(self, partition: int, window: Window) -> bool:
        """Where a rebalance is in the way, as soon as it is over and if the partition stayed."""
        while not await self._try_commit(partition, window):
            if self._windows.get(partition) is not window:
                return False
            await asyncio.sleep(_GLANCE_SECONDS)
            await self._settled.wait()
        return True

    async def _store_offset(self, partition: int, offset: int) -> bool:
        if self._kafka is None:
            return False
        try:
            async with asyncio.timeout(self._connection.timeout):
                await self._kafka.commit({TopicPartition(self._topic, partition): offset})
        except (CommitFailedError, IllegalStateError):
            # A rebalance is under way or due, perhaps because this member was taken for dead.
            self._refused = True
            self._wake()
            return False
        except (KafkaError, OSError) as error:
            raise meaning(self._connection, f"committing an offset of {self._group}", error) from error
        return True

    def _wake(self) -> None:
        super()._wake()
        self._progress.set()

    async def _quiet(self, within: float) -> None:
        """Wait until nothing is in hand and all that is finished is committed, or nothing can be, or the time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while not self._refused and any(not window.done for window in self._windows.values()):
                    self._progress.clear()
                    await self._progress.wait()

    async def _run(self) -> None:
        while True:
            try:
                async with self._member() as kafka:
                    await self._poll(kafka)
            except (KafkaError, OSError) as error:
                self._trouble = meaning(self._connection, f"reading {self._topic}", error)
                log.warning("event_log_consumer_restarted", topic=self._topic, group=self._group, error=repr(error))
                self._wake()
            await asyncio.sleep(_RESTART_SECONDS)

    @asynccontextmanager
    async def _member(self) -> AsyncIterator[AIOKafkaConsumer]:
        """A client that has joined the group, and has left it on return. What it held is given up."""
        kafka = self._kafka = self._connect()
        try:
            await start(kafka, self._connection.timeout)
            kafka.subscribe([self._topic], listener=self)
            yield kafka
        finally:
            self._kafka = None
            self._assigned = False
            self._windows.clear()
            self._stalled.clear()
            self._settled.set()
            self._wake()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await kafka.stop()

    async def _poll(self, kafka: AIOKafkaConsumer) -> None:
        self._halted = False
        watch_at = _now() + self._timing.watch
        while True:
            if self._assigned and not self._steady:
                await self._settle(kafka)
            before = self._rebalances
            try:
                async with self._patience():
                    batches = await kafka.getmany(timeout_ms=_POLL_MILLISECONDS, max_records=_RECORDS_PER_POLL)
            except RecordTooLargeError as error:
                self._halt(error)
                continue
            if before != self._rebalances or not self._steady:
                continue
            self._add(batches)
            self._hold_back(kafka)
            if _now() >= watch_at:
                await self._check_progress(kafka)
                watch_at = _now() + self._timing.watch

    async def _settle(self, kafka: AIOKafkaConsumer) -> None:
        """Make the windows those of the partitions assigned, and the client's positions those of the windows.

        A window is kept where the group's offset lies within what this member had read and finished: then nobody else
        has held the partition since. Else somebody else has committed, or the group was set back: what is in hand
        is theirs, and the partition is read from the offset on. A rebalance that begins during the questions to the
        broker makes the answers worthless: the next poll settles anew."""
        before = self._rebalances
        assigned = kafka.assignment()
        async with self._patience():
            oldest = await kafka.beginning_offsets(assigned) if assigned else {}
            committed = {partition: await kafka.committed(partition) for partition in assigned}
        if before != self._rebalances:
            return
        windows = {}
        for tp in assigned:
            start = oldest[tp] if committed[tp] is None else committed[tp]
            window = self._windows.get(tp.partition)
            if window is None or not window.committed <= start <= window.committable:
                window = Window(start)
            windows[tp.partition] = window
            kafka.seek(tp, window.next)
        self._windows = windows
        self._settled_at = before
        self._refused = False
        self._settled.set()
        self._wake()

    def _add(self, batches: Mapping[TopicPartition, Sequence[ConsumerRecord]]) -> None:
        if not self._halted:
            self._trouble = None
        for tp, found in batches.items():
            self._windows[tp.partition].add(as_record(self._connection, each) for each in found)
        if batches:
            self._wake()

    def _halt(self, error: RecordTooLargeError) -> None:
        """The client's position has passed the record: go back, and read no further."""
        self._halted = True
        self._trouble = meaning(self._connection, f"reading {self._topic}", error)
        self._settled_at = -1
        log.error("event_log_halted", topic=self._topic, group=self._group, error=repr(error))
        self._wake()

    def _hold_back(self, kafka: AIOKafkaConsumer) -> None:
        """The pause sits on the client's assignment and is lost with it, so it is said each time."""
        full = {
            partition for partition, window in self._windows.items() if self._halted or window.span >= MAX_OFFSETS_AHEAD
        }
        for tp in kafka.assignment():
            (kafka.pause if tp.partition in full else kafka.resume)(tp)

    async def _check_progress(self, kafka: AIOKafkaConsumer) -> None:
        """Raises where a partition has more to give and gave nothing since the last check."""
        open_ = [tp for tp in kafka.assignment() if tp not in kafka.paused()]
        async with self._patience():
            ends = await kafka.end_offsets(open_) if open_ else {}
            positions = {tp: await kafka.position(tp) for tp in open_}
        stalled = {tp: position for tp, position in positions.items() if position < ends[tp]}
        if any(self._stalled.get(tp) == position for tp, position in stalled.items()):
            raise KafkaError(f"{self._topic} has records that are not fetched: {stalled}")
        self._stalled = stalled

    @property
    def _steady(self) -> bool:
        """No rebalance is under way, and the windows are those of the last one."""
        return self._assigned and self._settled_at == self._rebalances

    def _patience(self) -> asyncio.Timeout:
        return asyncio.timeout(self._timing.rebalance + self._connection.timeout)


def _now() -> float:
    return asyncio.get_running_loop().time()
