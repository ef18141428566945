"""How a section stands today, seen from a link that somebody kept: what it said then, what it says now, where its words
went. Pure.

Ids follow content (ingest.tree.node_identity): after a split the id stays with the part that holds most of the text, and a
section that was merged into another leaves none. Where the rest went is told by its words: a block of the old text went to
the live section that holds most of its pairs of neighbouring words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from bot.model import Edition
from bot.permalinks.permalink import Permalink
from ingest.model import Block, Node
from ingest.text.scripts import UNSPACED
from navigator.answer import Passage

MIN_BLOCK_SHARE = 0.6
"""Of a block's pairs of words (0 to 1), from which on a section holds the block."""
MIN_PART_SHARE = 0.15
"""Of a text's words, from which on a section that holds them is one of its parts: less is a phrase."""
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+")

StandingKind = Literal["current", "changed", "moved", "split", "merged", "removed"]


@dataclass(frozen=True, slots=True)
class Part:
    """A live section that holds words of the old text: `share` of them (0 to 1)."""

    section: Passage
    share: float


@dataclass(frozen=True, slots=True)
class Standing:
    """`now`: the section as it was last read, None where it is no more. `then`: the text to compare with: the one that the
    link names, else the newest before today's; None where there is no other. `lost`: the link names a text that was not kept.
    `parts`: where words of `then` stand now that the section itself no longer holds. Of a section that is no more, `last_seen`
    is when it was read last, `gone_by` when it was gone at the latest (None: not known), `gone_for` why its page is not
    there (None: the page is), and `nearest` what else is worth a look. `earlier`: texts that were kept, the newest first."""

    link: Permalink
    now: Passage | None = None
    then: Edition | None = None
    lost: bool = False
    parts: tuple[Part, ...] = ()
    gone_by: datetime | None = None
    gone_for: str | None = None
    nearest: tuple[Passage, ...] = ()
    earlier: tuple[Edition, ...] = ()

    @property
    def shown(self) -> Passage:
        """What there is to show of it: today's text, else the last one. Raises ValueError where nothing is known."""
        shown = self.now or (self.then.section if self.then else None)
        if shown is None:
            raise ValueError(f"nothing is known of {self.link.node}")
        return shown

    @property
    def last_seen(self) -> datetime | None:
        return self.then.section.checked_at if self.then else None

    @property
    def changed(self) -> bool:
        """Whether it says something else than the text that the link names."""
        return bool(self.link.hash and self.now) and not self.link.names(self.now.node_hash if self.now else "")

    @property
    def moved(self) -> bool:
        """Whether it stands elsewhere than it did then."""
        if self.now is None or self.then is None:
            return False
        here, there = self.now, self.then.section
        return (here.path[:-1], here.page_url) != (there.path[:-1], there.page_url)

    @property
    def kinds(self) -> tuple[StandingKind, ...]:
        """All that is true of it, the weightiest first; never empty."""
        if self.now is None:
            return ("merged",) if self.parts else ("removed",)
        found: list[StandingKind] = ["changed"] if self.changed else ["current"]
        found += ["moved"] if self.moved else []
        found += ["split"] if self.parts else []
        return tuple(found)


def where_words_went(then: Sequence[Block], own: Node | None, others: Iterable[Node]) -> dict[str, float]:
    """Ids of the sections that hold blocks of a text which the section itself (`own`, None where it is no more) no longer
    holds, each with its share of the text's words, the largest first."""
    candidates = {node.id: _holding(node) for node in others if own is None or node.id != own.id}
    kept = _holding(own) if own else frozenset()
    sizes = [len(_WORD.findall(block.text)) for block in then]
    went: Counter[str] = Counter()
    for block, size in zip(then, sizes, strict=True):
        pairs = frozenset(_pairs(block.text))
        if pairs and _share(pairs, kept) < MIN_BLOCK_SHARE:
            best = max(candidates, key=lambda i: _share(pairs, candidates[i]), default="")
            if best and _share(pairs, candidates[best]) >= MIN_BLOCK_SHARE:
                went[best] += size
    whole = sum(sizes)
    return {node: words / whole for node, words in went.most_common() if words >= MIN_PART_SHARE * whole}


def nearest_first(then: Edition, nodes: Iterable[Node], most: int) -> list[str]:
    """Ids of the sections that say most of what a text said, title included; those that share no word are left out."""
    said = _words((then.title, *(block.text for block in then.section.blocks)))
    shared = {node.id: len(said & _words((node.title, node.text))) for node in nodes if node.readable}
    found = sorted((node for node in shared if shared[node]), key=lambda node: -shared[node])
    return found[:most]


def _holding(node: Node) -> frozenset[tuple[str, ...]]:
    """Pairs of words of each block, and single words for blocks of one."""
    return frozenset(pair for block in node.blocks for pair in _pairs(block.text)) | {
        (word,) for word in _WORD.findall(node.text.casefold())
    }


def _pairs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    yield from pairwise(words) if len(words) > 1 else ((word,) for word in words)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(
        word for text in texts for word in _WORD.findall(text.casefold()) if len(word) > 2 or not word.isascii()
    )


def _share(pairs: frozenset[tuple[str, ...]], held: frozenset[tuple[str, ...]]) -> float:
    return len(pairs & held) / len(pairs)
