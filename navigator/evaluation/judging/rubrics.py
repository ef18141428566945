"""What a judge is asked: whether an answer is right, which nuggets it covers, and what it is worth in seven qualities. Pure.

The rules of right and wrong are those of RIT-RAG Appendix N (N.2 to N.4), in our own words: any one gold answer
suffices, more than the gold answer is right, vague is wrong, numbers are equal under rounding. The seven dimensions, each a
question of its own from 0 to 10, are those of Appendix F and N.5, after HyperGraphRAG's G-E; goals and scales are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navigator.evaluation.judging.inquiry import Inquiry
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import DIMENSIONS

_VERDICT_TASK = """\
You check whether an answer to a question about a product's documentation is right. You are given the question, one or \
more gold answers by people who know, and the answer to check. You know nothing of the matter but what the gold answers \
say.

Right
- The answer says what at least one gold answer says, in whatever words, order or language. One gold answer is enough.
- The answer says that and more, as long as the rest does not contradict it.
- Where a gold answer lists parts or steps, the answer has those that matter; a minor one may be missing.
- The answer does not spell the gold answer out, but it follows from it without doubt.
- Numbers agree when one is the other rounded (1.2 and 1.23), and when they are the same in another form (11 of 14, 79%, \
0.79). A count, a version or a port must be the same.

Wrong
- It contradicts every gold answer in something that matters, or names another command, setting, product or place.
- It is vague or general and does not settle this question, or it answers another question.
- It says that it does not know, that nothing was found, or asks back.

How long, how polite or how well written it is does not count, nor do marks such as [1]."""

_NUGGETS_TASK = """\
You check which facts an answer holds. You are given a question, a numbered list of facts, and the answer. A fact is held \
where the answer says it, in whatever words, or where it follows from the answer without doubt; half of a fact is not \
enough. Numbers agree when one is the other rounded."""

_GRADE_TASK = """\
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


def verdict_inquiry(question: EvalQuestion, answer: str) -> Inquiry[tuple[bool, str]]:
    """Right or not, and why in a sentence. The question has gold answers."""
    golds = [(f"gold answer {number}", gold) for number, gold in enumerate(question.answers, start=1)]
    return Inquiry(
        _VERDICT_TASK,
        (("question", question.question), *golds, ("answer", answer)),
        '"right": true or false, "reason": "one sentence that says what decided"',
        _read_verdict,
    )


def nugget_inquiry(question: EvalQuestion, answer: str) -> Inquiry[tuple[bool, ...]]:
    """For each nugget whether the answer holds it. The question has nuggets."""
    listed = "\n".join(f"{n}. {' '.join(nugget.split())}" for n, nugget in enumerate(question.nuggets, start=1))
    count = len(question.nuggets)

    def read(said: Mapping[str, Any]) -> tuple[bool, ...]:
        held = said.get("held")
        if not isinstance(held, list) or any(type(n) is not int or not 1 <= n <= count for n in held):
            raise ValueError(f"held is not a list of numbers from 1 to {count}")
        return tuple(n in held for n in range(1, count + 1))

    return Inquiry(
        _NUGGETS_TASK,
        (("question", question.question), ("facts", listed), ("answer", answer)),
        '"held": [numbers of the facts that the answer holds]',
        read,
    )


def _read_verdict(said: Mapping[str, Any]) -> tuple[bool, str]:
    right, reason = said.get("right"), said.get("reason", "")
    if not isinstance(right, bool):
        raise ValueError("right is not true or false")
    return right, " ".join(reason.split()) if isinstance(reason, str) else ""


def grade_inquiries(question: EvalQuestion, answer: str) -> Mapping[str, Inquiry[int]]:
    """One question for each of DIMENSIONS."""
    golds = [(f"gold answer {number}", gold) for number, gold in enumerate(question.answers, start=1)]
    material = (("question", question.question), *golds, ("answer", answer))
    return {
        name: Inquiry(_grading(name), material, '"grade": whole number from 0 to 10', _read_grade)
        for name in DIMENSIONS
    }


def _grading(dimension: str) -> str:
    goal, best, worst = _GOALS[dimension]
    return _GRADE_TASK.format(dimension=dimension, goal=goal, best=best, worst=worst)


def _read_grade(said: Mapping[str, Any]) -> int:
    grade = said.get("grade")
    if type(grade) is not int or not 0 <= grade <= 10:
        raise ValueError("grade is not a whole number from 0 to 10")
    return grade
