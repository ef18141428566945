"""Two contenders on the same questions, and which questions which contenders got right. Pure.

Accuracy is compared by the exact McNemar test, recall of reading by the sign-flip test; the p of all pairs
are corrected together (Holm), each of the two figures for itself. Overlap is RIT-RAG's Appendix H.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from navigator.evaluation.report.scores import Score
from navigator.evaluation.statistics import holm, mcnemar, sign_flip


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
