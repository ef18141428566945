"""What is thought of an answer: the verdict, the nuggets it covers, its grades, as far as they were asked for.

An answer that was not given is wrong, and nobody is asked about it. What a judge said before is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from navigator.answer import Usage
from navigator.evaluation.judging.grades import grades
from navigator.evaluation.judging.inquiry import Inquiry
from navigator.evaluation.judging.judge import nuggets, verdict
from navigator.evaluation.judging.opinions import Judges
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import JudgeVerdict, Result

NOT_GIVEN = {
    "not_found": "It says that nothing was found.",
    "failed": "There is no answer.",
    "greeting": "It was taken for a greeting.",
}
_VERDICT, _NUGGETS = "verdict", "nuggets"


@dataclass(frozen=True, slots=True)
class Examination:
    """`graded`: the seven dimensions too."""

    judges: Judges
    graded: bool = False

    def asked(self, question: EvalQuestion, answer: str) -> dict[str, Inquiry[Any]]:
        """All that there is to ask about an answer, each by its name."""
        asked: dict[str, Inquiry[Any]] = {}
        if question.answers:
            asked[_VERDICT] = verdict(question, answer)
        if question.nuggets:
            asked[_NUGGETS] = nuggets(question, answer)
        return asked | dict(grades(question, answer)) if self.graded else asked

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

    async def examine(self, question: EvalQuestion, result: Result, spend: Callable[[Usage], None]) -> None:
        """Ask all that is not known yet; a reply of no use leaves it unknown. Raises ModelError."""
        if result.answer.outcome == "answered":
            for inquiry in self.asked(question, result.answer.text).values():
                await self.judges.ask(inquiry, spend)
