"""Asking a server again that does not answer just now: bounded, with growing pauses that differ from caller to caller.

An adapter that talks to a server translates what may pass (no connection, no answer in time, too many requests,
a part of it that restarts) into NotNow, and only repeats what does no harm when it was done already.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from ingest.errors import StoreUnavailable

log = structlog.get_logger()

_T = TypeVar("_T")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class NotNow(StoreUnavailable):
    """A server did not do what it was asked, and may if it is asked again. `after`: seconds that it wants to be left
    alone, where it said so."""

    def __init__(self, message: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.after = after


async def patiently(attempt: Callable[[], Awaitable[_T]], patience: float) -> _T:
    """Try until it is done, at most for about `patience` seconds; then the last NotNow is raised."""
    clock = asyncio.get_running_loop().time
    until = clock() + patience
    longest = _FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except NotNow as refused:
            pause = max(refused.after, random.uniform(longest / 2, longest))
            if clock() + pause > until:
                raise
            log.warning("store_asked_again", error=str(refused), pause=round(pause, 3))
        await asyncio.sleep(pause)
        longest = min(2 * longest, _LONGEST_PAUSE)
