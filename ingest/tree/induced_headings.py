"""Titles for the runs of a long section that has no headings: the section is split under them. Pure.

Not a word changes, no block moves: the sections under the induced titles hold the same blocks in the same order. They
have no anchor, so that a link to one falls back to the section above, and a text fragment leads to the words. What
counts as the page's content, its hash, is the same with and without them (model.plain).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.model import Node, Page
from ingest.notes import InducedOutline

MIN_TITLES, MAX_TITLES = 2, 20
"""Titles that a section may be split under."""
MIN_BLOCKS = 6
"""A section of fewer blocks is never split."""
MAX_INDUCED_TITLE_CHARACTERS = 80
"""Characters."""


def divisible(nodes: Sequence[Node]) -> list[Node]:
    """The sections that an outline may be applied to: nothing stands under them, and they have blocks enough."""
    above = {node.parent for node in nodes}
    return [n for n in nodes if n.id not in above and n.kind != "induced" and len(n.blocks) >= MIN_BLOCKS]


def wrong(outline: InducedOutline, blocks: int) -> str | None:
    """What keeps the outline from being applied to a section of so many blocks; None: nothing."""
    titles, firsts = [title for title, _ in outline.titles], [first for _, first in outline.titles]
    if not titles:
        return None
    if not MIN_TITLES <= len(titles) <= MAX_TITLES:
        return f"{len(titles)} titles, and not {MIN_TITLES} to {MAX_TITLES}"
    if firsts[0] < 0 or firsts[-1] >= blocks:
        return "a title over no block of the section"
    if any(first >= second for first, second in pairwise(firsts)):
        return "titles out of order, or two over one block"
    if any(
        not title.strip() or len(title) > MAX_INDUCED_TITLE_CHARACTERS or not title.isprintable() for title in titles
    ):
        return f"a title that is empty, not one line, or longer than {MAX_INDUCED_TITLE_CHARACTERS} characters"
    return None


def split(page: Page, outlines: Mapping[str, InducedOutline]) -> Page:
    """The page with its divisible sections split as `outlines` (by Node.own_hash) say; one that does not fit is passed
    over. The ids of what is new are made of those of the section."""
    inside = {node.id for node in divisible(page.nodes)}
    nodes: list[Node] = []
    for node in page.nodes:
        outline = outlines.get(node.own_hash) if node.id in inside else None
        if outline is None or not outline.titles or wrong(outline, len(node.blocks)):
            nodes.append(node)
        else:
            nodes += _divided(node, outline)
    return replace(page, nodes=tuple(nodes))


def _divided(node: Node, outline: InducedOutline) -> list[Node]:
    firsts = [first for _, first in outline.titles]
    parts = [
        Node(
            id=f"{node.id}/{number}",
            parent=node.id,
            level=node.level + 1,
            title=title,
            blocks=node.blocks[first:end],
            kind="induced",
        )
        for number, ((title, first), end) in enumerate(zip(outline.titles, [*firsts[1:], None], strict=True))
    ]
    return [replace(node, blocks=node.blocks[: firsts[0]]), *parts]


def same_tree(old: Page, new: Page) -> bool:
    """Whether two pages have equal content, split alike."""
    return old.hash == new.hash and _induced(old) == _induced(new)


def _induced(page: Page) -> list[str]:
    return [node.own_hash for node in page.nodes if node.kind == "induced"]
