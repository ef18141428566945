"""Slack's rates, shared by all processes: so many calls of a method in a while, for an app in a workspace.

Slack counts per app, workspace and method, so concurrent answers share what there is (api.slack.com, "Rate limits"). A
call that adorns asks first and is left out where nothing is left; one that must be made waits its turn. What was called
is counted in spans, and the spans of the last window count together: two bursts on both sides of the turn of a minute
are one burst to Slack.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from bot.ports import BotStore
from ingest.errors import StoreUnavailable
from ingest.ports import Clock

A_MINUTE: Mapping[str, int] = MappingProxyType(
    {
        "chat.startStream": 18,
        "chat.appendStream": 90,
        "chat.update": 45,
        "assistant.threads.setStatus": 45,
        "agents.sessions.setStatus": 45,
        "conversations.replies": 45,
    }
)
"""A little less than Slack allows: others' clocks differ from ours."""
POSTS, SECONDS = 4, 4
"""Posting is counted for each channel apart: about one a second, a few at once."""
SPANS = 4
"""A window is counted in so many."""
LONGEST = 90.0
"""Seconds that a call waits for its turn; then Slack itself is asked, and says how long to wait."""


class Rates:
    """Counts calls in the bot's store. Where the store does not answer, calls are let through: Slack counts as well."""

    def __init__(
        self, store: BotStore, clock: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep

    async def free(self, method: str, team: str, channel: str = "") -> bool:
        """Take a call, if there is one left now."""
        return await self._take(method, team, channel) == 0.0

    async def turn(self, method: str, team: str, channel: str = "") -> None:
        """Wait for a call and take it."""
        waited = 0.0
        while waited < LONGEST and (seconds := await self._take(method, team, channel)):
            await self._sleep(seconds)
            waited += seconds

    async def _take(self, method: str, team: str, channel: str) -> float:
        """0.0: it is taken; else the seconds until there may be new ones."""
        if method == "chat.postMessage":
            most, window = POSTS, SECONDS
        elif method in A_MINUTE:
            most, window, channel = A_MINUTE[method], 60, ""
        else:
            return 0.0
        now = self._clock.now()
        span = timedelta(seconds=window // SPANS)
        ends = _next(now, window // SPANS)
        *before, counter = (
            f"slack:{method}:{team}:{channel}:{ends - span * age:%H:%M:%S}" for age in range(SPANS, -1, -1)
        )
        until = ends + timedelta(seconds=window)
        try:
            taken = sum(await asyncio.gather(*(self._store.counted(name, now) for name in before)))
            if taken < most:
                if taken + await self._store.add(counter, 1, until) <= most:
                    return 0.0
                await self._store.add(counter, -1, until)
        except StoreUnavailable:
            return 0.0
        return (ends - now).total_seconds()


def _next(now: datetime, seconds: int) -> datetime:
    """When the next of the spans begins into which every minute is divided."""
    return now.replace(second=now.second // seconds * seconds, microsecond=0) + timedelta(seconds=seconds)
