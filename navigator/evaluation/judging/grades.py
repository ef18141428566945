"""What a judge is asked to grade an answer: seven dimensions, each a question of its own, 0 to 10 (RIT-RAG Appendix F
and N.5, after HyperGraphRAG's G-E). Goals and scales are in our own words. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navigator.evaluation.judging.inquiry import Inquiry
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import DIMENSIONS

_TASK = """\
You grade one quality of an answer to a question about a product's documentation: its {dimension}. {goal} Look at nothing \
else. You are given the question, gold answers by people who know where there are any, and the answer.

Grade with a whole number from 0 to 10:
- 10: {best}
- 8 or 9: near that; what is missing hardly matters.
- 6 or 7: more good than bad, with a flaw that a reader notices.
- 4 or 5: as much bad as good.
- 1 to 3: little of it.
- 0: {worst}

Length alone earns nothing. Marks such as [1] do not count."""

_GOALS: Mapping[str, tuple[str, str, str]] = {
    "correctness": (
        "Is what it says right, and does its conclusion follow?",
        "everything that it says is right, and nothing in its reasoning fails.",
        "it is wrong from beginning to end, or makes no sense.",
    ),
    "relevance": (
        "Does it speak to this question, and does it help whoever asked?",
        "every sentence serves the question.",
        "it has nothing to do with the question.",
    ),
    "factuality": (
        "Are its statements facts that can be checked, and that hold?",
        "each statement can be checked and holds.",
        "its statements are made up.",
    ),
    "comprehensiveness": (
        "Does it cover all sides of the question that matter?",
        "nothing that matters is left out.",
        "it does not touch what was asked.",
    ),
    "knowledgeability": (
        "Does it show that its author knows the field?",
        "it shows deep knowledge of the matter, used where it helps.",
        "it shows no knowledge of the matter.",
    ),
    "logical coherence": (
        "Is it consistent, in good order and easy to follow?",
        "each part follows from the one before; no sentence has to be read twice.",
        "it contradicts itself or cannot be followed.",
    ),
    "diversity": (
        "Does it look at the question from more than one side, or bring in something worth knowing that was not asked?",
        "several different and useful views or ways, none of them repeated.",
        "one thing only, said over and over, or nothing.",
    ),
}


def grades(question: EvalQuestion, answer: str) -> Mapping[str, Inquiry[int]]:
    """One question for each of DIMENSIONS."""
    golds = [(f"gold answer {number}", gold) for number, gold in enumerate(question.answers, start=1)]
    material = (("question", question.question), *golds, ("answer", answer))
    return {name: Inquiry(_task(name), material, '"grade": whole number from 0 to 10', _grade) for name in DIMENSIONS}


def _task(dimension: str) -> str:
    goal, best, worst = _GOALS[dimension]
    return _TASK.format(dimension=dimension, goal=goal, best=best, worst=worst)


def _grade(said: Mapping[str, Any]) -> int:
    grade = said.get("grade")
    if type(grade) is not int or not 0 <= grade <= 10:
        raise ValueError("grade is not a whole number from 0 to 10")
    return grade
