"""Work that goes on after Slack was answered; at the end it is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import structlog

log = structlog.get_logger()


class Background:
    """Tasks in flight. What one of them raises is logged, and the others go on."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, what: str, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(self._run(what, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self, seconds: float) -> None:
        """Wait for what is in flight, and end what takes longer."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, what: str, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except Exception as error:
            log.error("interaction_failed", what=what, kind=type(error).__name__, reason=str(error))
