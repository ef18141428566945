"""Work that nobody asks for: looked for again and again, until it is told to stop.

Errors of the installation end a role, as everywhere (ingest.errors.INSTALLATION); a store that does not answer is a line of
the log, and the next round finds what this one left.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

import structlog

from ingest.concurrency import set_within
from ingest.errors import StoreUnavailable

log = structlog.get_logger()


class Rounds(ABC):
    """`every`: seconds between two rounds; the first is at once. `failed`: what the log calls a round that failed."""

    def __init__(self, every: float, failed: str) -> None:
        self._every = every
        self._failed = failed
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """`run` ends when what is in hand is done."""
        self._stop.set()

    async def run(self) -> None:
        """Until `stop`."""
        while not self._stop.is_set():
            try:
                await self.look()
            except StoreUnavailable as error:
                log.warning(self._failed, reason=str(error))
            await set_within(self._stop, self._every)

    @abstractmethod
    async def look(self) -> None:
        """One round. Raises StoreUnavailable."""
