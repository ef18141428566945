"""Slack's rates: never more calls than Slack takes, however they fall, and as many as it takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.outbound.rate_limiter import CALLS_A_MINUTE, MAX_TURN_SECONDS, RateLimiter
from tests.fakes.slack import Clock
from tests.fakes.slack.limits import Rates as SlackRates


class SlackClock(Clock):
    """Seconds, which pass while someone sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def pass_on(self, seconds: float) -> None:
        self.seconds += seconds


class Both:
    """Our rates and Slack's on one clock."""

    def __init__(self) -> None:
        self.clock = SlackClock()
        self.rates = RateLimiter(self.clock.now, self.clock.pass_on)
        self.slack = SlackRates(self.clock, on=True)
        self.refused: list[int] = []

    def call(self, method: str, team: str = "T1", channel: str = "C1") -> None:
        if (wait := self.slack.take(team, method, channel)) is not None:
            self.refused.append(wait)


@pytest.mark.parametrize(
    ("method", "calls"), [("chat.postMessage", 30), ("chat.update", 100), ("chat.startStream", 40)]
)
async def test_calls_that_wait_their_turn_are_taken_by_slack_and_do_not_wait_for_long(method: str, calls: int) -> None:
    both = Both()
    for _ in range(calls):
        await both.rates.turn(method, "T1", "C1")
        both.call(method)
    assert both.refused == []
    fair = calls if method == "chat.postMessage" else 60 * calls / CALLS_A_MINUTE[method]
    assert both.clock.seconds <= fair


@given(pauses=st.lists(st.floats(0.0, 40.0), min_size=1, max_size=60), burst=st.integers(1, 30))
async def test_slack_refuses_no_call_that_was_free(pauses: list[float], burst: int) -> None:
    both = Both()
    for pause in pauses:
        await both.clock.pass_on(pause)
        for _ in range(burst):
            for method in ("chat.startStream", "chat.postMessage"):
                if both.rates.free(method, "T1", "C1"):
                    both.call(method)
    assert both.refused == []


async def test_who_was_refused_takes_nothing_from_those_who_come_later() -> None:
    both = Both()
    most = CALLS_A_MINUTE["chat.startStream"]

    def taken(tries: int) -> int:
        return [both.rates.free("chat.startStream", "T1") for _ in range(tries)].count(True)

    assert taken(10) == 10
    await both.clock.pass_on(15)
    assert taken(10 * most) == most - 10
    await both.clock.pass_on(45)
    assert taken(10 * most) == 10, "the first ten again, and nothing for those that were refused"


async def test_workspaces_channels_and_methods_are_counted_apart() -> None:
    both = Both()
    while both.rates.free("chat.postMessage", "T1", "C1"):
        pass
    assert both.rates.free("chat.postMessage", "T1", "C2")
    assert not both.rates.free("chat.postMessage", "T1", "C1"), "another channel gives none back"
    assert both.rates.free("chat.postMessage", "T2", "C1")
    assert both.rates.free("chat.update", "T1", "C1")
    assert all(both.rates.free("views.open", "T1") for _ in range(1_000))


async def test_after_a_long_wait_slack_itself_is_asked() -> None:
    both = Both()

    async def others_are_quicker(seconds: float) -> None:
        await both.clock.pass_on(seconds)
        while rates.free("chat.startStream", "T1"):
            pass

    rates = RateLimiter(both.clock.now, others_are_quicker)
    await others_are_quicker(0.0)
    await rates.turn("chat.startStream", "T1")
    assert MAX_TURN_SECONDS <= both.clock.seconds <= MAX_TURN_SECONDS + 60
