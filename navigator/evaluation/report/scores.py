"""The figures of one answer: of one question through one contender. Pure.

A figure that its question or its run has no ground for (no judge, no gold answer, no gold section, no price)
is None, never 0. An answer that was not given (nothing found, failed, taken for a greeting) scores 0 where
there is ground. A scripted reader's words are no answer: only what it read is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from navigator.answer import Answer, Outcome, Usage
from navigator.evaluation.gold import Resolved, reading
from navigator.evaluation.metrics import em_recall, exact_match, nuggets_covered, string_f1, token_recall
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import Contender, Result

READ = "read"
"""The tool that reads; every other tool looks for something."""


@dataclass(frozen=True, slots=True)
class Score:
    """`nuggets` and `judged_nuggets` are shares of the question's nuggets, by their terms and by the judge.
    `nodes_read` are different nodes. `calls`: tool -> how often. `asked` is how many nodes all Reads asked for. `cost` in US dollars: None
    where tokens were used whose price is unknown."""

    question_id: str
    contender: str
    outcome: Outcome
    synthetic: bool = False
    right: bool | None = None
    exact: bool | None = None
    em_recall: bool | None = None
    f1: float | None = None
    token_recall: float | None = None
    nuggets: float | None = None
    judged_nuggets: float | None = None
    precision: float | None = None
    recall: float | None = None
    nodes_read: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    asked: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    seconds: float = 0.0
    grades: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Words:
    exact: bool | None = None
    em_recall: bool | None = None
    f1: float | None = None
    token_recall: float | None = None
    nuggets: float | None = None


@dataclass(frozen=True, slots=True)
class Judging:
    """What this run asked its judge: where it did, an answer that was not given is wrong and covers nothing,
    even if nobody troubled the judge with it."""

    verdicts: bool = False
    nuggets: bool = False


def score(
    result: Result, question: EvalQuestion, contender: Contender, gold: Resolved, judging: Judging, language: str = "en"
) -> Score:
    """`gold` is the question's."""
    answer = result.answer
    trace = answer.trace
    words = _words(answer, question, contender, language)
    missing = answer.outcome != "answered" and not contender.reader
    right = False if missing and judging.verdicts and question.answers else None
    covered = 0.0 if missing and judging.nuggets and question.nuggets else None
    nodes = {passage.node_id for passage in trace.passages}
    read = reading(nodes, gold) if gold.complete else None
    return Score(
        question_id=result.question_id,
        contender=result.contender,
        outcome=answer.outcome,
        synthetic=question.synthetic,
        right=result.verdict.right if result.verdict else right,
        exact=words.exact,
        em_recall=words.em_recall,
        f1=words.f1,
        token_recall=words.token_recall,
        nuggets=words.nuggets,
        judged_nuggets=_share(result.nuggets) if result.nuggets else covered,
        precision=None if read is None else read.precision,
        recall=None if read is None else read.recall,
        nodes_read=len(nodes),
        calls=dict(Counter(step.tool for step in trace.steps)),
        asked=sum(len(step.numbers) for step in trace.steps if step.tool == READ),
        usage=trace.usage,
        cost=paid(trace.usage),
        seconds=trace.seconds,
        grades=dict(result.grades),
    )


def paid(usage: Usage) -> float | None:
    """US dollars; nothing where no token was used."""
    tokens = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return usage.cost if usage.cost is not None or any(tokens) else 0.0


def _words(answer: Answer, question: EvalQuestion, contender: Contender, language: str) -> _Words:
    """What the answer's words are worth beside the gold answers and nuggets."""
    if contender.reader:
        return _Words()
    said = answer.text if answer.outcome == "answered" else ""
    golds = question.answers
    covered = _share(nuggets_covered(said, question.nuggets, language))
    if not golds:
        return _Words(nuggets=covered)
    return _Words(
        exact_match(said, golds), em_recall(said, golds), string_f1(said, golds), token_recall(said, golds), covered
    )


def _share(found: tuple[bool, ...] | None) -> float | None:
    return sum(found) / len(found) if found else None
