"""A page's tree, or a node and what stands around it, drawn for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ingest.counted import counted
from ingest.model import Crumb, Node, Page
from ingest.ports import Located, SiteAncestor
from navigator.retrieval.passages import path_of

MAX_EXCERPT_CHARACTERS = 96
INDUCED = "   (title by a model)"
"""Stands behind the titles that are not the page's own."""


def print_page(console: Console, page: Page) -> None:
    """Title, breadcrumb, canonical URL, then the sections with anchors and the beginning of each text."""
    console.print(Text(page.title, style="bold"))
    console.print(Text(page.canonical, style="blue"))
    if page.breadcrumb:
        console.print(Text(f"{_trail(page.breadcrumb)}   ({page.claims.source})", style="dim"))
    console.print(_tree(page.nodes))
    words = sum(len(node.text.split()) for node in page.nodes)
    console.print(Text(f"{counted(len(page.nodes), 'node')}, {counted(words, 'word')}", style="dim"))


def print_node(console: Console, located: Located, place: Sequence[SiteAncestor], link: str) -> None:
    """Where a node stands, its neighbours, its text."""
    console.print(Text(" › ".join([*(p.title for p in place), *path_of(located.page, located.node.id)]), style="bold"))
    console.print(Text(link, style="blue"))
    induced = INDUCED if located.node.kind == "induced" else ""
    console.print(Text(f"node {located.node.id}   hash {located.node.own_hash[:12]}{induced}", style="dim"))
    console.print()
    for block in located.node.blocks:
        console.print(Text(block.shown))
        console.print()
    children = [h for h in located.page.headings if h.parent == located.node.id]
    siblings = [h for h in located.page.headings if h.parent == located.node.parent and h.parent is not None]
    for name, headings in (("Under it", children), ("Beside it", siblings)):
        if headings:
            console.print(Text(name, style="bold"))
            for heading in headings:
                here = " ◀" if heading.id == located.node.id else ""
                induced = INDUCED if heading.kind == "induced" else ""
                console.print(Text(f"  {heading.title}{here}   {heading.id}{induced}"))


def _trail(crumbs: Sequence[Crumb]) -> str:
    return " › ".join(crumb.title for crumb in crumbs)


def _tree(nodes: Sequence[Node]) -> Tree:
    drawn: dict[str, Tree] = {}
    root: Tree | None = None
    for node in nodes:
        label = _label(node)
        if node.parent is None or root is None:
            drawn[node.id] = root = Tree(label)
        else:
            drawn[node.id] = drawn[node.parent].add(label)
    assert root is not None, "a page has at least its own node"
    return root


def _label(node: Node) -> Text:
    label = Text()
    label.append(f"{node.level} ", style="dim")
    label.append(node.title or "(no title)", style="bold" if node.readable else "")
    if node.anchor is not None:
        label.append(f"  #{node.anchor}", style="cyan")
    if node.readable:
        text = " ".join(node.text.split())
        label.append(
            "\n" + (text if len(text) <= MAX_EXCERPT_CHARACTERS else text[: MAX_EXCERPT_CHARACTERS - 1] + "…"),
            style="dim",
        )
    return label
