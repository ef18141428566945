"""Pieces into messages: as few groups as fit, cut at the borders of pieces where possible. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from navigator.markdown.blocks import MarkdownHeading, MarkdownTable, Piece

BETWEEN = "\n\n"
"""What stands between two pieces."""


def grouped(pieces: Sequence[Piece], limit: int, most: int = 1_000) -> list[tuple[Piece, ...]]:
    """Groups of at most `most` pieces, each at most `limit` characters as Markdown (pieces.SMALLEST or more).

    Only the first table of a group is one; the others are monospace. A heading goes with what stands under it. Only a
    piece that fills more than a group by itself is split."""
    groups: list[tuple[Piece, ...]] = []
    group: list[Piece] = []
    waiting = deque(pieces)
    room = limit
    while waiting:
        piece = waiting.popleft()
        fitted = monospaced(piece) if any(map(_native, group)) else piece
        size = len(fitted.markdown)
        if size <= room and len(group) < most:
            group.append(fitted)
            room -= size + len(BETWEEN)
        elif not group or (size > limit and room * 2 > limit):
            first, *others = piece.split(room)
            group.append(first)
            room -= len(first.markdown) + len(BETWEEN)
            waiting.extendleft(reversed(others))
        else:
            whole = len(group) - _headings(group) or len(group)
            groups.append(tuple(group[:whole]))
            group = group[whole:]
            room = limit - sum(len(heading.markdown) + len(BETWEEN) for heading in group)
            waiting.appendleft(piece)
    return [*groups, tuple(group)] if group else groups


def one_table(pieces: Sequence[Piece], shown: bool) -> tuple[Piece, ...]:
    """The pieces of one message: its first table is one, unless a table was `shown` before."""
    made: list[Piece] = []
    for piece in pieces:
        made.append(monospaced(piece) if shown else piece)
        shown = shown or _native(piece)
    return tuple(made)


def monospaced(piece: Piece) -> Piece:
    return replace(piece, monospace=True) if isinstance(piece, MarkdownTable) else piece


def _native(piece: Piece) -> bool:
    return isinstance(piece, MarkdownTable) and piece.native


def _headings(group: Sequence[Piece]) -> int:
    """How many headings end the group."""
    count = 0
    for piece in reversed(group):
        if not isinstance(piece, MarkdownHeading):
            break
        count += 1
    return count
