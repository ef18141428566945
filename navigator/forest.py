"""The forest that a query induces (RIT-RAG section 4): the n best nodes, all their ancestors, one
tree a page under its page ancestors. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ForestNode:
    """A section as offered to the model. `number` is given to readable nodes only; `score` is None for
    nodes that are here only as ancestors."""

    node_id: str
    title: str
    readable: bool
    number: int | None
    score: float | None
    children: tuple[ForestNode, ...] = ()
    summary: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForestTree:
    """One page. `ancestors` are the titles above it in the site tree, root first."""

    page_key: str
    url: str
    version: str
    ancestors: tuple[str, ...]
    root: ForestNode
    score: float


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees, best first (by their best node); sections in document order."""

    query: str
    trees: tuple[ForestTree, ...]

    def walk(self) -> Iterator[tuple[ForestTree, ForestNode]]:
        """Every node with its tree, trees in order, nodes in document order."""
        for tree in self.trees:
            stack = [tree.root]
            while stack:
                node = stack.pop()
                yield tree, node
                stack.extend(reversed(node.children))
