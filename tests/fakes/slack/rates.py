"""How often an app may call a method, counted per workspace and method, chat.postMessage per channel too.

Sources: facts (postMessage about 1 a second a channel, startStream 20 and appendStream 100 a minute, chat.update
tier 3) and docs.slack.dev "Rate limits" (tier 3: 50, tier 4: 100 a minute). Methods that are not listed are not limited.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping

from tests.fakes.slack.clock import Clock

MINUTE = 60.0
A_MINUTE: Mapping[str, int] = {
    "chat.startStream": 20,
    "chat.appendStream": 100,
    "chat.stopStream": 50,
    "chat.update": 50,
    "chat.delete": 50,
    "chat.postEphemeral": 100,
    "assistant.threads.setStatus": 600,
    "assistant.threads.setSuggestedPrompts": 100,
    "assistant.threads.setTitle": 100,
    "agents.sessions.setStatus": 50,
    "conversations.info": 50,
    "conversations.history": 50,
    "conversations.replies": 50,
    "conversations.members": 100,
    "users.info": 100,
    "usergroups.list": 20,
    "views.open": 100,
    "views.push": 100,
    "views.update": 100,
    "views.publish": 100,
}
BURST = 4
"""Posts to a channel that may come at once before it is one a second."""


class Rates:
    """`on` False: everything may be called as often as one likes."""

    def __init__(self, clock: Clock, *, on: bool) -> None:
        self.on = on
        self._clock = clock
        self._calls: defaultdict[tuple[str, ...], deque[float]] = defaultdict(deque)

    def take(self, team: str, method: str, channel: str) -> int | None:
        """Count a call; seconds to wait, as Retry-After, where it is one too many."""
        if not self.on:
            return None
        if method == "chat.postMessage":
            return self._within((team, method, channel), BURST, float(BURST))
        if method in A_MINUTE:
            return self._within((team, method), A_MINUTE[method], MINUTE)
        return None

    def _within(self, key: tuple[str, ...], most: int, window: float) -> int | None:
        now, calls = self._clock.now(), self._calls[key]
        while calls and now - calls[0] >= window:
            calls.popleft()
        if len(calls) >= most:
            return max(1, math.ceil(calls[0] + window - now))
        calls.append(now)
        return None
