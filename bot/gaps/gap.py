"""A gap in the documentation: which questions need the same, and where the answer should have stood. Pure.

A question belongs to the gap whose own question it is like. How like it must be depends on whether the same sections fell short
of both, so that two needs at one section stay apart and one need in other words comes together. A gap is compared by one question,
not by the mean of many: so it does not drift, and keeps its id.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from operator import mul
from typing import Literal

from ingest.model import sha256
from ingest.ports import Vector

GapState = Literal["open", "taken", "fixed", "ignored"]
UNSOLVED: tuple[GapState, ...] = ("open", "taken")
"""States of a gap that owners hear of, and whose questions are asked again."""

ALIKE = 0.65
"""Cosine of two questions that need the same, whatever sections they met. MiniLM, 39 pairs in other words and 741 of other needs
in one manual: none of these reaches 0.63."""
ALIKE_THERE = 0.45
"""The same where they met the same sections: two thirds of the pairs reach it."""
SAME_SECTIONS = 0.4
"""What two questions share of their sections, as `shares` weighs them, so that they met the same ones."""
MAX_SECTIONS = 3
"""Of a question that say where its answer should have stood."""
ID_DIGITS = 8
"""Of a gap's id."""

Shares = Mapping[str, float]
"""By section, its part in where an answer should have stood; they sum up to 1."""


@dataclass(frozen=True, slots=True)
class Place:
    """A section, a page by its own section, or a name above pages (`node` ""). `path`: titles from the site's root down."""

    node: str
    path: tuple[str, ...]
    link: str = ""

    @property
    def key(self) -> str:
        """What it is told from others by."""
        return self.node or "\n".join(self.path)

    @property
    def page(self) -> str:
        """The address of its page."""
        return self.link.partition("#")[0]


Lineage = tuple[Place, ...]
"""A section and what stands above it in the site tree, the root first."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """How many of the gap's questions were asked again, and how many of them have an answer now."""

    at: datetime
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class Gap:
    """`question`: the id of the one that others are compared with, `vector` what the model `embedder` makes of it; empty where
    that question is gone, until another takes its place. `pin`: where the answer should have stood, None where nothing was
    offered to any question. `shares`: of the sections under it and elsewhere; `watched`: those whose change may close it.
    `changed_by`: the last change of one, `due_at`: when its questions are asked again for that. `fixed_by`: the change that
    closed it. `state_at`: when its state was set last."""

    id: str
    opened_at: datetime
    question: str = ""
    embedder: str = ""
    vector: tuple[float, ...] = ()
    pin: Place | None = None
    shares: tuple[tuple[str, float], ...] = ()
    watched: tuple[str, ...] = ()
    state: GapState = "open"
    state_at: datetime | None = None
    fixed_by: str = ""
    changed_by: str = ""
    due_at: datetime | None = None
    asked_again: AskedAgain | None = None

    def put(self, state: GapState, now: datetime, fixed_by: str = "") -> Gap:
        """In another state."""
        return replace(self, state=state, state_at=now, fixed_by=fixed_by)


def shares(needs: Iterable[Sequence[str]]) -> dict[str, float]:
    """Of the sections that questions met, the likeliest first: of each question the first counts for 1, the second for a half,
    the third for a third; every question counts alike."""
    found: defaultdict[str, float] = defaultdict(float)
    for sections in filter(None, (each[:MAX_SECTIONS] for each in needs)):
        whole = sum(1 / rank for rank in range(1, len(sections) + 1))
        for rank, node in enumerate(sections, 1):
            found[node] += 1 / rank / whole
    total = math.fsum(found.values())
    return {node: share / total for node, share in sorted(found.items())}


def nearest_gap(vector: Vector, sections: Sequence[str], gaps: Iterable[Gap]) -> Gap | None:
    """The gap that a question belongs to, None where it is the first of its kind. All vectors are of one model, of length 1."""
    met = shares([sections])
    likeness = {gap: sum(map(mul, vector, gap.vector)) for gap in gaps if len(gap.vector) == len(vector)}
    fitting = [gap for gap, like in likeness.items() if like >= (ALIKE_THERE if _overlap(met, gap) else ALIKE)]
    return max(fitting, key=lambda gap: (likeness[gap], gap.id), default=None)


def _overlap(met: Shares, gap: Gap) -> bool:
    return math.fsum(min(met.get(node, 0.0), share) for node, share in gap.shares) >= SAME_SECTIONS


def best_supported(met: Shares, lineages: Mapping[str, Lineage]) -> Place | None:
    """The smallest subtree of the site under which more than half of what was met stands; None where nothing is left of it."""
    support: defaultdict[str, float] = defaultdict(float)
    places: dict[str, tuple[int, Place]] = {}
    for node, lineage in sorted(lineages.items()):
        for depth, place in enumerate(lineage):
            support[place.key] += met.get(node, 0.0)
            places[place.key] = depth, place
    half = math.fsum(met.get(node, 0.0) for node in lineages) / 2
    holding = [(*places[key], key) for key, share in support.items() if share > half]
    return max(holding, key=lambda each: (each[0], each[2]))[1] if holding else None


def new_id(pin: Place | None, question: str, taken: Collection[str]) -> str:
    """Made of where the gap is pinned, so that it is the same whichever of its questions comes first; the second gap there has
    another one. Without a place it is made of the question."""
    ids = (sha256(pin.key if pin else question, str(number))[:ID_DIGITS] for number in count(1))
    return next(each for each in ids if each not in taken)
