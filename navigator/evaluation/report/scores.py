"""The figures of one answer (one question through one contender), and of one contender over all its questions. Pure.

A figure that its question or its run has no ground for (no judge, no gold answer, no gold section, no price)
is None, never 0. An answer that was not given (nothing found, failed, taken for a greeting) scores 0 where
there is ground. A scripted reader's words are no answer: only what it read is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles

from navigator.agent.prompts import READ_TOOL
from navigator.answer import Answer, Outcome, Usage
from navigator.evaluation.gold import PrecisionRecall, Resolved, aggregated, reading
from navigator.evaluation.metrics import em_recall, exact_match, nuggets_covered, string_f1, token_recall
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import DIMENSIONS, Contender, Preprocessing, Result
from navigator.evaluation.statistics import wilson


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


def score_answer(
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
        asked=sum(len(step.numbers) for step in trace.steps if step.tool == READ_TOOL.name),
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


@dataclass(frozen=True, slots=True)
class Proportion:
    """`hits` of `of`, and its Wilson interval (95 %)."""

    hits: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.of


@dataclass(frozen=True, slots=True)
class Row:
    """Means are over the questions that have ground for them: `with_answers` have a gold answer, `with_gold`
    a gold section or page. `not_found` counts every answer that was neither given nor failed. `searches` are
    all calls but Reads. Tokens, calls and nodes are means a question. `cost_known`: for how many questions the cost
    is known; `cost` is their mean, `cost_in_all` their sum, in US dollars. Seconds are of the questions that
    took any."""

    contender: Contender
    asked: int
    answered: int
    not_found: int
    failed: int
    accuracy: Proportion | None
    with_answers: int
    exact: float | None
    em_recall: float | None
    f1: float | None
    token_recall: float | None
    nuggets: float | None
    judged_nuggets: float | None
    with_gold: int
    precision: float | None
    recall: float | None
    reading_f1: float | None
    nodes_read: float | None
    calls: Mapping[str, float]
    searches: float | None
    reads: float | None
    nodes_a_read: float | None
    input_tokens: float | None
    output_tokens: float | None
    cache_read_tokens: float | None
    cache_write_tokens: float | None
    cost: float | None
    cost_in_all: float | None
    cost_known: int
    seconds_p50: float | None
    seconds_p95: float | None
    preprocessing: Preprocessing | None = None
    grades: Mapping[str, float] = field(default_factory=dict)
    """Dimension -> mean, 0 to 1."""


def row(contender: Contender, scores: Sequence[Score], preprocessing: Preprocessing | None = None) -> Row:
    """The row of a contender; `scores` are its own, one a question."""
    read = reading_of(scores)
    reads = sum(score.calls.get(READ_TOOL.name, 0) for score in scores)
    costs = _known(score.cost for score in scores)
    seconds = [score.seconds for score in scores if score.seconds > 0]
    return Row(
        contender=contender,
        asked=len(scores),
        answered=sum(score.outcome == "answered" for score in scores),
        not_found=sum(score.outcome not in ("answered", "failed") for score in scores),
        failed=sum(score.outcome == "failed" for score in scores),
        accuracy=share(score.right for score in scores),
        with_answers=len(_known(score.f1 for score in scores)),
        exact=_mean(scores, lambda score: score.exact),
        em_recall=_mean(scores, lambda score: score.em_recall),
        f1=_mean(scores, lambda score: score.f1),
        token_recall=_mean(scores, lambda score: score.token_recall),
        nuggets=_mean(scores, lambda score: score.nuggets),
        judged_nuggets=_mean(scores, lambda score: score.judged_nuggets),
        with_gold=len(_known(score.recall for score in scores)),
        precision=read.precision if read else None,
        recall=read.recall if read else None,
        reading_f1=read.f1 if read else None,
        nodes_read=_mean(scores, lambda score: score.nodes_read),
        calls=_calls(scores),
        searches=_mean(scores, lambda score: sum(score.calls.values()) - score.calls.get(READ_TOOL.name, 0)),
        reads=_mean(scores, lambda score: score.calls.get(READ_TOOL.name, 0)),
        nodes_a_read=sum(score.asked for score in scores) / reads if reads else None,
        input_tokens=_mean(scores, lambda score: score.usage.input_tokens),
        output_tokens=_mean(scores, lambda score: score.usage.output_tokens),
        cache_read_tokens=_mean(scores, lambda score: score.usage.cache_read_tokens),
        cache_write_tokens=_mean(scores, lambda score: score.usage.cache_write_tokens),
        cost=fmean(costs) if costs else None,
        cost_in_all=sum(costs) if costs else None,
        cost_known=len(costs),
        seconds_p50=median(seconds) if seconds else None,
        seconds_p95=quantiles(seconds, n=20, method="inclusive")[-1]
        if len(seconds) > 1
        else max(seconds, default=None),
        preprocessing=preprocessing,
        grades=_grades(scores),
    )


def share(rights: Iterable[bool | None]) -> Proportion | None:
    """Of those that are known."""
    known = [right for right in rights if right is not None]
    return Proportion(sum(known), len(known), *wilson(sum(known), len(known))) if known else None


def reading_of(scores: Sequence[Score]) -> PrecisionRecall | None:
    """P and R as means; None where no question has gold, or where nothing was ever read: a contender that
    does not read has no precision."""
    if not any(score.nodes_read for score in scores):
        return None
    known = [(score.precision, score.recall) for score in scores]
    return aggregated([PrecisionRecall(p, r) for p, r in known if p is not None and r is not None])


def _calls(scores: Sequence[Score]) -> dict[str, float]:
    tools = sorted({tool for score in scores for tool in score.calls})
    return {tool: fmean(score.calls.get(tool, 0) for score in scores) for tool in tools}


def _grades(scores: Sequence[Score]) -> dict[str, float]:
    given = {dimension: [s.grades[dimension] for s in scores if dimension in s.grades] for dimension in DIMENSIONS}
    return {dimension: fmean(grades) / 10 for dimension, grades in given.items() if grades}


def _mean(scores: Sequence[Score], figure: Callable[[Score], float | None]) -> float | None:
    known = _known(map(figure, scores))
    return fmean(known) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
