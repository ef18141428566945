"""Intervals, tests and frontiers (navigator/evaluation/statistics.py), against published values."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.evaluation.statistics import EXACT_UP_TO, holm, mcnemar, pareto, sign_flip, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_a_wilson_interval_holds_its_share_and_mirrors(drawn: tuple[int, int]) -> None:
    hits, of = drawn
    low, high = wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    assert wilson(of - hits, of) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("hits", "of"), [(0, 0), (-1, 5), (6, 5)])
def test_wilson_wants_a_share(hits: int, of: int) -> None:
    with pytest.raises(ValueError, match="must"):
        wilson(hits, of)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (1, 9, 2 * (1 + 10) / 2**10),
        (0, 6, 2 / 2**6),
        (121, 59, 4.434e-06),  # R: binom.test(59, 180)
    ],
)
def test_mcnemar_is_the_exact_two_sided_binomial(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c) == pytest.approx(p, rel=1e-3)
    assert mcnemar(c, b) == mcnemar(b, c)


def test_mcnemar_of_thousands_is_still_a_chance() -> None:
    assert 0 < mcnemar(2000, 1900) < 1


def test_sign_flip_of_few_differences_is_exact() -> None:
    assert sign_flip([1.0, 1.0, 1.0]) == pytest.approx(2 / 8)
    assert sign_flip([3.0, 2.0, -1.0]) == pytest.approx(4 / 8)
    assert sign_flip([0.0, 0.0]) == sign_flip([]) == 1.0


def test_sign_flip_counts_ties_of_floats() -> None:
    assert sign_flip([0.1, 0.2, -0.3]) == 1.0
    assert sign_flip([0.1] * 10) == pytest.approx(2 / 2**10)


def test_sign_flip_of_darwins_plants() -> None:
    """Fisher 1935: the heights of 15 pairs of maize; 1,726 of 32,768 choices are as far from 0."""
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert len(darwin) > EXACT_UP_TO
    assert sign_flip(darwin, resamples=50_000) == pytest.approx(1726 / 32768, abs=0.004)


def test_sign_flip_is_the_same_on_every_run_and_depends_on_its_seed() -> None:
    differences = [math.sin(i) + 0.2 for i in range(40)]
    assert sign_flip(differences) == sign_flip(differences)
    assert sign_flip(differences) != sign_flip(differences, seed="another")


def test_sign_flip_finds_a_difference_that_is_always_there() -> None:
    assert sign_flip([0.5] * 40, resamples=9999) == 1 / 10_000
    assert sign_flip([0.5, -0.5] * 20) == 1.0


def test_sign_flip_is_fair_where_nothing_differs() -> None:
    """About one p in ten is below 0.1 for differences of either sign by chance."""
    chance = random.Random(3)
    below = sum(sign_flip([chance.gauss() for _ in range(30)], resamples=500) < 0.1 for _ in range(200))
    assert 8 <= below <= 34


def test_holm_raises_each_p_for_the_tests_that_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # R: p.adjust, "holm"
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_the_order_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(value <= raised <= 1 for value, raised in zip(values, adjusted, strict=True))
    by_value = [raised for _, raised in sorted(zip(values, adjusted, strict=True))]
    assert by_value == sorted(by_value)


def test_the_frontier_holds_what_nothing_beats() -> None:
    points = [(3.0, 0.9), (1.0, 0.5), (2.0, 0.4), (4.0, 0.9), (2.0, 0.7)]
    assert pareto(points) == [1, 4, 0]
    assert pareto([(1.0, 0.5), (1.0, 0.5), (1.0, 0.4)]) == [0, 1]
    assert pareto([]) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_a_point_is_on_the_frontier_unless_another_is_no_worse_and_somewhere_better(
    points: list[tuple[int, int]],
) -> None:
    def beaten(mine: tuple[int, int]) -> bool:
        return any(cost <= mine[0] and gain >= mine[1] and (cost, gain) != mine for cost, gain in points)

    assert sorted(pareto(points)) == [i for i, point in enumerate(points) if not beaten(point)]
