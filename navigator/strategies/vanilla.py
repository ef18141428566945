"""Vanilla RAG (RIT-RAG 5.1): the k best chunks for the question as it stands, one call of the model.

What earlier answers of a conversation cite is not added: the question stands alone already, and k chunks are the bound.
"""

from __future__ import annotations

import time

from navigator.agent.prompts import evidence, opening
from navigator.agent.run import AnswerRun
from navigator.answer import Answer, Step
from navigator.ports import UserTurn
from navigator.retrieval.chunk_passages import Parts
from navigator.retrieval.retriever import Retriever
from navigator.strategies.bounds import StrategyBounds
from navigator.strategies.rit import NEAREST


class Vanilla:
    """The strategy `vanilla`."""

    def __init__(self, retriever: Retriever, parts: Parts, bounds: StrategyBounds) -> None:
        self._retriever = retriever
        self._parts = parts
        self._bounds = bounds

    @property
    def name(self) -> str:
        return "vanilla"

    async def answer(self, way: AnswerRun) -> Answer:
        """Nothing retrieved: not found, without a call."""
        asked, numbering = way.asked, way.reading.numbering
        started = time.monotonic()
        hits = (await self._retriever.hybrid(asked.question, asked.scope, self._bounds.chunks)).hits
        passages = await self._parts.passages(hits, numbering)
        way.reading.read(passages)
        way.reading.nearest = await self._parts.sections(hits, numbering, NEAREST)
        given = tuple(passage.number for passage in passages)
        way.step(Step("search", "", asked.question, numbers=given, seconds=time.monotonic() - started))
        if not passages:
            return way.not_found()
        way.turns.append(UserTurn(opening(asked.question, language=asked.language), tuple(passages)))
        return way.answer(await way.speak(system_prompt(model_cites=way.model.cites)))


def system_prompt(*, model_cites: bool) -> str:
    """The same for every question, so that it can be cached."""
    return f"""\
You answer questions about a product from its documentation, and from nothing else. A search has picked the passages that \
stand before the question; there is no other search. A passage is a part of a section, under the path of that section: it \
may begin or end in the middle, and it may be about something else than the question.

{evidence("stands in these passages", model_cites=model_cites)}"""
