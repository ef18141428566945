"""Which units answer, best first, and whether any does. Pure.

One extract where one answers. Another joins it only if it says something of the question that the first does not, and if
two things are to be told apart, each is told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from navigator.extracts.question_form import Wanted
from navigator.extracts.scoring import Signals, Weights
from navigator.extracts.units import Piece, Unit

MAX_EXTRACTS = 3
MAX_LINES = 24
"""Of all extracts together; the best unit is given whole all the same."""
CHARACTERS_PER_LINE = 100
EXACTLY_NAMED = 0.6
"""Where a section or term is so exactly what was asked for, no other section speaks unless it adds something."""
EXACTLY_NAMED_SIDE = 0.8
"""Of a title or term that is one side of a difference, or half of its words where the section begins with it."""
NAME_MISSING_WEIGHS = 0.5
"""What a unit is worth of which nothing says that it is about what the question names."""
SPOILT, LEADS_SHARE = 0.5, 0.6
"""A unit so spoilt leads only where no other reaches this share of its score."""
REPEATS_SHARE = 0.6
"""A listing that holds so much of an error message is the message again."""
LINES_ON_AN_ERROR = 8


@dataclass(frozen=True, slots=True)
class Bounds:
    """When something counts as found, and when a further unit speaks: if it adds `adds` of the question's weight, or comes
    within `tied` of the best one's score, and reaches `near` of it. `told`: of a question in another language than English,
    whose cosines say little, so many words in a unit or its title are found."""

    found: float = 0.40
    adds: float = 0.12
    near: float = 0.75
    tied: float = 0.85
    told: float = 0.50


@dataclass(frozen=True, slots=True)
class Extract:
    """What one section says: pieces in document order. `cores`: what of them was chosen, best first; the rest goes with it."""

    passage: int
    pieces: tuple[Piece, ...]
    cores: tuple[str, ...] = ()


def found(asked: Wanted, signals: Sequence[Signals], bounds: Bounds) -> bool:
    """Whether anything answers: how much the best unit covers of the question and how near it comes in meaning, or that it
    holds what the question calls by name; nothing does where a name is asked for that no page holds."""
    if asked.language != "en" and any(asked.told(s.terms | s.titles) >= bounds.told for s in signals):
        return True
    return any(s.called == 1.0 for s in signals) or (bool(signals) and certainty(signals) >= bounds.found)


def certainty(signals: Sequence[Signals]) -> float:
    """0 to 1, of the best unit. What no page holds weighs in the share that it leaves uncovered."""
    joined = (
        (0.5 * s.covers + 0.5 * s.means + 0.2 * max(s.named, s.keyed)) * (1.0 if s.about else NAME_MISSING_WEIGHS)
        for s in signals
    )
    return min(1.0, max(joined, default=0.0) / 1.2)


def chosen(
    asked: Wanted, units: Sequence[Unit], signals: Sequence[Signals], weights: Weights, bounds: Bounds
) -> list[Extract]:
    """The extracts, best first. `units` in document order, all of what was read."""
    scores = [s.score(weights) for s in signals]
    order = sorted(range(len(units)), key=lambda i: (-scores[i], i))
    if not order:
        return []
    lead = _lead(signals, scores, order)
    picked = _sides(asked, units, signals, order, lead) if asked.sides else [lead]
    lines = sum(_lines(units[i].pieces) for i in picked)
    held = frozenset[str]().union(*(signals[i].terms for i in picked))
    shown = {_place(units[i], piece) for i in picked for piece in units[i].pieces}
    exact = max(signals[lead].named, signals[lead].keyed) >= EXACTLY_NAMED
    for i in order:
        if scores[i] < bounds.near * scores[lead] or len(picked) >= MAX_EXTRACTS:
            break
        new = [piece for piece in units[i].pieces if _place(units[i], piece) not in shown]
        if not new or units[i].wrong or signals[i].spoilt:
            continue
        adds = asked.share(held | signals[i].terms) - asked.share(held)
        near = scores[i] >= bounds.tied * scores[lead]
        tied = near and (not exact or (units[i].passage, units[i].key) == (units[lead].passage, units[lead].key))
        size = _lines(new)
        if (adds >= bounds.adds or tied) and lines + size <= MAX_LINES:
            picked.append(i)
            lines += size
            held |= signals[i].terms
            shown.update(_place(units[i], piece) for piece in new)
    told = [_told(asked, units, i) for i in picked]
    return _extracts([(units[i], pieces) for i, pieces in zip(picked, told, strict=True)])


def _place(unit: Unit, piece: Piece) -> tuple[int, int, int]:
    """Where a piece stands. Two parts of one definition stand in one place: under its term only one of them is told."""
    return unit.passage, piece.block, piece.at


def _lead(signals: Sequence[Signals], scores: Sequence[float], order: Sequence[int]) -> int:
    """The best unit, but not one that is spoilt (wrong code, a command that destroys) where another one comes near."""
    sound = (i for i in order if signals[i].spoilt < SPOILT and scores[i] >= LEADS_SHARE * scores[order[0]])
    return next(sound, order[0])


def _sides(
    asked: Wanted, units: Sequence[Unit], signals: Sequence[Signals], order: Sequence[int], lead: int
) -> list[int]:
    """Of two things to be told apart: what is said of each under a title or term that is the thing itself; where one has no
    such place the best unit of all, if it speaks of both, else the best that there is of each."""
    one, other = asked.sides
    picked: dict[tuple[tuple[int, int, int], ...], int] = {}
    exact = True
    for side, rest in ((one, other), (other, one)):
        best = _best_of(side, frozenset() if side > rest else rest - side, signals, order)
        exact = exact and best is not None and _named(side, signals[best]) >= EXACTLY_NAMED_SIDE
        if best is not None:
            picked.setdefault(tuple(_place(units[best], piece) for piece in units[best].pieces), best)
    within = one <= other or other <= one
    if not exact and not within and one | other <= signals[lead].terms:
        return [lead]
    return list(picked.values()) or [lead]


def _best_of(
    side: frozenset[str], rest: frozenset[str], signals: Sequence[Signals], order: Sequence[int]
) -> int | None:
    """`rest`: what only the other side is called; a key that says it is not this side's."""
    place = {i: n for n, i in enumerate(order)}
    speak = [
        i
        for i in order
        if side & (signals[i].terms | signals[i].titles) and not rest & signals[i].key and not signals[i].spoilt
    ]
    return min(speak, key=lambda i: (-_named(side, signals[i]), place[i]), default=None)


