"""The opinions of judges, asked for once and kept, and what they make of an answer: the verdict, the nuggets it covers, its
grades, as far as they were asked for.

A reply of no use is asked for again, once; after that there is no opinion. An answer that was not given is wrong, and nobody
is asked about it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Generic, Protocol

import structlog

from ingest.model import sha256
from navigator.answer import Usage
from navigator.evaluation.judging.inquiry import Inquiry, OpinionT
from navigator.evaluation.judging.rubrics import grade_inquiries, nugget_inquiry, verdict_inquiry
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import JudgeVerdict, Result
from navigator.models.complete import complete
from navigator.ports import Model

log = structlog.get_logger()

MAX_REPLIES = 2
"""Of a judge to one question, where they are of no use."""
_AGAIN = "Your last reply was not of that form. Reply with that one JSON object, no word before or after it, no fence."
NOT_GIVEN = {
    "not_found": "It says that nothing was found.",
    "failed": "There is no answer.",
    "greeting": "It was taken for a greeting.",
}
_VERDICT, _NUGGETS = "verdict", "nuggets"


@dataclass(frozen=True, slots=True)
class Opinion(Generic[OpinionT]):
    """`usage` is what it took to get it, whenever that was."""

    found: OpinionT
    usage: Usage


class OpinionStore(Protocol):
    """Where opinions are kept: by a key, the JSON object and what it took."""

    def opinion(self, key: str) -> tuple[Mapping[str, Any], Usage] | None: ...

    def keep_opinion(self, key: str, said: Mapping[str, Any], usage: Usage) -> None: ...


class Judges:
    """One model as judge, and its opinions."""

    def __init__(self, model: Model, kept: OpinionStore) -> None:
        self._model = model
        self._kept = kept
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def name(self) -> str:
        return self._model.name

    def known(self, inquiry: Inquiry[OpinionT]) -> Opinion[OpinionT] | None:
        """What was said before."""
        found = self._kept.opinion(self._key(inquiry))
        if found is None:
            return None
        said, usage = found
        try:
            return Opinion(inquiry.read(said), usage)
        except ValueError:
            return None

    async def ask(self, inquiry: Inquiry[OpinionT]) -> Opinion[OpinionT] | None:
        """None where no reply was of use. What is being asked already is waited for. Raises ModelError."""
        async with self._turns[self._key(inquiry)]:
            return self.known(inquiry) or await self._ask(inquiry)

    async def _ask(self, inquiry: Inquiry[OpinionT]) -> Opinion[OpinionT] | None:
        prompt, taken = inquiry.prompt, Usage()
        for _ in range(MAX_REPLIES):
            written = await complete(self._model, inquiry.system, prompt)
            taken += written.usage
            try:
                found, said = inquiry.opinion(written.text)
            except ValueError as error:
                log.info("opinion_of_no_use", judge=self.name, reason=str(error)[:100], ended=written.ended)
                prompt = f"{inquiry.prompt}\n\n{_AGAIN}"
                continue
            self._kept.keep_opinion(self._key(inquiry), said, taken)
            return Opinion(found, taken)
        return None

    def _key(self, inquiry: Inquiry[OpinionT]) -> str:
        return sha256(f"{self.name}\n{inquiry.digest}")


@dataclass(frozen=True, slots=True)
class Examination:
    """`graded`: the seven dimensions too."""

    judges: Judges
    graded: bool = False

    def asked(self, question: EvalQuestion, answer: str) -> dict[str, Inquiry[Any]]:
        """All that there is to ask about an answer, each by its name."""
        asked: dict[str, Inquiry[Any]] = {}
        if question.answers:
            asked[_VERDICT] = verdict_inquiry(question, answer)
        if question.nuggets:
            asked[_NUGGETS] = nugget_inquiry(question, answer)
        return asked | dict(grade_inquiries(question, answer)) if self.graded else asked

    def recall(self, question: EvalQuestion, result: Result) -> Result:
        """With all that is known."""
        if result.answer.outcome != "answered":
            wrong = JudgeVerdict(False, NOT_GIVEN[result.answer.outcome]) if question.answers else None
            return replace(result, verdict=wrong, nuggets=(False,) * len(question.nuggets) or None)
        asked = self.asked(question, result.answer.text)
        known = {name: opinion for name, inquiry in asked.items() if (opinion := self.judges.known(inquiry))}
        said, covered = known.pop(_VERDICT, None), known.pop(_NUGGETS, None)
        others = [*known.values(), *([covered] if covered else [])]
        return replace(
            result,
            verdict=JudgeVerdict(said.found[0], said.found[1], said.usage) if said else None,
            nuggets=covered.found if covered else None,
            grades={name: opinion.found for name, opinion in known.items()},
            judge_usage=reduce(add, (opinion.usage for opinion in others), Usage()),
        )

    def complete(self, question: EvalQuestion, result: Result) -> bool:
        """Whether nothing is left to ask."""
        asked = self.asked(question, result.answer.text).values()
        return result.answer.outcome != "answered" or all(self.judges.known(inquiry) for inquiry in asked)

    async def examine(self, question: EvalQuestion, result: Result) -> None:
        """Ask all that is not known yet; a reply of no use leaves it unknown. Raises ModelError."""
        if result.answer.outcome == "answered":
            for inquiry in self.asked(question, result.answer.text).values():
                await self.judges.ask(inquiry)
