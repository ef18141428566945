"""Payloads on their way to the app: sent, acknowledged or not, sent again; all of it recorded.

An event that is not acknowledged in time is sent up to three times more (at once, after a minute, after five); commands
and interactions are sent once, as Slack does. How a payload travels is a Carrier: a socket or signed HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.fakes.slack.clock import Clock
from tests.fakes.slack.state import Json

Kind = Literal["events_api", "interactive", "slash_commands"]
RETRIES_AFTER = (0.0, 60.0, 300.0)
"""Seconds of the clock."""
ACK_WITHIN = 3.0
"""Real seconds."""


@dataclass
class Attempt:
    """`to`: the connection it went to. `seconds`: how long the acknowledgement took, be it too late; None: none came.
    `failed` says why it did not count: timeout, connection_failed, http_error …"""

    number: int
    envelope_id: str = ""
    to: str = ""
    sent_at: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    answer: Any = None
    failed: str = ""


@dataclass
class Delivery:
    kind: Kind
    payload: Json
    heard: Callable[[Any], None] | None = None
    """What Slack does with the answer that comes with the acknowledgement, as soon as it is there."""
    attempts: list[Attempt] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def event_id(self) -> str:
        return str(self.payload.get("event_id", ""))

    @property
    def type(self) -> str:
        """app_mention, message, block_actions, view_submission, /ask …"""
        event: Json = self.payload.get("event", {})
        return str(event.get("type") or self.payload.get("type") or self.payload.get("command"))

    @property
    def acked(self) -> bool:
        return any(attempt.seconds is not None and not attempt.failed for attempt in self.attempts)

    @property
    def answer(self) -> Any:
        """What came with the acknowledgement."""
        return next((attempt.answer for attempt in self.attempts if attempt.answer is not None), None)

    async def over(self) -> Delivery:
        """Acknowledged, or given up."""
        await self.ended.wait()
        return self


class NotCarried(Exception):
    """The attempt failed; the text is Slack's word for why."""


class Carrier(Protocol):
    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        """Fills in `seconds` and `answer` of the attempt. Raises NotCarried."""
        ...


class Deliveries:
    """`delay`: real seconds that every payload waits before it is sent. `held`: see `hold`."""

    def __init__(self, clock: Clock, carrier: Callable[[], Carrier]) -> None:
        self.all: list[Delivery] = []
        self.ack_within = ACK_WITHIN
        self.retries_after: tuple[float, ...] = RETRIES_AFTER
        self.delay = 0.0
        self._clock = clock
        self._carrier = carrier
        self._held: list[tuple[Delivery, int]] | None = None
        self._running: set[asyncio.Task[None]] = set()

    def send(self, kind: Kind, payload: Json, heard: Callable[[Any], None] | None = None) -> Delivery:
        delivery = Delivery(kind, payload, heard)
        self.all.append(delivery)
        self._put(delivery, 0)
        return delivery

    def again(self, delivery: Delivery, *, times: int = 1) -> None:
        """The same payload once more, as a retry that was not needed."""
        for _ in range(times):
            self._put(delivery, max(1, len(delivery.attempts)))

    def hold(self) -> None:
        """Nothing goes out until `release`."""
        self._held = self._held or []

    def release(self, *, reverse: bool = False) -> None:
        """What was held goes out, in turn, or the latest first."""
        held, self._held = self._held or [], None
        for delivery, number in reversed(held) if reverse else held:
            self._put(delivery, number)

    async def settled(self) -> None:
        """Every payload is acknowledged or given up, with those that come up meanwhile."""
        while self._running:
            await asyncio.wait(self._running)

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _put(self, delivery: Delivery, number: int) -> None:
        if self._held is not None:
            self._held.append((delivery, number))
            return
        task = asyncio.create_task(self._deliver(delivery, number))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _deliver(self, delivery: Delivery, number: int) -> None:
        await asyncio.sleep(self.delay)
        last = len(self.retries_after) if delivery.kind == "events_api" else 0
        while not await self._attempt(delivery, number) and number < last:
            await self._clock.sleep(self.retries_after[number])
            number += 1
        delivery.ended.set()

    async def _attempt(self, delivery: Delivery, number: int) -> bool:
        attempt = Attempt(number)
        delivery.attempts.append(attempt)
        try:
            await self._carrier().carry(delivery, attempt, self.ack_within)
        except NotCarried as reason:
            attempt.failed = str(reason)
        else:
            if delivery.heard:
                delivery.heard(attempt.answer)
        return not attempt.failed


def last_failure(delivery: Delivery) -> str:
    """Why the attempt before this one failed: retry_reason."""
    return next((attempt.failed for attempt in reversed(delivery.attempts[:-1]) if attempt.failed), "")
