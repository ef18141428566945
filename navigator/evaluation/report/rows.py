"""One contender's figures over all its questions. Pure. What has no ground is None (see scores.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from navigator.evaluation.gold import PrecisionRecall, aggregated
from navigator.evaluation.report.scores import READ, Score
from navigator.evaluation.results import DIMENSIONS, Contender, Preprocessing
from navigator.evaluation.statistics import percentile, wilson


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
    reads = sum(score.calls.get(READ, 0) for score in scores)
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
        searches=_mean(scores, lambda score: sum(score.calls.values()) - score.calls.get(READ, 0)),
        reads=_mean(scores, lambda score: score.calls.get(READ, 0)),
        nodes_a_read=sum(score.asked for score in scores) / reads if reads else None,
        input_tokens=_mean(scores, lambda score: score.usage.input_tokens),
        output_tokens=_mean(scores, lambda score: score.usage.output_tokens),
        cache_read_tokens=_mean(scores, lambda score: score.usage.cache_read_tokens),
        cache_write_tokens=_mean(scores, lambda score: score.usage.cache_write_tokens),
        cost=fmean(costs) if costs else None,
        cost_in_all=sum(costs) if costs else None,
        cost_known=len(costs),
        seconds_p50=percentile(seconds, 0.5) if seconds else None,
        seconds_p95=percentile(seconds, 0.95) if seconds else None,
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
