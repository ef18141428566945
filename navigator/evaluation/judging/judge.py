"""What a judge is asked: whether an answer is right, and which nuggets it covers. Pure.

The rules of right and wrong are those of RIT-RAG Appendix N (N.2 to N.4), in our own words: any one gold answer
suffices, more than the gold answer is right, vague is wrong, numbers are equal under rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navigator.evaluation.judging.inquiry import Inquiry
from navigator.evaluation.questions import EvalQuestion

_VERDICT = """\
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

_NUGGETS = """\
You check which facts an answer holds. You are given a question, a numbered list of facts, and the answer. A fact is held \
where the answer says it, in whatever words, or where it follows from the answer without doubt; half of a fact is not \
enough. Numbers agree when one is the other rounded."""


def verdict(question: EvalQuestion, answer: str) -> Inquiry[tuple[bool, str]]:
    """Right or not, and why in a sentence. The question has gold answers."""
    golds = [(f"gold answer {number}", gold) for number, gold in enumerate(question.answers, start=1)]
    return Inquiry(
        _VERDICT,
        (("question", question.question), *golds, ("answer", answer)),
        '"right": true or false, "reason": "one sentence that says what decided"',
        _right,
    )


def nuggets(question: EvalQuestion, answer: str) -> Inquiry[tuple[bool, ...]]:
    """For each nugget whether the answer holds it. The question has nuggets."""
    listed = "\n".join(f"{n}. {' '.join(nugget.split())}" for n, nugget in enumerate(question.nuggets, start=1))
    count = len(question.nuggets)

    def read(said: Mapping[str, Any]) -> tuple[bool, ...]:
        held = said.get("held")
        if not isinstance(held, list) or any(type(n) is not int or not 1 <= n <= count for n in held):
            raise ValueError(f"held is not a list of numbers from 1 to {count}")
        return tuple(n in held for n in range(1, count + 1))

    return Inquiry(
        _NUGGETS,
        (("question", question.question), ("facts", listed), ("answer", answer)),
        '"held": [numbers of the facts that the answer holds]',
        read,
    )


def _right(said: Mapping[str, Any]) -> tuple[bool, str]:
    right, reason = said.get("right"), said.get("reason", "")
    if not isinstance(right, bool):
        raise ValueError("right is not true or false")
    return right, " ".join(reason.split()) if isinstance(reason, str) else ""
