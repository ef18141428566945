"""Axes and labels (navigator/evaluation/axes.py, labels.py)."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.evaluation.report.axes import Axis, amounts, nice, shares
from navigator.evaluation.report.labels import LABEL_HEIGHT, MARKER, Box, place, spread

AREA = Box(0, 0, 600, 300)
fractions = st.lists(st.floats(0, 1), max_size=8)
costs = st.lists(st.floats(1e-6, 1e6), max_size=8)


def holds(axis: Axis, values: list[float]) -> bool:
    return all(-1e-9 <= axis.at(value) <= 1 + 1e-9 for value in values)


@given(fractions)
def test_an_axis_of_shares_holds_its_values_between_zero_and_one(values: list[float]) -> None:
    axis = shares(values)
    assert 0 <= axis.low < axis.high <= 1
    assert holds(axis, values)
    assert 2 <= len(axis.ticks) <= 8


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0, 1.0], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ([0.72, 0.88], (0.7, 0.8, 0.9)),
        ([0.74, 0.76], (0.6, 0.7, 0.8, 0.9)),
        ([1.0], (0.9, 1.0)),
        ([0.0], (0.0, 0.1)),
        ([], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    ],
)
def test_shares_are_marked_at_tenths(values: list[float], ticks: tuple[float, ...]) -> None:
    assert shares(values).ticks == pytest.approx(ticks)


@given(costs)
def test_an_axis_of_amounts_holds_its_values(values: list[float]) -> None:
    axis = amounts(values)
    assert holds(axis, values)
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks) <= 14
    assert all(a < b for a, b in pairwise(axis.ticks))


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0011, 0.0042, 0.0063], (0.0, 0.002, 0.004, 0.006, 0.008)),
        ([3.0], (0.0, 1.0, 2.0, 3.0)),
        ([0.0], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ([], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ([0.0, 40.0], (0.0, 10.0, 20.0, 30.0, 40.0)),
    ],
)
def test_amounts_start_at_nothing_and_are_marked_at_numbers_that_people_choose(
    values: list[float], ticks: tuple[float, ...]
) -> None:
    axis = amounts(values)
    assert axis.ticks == pytest.approx(ticks)
    assert not axis.logarithmic


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([0.03, 0.9], (0.02, 0.05, 0.1, 0.2, 0.5, 1)), ([1.0, 20.0], (1, 2, 5, 10, 20)), ([0.1, 1000], (0.1, 1, 10, 100, 1000))],
)  # fmt: skip
def test_amounts_that_lie_far_apart_are_logarithmic(values: list[float], ticks: tuple[float, ...]) -> None:
    axis = amounts(values)
    assert axis.logarithmic
    assert axis.ticks == pytest.approx(ticks)
    assert (axis.at(ticks[0]), axis.at(ticks[-1])) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("step", "next_one"), [(0.7, 1), (1, 1), (1.1, 2), (3, 5), (6, 10), (0.03, 0.05), (1e-7, 1e-7)]
)
def test_a_step_is_one_two_or_five(step: float, next_one: float) -> None:
    assert nice(step) == pytest.approx(next_one)


@given(st.lists(st.tuples(st.floats(20, 580), st.floats(20, 280)), min_size=1, max_size=4))
def test_few_labels_keep_inside_and_off_one_another(points: list[tuple[float, float]]) -> None:
    boxes = place(points, [60.0] * len(points), AREA)
    assert all(a.shared(b) == 0 for a, b in combinations(boxes, 2))
    assert all(box.shared(AREA) == pytest.approx(box.width * box.height) for box in boxes)
    assert all(box.shared(Box(x - MARKER / 2, y - MARKER / 2, MARKER, MARKER)) == 0 for box in boxes for x, y in points)


def test_twelve_labels_of_one_place_are_all_readable() -> None:
    boxes = place([(300.0, 150.0)] * 12, [80.0] * 12, AREA)
    assert all(a.shared(b) == 0 for a, b in combinations(boxes, 2))


def test_a_label_stands_right_of_its_point_unless_something_is_there() -> None:
    (free,) = place([(300.0, 150.0)], [50.0], AREA)
    assert free.left > 300
    assert free.top + LABEL_HEIGHT / 2 == pytest.approx(150)
    (moved,) = place([(300.0, 150.0)], [50.0], AREA, [free])
    assert moved.shared(free) == 0


def test_a_label_wider_than_the_plot_still_has_a_place() -> None:
    assert len(place([(10.0, 10.0)], [5000.0], AREA)) == 1


@given(st.lists(st.floats(0, 300), max_size=10))
def test_labels_at_line_ends_are_a_label_apart_and_keep_their_order(heights: list[float]) -> None:
    found = spread(heights, 0, 300)
    assert all(0 <= height <= 300 for height in found)
    ordered = [found[i] for i in sorted(range(len(heights)), key=lambda i: heights[i])]
    assert all(b - a >= LABEL_HEIGHT - 1e-9 for a, b in pairwise(ordered))


def test_labels_with_room_stay_where_they_want_to_be() -> None:
    assert spread([100.0, 20.0, 200.0], 0, 300) == [100.0, 20.0, 200.0]
