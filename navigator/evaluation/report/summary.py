"""A whole run in figures: from questions, results and the index's outlines to rows, pairs and overlap. Pure.

Two contenders are compared on the same questions: accuracy by the exact McNemar test, recall of reading by the
sign-flip test; the p of all pairs are corrected together (Holm), each of the two figures for itself. Overlap is
RIT-RAG's Appendix H.

What a report must say beside its figures (questions left out and why, contenders that did not finish) stands
in `notes`, as sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from operator import add
from statistics import fmean

from ingest.ports import Outline
from navigator.answer import Usage
from navigator.evaluation.gold import Aliases, Library, Resolved, in_forest, on_page
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.scores import Judging, Row, Score, row, score_answer
from navigator.evaluation.results import Contender, Preprocessing, Ranked, Result
from navigator.evaluation.statistics import holm, mcnemar, sign_flip

CUTS = (1, 3, 10, 25, 50)
"""The n of forest@n and page@n."""


@dataclass(frozen=True, slots=True)
class Pair:
    """`judged` questions have a verdict on both; `difference` is the first's accuracy less the second's on
    these. `read` have gold, where both contenders read at all; `recall_difference` likewise. p and corrected p are None where there
    is nothing to compare."""

    first: str
    second: str
    judged: int = 0
    only_first: int = 0
    only_second: int = 0
    difference: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    read: int = 0
    recall_difference: float | None = None
    recall_p: float | None = None
    recall_p_corrected: float | None = None


@dataclass(frozen=True, slots=True)
class Overlap:
    """So many questions were got right by exactly these contenders; none: nobody got them right."""

    right: tuple[str, ...]
    questions: int


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Plain retrieval at n nodes: shares over the questions that have such gold; None without any."""

    n: int
    forest: float | None
    page: float | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`synthetic` questions were proposed by a model, `unchecked` of these no person has looked at.
    `with_section` and `with_page`: how many questions forest@n and page@n stand on. `judging` is what
    judges used: None where nobody judged."""

    questions: int
    synthetic: int
    unchecked: int
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    overlap: tuple[Overlap, ...]
    retrieval: tuple[RetrievalFigures, ...]
    with_section: int
    with_page: int
    judging: Usage | None
    scores: tuple[Score, ...]
    notes: tuple[str, ...]


def summarise(
    questions: Sequence[EvalQuestion],
    contenders: Sequence[Contender],
    results: Iterable[Result],
    *,
    ranked: Iterable[Ranked] = (),
    outlines: Mapping[str, Outline] | None = None,
    aliases: Aliases | None = None,
    preprocessing: Iterable[Preprocessing] = (),
    language: str = "en",
) -> RunSummary:
    """`outlines` are the live pages of the index (page key -> outline), `aliases` those of their sections. Of two results for the same question
    and contender the later counts. A preprocessing belongs to the contender, or to all contenders of the strategy, that is its label."""
    pages = outlines or {}
    asked = {question.id: question for question in questions}
    library = Library(pages, aliases)
    gold = {question.id: library.resolve(question) if pages else Resolved(()) for question in questions}
    kept, strangers = _kept(results, asked, contenders)
    judging = Judging(
        verdicts=any(result.verdict is not None for result in kept.values()),
        nuggets=any(result.nuggets is not None for result in kept.values()),
    )
    scores: dict[str, dict[str, Score]] = {contender.label: {} for contender in contenders}
    by_label = {contender.label: contender for contender in contenders}
    for (label, question), result in kept.items():
        made = score_answer(result, asked[question], by_label[label], gold[question], judging, language)
        scores[label][question] = made
    before = {each.label: each for each in preprocessing}
    best = {each.question_id: each.nodes for each in ranked if each.question_id in asked}
    sections = {q: nodes for q, nodes in best.items() if in_forest(nodes, 1, gold[q]) is not None}
    on_pages = {q: nodes for q, nodes in best.items() if on_page(nodes, 1, gold[q], pages) is not None}
    return RunSummary(
        questions=len(questions),
        synthetic=sum(question.synthetic for question in questions),
        unchecked=sum(question.synthetic and not question.checked for question in questions),
        rows=tuple(
            row(c, list(scores[c.label].values()), before.get(c.label, before.get(c.strategy))) for c in contenders
        ),
        pairs=pairs(scores),
        overlap=overlap(scores),
        retrieval=_retrieval(best, sections, on_pages, gold, pages),
        with_section=len(sections),
        with_page=len(on_pages),
        judging=_judging(kept.values()),
        scores=tuple(each for of in scores.values() for each in of.values()),
        notes=tuple(_notes(questions, gold, scores, strangers, indexed=bool(pages))),
    )


def _kept(
    results: Iterable[Result], asked: Mapping[str, EvalQuestion], contenders: Sequence[Contender]
) -> tuple[dict[tuple[str, str], Result], int]:
    """The results that count, by contender and question, in the questions' order; and how many do not."""
    labels = {contender.label for contender in contenders}
    last: dict[tuple[str, str], Result] = {}
    strangers = 0
    for result in results:
        if result.contender in labels and result.question_id in asked:
            last[result.contender, result.question_id] = result
        else:
            strangers += 1
    order = {question: at for at, question in enumerate(asked)}
    return dict(sorted(last.items(), key=lambda each: order[each[0][1]])), strangers


