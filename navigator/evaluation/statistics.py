"""How sure a figure is, and which contenders are worth their cost. The same on every run, whatever the versions.

Sources: Wilson 1927 (interval of a share) and McNemar 1947 in its exact binomial form (paired right and wrong), both
by scipy; Fisher's sign-flip test of paired differences; Holm 1979 (several tests at once). scipy and numpy are
imported where they compute: scipy.stats alone takes a second, and every command imports this package.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence

EXACT_UP_TO = 14
"""Differences. Up to so many, the sign-flip test tries every choice of signs."""
TIE = 1e-9
"""Sums of floats that differ by less are equal."""


def wilson(hits: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval in which a share of `hits` in `of` lies. Raises ValueError unless 0 <= hits <= of and of > 0."""
    from scipy.stats import binomtest

    interval = binomtest(hits, of).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of so many questions that only the first, or only the second, got right: a fair coin
    falls at least as unevenly. 1 where none differs."""
    from scipy.stats import binomtest

    differ = only_first + only_second
    return float(binomtest(only_first, differ).pvalue) if differ else 1.0


def sign_flip(differences: Iterable[float], resamples: int = 10_000, seed: str = "ritbot") -> float:
    """The two-sided p of the mean of paired differences being 0: how often it is at least as far from 0
    when each difference may have had either sign. Exact for few differences; else by `resamples` random
    choices that depend on `seed` alone, counting the one that was seen."""
    import numpy as np

    moved = np.array([d for d in differences if d], dtype=float)
    seen = abs(math.fsum(moved)) - TIE
    if len(moved) <= EXACT_UP_TO:
        every = (np.arange(1 << len(moved))[:, None] >> np.arange(len(moved))) & 1
        return float(np.mean(abs((1 - 2 * every) @ moved) >= seen))
    # Bits of a hash and not numpy's generator, whose numbers may change with its version. scipy's permutation_test
    # draws them too, at ten times the time: seconds a pair where a report has dozens of pairs.
    width = -(-len(moved) // 8)
    drawn = np.frombuffer(hashlib.shake_256(seed.encode()).digest(resamples * width), dtype=np.uint8)
    flipped = np.unpackbits(drawn.reshape(resamples, width), axis=1, count=len(moved))
    sums = moved.sum() - 2 * (flipped @ moved)
    return (int(np.count_nonzero(abs(sums) >= seen)) + 1) / (resamples + 1)


def holm(values: Sequence[float]) -> list[float]:
    """The p of each of several tests, raised so that the chance of any false alarm among them stays what it
    is for one. In the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted


def pareto(points: Sequence[tuple[float, float]]) -> list[int]:
    """Which of the points (cost, gain) are on the frontier, cheapest first: no other costs no more and
    gains no less without being its equal."""
    frontier: list[int] = []
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if not frontier or points[index][1] > points[frontier[-1]][1] or points[index] == points[frontier[-1]]:
            frontier.append(index)
    return frontier
