"""Records to put into a TreeStore."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ingest.model import Block, Claims, Crumb, Node, Page, PageRecord, RecordState

NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, UTC)
BASE = "https://docs.example.org/"


def page(path: str, *nodes: Node, **fields: Any) -> Page:
    """A page at BASE + path; by default a page node and one section, with ids made from the path."""
    own = (
        Node(f"{path}-0", None, 0, f"T:{path}"),
        Node(f"{path}-1", f"{path}-0", 2, "S", "s", (), (Block("text", path),)),
    )
    key = BASE + path
    return Page(**{"key": key, "url": key, "canonical": key, "title": f"T:{path}", "nodes": nodes or own, **fields})


def live(path: str, *nodes: Node, site: str = "docs", claims: Claims | None = None, **fields: Any) -> PageRecord:
    """The record of a live page."""
    tree = page(path, *nodes, claims=claims or Claims())
    defaults = {"seq": 1, "checked_at": NOON, "changed_at": NOON, "chunk_ids": (f"{path}-chunk",)}
    return PageRecord(BASE + path, site, "live", page=tree, **{**defaults, **fields})


def without_page(path: str, state: RecordState, site: str = "docs", **fields: Any) -> PageRecord:
    return PageRecord(BASE + path, site, state, **{"seq": 1, "checked_at": NOON, "changed_at": NOON, **fields})


RICH = live(
    "rich",
    Node("n0", None, 0, "Übersicht – 概要 🦊", None, ("old", "älter"), (Block("text", "nul\x00 tab\t\u2028 \ufeff e\u0301"),), "page"),
    Node("n1", "n0", 1, "", "a b", (), (Block("code", "x = 1\n\n\ty\r\n", "python"), Block("list", "a\nb", marks=("1. ", "2. "))), links_only=True),
    Node("n2", "n1", 6, "container", "c", (), (), "definition"),
    version="1.2",
    site="Bücher & mehr",
    claims=Claims((Crumb("Home", BASE), Crumb("Unlinked")), "breadcrumb", (BASE + "x", BASE + "y")),
    chunk_ids=("c1", "c2", "c3"),
    analyser_version="7/x",
    checked_at=NOON + timedelta(days=1),
)  # fmt: skip
