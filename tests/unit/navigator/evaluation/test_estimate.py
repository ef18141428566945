"""What a run is said to take before it begins."""

import pytest

from navigator.evaluation.estimate import (
    JUDGED_ANSWER_TOKENS,
    OPINION_TOKENS,
    READ_TOKENS_AND_TURNS,
    TOKENS_WRITTEN_PER_TURN,
    Estimate,
    estimate,
    turns,
)
from navigator.evaluation.judging.rubrics import verdict_inquiry
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import Contender
from navigator.models.prices import Prices
from navigator.strategies.build import STRATEGIES

VANILLA, RIT = Contender("vanilla", "vanilla", k=5), Contender("rit", "rit", n=50, k=200)
PRICES = Prices(1.0, 10.0)


def test_there_is_a_figure_for_every_strategy() -> None:
    assert set(READ_TOKENS_AND_TURNS) == set(STRATEGIES)


@pytest.mark.parametrize(
    ("contender", "bounds"),
    [
        (Contender("none", "none"), (1, 1)),
        (VANILLA, (1, 1)),
        (RIT, (2, 10 + 2 + 1)),
        (Contender("agentic", "agentic", k=5), (2, 8 + 2 + 1)),
        (Contender("rdr2", "rdr2", k=5, expansions=3), (2, 5 * 4 + 1)),
        (Contender("rdr2 E=0", "rdr2", k=5, expansions=0), (2, 5 + 1)),
        (Contender("rdr2 without structure", "rdr2", k=5, expansions=3, structure=False), (2, 5 + 1)),
    ],
)
def test_turns_are_bounded_by_the_budgets(contender: Contender, bounds: tuple[int, int]) -> None:
    assert turns(contender, 10, 8) == bounds


def test_the_cost_is_that_of_answers_and_verdicts() -> None:
    asked = verdict_inquiry(EvalQuestion("q", "Why?", ("So.",)), "")
    found = estimate([VANILLA, RIT], [asked], budgets=(10, 10), prices=PRICES, judge_prices=Prices(2.0, 0.0))
    read = READ_TOKENS_AND_TURNS["vanilla"][0] + READ_TOKENS_AND_TURNS["rit"][0]
    judged = len(asked.system + asked.prompt) // 4 + JUDGED_ANSWER_TOKENS
    assert (found.least, found.most, found.replies) == (3, 14, 1)
    assert found.cost == pytest.approx((read + 10 * 3 * TOKENS_WRITTEN_PER_TURN + 2 * judged) / 1e6)
    assert OPINION_TOKENS > 0


def test_an_unknown_price_makes_the_cost_unknown_where_it_is_used() -> None:
    asked = [verdict_inquiry(EvalQuestion("q", "Why?", ("So.",)), "")]
    one = estimate([VANILLA], asked, budgets=(10, 10), prices=PRICES, judge_prices=None)
    assert one.cost is None
    assert estimate([VANILLA], [], budgets=(10, 10), prices=PRICES, judge_prices=None).cost is not None
    assert estimate([VANILLA], [], budgets=(10, 10), prices=None, judge_prices=PRICES).cost is None


def test_nothing_to_do_costs_nothing() -> None:
    assert estimate([], [], budgets=(10, 10), prices=None, judge_prices=None) == Estimate(0, 0, 0, 0.0)
