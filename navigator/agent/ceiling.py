"""What one answer may cost: a ceiling that holds in the worst case, and that leaves room to answer from what was read. No I/O.

Before each turn its worst case is reserved (navigator.batch.ledger), and behind a turn that need not answer one that must. So
a question that comes near its ceiling is answered from what was read until then, and a Read gives no more than still fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from navigator.answer import Usage
from navigator.batch.ledger import AnswerCeilingReached, Ledger, MeteredModel
from navigator.models.prices import Prices
from navigator.ports import Model

LEAST_RESULT_TOKENS = 4_000
"""What a call is taken to give at least, before there is an answer."""
LEAST_PROMPT_TOKENS = 1_500
"""Of the first turn: tools, rules, a question."""
CHARACTERS = (30_000, 15_000, 8_000, 4_000)
"""What a Read may give where no more fits; the last always."""


@dataclass(frozen=True, slots=True)
class AnswerCeiling:
    """`dollars` and `tokens` (of all kinds) that one answer may take, understanding its question included; None: no such
    ceiling. `prices` by the model's name; `max_output_tokens`: of a reply of any of them."""

    dollars: float | None = None
    tokens: int | None = None
    prices: Mapping[str, Prices | None] = field(default_factory=dict)
    max_output_tokens: int = 8_192


class AnswerBudget:
    """What one question has left under its ceiling, and its models, kept to that. `answering`: the name of the model that
    answers."""

    def __init__(self, ceiling: AnswerCeiling, answering: str) -> None:
        self._ceiling = ceiling
        self._answering = answering
        self.ledger = Ledger(dollars=ceiling.dollars, tokens=ceiling.tokens, reached=AnswerCeilingReached)
        self._read = 0

    @property
    def possible(self) -> bool:
        """Whether a first turn fits at all."""
        first = self._answer(LEAST_PROMPT_TOKENS)
        return self.ledger.fits(first + self._room(LEAST_PROMPT_TOKENS))

    def metered(self, model: Model) -> Model:
        prices = self._ceiling.prices.get(model.name)
        return MeteredModel(model, self.ledger, prices, self._ceiling.max_output_tokens, self._room)

    def characters(self, most: int) -> int:
        """How much text a Read may give, so that an answer to it fits."""
        wanted = [most, *(fewer for fewer in CHARACTERS if fewer < most)]
        said = self._ceiling.max_output_tokens  # with the call, at most
        return next((n for n in wanted if self.ledger.fits(self._answer(self._read + said + n))), wanted[-1])

    def _room(self, read: int) -> Usage:
        self._read = read
        return self._answer(read + self._ceiling.max_output_tokens + LEAST_RESULT_TOKENS)

    def _answer(self, read: int) -> Usage:
        written = self._ceiling.max_output_tokens
        prices = self._ceiling.prices.get(self._answering)
        return Usage(read, written, cost=prices.worst(read, written) if prices else None)
