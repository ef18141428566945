"""Retention as a role: questions and answers older than the days that the operator set go, once an hour, and the texts that
only they cited and the gaps that they alone were in.

Any number may run side by side: what one has removed, the others do not find. A store that does not answer is asked again
an hour later.
"""

from __future__ import annotations

from datetime import timedelta

import structlog

from bot.gaps.grouping import follow_log
from bot.ports import BotStore, Editions, Gaps
from ingest.ports import Clock
from ingest.rounds import Rounds

log = structlog.get_logger()

HOUR_SECONDS = 3600.0


class Retention(Rounds):
    """`every`: seconds between two rounds; the first is at once."""

    def __init__(
        self,
        store: BotStore,
        editions: Editions,
        gaps: Gaps,
        clock: Clock,
        keep: timedelta,
        *,
        every: float = HOUR_SECONDS,
    ) -> None:
        super().__init__(every, "retention_failed")
        self._store = store
        self._editions = editions
        self._gaps = gaps
        self._clock = clock
        self._keep = keep

    async def look(self) -> None:
        """What is older than it is kept goes. Raises StoreUnavailable."""
        before = self._clock.now() - self._keep
        gone = await self._store.expire(before)
        texts = await self._editions.expire(before)
        gaps = await follow_log(self._store, self._gaps, self._clock)
        log.info("exchanges_expired", count=gone, texts=texts, gaps=gaps)
