"""Retention as a role: questions and answers older than the days that the operator set go, once an hour, and the texts that
only they cited and the gaps that they alone were in.

Any number may run side by side: what one has removed, the others do not find. A store that does not answer is asked again
an hour later.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog

from bot.gaps.grouping import follow_log
from bot.ports import BotStore, Editions, Gaps
from ingest.concurrency import set_within
from ingest.errors import StoreUnavailable
from ingest.ports import Clock

log = structlog.get_logger()

HOUR_SECONDS = 3600.0


class Retention:
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
        self._store = store
        self._editions = editions
        self._gaps = gaps
        self._clock = clock
        self._keep = keep
        self._every = every
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """`run` ends when the round that runs is done."""
        self._stop.set()

    async def run(self) -> None:
        """Until `stop`."""
        while not self._stop.is_set():
            await self.tidy()
            await set_within(self._stop, self._every)

    async def tidy(self) -> None:
        """One round."""
        try:
            before = self._clock.now() - self._keep
            gone = await self._store.expire(before)
            texts = await self._editions.expire(before)
            gaps = await follow_log(self._store, self._gaps, self._clock)
        except StoreUnavailable as error:
            log.warning("retention_failed", reason=str(error))
            return
        log.info("exchanges_expired", count=gone, texts=texts, gaps=gaps)
