"""What asking may cost, kept: a call is only begun where its worst case still fits under the ceiling."""

from __future__ import annotations

import asyncio

from ingest.notes import Spent
from navigator.answer import Usage
from navigator.enrichment.question import OUTPUT_TOKENS, NotePrompt
from navigator.models.prices import Prices


def price(prices: Prices | None, read: int, written: int) -> float | None:
    """US dollars for so many tokens; None where the price is not known."""
    return prices.cost(Usage(read, written)) if prices else None


def spent_by(usage: Usage) -> Spent:
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return Spent(1, read, usage.output_tokens, usage.cost or 0.0, int(usage.cost is None))


class Budget:
    """`dollars` bind where `prices` are known, `tokens` (read and written together) always; None: no such ceiling."""

    def __init__(self, prices: Prices | None, *, dollars: float | None, tokens: int | None) -> None:
        self._prices = prices
        self._dollars = dollars
        self._tokens = tokens
        self._begun: list[NotePrompt] = []
        self._settled = asyncio.Condition()
        self.spent = Spent()

    async def begin(self, question: NotePrompt) -> bool:
        """Put money aside for the question; False where there is not enough. Waits while calls under way may turn out
        cheaper than their worst case."""
        async with self._settled:
            await self._settled.wait_for(lambda: not self._begun or self._fits(question))
            if not self._fits(question):
                return False
            self._begun.append(question)
            return True

    async def settle(self, question: NotePrompt, spent: Spent) -> None:
        """The call is over, and cost this."""
        async with self._settled:
            self._begun.remove(question)
            self.spent += spent
            self._settled.notify_all()

    def _fits(self, question: NotePrompt) -> bool:
        under_way = [*self._begun, question]
        taken = self.spent.input_tokens + self.spent.output_tokens
        if self._tokens is not None and taken + sum(q.input + OUTPUT_TOKENS for q in under_way) > self._tokens:
            return False
        costs = [price(self._prices, q.input, OUTPUT_TOKENS) or 0.0 for q in under_way]
        return self._dollars is None or self.spent.cost + sum(costs) <= self._dollars
