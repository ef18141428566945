"""Nodes as they are read: passages with path and link. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ingest.ports import Located, Outline, OutlineHeading
from ingest.urls import node_link
from navigator.answer import Passage


def passages_of(located: Mapping[str, Located], wanted: Mapping[str, tuple[int, tuple[str, ...]]]) -> list[Passage]:
    """`wanted`: node id -> (number, path). Pages come in the order in which they are first wanted,
    sections of a page in document order; nodes that are not located (any more) are left out."""
    pages: dict[str, list[str]] = {}
    for node_id in wanted:
        if node_id in located:
            pages.setdefault(located[node_id].page.key, []).append(node_id)
    found: list[Passage] = []
    for ids in pages.values():
        order = {heading.id: position for position, heading in enumerate(located[ids[0]].page.headings)}
        for node_id in sorted(ids, key=lambda i: order[i]):
            number, path = wanted[node_id]
            found.append(passage(located[node_id], number, path))
    return found


def passage(located: Located, number: int, path: tuple[str, ...]) -> Passage:
    node, page = located.node, located.page
    return Passage(
        number=number,
        node_id=node.id,
        node_hash=node.own_hash,
        page_key=page.key,
        page_url=page.canonical,
        link=link_of(page, node.id),
        path=path,
        blocks=node.blocks,
        checked_at=page.checked_at,
        version=page.version,
    )


def path_of(page: Outline, node_id: str) -> tuple[str, ...]:
    """The titles from the page down to the node."""
    return tuple(heading.title for heading in reversed(_lineage(page, node_id)))


def link_of(page: Outline, node_id: str) -> str:
    """The node link: the page's URL and the node's own anchor, else its nearest ancestor's, else the
    bare URL (html cases 30, 34)."""
    return node_link(page.canonical, [heading.anchor for heading in _lineage(page, node_id)])


def _lineage(page: Outline, node_id: str) -> list[OutlineHeading]:
    """The node and what stands above it on its page, nearest first; empty for a node of another page."""
    by_id = {heading.id: heading for heading in page.headings}
    found: list[OutlineHeading] = []
    current = by_id.get(node_id)
    while current is not None:
        found.append(current)
        current = by_id.get(current.parent) if current.parent is not None else None
    return found