def _named(side: frozenset[str], signals: Signals) -> float:
    """How exactly a unit's key or title is the side's name, and that its sentence defines it."""
    best = max((len(side & title) / len(side | title) for title in (signals.key, signals.titles) if title), default=0.0)
    return round(best + 0.3 * signals.first + 0.2 * (len(side & signals.terms) / len(side)), 1)


def _told(asked: Wanted, units: Sequence[Unit], i: int) -> tuple[Piece, ...]:
    """What of a unit is quoted. Whoever has an error message has read it: not the message again, but what is said of it
    before and behind."""
    pieces = units[i].pieces
    if asked.form != "error":
        return pieces
    message = [
        piece for piece in pieces if piece.kind == "code" and asked.share(asked.terms_of(piece.text)) >= REPEATS_SHARE
    ]
    if not message:
        return pieces
    kept = [piece for piece in pieces if piece.kind != "code" and not piece.text.rstrip().endswith(":")]
    behind = (p for u in units[i + 1 :] if u.passage == units[i].passage for p in u.pieces if p.at > message[-1].at)
    for piece in behind:
        if piece.kind == "code" or _lines(kept) > LINES_ON_AN_ERROR:
            break
        if piece not in kept:
            kept.append(piece)
    return tuple(kept) or pieces


def _lines(pieces: Iterable[Piece]) -> int:
    return sum(1 + len(line) // CHARACTERS_PER_LINE for piece in pieces for line in piece.text.split("\n"))


def _extracts(told: Sequence[tuple[Unit, tuple[Piece, ...]]]) -> list[Extract]:
    """What is quoted of one section together, each piece once."""
    pieces: dict[int, dict[tuple[int, int, str], Piece]] = {}
    cores: dict[int, list[str]] = {}
    for unit, quoted in told:
        kept = pieces.setdefault(unit.passage, {})
        cores.setdefault(unit.passage, []).append(unit.core)
        for piece in quoted:
            kept[piece.block, piece.at, piece.text] = piece
    return [
        Extract(passage, tuple(sorted(kept.values(), key=lambda piece: (piece.block, piece.at))), tuple(cores[passage]))
        for passage, kept in pieces.items()
    ]
