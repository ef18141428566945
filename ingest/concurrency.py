"""Work on many things side by side, a bounded number of them in hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def for_each(items: AsyncIterator[T], work: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Do `work` for each item; an item is taken when somebody has time for it. The first error, or being cancelled, ends
    all work and is raised."""
    turn = asyncio.Lock()

    async def worker() -> None:
        while True:
            async with turn:
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
