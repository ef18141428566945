"""Asking again: what is asked again, how long, with which pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from ingest.errors import StoreUnavailable
from ingest.retry import NotNow, patiently


def refusing(*refusals: Exception) -> tuple[Callable[[], Awaitable[str]], list[float]]:
    """An attempt that fails so often and then is done, and the times at which it was made."""
    left, times = list(refusals), []

    async def attempt() -> str:
        times.append(asyncio.get_running_loop().time())
        if left:
            raise left.pop(0)
        return "done"

    return attempt, times


async def test_what_is_done_at_once_is_asked_once() -> None:
    attempt, times = refusing()
    assert await patiently(attempt, 0.0) == "done"
    assert len(times) == 1


async def test_what_is_refused_for_now_is_asked_again_with_growing_pauses() -> None:
    attempt, times = refusing(*[NotNow("busy")] * 3)
    assert await patiently(attempt, 10.0) == "done"
    first, second, third = (after - before for before, after in pairwise(times))
    assert 0.04 < first < second + 0.02 < third + 0.04
    assert third < 0.6


async def test_patience_ends_with_the_last_refusal() -> None:
    attempt, times = refusing(*[NotNow(f"refusal {number}") for number in range(100)])
    with pytest.raises(NotNow, match=r"refusal [1-9]"):
        await patiently(attempt, 0.5)
    assert times[-1] - times[0] <= 0.55


async def test_without_patience_nothing_is_asked_again() -> None:
    attempt, times = refusing(NotNow("busy"))
    with pytest.raises(NotNow):
        await patiently(attempt, 0.0)
    assert len(times) == 1


async def test_who_says_when_to_come_back_is_left_alone_so_long_or_given_up() -> None:
    attempt, times = refusing(NotNow("busy", after=0.3))
    assert await patiently(attempt, 1.0) == "done"
    assert times[1] - times[0] >= 0.3
    attempt, times = refusing(NotNow("busy", after=60))
    with pytest.raises(NotNow):
        await patiently(attempt, 1.0)
    assert len(times) == 1


@pytest.mark.parametrize("error", [StoreUnavailable("for good"), ValueError("wrong")])
async def test_other_errors_are_raised_at_once(error: Exception) -> None:
    attempt, times = refusing(error)
    with pytest.raises(type(error)):
        await patiently(attempt, 10.0)
    assert len(times) == 1
