"""How sure a figure is, and which contenders are worth their cost. Pure, and the same on every run.

Sources: Wilson 1927 (interval of a share), McNemar 1947 in its exact binomial form (paired right and
wrong), Fisher's sign-flip test of paired differences, Holm 1979 (several tests at once).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from operator import getitem

EXACT_UP_TO = 14
"""Differences. Up to so many, the sign-flip test tries every choice of signs."""
SLACK = 1e-9
"""Sums of floats that differ by less are equal."""


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The interval (95 % for z = 1.96) in which a share of `hits` in `of` lies. Raises ValueError unless
    0 <= hits <= of and of > 0."""
    if not 0 <= hits <= of or not of:
        raise ValueError(f"{hits} of {of} is no share")
    share = hits / of
    middle = share + z * z / (2 * of)
    reach = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return max(0.0, min(share, (middle - reach) / scale)), min(1.0, max(share, (middle + reach) / scale))


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of so many questions that only the first, or only the second, got right: a fair coin
    falls at least as unevenly. 1 where none differs."""
    n = only_first + only_second
    ways = tail = 1
    for heads in range(min(only_first, only_second)):
        ways = ways * (n - heads) // (heads + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))


def sign_flip(differences: Iterable[float], resamples: int = 10_000, seed: str = "ritbot") -> float:
    """The two-sided p of the mean of paired differences being 0: how often it is at least as far from 0
    when each difference may have had either sign. Exact for few differences; else by `resamples` random
    choices that depend on `seed` alone, counting the one that was seen."""
    moved = [d for d in differences if d]
    seen = abs(math.fsum(moved)) - SLACK
    if len(moved) <= EXACT_UP_TO:
        sums = _sums(moved)
        return sum(1 for total in sums if abs(total) >= seen) / len(sums)
    padded = [*moved, *[0.0] * (-len(moved) % 8)]
    tables = [_sums(padded[i : i + 8]) for i in range(0, len(padded), 8)]  # a random byte chooses eight signs
    drawn = hashlib.shake_256(seed.encode()).digest(resamples * len(tables))
    choices = (drawn[at : at + len(tables)] for at in range(0, len(drawn), len(tables)))
    hits = sum(abs(sum(map(getitem, tables, choice))) >= seen for choice in choices)
    return (hits + 1) / (resamples + 1)


def _sums(values: Sequence[float]) -> list[float]:
    """The sums under every choice of signs."""
    sums = [0.0]
    for value in values:
        sums = [total + sign * value for sign in (1, -1) for total in sums]
    return sums


def holm(values: Sequence[float]) -> list[float]:
    """The p of each of several tests, raised so that the chance of any false alarm among them stays what it
    is for one. In the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of them lie, between two of them on a straight line. Raises
    ValueError for none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def pareto(points: Sequence[tuple[float, float]]) -> list[int]:
    """Which of the points (cost, gain) are on the frontier, cheapest first: no other costs no more and
    gains no less without being its equal."""
    frontier: list[int] = []
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if not frontier or points[index][1] > points[frontier[-1]][1] or points[index] == points[frontier[-1]]:
            frontier.append(index)
    return frontier
