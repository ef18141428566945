"""Two contenders on the same questions, and overlap (navigator/evaluation/report/summary.py)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from navigator.evaluation.report.scores import Score
from navigator.evaluation.report.summary import Overlap, overlap, pairs
from navigator.evaluation.statistics import mcnemar, sign_flip


def scores(
    label: str, rights: Sequence[bool | None], recalls: Sequence[float] | None = None, nodes: int = 1
) -> dict[str, Score]:
    return {
        f"q{i}": Score(
            f"q{i}",
            label,
            "answered",
            right=right,
            recall=None if recalls is None else recalls[i],
            precision=None if recalls is None else 0.5,
            nodes_read=nodes,
        )
        for i, right in enumerate(rights)
    }


def test_a_pair_counts_what_only_one_got_right() -> None:
    a = scores("a", [True] * 8 + [False] * 2 + [None])
    b = scores("b", [False] * 6 + [True] * 3 + [False] + [True])
    (pair,) = pairs({"a": a, "b": b})
    assert (pair.first, pair.second, pair.judged) == ("a", "b", 10)
    assert (pair.only_first, pair.only_second, pair.difference) == (6, 1, 0.5)
    assert pair.p == pair.p_corrected == mcnemar(6, 1)
    assert (pair.read, pair.recall_p, pair.recall_p_corrected) == (0, None, None)


def test_only_questions_that_both_were_asked_count() -> None:
    a, b = scores("a", [True] * 4), scores("b", [False] * 2)
    (pair,) = pairs({"a": a, "b": b})
    assert (pair.judged, pair.difference) == (2, 1.0)


def test_the_p_of_all_pairs_are_corrected_together() -> None:
    of = {"a": scores("a", [True] * 12), "b": scores("b", [False] * 12), "c": scores("c", [True] * 6 + [False] * 6)}
    ab, ac, bc = pairs(of)
    assert ab.p == mcnemar(12, 0)
    assert ab.p_corrected == pytest.approx(3 * mcnemar(12, 0))
    assert ac.p_corrected == bc.p_corrected == pytest.approx(2 * mcnemar(6, 0))


def test_recall_is_compared_where_both_read() -> None:
    of = {
        "a": scores("a", [None] * 3, [1.0, 1.0, 0.5]),
        "b": scores("b", [None] * 3, [0.0, 0.5, 0.5]),
        "none": scores("none", [None] * 3, [0.0] * 3, nodes=0),
    }
    (pair,) = pairs(of)
    assert (pair.first, pair.second, pair.judged, pair.p, pair.difference) == ("a", "b", 0, None, None)
    assert (pair.read, pair.recall_difference) == (3, 0.5)
    assert pair.recall_p == pair.recall_p_corrected == sign_flip([1.0, 0.5, 0.0])


def test_nothing_to_compare_is_no_pair() -> None:
    assert pairs({}) == pairs({"a": scores("a", [True])}) == ()
    assert pairs({"a": scores("a", [True]), "b": {}}) == ()
    assert pairs({"a": scores("a", [None]), "b": scores("b", [True])}) == ()


def test_overlap_counts_each_question_once_under_exactly_those_who_got_it_right() -> None:
    of = {
        "a": scores("a", [True, True, True, False, True]),
        "b": scores("b", [True, True, False, False, None]),
        "scripted": scores("scripted", [None] * 5),
    }
    assert overlap(of) == (Overlap(("a", "b"), 2), Overlap((), 1), Overlap(("a",), 1))


def test_overlap_needs_two_contenders_with_verdicts() -> None:
    assert overlap({"a": scores("a", [True]), "b": scores("b", [None])}) == ()
    assert overlap({}) == ()
