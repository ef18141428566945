"""The time of a fake Slack: real time, which a test can move on at once.

Rates, the life of streams, triggers and statuses, and the pauses between redeliveries are counted by it. How long an
acknowledgement took is counted in real seconds, since the bot lives in them.
"""

from __future__ import annotations

import asyncio
import time


class Clock:
    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Seconds since 1970, as Slack's `ts` counts them."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Whoever sleeps until then wakes."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            try:
                await asyncio.wait_for(self._moved.wait(), left)
            except TimeoutError:
                continue
