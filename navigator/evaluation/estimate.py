"""What a run will take, told before it begins. No I/O.

How many turns of the model an answer takes has bounds; how many tokens it takes is not known before. `READ_TOKENS_AND_TURNS` is what
the top reader (navigator.evaluation.readers) was given for a question on the documentation of Ray: the shortest way of
each strategy. A model that searches again, or reads more, takes more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from navigator.agent.loop import MAX_NUDGES
from navigator.answer import Usage
from navigator.evaluation.judging.inquiry import Inquiry
from navigator.evaluation.results import Contender
from navigator.models.prices import Prices
from navigator.models.tokens import CHARACTERS_PER_TOKEN

READ_TOKENS_AND_TURNS: Mapping[str, tuple[int, int]] = {
    "none": (300, 1),
    "vanilla": (1_000, 1),
    "agentic": (1_700, 2),
    "interact": (2_300, 2),
    "pageindex": (3_300, 2),
    "rit": (6_300, 2),
    "rdr2": (5_500, 4),
}
"""Tokens read for an answer, in so many turns."""
TOKENS_WRITTEN_PER_TURN = 150
"""Assumed: reasoning and a call, or an answer."""
JUDGED_ANSWER_TOKENS = 250
"""Assumed."""
OPINION_TOKENS = 60
"""Assumed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Turns of the model, at least and at most; replies of the judge; US dollars, about and at least, None where a price is
    unknown."""

    least: int
    most: int
    replies: int
    cost: float | None


def estimate(
    asked: Sequence[Contender],
    inquiries: Iterable[Inquiry[object]],
    *,
    budgets: tuple[int, int],
    prices: Prices | None,
    judge_prices: Prices | None,
) -> Estimate:
    """`asked`: a contender for each answer that is to come; `inquiries`: what judges are to be asked, about answers that are
    still empty. `budgets`: tool calls of RIT, and of the other strategies."""
    bounds = [turns(contender, *budgets) for contender in asked]
    costs = [
        _cost(
            prices, READ_TOKENS_AND_TURNS[c.strategy][0], READ_TOKENS_AND_TURNS[c.strategy][1] * TOKENS_WRITTEN_PER_TURN
        )
        for c in asked
    ]
    judged = [
        len(inquiry.system + inquiry.prompt) // CHARACTERS_PER_TOKEN + JUDGED_ANSWER_TOKENS for inquiry in inquiries
    ]
    costs += [_cost(judge_prices, read, OPINION_TOKENS) for read in judged]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        sum(least for least, _ in bounds),
        sum(most for _, most in bounds),
        len(judged),
        sum(known) if len(known) == len(costs) else None,
    )


def turns(contender: Contender, budget: int, other_budget: int) -> tuple[int, int]:
    """The fewest and the most for an answer. A loop ends with an answer, and sends a model back that has read nothing."""
    match contender.strategy:
        case "none" | "vanilla":
            return 1, 1
        case "rdr2":
            pages, rounds = contender.k or 1, 1 + (contender.expansions or 0) * contender.structure
            return 2, pages * rounds + 1
        case "rit":
            return 2, budget + MAX_NUDGES + 1
        case _:
            return 2, other_budget + MAX_NUDGES + 1


def _cost(prices: Prices | None, read: int, written: int) -> float | None:
    return prices.cost(Usage(read, written)) if prices else None
