"""Work on many things side by side, a bounded number of them in hand; waiting for an event, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def for_each(items: AsyncIterator[T] | Iterable[T], work: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Do `work` for each item; an item is taken when somebody has time for it. The first error, or being cancelled, ends
    all work and is raised."""
    turn = asyncio.Lock()
    source = items if isinstance(items, AsyncIterator) else _each_of(items)

    async def worker() -> None:
        while True:
            async with turn:
                try:
                    item = await anext(source)
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


async def _each_of(items: Iterable[T]) -> AsyncIterator[T]:
    for item in items:
        yield item


async def set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait until the event is set, but not longer; whether it is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
