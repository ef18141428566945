"""When a server may be asked: how many requests at once, how far apart, how long after it said "later"."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from ingest.errors import FetchFailed
from ingest.retry import Sleep

MAX_WAIT_SECONDS = 60.0
"""Whoever asks for more is left alone for this run."""


class Politeness:
    """Gives turns to requests: at most `concurrency` at once in all, those to one host at least `delay`
    seconds apart, none while the host is paused. First come, first served per host."""

    def __init__(self, concurrency: int, delay: float, *, sleep: Sleep, monotonic: Callable[[], float]) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._delay = delay
        self._sleep = sleep
        self._monotonic = monotonic
        self._gates: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ready_at: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, host: str, crawl_delay: float = 0.0) -> AsyncIterator[None]:
        """Hold a slot while the request runs. `crawl_delay` counts where it is longer than the site's
        own. Raises FetchFailed, with `retry_after`, where the host's pause is longer than MAX_WAIT_SECONDS."""
        async with self._slots:
            async with self._gates[host]:
                while (wait := self._ready_at.get(host, 0.0) - self._monotonic()) > 0:
                    if wait > max(MAX_WAIT_SECONDS, self._delay):
                        raise FetchFailed(f"{host} asked not to be called for another {wait:.0f} seconds", wait)
                    await self._sleep(wait)
                self._ready_at[host] = self._monotonic() + max(self._delay, crawl_delay)
            yield

    def pause(self, host: str, seconds: float) -> None:
        """Send no request to `host` for so long."""
        self._ready_at[host] = max(self._ready_at.get(host, 0.0), self._monotonic() + seconds)
