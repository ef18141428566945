"""ingest.sites.politeness: when a server may be asked."""

from __future__ import annotations

import asyncio

import pytest

from ingest.errors import FetchFailed
from ingest.sites.politeness import MAX_WAIT_SECONDS, Politeness
from tests.unit.ingest.sites.shelf import SleepClock


def politeness(clock: SleepClock, concurrency: int = 8, delay: float = 0.0) -> Politeness:
    return Politeness(concurrency, delay, sleep=clock.sleep, monotonic=clock.monotonic)


async def test_no_more_requests_run_at_once_than_allowed() -> None:
    turns = politeness(SleepClock(), concurrency=3)
    running = peak = 0

    async def request() -> None:
        nonlocal running, peak
        async with turns.turn("a.test"):
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(request() for _ in range(10)))
    assert peak == 3


@pytest.mark.parametrize(("delay", "crawl_delay", "gap"), [(2.0, 0.0, 2.0), (1.0, 5.0, 5.0), (5.0, 1.0, 5.0)])
async def test_requests_to_one_host_keep_the_longer_of_both_delays(
    delay: float, crawl_delay: float, gap: float
) -> None:
    clock = SleepClock()
    turns = politeness(clock, delay=delay)
    starts: list[float] = []

    async def request() -> None:
        async with turns.turn("a.test", crawl_delay):
            starts.append(clock.now)

    await asyncio.gather(*(request() for _ in range(3)))
    assert starts == [0, gap, 2 * gap]


async def test_hosts_do_not_wait_for_each_other() -> None:
    clock = SleepClock()
    turns = politeness(clock, delay=10)
    async with turns.turn("a.test"), turns.turn("b.test"):
        assert clock.slept == []


async def test_a_paused_host_is_left_alone_for_that_long() -> None:
    clock = SleepClock()
    turns = politeness(clock)
    turns.pause("a.test", 7)
    turns.pause("a.test", 3)
    async with turns.turn("a.test"):
        assert clock.now == 7


async def test_a_pause_longer_than_anyone_waits_fails_at_once_and_says_how_long() -> None:
    clock = SleepClock()
    turns = politeness(clock, concurrency=1)
    turns.pause("a.test", MAX_WAIT_SECONDS + 30)
    with pytest.raises(FetchFailed, match="another 90 seconds") as caught:
        async with turns.turn("a.test"):
            pass
    assert caught.value.retry_after == MAX_WAIT_SECONDS + 30
    assert clock.slept == []
    async with turns.turn("b.test"):
        pass  # the slot was given back
