"""Asking again: what is asked again, how long, with which pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest

from ingest.errors import StoreUnavailable
from ingest.retry import STORE_RETRIES, NotNow, RetryPolicy, retry_after, retrying


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
    assert await retrying(attempt, replace(STORE_RETRIES, within=0.0)) == "done"
    assert len(times) == 1


async def test_what_is_refused_for_now_is_asked_again_with_growing_pauses() -> None:
    attempt, times = refusing(*[NotNow("busy")] * 3)
    assert await retrying(attempt, replace(STORE_RETRIES, within=10.0)) == "done"
    first, second, third = (after - before for before, after in pairwise(times))
    assert 0.04 < first < second + 0.02 < third + 0.04
    assert third < 0.6


async def test_patience_ends_with_the_last_refusal() -> None:
    attempt, times = refusing(*[NotNow(f"refusal {number}") for number in range(100)])
    with pytest.raises(NotNow, match=r"refusal [1-9]"):
        await retrying(attempt, replace(STORE_RETRIES, within=0.5))
    assert times[-1] - times[0] <= 0.55


async def test_without_patience_nothing_is_asked_again() -> None:
    attempt, times = refusing(NotNow("busy"))
    with pytest.raises(NotNow):
        await retrying(attempt, replace(STORE_RETRIES, within=0.0))
    assert len(times) == 1


async def test_who_says_when_to_come_back_is_left_alone_so_long_or_given_up() -> None:
    attempt, times = refusing(NotNow("busy", after=0.3))
    assert await retrying(attempt, replace(STORE_RETRIES, within=1.0)) == "done"
    assert times[1] - times[0] >= 0.3
    attempt, times = refusing(NotNow("busy", after=60))
    with pytest.raises(NotNow):
        await retrying(attempt, replace(STORE_RETRIES, within=1.0))
    assert len(times) == 1


@pytest.mark.parametrize("error", [StoreUnavailable("for good"), ValueError("wrong")])
async def test_other_errors_are_raised_at_once(error: Exception) -> None:
    attempt, times = refusing(error)
    with pytest.raises(type(error)):
        await retrying(attempt, replace(STORE_RETRIES, within=10.0))
    assert len(times) == 1


async def test_attempts_bound_the_tries_and_a_server_that_asks_for_too_much_is_not_waited_for() -> None:
    attempt, times = refusing(*[NotNow("busy")] * 9)
    with pytest.raises(NotNow):
        await retrying(attempt, RetryPolicy(attempts=3, pause=0.0))
    assert len(times) == 3
    attempt, times = refusing(NotNow("busy", after=0.5))
    with pytest.raises(NotNow):
        await retrying(attempt, RetryPolicy(asked=0.4))
    assert len(times) == 1


def test_pauses_double_up_to_the_longest_and_differ_by_chance() -> None:
    policy = RetryPolicy(pause=0.5, longest=4.0)
    assert [policy.after(failures, 1.0) for failures in range(1, 7)] == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0]
    assert [policy.after(failures, 0.0) for failures in (1, 2, 5000)] == [0.25, 0.5, 2.0]


def test_what_a_server_asked_for_takes_the_place_of_the_own_pause() -> None:
    policy = RetryPolicy(attempts=3, pause=8.0, asked=30.0)
    assert [policy.next_pause(1, asked, 1.0) for asked in (0.0, 2.0, 30.0, 31.0)] == [8.0, 2.0, 30.0, None]
    assert policy.next_pause(3, 2.0, 1.0) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "Tue, 01 Jul 2025 10:00:30 GMT", "date": "Tue, 01 Jul 2025 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Tue, 01 Jul 2025 09:00:00 GMT", "date": "Tue, 01 Jul 2025 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Tue, 01 Jul 2025 10:00:30 GMT"}, 0.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon", "date": "Tue, 01 Jul 2025 10:00:00 GMT"}, None),
        ({"retry-after": "Tue, 01 Jul 2025 10:00:30 -0000", "date": "Tue, 01 Jul 2025 10:00:00 GMT"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_without_the_answers_own_is_counted_from_now() -> None:
    seconds = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)})
    assert seconds == pytest.approx(60, abs=3)
