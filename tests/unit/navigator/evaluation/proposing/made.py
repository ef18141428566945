"""Sections for tests of proposing."""

from __future__ import annotations

from datetime import UTC, datetime

from ingest.model import Block, Node
from ingest.ports import Located, Outline, OutlineHeading
from navigator.evaluation.proposing.material import SourceSection

AT = datetime(2026, 1, 1, tzinfo=UTC)
PORT = (
    "Pump listens on port 8080 of every address. To change it, set port in pump.toml to another number and restart the "
    "service with pumpctl restart. Ports below 1024 need the right to bind them, which the installer gives to the service. "
    "The number is read once, at the start."
)


def node(name: str, *blocks: Block | str, parent: str | None = None, title: str = "", anchor: str | None = "") -> Node:
    """Strings are paragraphs; `anchor` "": its name."""
    made = tuple(Block("text", block) if isinstance(block, str) else block for block in blocks)
    return Node(name, parent, 1, title or name.capitalize(), name if anchor == "" else anchor, (), made)


def page(*nodes: Node, url: str = "https://docs.example.test/pump") -> list[Located]:
    """The readable sections of a page; the first node is the page's own."""
    headings = tuple(OutlineHeading(n.id, n.parent, n.level, n.title, n.anchor, n.kind, n.readable) for n in nodes)
    outline = Outline(url, "docs", "", nodes[0].title, url, headings, frozenset(), AT)
    return [Located(each, outline) for each in nodes if each.readable]


def sections(*texts: str) -> list[SourceSection]:
    """Sections of pages of their own, named a, b, …"""
    found = []
    for name, text in zip("abcdefghij", texts, strict=False):
        (located,) = page(node(name, text, anchor=None), url=f"https://docs.example.test/{name}")
        found.append(SourceSection(located, ("Docs", name.upper())))
    return found
