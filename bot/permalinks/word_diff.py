"""What changed between two texts of a section, in words, for people to read. Pure.

Blocks are compared first, whole; where one took another's place, its words are. Long blocks are compared by lines, so that
what it takes stays bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from ingest.model import Block, BlockKind
from ingest.text.scripts import UNSPACED

MAX_COMPARED_PARTS = 600
"""Words, or lines, of a block; a longer one is shown as removed and added whole."""
MAX_COMPARED_BLOCKS = 100
"""Blocks that took another's place and are compared in words; further ones are shown as removed and added whole."""
MIN_COMMON_WORDS = 0.3
"""Share of words (0 to 1) from which on a block is an edit of the one before it, and not another one."""
_PART = re.compile(rf"[{UNSPACED}]\s*|(?:(?![{UNSPACED}])\w)+\s*|[^\w\s]\s*|\s+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

DiffKind = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    kind: DiffKind
    text: str


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A block of either text, or of both. `spans` joined, without those added, are the text before; without those removed,
    the text after."""

    kind: BlockKind
    spans: tuple[DiffSpan, ...]

    @property
    def changed(self) -> bool:
        return any(span.kind != "same" for span in self.spans)


def word_diff(before: str, after: str) -> tuple[DiffSpan, ...]:
    """Two texts as one: what both say, what was removed, what was added, in reading order."""
    if before == after:
        return (DiffSpan("same", before),) if before else ()
    parts = [_parts(_PART, before, after), _parts(_LINE, before, after)]
    fitting = next((pair for pair in parts if max(map(len, pair)) <= MAX_COMPARED_PARTS), ([before], [after]))
    return tuple(_spans(*fitting))


def block_diff(before: Sequence[Block], after: Sequence[Block]) -> tuple[DiffBlock, ...]:
    """Two texts of a section, block by block."""
    return tuple(_blocks(before, after))


def _parts(pattern: re.Pattern[str], before: str, after: str) -> tuple[list[str], list[str]]:
    return pattern.findall(before), pattern.findall(after)


def _spans(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffSpan]:
    matcher = SequenceMatcher(None, before, after)  # its autojunk stays on: a monotonous text takes minutes without
    for step, i, j, k, m in matcher.get_opcodes():
        if step == "equal":
            yield DiffSpan("same", "".join(before[i:j]))
            continue
        if j > i:
            yield DiffSpan("removed", "".join(before[i:j]))
        if m > k:
            yield DiffSpan("added", "".join(after[k:m]))


def _blocks(before: Sequence[Block], after: Sequence[Block]) -> Iterator[DiffBlock]:
    matcher = SequenceMatcher(None, [_said(b) for b in before], [_said(b) for b in after])
    left = MAX_COMPARED_BLOCKS
    for step, i, j, k, m in matcher.get_opcodes():
        if step == "equal":
            yield from (DiffBlock(block.kind, (DiffSpan("same", block.shown),)) for block in after[k:m])
        else:
            yield from _replaced(before[i:j], after[k:m], left)
            left = max(0, left - min(j - i, m - k))


def _replaced(before: Sequence[Block], after: Sequence[Block], most: int) -> Iterator[DiffBlock]:
    """`most`: blocks that are compared in words."""
    for at, (old, new) in enumerate(zip_longest(before, after)):
        if old and new and at < most and old.kind == new.kind and _alike(old.shown, new.shown):
            yield DiffBlock(new.kind, word_diff(old.shown, new.shown))
            continue
        if old:
            yield DiffBlock(old.kind, (DiffSpan("removed", old.shown),))
        if new:
            yield DiffBlock(new.kind, (DiffSpan("added", new.shown),))


def _said(block: Block) -> tuple[str, str]:
    return block.kind, block.shown


def _alike(one: str, other: str) -> bool:
    words = [frozenset(part.strip().casefold() for part in _PART.findall(text)) for text in (one, other)]
    return len(words[0] & words[1]) >= MIN_COMMON_WORDS * max(1, min(map(len, words)))
