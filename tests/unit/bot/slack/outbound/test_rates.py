"""Slack's rates: never more calls than Slack takes, however they fall, and as many as it takes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.outbound.rates import A_MINUTE, LONGEST, Rates
from ingest.errors import StoreUnavailable
from tests.fakes.exchanges import NOON, SetClock
from tests.fakes.slack.clock import Clock
from tests.fakes.slack.rates import Rates as SlackRates


@dataclass
class Counters:
    """The counters of a bot's store."""

    clock: SetClock
    kept: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0]))
    down: bool = False

    async def add(self, counter: str, amount: float, until: datetime) -> float:
        if self.down:
            raise StoreUnavailable("down")
        if self.kept[counter][1] <= self.clock.now().timestamp():
            self.kept[counter] = [0.0, until.timestamp()]
        self.kept[counter][0] += amount
        return self.kept[counter][0]

    async def counted(self, counter: str, now: datetime) -> float:
        if self.down:
            raise StoreUnavailable("down")
        value, until = self.kept[counter]
        return value if until > now.timestamp() else 0.0


class Both:
    """Our rates and Slack's on one clock, which moves on while someone sleeps."""

    def __init__(self, second: float = 0.0) -> None:
        self.clock = SetClock(NOON.replace(second=0, microsecond=0) + timedelta(seconds=second))
        self.counters = Counters(self.clock)
        self.rates = Rates(self.counters, self.clock, self.pass_on)  # type: ignore[arg-type]  # counters are all it uses
        self.slack = SlackRates(SlackClock(self.clock), on=True)
        self.refused: list[int] = []

    async def pass_on(self, seconds: float) -> None:
        self.clock.time += timedelta(seconds=seconds)

    def call(self, method: str, team: str = "T1", channel: str = "C1") -> None:
        if (wait := self.slack.take(team, method, channel)) is not None:
            self.refused.append(wait)


class SlackClock(Clock):
    def __init__(self, clock: SetClock) -> None:
        super().__init__()
        self._of = clock

    def now(self) -> float:
        return self._of.time.timestamp()


@pytest.mark.parametrize("second", [0.0, 0.9, 2.5, 14.9, 59.5])
@pytest.mark.parametrize(
    ("method", "calls"), [("chat.postMessage", 30), ("chat.update", 100), ("chat.startStream", 40)]
)
async def test_calls_that_wait_their_turn_are_taken_by_slack_whenever_the_rush_begins(
    method: str, calls: int, second: float
) -> None:
    both = Both(second)
    began = both.clock.now()
    for _ in range(calls):
        await both.rates.turn(method, "T1", "C1")
        both.call(method)
    assert both.refused == []
    seconds = (both.clock.now() - began).total_seconds()
    fair = calls if method == "chat.postMessage" else 60 * calls / A_MINUTE[method]
    assert seconds <= 1.3 * fair, "and they do not wait for long"


@given(pauses=st.lists(st.floats(0.0, 40.0), min_size=1, max_size=60), burst=st.integers(1, 30))
async def test_slack_refuses_no_call_that_was_free(pauses: list[float], burst: int) -> None:
    both = Both()
    for pause in pauses:
        await both.pass_on(pause)
        for _ in range(burst):
            for method in ("chat.startStream", "chat.postMessage"):
                if await both.rates.free(method, "T1", "C1"):
                    both.call(method)
    assert both.refused == []


async def test_who_was_refused_takes_nothing_from_those_who_come_later() -> None:
    both = Both()
    most = A_MINUTE["chat.startStream"]

    async def taken(tries: int) -> int:
        return [await both.rates.free("chat.startStream", "T1") for _ in range(tries)].count(True)

    assert await taken(10) == 10
    await both.pass_on(15)
    assert await taken(10 * most) == most - 10
    await both.pass_on(60)
    assert await taken(10 * most) == 10, "the first ten again, and nothing for those that were refused"


async def test_workspaces_channels_and_methods_are_counted_apart() -> None:
    both = Both()
    while await both.rates.free("chat.postMessage", "T1", "C1"):
        pass
    assert await both.rates.free("chat.postMessage", "T1", "C2")
    assert await both.rates.free("chat.postMessage", "T2", "C1")
    assert await both.rates.free("chat.update", "T1", "C1")
    assert await both.rates.free("views.open", "T1")


async def test_without_the_store_and_after_a_long_wait_slack_itself_is_asked() -> None:
    both = Both()
    both.counters.down = True
    assert all([await both.rates.free("chat.startStream", "T1") for _ in range(100)])
    both.counters.down = False
    began = both.clock.now()

    async def others_are_quicker(seconds: float) -> None:
        await both.pass_on(seconds)
        while await both.rates.free("chat.startStream", "T1"):
            pass

    slow = Rates(both.counters, both.clock, others_are_quicker)  # type: ignore[arg-type]
    await others_are_quicker(0.0)
    await slow.turn("chat.startStream", "T1")
    assert LONGEST <= (both.clock.now() - began).total_seconds() < LONGEST + 15
