"""What a run will take."""

from __future__ import annotations

import pytest

from navigator.evaluation.proposing.material import Material
from navigator.evaluation.proposing.plan import planned
from navigator.evaluation.questions import EvalQuestion
from navigator.models.prices import Prices
from tests.unit.navigator.evaluation.proposing.made import PORT, sections

MATERIAL = [Material((section,)) for section in sections(PORT, PORT * 3)]


def test_the_plan_grows_with_the_questions_and_costs_what_its_tokens_cost() -> None:
    one, ten = planned(2, MATERIAL, (), Prices(1.0, 5.0)), planned(20, MATERIAL, (), Prices(1.0, 5.0))
    assert (one.questions, one.proposals, one.calls) == (2, 3, 14)
    assert (ten.proposals, ten.calls) == (30, 135)
    assert ten.cost == pytest.approx((ten.input_tokens * 1.0 + ten.output_tokens * 5.0) / 1e6, rel=0.001)
    assert ten.input_tokens == pytest.approx(10 * one.input_tokens, rel=0.001)


def test_examples_and_longer_sections_take_more() -> None:
    plain = planned(10, MATERIAL[:1], (), None).input_tokens
    assert planned(10, MATERIAL[1:], (), None).input_tokens > plain
    assert planned(10, MATERIAL[:1], [EvalQuestion("a", "Why?" * 30)], None).input_tokens > plain


@pytest.mark.parametrize("prices", [None, Prices(), Prices(input=1.0)])
def test_without_prices_the_cost_is_not_known(prices: Prices | None) -> None:
    assert planned(10, MATERIAL, (), prices).cost is None
