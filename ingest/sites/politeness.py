"""When a server may be asked: how many requests at once, how far apart, how long after it said "later"."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime

from ingest.errors import FetchFailed

MAX_WAIT_SECONDS = 60.0
"""Whoever asks for more is left alone for this run."""

Sleep = Callable[[float], Awaitable[None]]


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


def backoff(attempt: int, rng: random.Random) -> float:
    """Seconds to wait after the attempt-th failure (from 1): doubling from half a second, with jitter."""
    return float(0.5 * 2 ** (attempt - 1) * rng.uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the Retry-After header asks for (RFC 9110 section 10.2.3); a date is counted from the
    answer's own Date, so that no clocks need to agree. None without a usable header."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal() and value.isascii():
        return float(value)
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, wait.total_seconds())
