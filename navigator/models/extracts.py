"""Extracts: of the passages that were read, the units that come nearest to a question. Pure.

A unit is what is never cut: a sentence, a list item, a table row, a whole code block. How near it comes
joins meaning (cosine of its vector and the question's) and words (how much of the question's weight
it holds, rare words weighing more). The best nodes' best units answer, and what belongs to them.
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
    """Calibrated on the questions of tests/bench (answerable and not) with all-MiniLM-L6-v2.

    A unit scores meaning * cosine + words * share of the question's words; a node scores as the mean of its
    `best` units + retrieval * its share of the retriever's best score + titles * cosine of its last titles. Something
    was found if any unit's cosine reaches `threshold`, or any node's titles' reaches `titled`, or any unit holds
    `held` of the question's words. Up to `nodes` nodes speak that reach `near` of the
    best one's score, each with up to `units` units that reach `unit_near` of its best unit's, and what belongs to
    them, as long as it stays within `lines` lines (its best unit is given whole all the same).
    """

    meaning: float = 0.6
    words: float = 0.4
    best: int = 2
    retrieval: float = 0.8
    titles: float = 0.2
    threshold: float = 0.52
    titled: float = 0.60
    held: float = 0.8
    nodes: int = 3
    near: float = 0.75
    units: int = 4
    unit_near: float = 0.70
    lines: int = 30


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of block `block` of passage `passage` (index in the order of reading); `position` counts all
    units, so that a gap between two shows. A sentence that ends a line ends in a line break."""

    passage: int
    block: int
    position: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a unit comes to the question: cosine, share of the question's words, both joined. `inside`
    compares units of one node: what the node's title says no unit needs to say again."""

    meaning: float
    words: float
    score: float
    inside: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What speaks for a passage as a whole: its share (0 to 1) of the retriever's best score, and the cosine
    of its last titles and the question."""

    retrieved: float = 0.0
    titles: float = 0.0


@dataclass(frozen=True, slots=True)
class Extract:
    """What one node says: units in document order."""

    passage: int
    units: tuple[Unit, ...]


CHARACTERS_PER_LINE = 100
"""What counts as one line of an answer."""
MAX_WHOLE_TERM_CHARACTERS = 1200
"""Of a longer definition each paragraph is a unit, under its term."""
MAX_WHOLE_TABLE_ROWS = 10
"""Up to so many a table is one unit; of a larger one each row is, under the first."""


def units_of(passages: Sequence[Passage]) -> list[Unit]:
    """All units, in order."""
    pieces = [
        (p, b, text, block.kind)
        for p, passage in enumerate(passages)
        for b, block in enumerate(passage.blocks)
        for text in _pieces(block)
    ]
    return [Unit(p, b, position, text, kind) for position, (p, b, text, kind) in enumerate(pieces)]


def _pieces(block: Block) -> list[str]:
    if block.kind in ("code", "math"):
        return [block.text]
    if block.kind in ("text", "quote"):
        found = [sentence for sentence in sentences(block.text) if sentence.strip()]
        return [s.strip() + ("\n" if s.endswith("\n") else "") for s in found]
    if block.marks:
        return _items(block)
    lines = [line for line in block.shown.split("\n") if line.strip()]
    if block.kind == "table":
        return (
            ["\n".join(lines)] if len(lines) <= MAX_WHOLE_TABLE_ROWS else [f"{lines[0]}\n{line}" for line in lines[1:]]
        )
    return lines


def _items(block: Block) -> list[str]:
    """List items with their marks, terms with their definitions: a line without a mark of its own goes on
    with the item before, a term begins a new one after a definition."""
    items: list[str] = []
    defined = True
    for mark, line in zip(block.marks, block.text.split("\n"), strict=True):
        begins = (not mark and defined) if block.kind == "terms" else bool(mark.strip())
        if begins or not items:
            items.append(mark + line)
        else:
            items[-1] += f"\n{mark}{line}"
        defined = bool(mark)
    return [unit for item in items for unit in _split_term(item, block.kind)]


def _split_term(item: str, kind: str) -> list[str]:
    """A term with a long definition as one unit a paragraph, each under its term."""
    lines = item.split("\n")
    names = [line for line in lines if not line.startswith(" ")]
    if kind != "terms" or len(item) <= MAX_WHOLE_TERM_CHARACTERS or len(names) == len(lines):
        return [item]
    return ["\n".join([*names, line]) for line in lines if line.startswith(" ")]


def nearness(
    question: str,
    units: Sequence[Unit],
    titles: Sequence[str],
    vectors: Sequence[Vector],
    query: Vector,
    weights: Weights,
) -> list[Nearness]:
    """One a unit; `titles`: one a passage. Code also takes part of what the sentence before it scored."""
    wanted = set(terms(question))
    said = [wanted.intersection(terms(title)) for title in titles]
    held = [wanted.intersection(terms(unit.text)) for unit in units]
    rare = _rarity(wanted, held)
    whole = sum(rare.values()) or 1.0
    found: list[Nearness] = []
    for position, (unit, vector) in enumerate(zip(units, vectors, strict=True)):
        meaning = cosine(vector, query)
        words = sum(rare[term] for term in held[position]) / whole
        with_title = sum(rare[term] for term in held[position] | said[unit.passage]) / whole
        score = weights.meaning * meaning + weights.words * words
        inside = weights.meaning * meaning + weights.words * with_title
        if unit.kind == "code" and position and units[position - 1].passage == unit.passage:
            score = max(score, 0.9 * found[position - 1].score)
            inside = max(inside, 0.9 * found[position - 1].inside)
        found.append(Nearness(meaning, words, score, inside))
    return found


def cosine(one: Vector, other: Vector) -> float:
    """Of two normalised vectors; nothing is less near than 0."""
    return max(0.0, sum(a * b for a, b in zip(one, other, strict=True)))


def _rarity(wanted: set[str], held: Sequence[set[str]]) -> Mapping[str, float]:
    """How much each word of the question weighs: the rarer among the units, the more."""
    counts = Counter(term for found in held for term in found)
    total = len(held)
    return {term: math.log(1 + (total - counts[term] + 0.5) / (counts[term] + 0.5)) for term in wanted}


def choose_units(
    units: Sequence[Unit], near: Sequence[Nearness], standing: Sequence[Standing], weights: Weights
) -> list[Extract]:
    """The extracts, best node first; empty where nothing comes near. `standing`: one a passage."""
    found = any(n.meaning >= weights.threshold or n.words >= weights.held for n in near)
    if not near or not (found or any(s.titles >= weights.titled for s in standing)):
        return []
    scores = [n.score for n in near]
    ranked: list[tuple[float, int, list[int]]] = []
    for passage, group in groupby(range(len(units)), key=lambda i: units[i].passage):
        positions = list(group)
        best = sorted((scores[i] for i in positions), reverse=True)[: weights.best]
        whole = weights.retrieval * standing[passage].retrieved + weights.titles * standing[passage].titles
        ranked.append((sum(best) / weights.best + whole, passage, positions))
    ranked.sort(key=lambda row: (-row[0], row[1]))
    top = ranked[0][0]
    return [
        Extract(passage, tuple(units[i] for i in _together(units, [n.inside for n in near], positions, weights)))
        for score, passage, positions in ranked[: weights.nodes]
        if score >= weights.near * top
    ]


def _together(units: Sequence[Unit], scores: Sequence[float], positions: list[int], weights: Weights) -> list[int]:
    """Which units of a node speak: the best, those nearly as good, and what belongs to them."""
    order = sorted(positions, key=lambda i: (-scores[i], i))
    chosen: set[int] = set()
    for i in order[: weights.units]:
        more = {i} | _belonging(units, positions, i)
        lines = sum(1 + len(line) // CHARACTERS_PER_LINE for j in chosen | more for line in units[j].text.split("\n"))
        if not chosen or (scores[i] >= weights.unit_near * scores[order[0]] and lines <= weights.lines):
            chosen |= more
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