def _retrieval(
    best: Mapping[str, tuple[str, ...]],
    sections: Mapping[str, tuple[str, ...]],
    on_pages: Mapping[str, tuple[str, ...]],
    gold: Mapping[str, Resolved],
    pages: Mapping[str, Outline],
) -> tuple[RetrievalFigures, ...]:
    """At every cut that the longest list reaches: beyond it there is nothing to measure."""
    longest = max(map(len, best.values()), default=0)
    found = []
    for n in CUTS:
        forest = [in_forest(nodes, n, gold[q]) for q, nodes in sections.items()]
        page = [on_page(nodes, n, gold[q], pages) for q, nodes in on_pages.items()]
        if n <= longest and (forest or page):
            found.append(RetrievalFigures(n, _mean(forest), _mean(page)))
    return tuple(found)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _judging(results: Iterable[Result]) -> Usage | None:
    judged = [r for r in results if r.verdict is not None or r.nuggets is not None or r.grades]
    used = [usage for r in judged for usage in (r.judge_usage, r.verdict.usage if r.verdict else Usage())]
    return reduce(add, used) if used else None


def _notes(
    questions: Sequence[EvalQuestion],
    gold: Mapping[str, Resolved],
    scores: Mapping[str, Mapping[str, Score]],
    strangers: int,
    *,
    indexed: bool,
) -> Iterable[str]:
    if not indexed and any(question.gold for question in questions):
        yield "There are no pages to find the gold on: the figures of reading are left out."
    for label, of in scores.items():
        if len(of) < len(questions):
            yield f"{label} was asked {len(of)} of {len(questions)} questions: compare it with care."
    if strangers:
        yield f"{strangers} results belong to questions or contenders that are not in this report; they are left out."
    for question in questions:
        for problem in gold[question.id].missing:
            yield f"Question {question.id} is left out of the figures of reading: {problem}."


def pairs(scores: Mapping[str, Mapping[str, Score]]) -> tuple[Pair, ...]:
    """`scores`: contender -> question -> score. Every two contenders with anything to compare."""
    found = [_pair(first, second, scores[first], scores[second]) for first, second in combinations(scores, 2)]
    found = [pair for pair in found if pair.judged or pair.read]
    p = holm([pair.p for pair in found if pair.p is not None])
    recall_p = holm([pair.recall_p for pair in found if pair.recall_p is not None])
    corrected, recall_corrected = iter(p), iter(recall_p)
    return tuple(
        replace(
            pair,
            p_corrected=None if pair.p is None else next(corrected),
            recall_p_corrected=None if pair.recall_p is None else next(recall_corrected),
        )
        for pair in found
    )


def _pair(first: str, second: str, mine: Mapping[str, Score], theirs: Mapping[str, Score]) -> Pair:
    both = [(mine[question], theirs[question]) for question in mine if question in theirs]
    right = [(a.right, b.right) for a, b in both if a.right is not None and b.right is not None]
    recall = [a.recall - b.recall for a, b in both if a.recall is not None and b.recall is not None]
    if not all(any(score.nodes_read for score in of.values()) for of in (mine, theirs)):
        recall = []
    only_first, only_second = right.count((True, False)), right.count((False, True))
    return Pair(
        first,
        second,
        judged=len(right),
        only_first=only_first,
        only_second=only_second,
        difference=(only_first - only_second) / len(right) if right else None,
        p=mcnemar(only_first, only_second) if right else None,
        read=len(recall),
        recall_difference=fmean(recall) if recall else None,
        recall_p=sign_flip(recall) if recall else None,
    )


def overlap(scores: Mapping[str, Mapping[str, Score]]) -> tuple[Overlap, ...]:
    """Sets of contenders by how many questions exactly they got right, the largest first; only questions on
    which all judged contenders have a verdict. Empty for fewer than two of them."""
    judged = [label for label, of in scores.items() if any(score.right is not None for score in of.values())]
    if len(judged) < 2:
        return ()
    counted: Counter[tuple[str, ...]] = Counter()
    for question in scores[judged[0]]:
        verdicts = [_verdict(scores[label].get(question)) for label in judged]
        if None not in verdicts:
            counted[tuple(label for label, right in zip(judged, verdicts, strict=True) if right)] += 1
    ordered: Sequence[tuple[tuple[str, ...], int]] = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Overlap(right, questions) for right, questions in ordered)


def _verdict(score: Score | None) -> bool | None:
    return None if score is None else score.right
