"""Axes with numbers that a person would choose. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, takewhile

TICKS = 5
"""About so many a linear axis."""
LOGARITHMIC_FROM = 20
"""Largest by smallest value, from which costs and times are shown on a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Axis:
    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Where the value stands between the ends: 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def shares(values: Sequence[float]) -> Axis:
    """An axis for shares that holds the values, within 0 and 1, in whole tenths."""
    low = math.floor(round(10 * min(values, default=0.0), 6)) / 10
    high = math.ceil(round(10 * max(values, default=1.0), 6)) / 10
    if high - low < 0.2:
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    step = 0.1 if high - low <= 0.6 else 0.2
    return Axis(low, high, _multiples(step, low, high))


def amounts(values: Sequence[float]) -> Axis:
    """An axis for costs and times: from 0, or logarithmic where they lie far apart."""
    top = max(values, default=0.0) or 1.0
    if values and min(values) > 0 and top / min(values) >= LOGARITHMIC_FROM:
        ticks = _decades(min(values), top)
        return Axis(ticks[0], ticks[-1], ticks, logarithmic=True)
    step = nice(top / TICKS)
    high = math.ceil(round(top / step, 6)) * step
    return Axis(0.0, high, _multiples(step, 0.0, high))


def nice(step: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def _multiples(step: float, low: float, high: float) -> tuple[float, ...]:
    first = math.ceil(round(low / step, 6))
    return tuple(round(i * step, 12) for i in takewhile(lambda i: i * step <= high + step * 1e-6, count(first)))


def _decades(low: float, high: float) -> tuple[float, ...]:
    """1, 2 and 5 times powers of ten around the values; over more than three decades the powers alone."""
    factors = (1, 2, 5) if high / low <= 1000 else (1,)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    marks = [float(f"{factor}e{power}") for power in powers for factor in factors]
    return tuple(
        mark
        for at, mark in enumerate(marks)
        if at + 1 < len(marks) and marks[at + 1] > low and (at == 0 or marks[at - 1] < high)
    )
