"""Answers that people found good, as questions to measure with: `ritbot eval` then asks what was really asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.gaps.report import without_people
from bot.model import Exchange
from navigator.evaluation.questions import EvalQuestion, Gold, question_id

KIND = "asked"
"""The kind of such questions in a report."""
_MARKS = re.compile(r" ?\[\d{1,4}\]")


def as_questions(exchanges: Iterable[Exchange]) -> Iterator[EvalQuestion]:
    """One for each question that somebody judged good and nobody bad, with the sections that its answer cited as what should be
    read. Names of people are left out, and what was asked in private is."""
    seen: set[str] = set()
    for exchange in exchanges:
        answer, verdicts = exchange.answer, {feedback.verdict for feedback in exchange.feedback}
        if answer is None or answer.outcome != "answered" or verdicts != {"good"} or exchange.question.private:
            continue
        text = without_people(exchange.asked)
        gold = tuple(dict.fromkeys(Gold(node=source.first.node_id) for source in answer.sources))
        name = question_id(text, gold)
        if text and gold and name not in seen:
            seen.add(name)
            said = (_MARKS.sub("", answer.text).strip(),)
            yield EvalQuestion(name, text, answers=tuple(filter(None, said)), gold=gold, kind=KIND, checked=True)
