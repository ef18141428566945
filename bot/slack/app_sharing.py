"""Whether another ritbot, with a store of its own, listens for the same Slack app.

Slack gives each event to one of an app's connections, or to its one address: two processes that do not share a store each
hear half of what is said, and know nothing of each other's answers. A mention comes as two events, so that both may answer
it; the later answer is taken away (bot.slack.outbound.thread_message). It is found out by such an answer, and where Slack
says that there are more connections than the store knows of. Whoever runs ritbot is told, by the log and `ritbot doctor`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.ports import BotStore
from ingest.ports import Clock

log = structlog.get_logger()

PRESENCE = timedelta(minutes=1)
"""A listener says that it is there once in each minute."""
TOLD_FOR = timedelta(days=1)
"""So long it is believed after it was last found out; the log says it once an hour."""
_SHARED = "slack:app-shared"


class AppSharing:
    """One object a process."""

    def __init__(self, store: BotStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._present_in: datetime | None = None
        self._connected_before = False
        self._logged_at: datetime | None = None

    async def present(self) -> None:
        """This process listens. Raises StoreUnavailable."""
        minute = _minute(self._clock.now())
        if minute != self._present_in:
            await self._store.add(_present(minute), 1, minute + 3 * PRESENCE)
            self._present_in = minute

    async def connected(self, connections: int) -> None:
        """Slack says how many connections the app has, with the one that it greets. While a process changes its connection
        it has two. Raises StoreUnavailable."""
        await self.present()
        now = self._clock.now()
        known = max([await self._store.counted(_present(_minute(now - ago)), now) for ago in (0 * PRESENCE, PRESENCE)])
        if connections > known + self._connected_before:
            await self._found_out("connections", connections=connections, known=int(known))
        self._connected_before = True

    async def answered_twice(self, question: str) -> None:
        """A question was answered by somebody else, too, with the app's own name. Raises StoreUnavailable."""
        await self._found_out("two answers", question=question)

    async def _found_out(self, by: str, **fields: object) -> None:
        now = self._clock.now()
        if self._logged_at is None or now - self._logged_at >= timedelta(hours=1):
            self._logged_at = now
            log.error("slack_app_shared", by=by, **fields)
            await self._store.add(_SHARED, 1, now + TOLD_FOR)


async def is_shared(store: BotStore, now: datetime) -> bool:
    """Whether it was found out within the last day. Raises StoreUnavailable."""
    return await store.counted(_SHARED, now) > 0


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def _present(minute: datetime) -> str:
    return f"slack:listening:{minute:%Y-%m-%dT%H:%M}"
