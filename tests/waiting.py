"""Waiting for what another task, process or server brings about and tells nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import isawaitable

WITHIN_SECONDS = 20.0
"""What has not happened by then never will, on a busy machine either."""


async def eventually(condition: Callable[[], object], within: float = WITHIN_SECONDS) -> None:
    """Until it holds; the condition may be a coroutine function. Raises TimeoutError."""
    async with asyncio.timeout(within):
        while not (await found if isawaitable(found := condition()) else found):  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.01)
