"""What a run has used and may use, and a model that keeps to it. No I/O.

Before a call begins, its worst case is put aside: the prompt by its length, all the tokens that a reply may take, everything
billed in the dearest way. So a ceiling holds with any number of calls side by side. A call that does not fit waits while calls
under way may turn out cheaper, and is refused when there are none.

An endpoint may count more than was reckoned. What it counts is what was used; the first call under a ceiling goes alone, and
what calls are reckoned with is raised by as much as any was too low.

Work of several calls that the ceiling cuts short is paid for in vain. Such work begins only where as much as it took on average
until now still fits, for itself and all that is under way; the first goes alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import reduce
from operator import add

from navigator.answer import Usage
from navigator.models.prices import Prices
from navigator.models.tokens import texts_given, tokens_in
from navigator.ports import Model, ModelEvent, Tool, Turn, TurnEnd

CEILING = "the ceiling is reached"
UNPRICED = "a ceiling in dollars, and a model whose price is not known"
NOTHING = Usage()
ROUNDING = 1e-9
"""US dollars: sums of floats are not exact."""


class CeilingReached(Exception):
    """A call was not begun, since its worst case does not fit. No ModelError: nobody is to go on with another way."""


class AnswerCeilingReached(CeilingReached):
    """The same of one answer: it ends with what there is, and others go on."""


class Ledger:
    """`dollars` and `tokens` (of all kinds) are what may be used; None: no such ceiling. `used` is what was. `reached`: what
    is raised where something does not fit."""

    def __init__(
        self, *, dollars: float | None = None, tokens: int | None = None, reached: type[CeilingReached] = CeilingReached
    ) -> None:
        self._reached = reached
        self._dollars = dollars
        self._tokens = tokens
        self._bounded = dollars is not None or tokens is not None
        self._reserved: list[Usage] = []
        self._calls_over = self._works_over = self._works_under_way = 0
        self._token_excess = self._dollar_excess = 1.0
        self._changed = asyncio.Event()
        self.used = Usage()

    @asynccontextmanager
    async def work(self) -> AsyncIterator[None]:
        """Room for work of several calls. Raises CeilingReached."""
        while self._works_under_way and not (self._works_over and self._fits_work()) and self._bounded:
            await self._changed.wait()
        if not self._fits_work():
            raise self._reached(CEILING)
        self._works_under_way += 1
        try:
            yield
        finally:
            self._works_under_way -= 1
            self._works_over += 1
            self._wake()

    async def reserve(self, worst: Usage, behind: Usage = NOTHING) -> None:
        """Put this aside for a call, where what comes `behind` it still fits; to be settled. Raises CeilingReached."""
        if self._dollars is not None and worst.cost is None:
            raise self._reached(UNPRICED)
        while self._reserved and not (self._calls_over and self.fits(worst + behind)) and self._bounded:
            await self._changed.wait()
        if not self.fits(worst + behind):
            raise self._reached(CEILING)
        self._reserved.append(worst)

    def settle(self, worst: Usage, used: Usage) -> None:
        """What was put aside turned out to be this."""
        self._reserved.remove(worst)
        self.used += used
        self._token_excess = max(self._token_excess, used.tokens / (worst.tokens or 1))
        if worst.cost and used.cost:
            self._dollar_excess = max(self._dollar_excess, used.cost / worst.cost)
        self._calls_over += 1
        self._wake()

    def _wake(self) -> None:
        """Everyone who waits looks again; who waits next waits for the next change."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _fits_work(self) -> bool:
        """By the average of work that is over. What work under way has used counts too, so that it is rather too much."""
        share = (self._works_under_way + 1) / self._works_over if self._works_over else 0.0
        return self._fits(self.used.tokens * share, (self.used.cost or 0.0) * share)

    def fits(self, worst: Usage) -> bool:
        """Whether as much fits beside what is put aside."""
        ahead = reduce(add, self._reserved, worst)
        return self._fits(ahead.tokens * self._token_excess, (ahead.cost or 0.0) * self._dollar_excess)

    def _fits(self, tokens: float, dollars: float) -> bool:
        """Whether so much more may be used."""
        if self._tokens is not None and self.used.tokens + tokens > self._tokens:
            return False
        return self._dollars is None or (self.used.cost or 0.0) + dollars <= self._dollars + ROUNDING


class MeteredModel:
    """Implements navigator.ports.Model: `model`, each of its turns reserved and settled in the ledger. A turn that does not fit
    raises CeilingReached. `max_output_tokens`: of a reply. A turn that counts nothing, or breaks off after something was
    said, is taken for its worst case. `room`: of tokens read, what an answer behind them takes; a turn that need not answer
    begins only where one that must still fits behind it."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        prices: Prices | None,
        max_output_tokens: int,
        room: Callable[[int], Usage] | None = None,
    ) -> None:
        self._room = room
        self._model = model
        self._ledger = ledger
        self._prices = prices
        self._max_output_tokens = max_output_tokens

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def cites(self) -> bool:
        return self._model.cites

    @property
    def context_window(self) -> int:
        return self._model.context_window

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        read = sum(map(tokens_in, texts_given(system, turns, tools)))
        worst = self._worst(read)
        await self._ledger.reserve(worst, self._room(read) if self._room and not must_answer else NOTHING)
        used = Usage()
        try:
            async for event in self._model.turn(system, turns, tools, must_answer=must_answer):
                used = worst  # a turn that breaks off from here on is billed, and nobody says at what
                if isinstance(event, TurnEnd) and event.usage.tokens:
                    used = self._priced(event.usage)
                    yield replace(event, usage=used)
                else:
                    yield event
        finally:
            self._ledger.settle(worst, used)

    def _worst(self, read: int) -> Usage:
        written = self._max_output_tokens
        return Usage(read, written, cost=self._prices.worst(read, written) if self._prices else None)

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost is not None or self._prices is None:
            return usage
        return replace(usage, cost=self._prices.cost(usage))
