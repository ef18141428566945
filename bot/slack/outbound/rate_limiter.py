"""Slack's rates, kept by this process: so many calls of a method in any window, for an app in a workspace.

Slack counts per app, workspace and method, so the answers of a process share what there is (api.slack.com, "Rate
limits"). A call that adorns asks first and is left out where nothing is left; one that must be made waits its turn. What
other processes call is not known here: where all of them together are too quick Slack answers 429, and what it says to one
answer (`hold`) holds for the others of this process too.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

CALLS_A_MINUTE: Mapping[str, int] = MappingProxyType(
    {
        "chat.startStream": 18,
        "chat.appendStream": 90,
        "chat.update": 45,
        "assistant.threads.setStatus": 45,
        "agents.sessions.setStatus": 45,
        "conversations.replies": 45,
    }
)
"""A tenth less than Slack allows: a call counts there when it arrives. Methods that are not listed are not held back."""
MAX_POSTS, POSTS_SECONDS = 4, 4.0
"""Posting is counted for each channel apart: about one a second, a few at once."""
MAX_TURN_SECONDS = 90.0
"""So long a call waits for its turn; then Slack itself is asked, and says how long to wait."""


class RateLimiter:
    """`now`: seconds on a clock that only goes forward."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._calls: dict[tuple[str, ...], deque[float]] = {}
        self._held: dict[tuple[str, ...], float] = {}

    def free(self, method: str, team: str, channel: str = "") -> bool:
        """Take a call, if there is one left now."""
        return self._take(method, team, channel) == 0.0

    async def turn(self, method: str, team: str, channel: str = "") -> None:
        """Wait for a call and take it."""
        waited = 0.0
        while waited < MAX_TURN_SECONDS and (seconds := self._take(method, team, channel)):
            await self._sleep(seconds)
            waited += seconds

    def hold(self, method: str, team: str, channel: str, seconds: float) -> None:
        """Slack answered 429 and wants to be left alone for so long: nobody calls before."""
        now = self._now()
        self._held = {key: until for key, until in self._held.items() if until > now}
        key = _counted_with(method, team, channel)
        self._held[key] = max(self._held.get(key, 0.0), now + seconds)

    def _take(self, method: str, team: str, channel: str) -> float:
        """0.0: it is taken; else the seconds until there may be one."""
        key = _counted_with(method, team, channel)
        if (held := self._held.get(key, 0.0) - self._now()) > 0:
            return held
        if method == "chat.postMessage":
            most, window = MAX_POSTS, POSTS_SECONDS
        elif method in CALLS_A_MINUTE:
            most, window = CALLS_A_MINUTE[method], 60.0
        else:
            return 0.0
        now = self._now()
        if key not in self._calls:  # a channel comes: those that were silent for a minute go
            self._calls = {known: calls for known, calls in self._calls.items() if now - calls[-1] < 60.0}
        calls = self._calls.setdefault(key, deque(maxlen=most))
        if len(calls) == most and (wait := calls[0] + window - now) > 0:
            return wait
        calls.append(now)
        return 0.0


def _counted_with(method: str, team: str, channel: str) -> tuple[str, ...]:
    return (team, method, channel) if method == "chat.postMessage" else (team, method)
