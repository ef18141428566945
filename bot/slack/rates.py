"""Slack's rates, shared by all processes: so many calls of a method in a minute, for an app in a workspace.

Slack counts per app, workspace and method, so concurrent answers share what there is (api.slack.com, "Rate limits"). A
call that adorns asks first and is left out where nothing is left; one that must be made waits its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from types import MappingProxyType

from bot.ports import BotStore
from ingest.errors import StoreUnavailable
from ingest.ports import Clock

A_MINUTE: Mapping[str, int] = MappingProxyType(
    {
        "chat.startStream": 18,
        "chat.appendStream": 90,
        "chat.update": 45,
        "chat.postMessage": 55,
        "assistant.threads.setStatus": 45,
        "conversations.replies": 45,
    }
)
"""A little less than Slack allows: others' clocks differ from ours. Posting counts for each channel apart."""
LONGEST = 60.0
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
        """Take a call of this minute, if there is one left."""
        return await self._take(method, team, channel) == 0.0

    async def turn(self, method: str, team: str, channel: str = "") -> None:
        """Wait for a call and take it."""
        waited = 0.0
        while waited < LONGEST and (seconds := await self._take(method, team, channel)):
            await self._sleep(seconds)
            waited += seconds

    async def _take(self, method: str, team: str, channel: str) -> float:
        """0.0: it is taken; else the seconds until there are new ones."""
        most = A_MINUTE.get(method)
        if most is None:
            return 0.0
        now = self._clock.now()
        ends = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
        counter = f"slack:{method}:{team}:{channel if method == 'chat.postMessage' else ''}:{ends:%H:%M}"
        try:
            taken = await self._store.add(counter, 1, ends)
        except StoreUnavailable:
            return 0.0
        return 0.0 if taken <= most else (ends - now).total_seconds()
