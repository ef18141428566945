"""What proposing will take, before it is begun: model calls, tokens, US dollars. Pure.

It is a guess: how much is refused depends on site and model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from navigator.answer import Usage
from navigator.enrichment.question import tokens
from navigator.evaluation.judging.judge import verdict
from navigator.evaluation.proposing import turns
from navigator.evaluation.proposing.material import Material
from navigator.evaluation.questions import EvalQuestion
from navigator.models.prices import Prices

PROPOSALS = 1.5
"""For each question that is accepted: one in three is refused."""
GUESSED = 0.5
"""Of the guesses from titles, so many name an answer, which is then judged."""
_QUESTION, _ANSWER = "?" * 120, "." * 300
"""As long as they usually are."""
_PROPOSAL, _REPLY, _VERDICT = 400, 100, 60
"""Tokens of a proposal, of an answer and of a verdict."""


@dataclass(frozen=True, slots=True)
class ProposalPlan:
    """`cost` is None where the prices are not known."""

    questions: int
    proposals: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def planned(
    questions: int, materials: Sequence[Material], examples: Sequence[EvalQuestion], prices: Prices | None
) -> ProposalPlan:
    """For so many questions, from material such as this, of which there is some."""
    calls = [call for material in materials for call in _calls(material, examples)]
    proposals = math.ceil(questions * PROPOSALS)
    times = proposals / len(materials)

    def total(each: Sequence[float]) -> int:
        return round(times * sum(each))

    costs = [prices.cost(usage) if prices else None for _, usage in calls]
    known = [share * cost for (share, _), cost in zip(calls, costs, strict=True) if cost is not None]
    return ProposalPlan(
        questions,
        proposals,
        calls=total([share for share, _ in calls]),
        input_tokens=total([share * usage.input_tokens for share, usage in calls]),
        output_tokens=total([share * usage.output_tokens for share, usage in calls]),
        cost=times * sum(known) if len(known) == len(calls) else None,
    )


def _calls(material: Material, examples: Sequence[EvalQuestion]) -> list[tuple[float, Usage]]:
    """The calls of one proposal that is accepted, each with how often it is made."""
    judged = verdict(EvalQuestion("", _QUESTION, (_ANSWER,)), _ANSWER)
    asked = [
        (turns.propose(material.sections, examples), _PROPOSAL),
        (turns.guess(material.sections, _QUESTION), _REPLY),
        (turns.answer(material.sections, _QUESTION), _REPLY),
    ]
    once = [(1.0, Usage(tokens(turn.system) + tokens(turn.prompt), output)) for turn, output in asked]
    return [*once, (1.0 + GUESSED, Usage(tokens(judged.system) + tokens(judged.prompt), _VERDICT))]
