"""What a new version of a page means for who kept a section of the old one. Pure, close to linear in what changed.

A section is known by its id (ingest.tree.node_identity). One that says the same in the same place, with nothing new under it, is
not mentioned: an answer that cited it has nothing to look at.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from ingest.model import Node, NodeChange, NodeChangeKind
from ingest.text.scripts import HAN_AND_KANA, SOUTH_EAST_ASIAN

MAX_PARTS = 20
"""Of the sections that have words of one now, so many are named: those that have most of them."""
RUN_WORDS = 3
"""Words in a row that are told again where they went: one or two stand anywhere."""
_WORD_OR_SIGN = re.compile(rf"[^\W{SOUTH_EAST_ASIAN}{HAN_AND_KANA}]+|\w")

Runs = frozenset[tuple[str, ...]]


def node_changes(old: Sequence[Node], new: Sequence[Node], *, page_moved: bool = False) -> tuple[NodeChange, ...]:
    """What became of each node of `old` that `new` does not have as it was, in the order of `old`; `new` empty: the page
    went. `page_moved`: the nodes stand on another page now."""
    before, now = {node.id: node for node in old}, {node.id: node for node in new}
    gained = {node.id: _runs(node) - _runs(before.get(node.id)) for node in new if _differs(before.get(node.id), node)}
    holders: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for node_id, runs in gained.items():
        for run in runs:
            holders[run].append(node_id)
    extended = {node.parent for node in new if node.id not in before}
    found = (_change(node, now.get(node.id), holders, extended, page_moved=page_moved) for node in old)
    return tuple(change for change in found if change is not None)


def _change(
    old: Node,
    new: Node | None,
    holders: Mapping[tuple[str, ...], list[str]],
    extended: Set[str | None],
    *,
    page_moved: bool,
) -> NodeChange | None:
    if new is not None and not _differs(old, new):
        if page_moved or new.parent != old.parent:
            return NodeChange(old.id, "moved")
        return NodeChange(old.id, "extended") if old.id in extended else None
    parts = _parts(_runs(old) - _runs(new), holders)
    kind: NodeChangeKind = "went" if new is None else "split" if parts else "changed"
    return NodeChange(old.id, kind, parts)


def _parts(lost: Runs, holders: Mapping[tuple[str, ...], list[str]]) -> tuple[str, ...]:
    """Where the words went: sections that have them now and had them not."""
    shares: defaultdict[str, int] = defaultdict(int)
    for run in lost:
        for node_id in holders.get(run, ()):
            shares[node_id] += 1
    return tuple(sorted(shares, key=lambda node_id: (-shares[node_id], node_id))[:MAX_PARTS])


def _differs(old: Node | None, new: Node) -> bool:
    return old is None or old.own_hash != new.own_hash


def _runs(node: Node | None) -> Runs:
    """Runs of words, within a block each; a shorter block is one."""
    return frozenset(run for block in node.blocks for run in _of(block.text)) if node else frozenset()


def _of(text: str) -> Iterable[tuple[str, ...]]:
    words = _WORD_OR_SIGN.findall(text.lower())
    if len(words) <= RUN_WORDS:
        return [tuple(words)] if words else []
    return zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)
