"""Extracts: of the passages that were read, the units that come nearest to a question. Pure.

A unit is what is never cut: a sentence, a list item, a table row, a whole code block. A unit's score
joins meaning (cosine of its vector and the question's) and words (how much of the question's weight
it holds, rare words weighing more). The best node's best units answer; a second or third node speaks
only where it comes nearly as close.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.model import Block
from ingest.ports import Vector
from ingest.text.sentences import sentences
from ingest.text.words import terms
from navigator.answer import Passage


@dataclass(frozen=True, slots=True)
class Weights:
    """`threshold`: the best unit's score below which nothing was found. The defaults were calibrated on
    answerable and unanswerable questions (tests/bench)."""

    meaning: float = 0.6
    words: float = 0.4
    retrieval: float = 0.15
    threshold: float = 0.40
    nodes: int = 3
    near: float = 0.88
    units: int = 4
    unit_near: float = 0.70


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of block `block` of passage `passage` (index in the order of reading)."""

    passage: int
    block: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Extract:
    """What one node says: units in document order, and how near the best of them comes."""

    passage: int
    units: tuple[Unit, ...]
    score: float


def units_of(passages: Sequence[Passage]) -> list[Unit]:
    """All units, in order."""
    return [
        Unit(p, b, text, block.kind)
        for p, passage in enumerate(passages)
        for b, block in enumerate(passage.blocks)
        for text in _pieces(block)
    ]


def _pieces(block: Block) -> list[str]:
    if block.kind in ("code", "math"):
        return [block.text]
    if block.kind in ("text", "quote"):
        return [s.strip() for line in block.text.split("\n") for s in sentences(line) if s.strip()]
    if block.kind == "list" and block.marks:
        return _items(block)
    return [line for line in block.shown.split("\n") if line.strip()]


def _items(block: Block) -> list[str]:
    """List items with their marks; a line without a mark of its own goes on with the item before."""
    items: list[str] = []
    for mark, line in zip(block.marks, block.text.split("\n"), strict=True):
        if mark.strip() or not items:
            items.append(mark + line)
        else:
            items[-1] += f"\n{mark}{line}"
    return items


def score_units(
    question: str, units: Sequence[Unit], vectors: Sequence[Vector], query: Vector, weights: Weights
) -> list[float]:
    """One score a unit, about 0 to 1. Code also takes part of what the sentence before it scored."""
    wanted = set(terms(question))
    held = [wanted.intersection(terms(unit.text)) for unit in units]
    rare = _rarity(wanted, held)
    whole = sum(rare.values()) or 1.0
    scores: list[float] = []
    for position, (unit, vector) in enumerate(zip(units, vectors, strict=True)):
        meaning = max(0.0, sum(a * b for a, b in zip(vector, query, strict=True)))
        words = sum(rare[term] for term in held[position]) / whole
        score = weights.meaning * meaning + weights.words * words
        if unit.kind == "code" and position and units[position - 1].passage == unit.passage:
            score = max(score, 0.9 * scores[position - 1])
        scores.append(score)
    return scores


def _rarity(wanted: set[str], held: Sequence[set[str]]) -> Mapping[str, float]:
    """How much each word of the question weighs: the rarer among the units, the more."""
    counts = Counter(term for found in held for term in found)
    total = len(held)
    return {term: math.log(1 + (total - counts[term] + 0.5) / (counts[term] + 0.5)) for term in wanted}


def choose(
    units: Sequence[Unit], scores: Sequence[float], retrieved: Mapping[int, float], weights: Weights
) -> list[Extract]:
    """The extracts, best node first; empty where nothing comes near. `retrieved`: passage -> its share
    (0..1) of the retriever's best score."""
    ranked: list[tuple[float, float, int, list[int]]] = []
    for passage, group in groupby(range(len(units)), key=lambda i: units[i].passage):
        positions = list(group)
        best = max(scores[i] for i in positions)
        ranked.append((best + weights.retrieval * retrieved.get(passage, 0.0), best, passage, positions))
    ranked.sort(key=lambda row: (-row[0], row[2]))
    if not ranked or max(best for _, best, _, _ in ranked) < weights.threshold:
        return []
    top = ranked[0][0]
    near = [row for row in ranked[: weights.nodes] if row[0] >= weights.near * top]
    return [
        Extract(passage, tuple(units[i] for i in _together(units, scores, positions, weights)), best)
        for _, best, passage, positions in near
    ]


def _together(units: Sequence[Unit], scores: Sequence[float], positions: list[int], weights: Weights) -> list[int]:
    """Which units of a node speak: the best, those nearly as good, and what belongs to them."""
    best = max(positions, key=lambda i: (scores[i], -i))
    good = sorted((i for i in positions if scores[i] >= weights.unit_near * scores[best]), key=lambda i: -scores[i])
    chosen = set(good[: weights.units]) | {best}
    for i in sorted(chosen):
        chosen |= _belonging(units, positions, i)
    return sorted(chosen)


def _belonging(units: Sequence[Unit], positions: list[int], i: int) -> set[int]:
    """A short list stays whole with the line that announces it; code stays with its announcing line."""
    first, last = positions[0], positions[-1]
    found: set[int] = set()
    if units[i].kind == "list":
        items = [j for j in positions if units[j].block == units[i].block]
        if len(items) <= 10:
            found.update(items)
            i = items[0]
    announced = units[i].kind in ("code", "list", "table", "terms")
    if announced and i > first and units[i - 1].text.rstrip().endswith(":"):
        found.add(i - 1)
    if units[i].text.rstrip().endswith(":") and i < last:
        following = units[i + 1]
        found.update(j for j in positions if units[j].block == following.block and j <= i + 10)
    return found
