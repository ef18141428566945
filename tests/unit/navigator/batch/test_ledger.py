"""A run's ceiling holds: for any calls, any number of them side by side, and whatever an endpoint counts."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.answer import Usage
from navigator.batch.ledger import CEILING, UNPRICED, CeilingReached, Ledger, MeteredModel
from navigator.errors import ModelUnreachable
from navigator.models.complete import complete
from navigator.models.prices import Prices
from navigator.models.tokens import tokens_in
from navigator.ports import ModelEvent, TextDelta, TurnEnd
from tests.fakes.model import ScriptedModel

PRICES = Prices(1.0, 5.0)
LONGEST = 100
"""Tokens of a reply."""


class Paced(ScriptedModel):
    """Speaks only after the others had their turn; knows how many speak at once."""

    under_way = most = 0

    async def turn(self, *args: object, **more: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        async for event in super().turn(*args, **more):  # type: ignore[arg-type]
            yield event


def says(usage: Usage) -> list[ModelEvent]:
    return [TextDelta("So."), TurnEnd("end", usage)]


async def ask(model: MeteredModel, times: int, side_by_side: int = 1) -> int:
    """How many calls were begun before the ceiling was reached."""
    begun, left = 0, times

    async def one() -> None:
        nonlocal begun, left
        while left > 0:
            left -= 1
            try:
                await complete(model, "system", "prompt")
            except CeilingReached:
                return
            begun += 1

    await asyncio.gather(*(one() for _ in range(side_by_side)))
    return begun


WORST = PRICES.worst(tokens_in("system") + tokens_in("prompt"), LONGEST) or 0.0


def metered(ledger: Ledger, *script: list[ModelEvent] | Exception, prices: Prices | None = PRICES) -> MeteredModel:
    return MeteredModel(Paced(*script), ledger, prices, LONGEST)


async def test_without_a_ceiling_all_calls_are_made_side_by_side() -> None:
    ledger, model = Ledger(), Paced(says(Usage(10**9, cost=1e6)))
    assert await ask(MeteredModel(model, ledger, None, LONGEST), 40, 8) == 40
    assert (model.most, ledger.used.cost) == (8, 40e6)


async def test_a_call_is_begun_only_where_its_worst_case_fits() -> None:
    ledger = Ledger(dollars=WORST + 4.5 * 0.0001)
    assert await ask(metered(ledger, says(Usage(20, 16, cost=0.0001))), 100) == 5
    assert ledger.used.cost == pytest.approx(0.0005)
    assert await ask(metered(Ledger(dollars=WORST * 0.99), says(Usage(1))), 9) == 0


async def test_a_call_waits_while_those_under_way_may_turn_out_cheaper() -> None:
    ledger = Ledger(dollars=WORST + 9.5 * 0.0001)
    assert await ask(metered(ledger, says(Usage(20, 16, cost=0.0001))), 10, 8) == 10


async def test_a_ceiling_in_tokens_holds_where_no_price_is_known() -> None:
    worst = tokens_in("system") + tokens_in("prompt") + LONGEST
    ledger = Ledger(tokens=worst + 25)
    assert await ask(metered(ledger, says(Usage(1, 2, 3, 4)), prices=None), 9) == 3
    assert ledger.used.tokens == 30


async def test_dollars_bound_nothing_whose_price_is_not_known() -> None:
    with pytest.raises(CeilingReached, match=UNPRICED):
        await complete(metered(Ledger(dollars=1.0), says(Usage(1)), prices=None), "system", "prompt")
    with pytest.raises(CeilingReached, match=UNPRICED):
        await complete(metered(Ledger(dollars=1.0), says(Usage(1)), prices=Prices(1.0)), "system", "prompt")


async def test_tokens_of_a_cache_without_a_price_count_as_input_does() -> None:
    """The endpoint reports 200,000 of them a call, at a dollar a million: five calls are a dollar."""
    for side_by_side in (1, 4, 64):
        ledger = Ledger(dollars=1.0)
        begun = await ask(metered(ledger, says(Usage(0, 0, cache_read_tokens=200_000))), 2_000, side_by_side)
        assert begun == 5
        assert ledger.used.cost == pytest.approx(1.0)


@given(
    st.lists(st.integers(0, tokens_in("system") + tokens_in("prompt")), min_size=1, max_size=30),
    st.floats(0.1, 20),
    st.integers(1, 9),
)
def test_no_calls_go_over_the_ceiling(reads: list[int], share: float, side_by_side: int) -> None:
    ledger = Ledger(dollars=share * WORST)
    script = [says(Usage(0, read, cache_write_tokens=read)) for read in reads]
    begun = asyncio.run(ask(metered(ledger, *script), len(reads), side_by_side))
    assert (ledger.used.cost or 0.0) <= share * WORST + 1e-8
    assert begun > 0 if share >= 1 else begun == 0


@given(st.integers(1, 10**7), st.integers(1, 9))
def test_an_endpoint_that_always_counts_more_than_was_reckoned_goes_over_it_with_no_call_but_the_first(
    read: int, side_by_side: int
) -> None:
    ledger, ceiling = Ledger(dollars=1.0), 1.0
    begun = asyncio.run(ask(metered(ledger, says(Usage(read))), 50, side_by_side))
    assert (ledger.used.cost or 0.0) <= (ceiling if begun > 1 else max(ceiling, read / 1e6)) + 1e-8


async def test_work_of_several_calls_begins_only_where_as_much_as_it_takes_on_average_still_fits() -> None:
    ledger, done = Ledger(dollars=2.5 * 3 * WORST), 0
    model = metered(ledger, says(Usage(tokens_in("system"), cost=WORST)))

    async def work() -> None:
        nonlocal done
        async with ledger.work():
            for _ in range(3):
                await complete(model, "system", "prompt")
            done += 1

    ends = await asyncio.gather(*(work() for _ in range(5)), return_exceptions=True)
    assert done == 2, "no third is begun, that could not be ended"
    assert ledger.used.cost == pytest.approx(2 * 3 * WORST)
    assert [str(end) for end in ends if end] == [CEILING] * 3


async def test_what_breaks_off_or_counts_nothing_is_taken_for_its_worst_case() -> None:
    ledger = Ledger()
    await ask(metered(ledger, says(Usage())), 1)
    assert ledger.used.cost == WORST

    class BreaksOff(ScriptedModel):
        async def turn(self, *args: object, **more: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
            yield TextDelta("So")
            raise ModelUnreachable("gone")

    for model, used in ((BreaksOff(), 2 * WORST), (ScriptedModel(ModelUnreachable("gone")), 2 * WORST)):
        with pytest.raises(ModelUnreachable):
            await complete(MeteredModel(model, ledger, PRICES, LONGEST), "system", "prompt")
        assert ledger.used.cost == used


async def test_who_is_cancelled_leaves_room_for_the_others() -> None:
    ledger = Ledger(dollars=1.5 * WORST)

    class Hangs(ScriptedModel):
        async def turn(self, *args: object, **more: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
            await asyncio.Event().wait()
            yield TextDelta("never")

    hanging = asyncio.create_task(complete(MeteredModel(Hangs(), ledger, PRICES, LONGEST), "system", "prompt"))
    waiting = asyncio.create_task(ask(metered(ledger, says(Usage(1, cost=0.0))), 1))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    hanging.cancel()
    assert await waiting == 1


async def test_a_ceiling_says_that_it_is_reached() -> None:
    with pytest.raises(CeilingReached, match=CEILING):
        await complete(metered(Ledger(tokens=1), says(Usage(1))), "system", "prompt")
