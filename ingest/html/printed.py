"""A parsed page in the form in which it can be checked against an expectation (`ritbot tree --json`)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urldefrag

from ingest.model import Document, Node, Page
from ingest.urls import fragment


def printed(document: Document, url: str) -> dict[str, Any]:
    """What was read from `url`, ready for JSON.

    `breadcrumb`: ancestors, root first, each with title and url (null: no link); `alternate_breadcrumbs`: titles. `canonical`: the address to cite.
    `nodes`: sections in document order with level, title, anchor, aliases, fragment, text, parent (an index into
    this list, or null), kind and whether it is links only; a page node of level 0 that has no text is left out. `skip` and
    `redirect_to`: why there are none. `links`: where the page links to."""
    page, skip = document.page, document.skip
    redirect_to = skip.redirect_to if skip else None
    return {
        "breadcrumb": [{"title": c.title, "url": c.url} for c in page.breadcrumb] if page else [],
        "alternate_breadcrumbs": [[c.title for c in trail] for trail in page.claims.alternates] if page else [],
        "breadcrumb_source": page.claims.source if page else "none",
        "canonical": page.canonical if page else redirect_to or urldefrag(url).url,
        "page_title": page.title if page else None,
        "nodes": _nodes(page) if page else [],
        "skip": skip.reason if skip else None,
        "redirect_to": redirect_to,
        "links": list(document.targets),
        "lists": list(page.claims.lists) if page else [],
    }


def _nodes(page: Page) -> list[dict[str, Any]]:
    shown = [node for node in page.nodes if node.level or node.blocks]
    position = {node.id: index for index, node in enumerate(shown)}
    return [_node(node, position.get(node.parent or "")) for node in shown]


def _node(node: Node, parent: int | None) -> dict[str, Any]:
    return {
        "level": node.level,
        "title": node.title,
        "anchor": node.anchor,
        "aliases": list(node.aliases),
        "fragment": None if node.anchor is None else fragment(node.anchor),
        "text": node.text,
        "parent": parent,
        "kind": node.kind,
        "links_only": node.links_only,
    }
