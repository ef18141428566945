"""A page as RDR2's router sees it (RDR2 section 3.2): its document structure tree, and the subtrees that are shown of it.
Pure.

Structure nodes are the page's headings (the page's own node is the root, its text the title), content nodes are the
blocks under them. Every node has an id: its position in document order. A subtree shows all headings and some of the
content.

Where the paper leaves something open, or our trees differ from its:

- Blocks are leaves under headings. Of Algorithm 1 this leaves the siblings: its ancestors and descendants of type content
  do not exist here.
- "Content under a heading" is what stands directly under it. A heading without text of its own only groups sections, which
  the outline does not tell; unfolding it shows the text of all sections below it.
- At most `VISIBLE` blocks are shown at once, those nearest to what was retrieved, or the first. What is left stays unseen:
  its heading can be unfolded again.
- A line shows a text without its line breaks, at most `MAX_TEXT_CHARACTERS` characters of it; less where all visible text together
  would be more than `MAX_SHOWN_CHARACTERS` characters, but `MIN_TEXT_CHARACTERS` at least. Headings show `MAX_TITLE_CHARACTERS` characters. A text that is cut
  ends in "…"; its id stands for the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.model import Block
from ingest.ports import OutlineHeading

VISIBLE = 200
MAX_TEXT_CHARACTERS = 1_200
MIN_TEXT_CHARACTERS = 60
MAX_SHOWN_CHARACTERS = 40_000
MAX_TITLE_CHARACTERS = 200
INDENT = "  "
_PAGE_LINE = re.compile(r" *([0-9]+): ?(.*)")


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A heading, or the block of this index under it. `node_id`: the section that it is of; `text`: one line, cut;
    `parent` and `depth`: of its place in the tree."""

    id: int
    parent: int | None
    depth: int
    text: str
    node_id: str
    block: int | None = None

    @property
    def is_content(self) -> bool:
        return self.block is not None


@dataclass(frozen=True)
class DocumentTree:
    """The document structure tree of one page; `nodes` in document order, each at the position of its id."""

    nodes: tuple[TreeNode, ...]

    @classmethod
    def of(cls, headings: Sequence[OutlineHeading], blocks: Mapping[str, Sequence[Block]]) -> DocumentTree:
        """`headings` in document order, the page's own first; `blocks` by heading. Blocks without anything to read are
        left out."""
        nodes: list[TreeNode] = []
        places: dict[str, int] = {}
        for heading in headings:
            parent = None if heading.parent is None else places[heading.parent]
            depth = 0 if parent is None else nodes[parent].depth + 1
            own = places[heading.id] = len(nodes)
            nodes.append(TreeNode(own, parent, depth, one_line(heading.title, MAX_TITLE_CHARACTERS), heading.id))
            for index, block in enumerate(blocks.get(heading.id, ())):
                if block.shown.strip():
                    text = one_line(block.shown, MAX_TEXT_CHARACTERS)
                    nodes.append(TreeNode(len(nodes), own, depth + 1, text, heading.id, index))
        return cls(tuple(nodes))

    @cached_property
    def content(self) -> Mapping[int, tuple[int, ...]]:
        """The blocks directly under each heading that has any."""
        under: dict[int, list[int]] = {}
        for node in self.nodes:
            if node.is_content and node.parent is not None:
                under.setdefault(node.parent, []).append(node.id)
        return {heading: tuple(ids) for heading, ids in under.items()}

    def below(self, heading: int) -> tuple[int, ...]:
        """All blocks of the section."""
        found: list[int] = []
        for node in self.nodes[heading + 1 :]:
            if node.depth <= self.nodes[heading].depth:
                break
            if node.is_content:
                found.append(node.id)
        return tuple(found)

    def content_of(self, heading: int) -> tuple[int, ...]:
        """What unfolding a heading can show."""
        return self.content.get(heading) or self.below(heading)

    def alone(self, retrieved: Iterable[int]) -> Subtree:
        """The retrieved blocks and nothing beside them."""
        ids = tuple(sorted(set(retrieved)))[:VISIBLE]
        return Subtree(self, ids, frozenset(ids))

    def lit(self, retrieved: Iterable[int]) -> Subtree:
        """Where routing begins (Algorithm 1): the retrieved blocks and their siblings."""
        found = set(retrieved)
        nearest: dict[int, int] = dict.fromkeys(found, 0)
        for block in found:
            parent = self.nodes[block].parent
            for sibling in self.content[parent] if parent is not None else ():
                away = abs(sibling - block)
                nearest[sibling] = min(away, nearest.get(sibling, away))
        ids = tuple(sorted(sorted(nearest, key=lambda i: (nearest[i], i))[:VISIBLE]))
        return Subtree(self, ids, frozenset(ids))


@dataclass(frozen=True, slots=True)
class Choices:
    """What a router can choose from: the `texts` of all ids that it is shown, which of them are `visible` blocks, and which
    are headings with something `folded` under them."""

    texts: Mapping[int, str]
    visible: frozenset[int]
    folded: frozenset[int]


@dataclass(frozen=True, slots=True)
class Subtree:
    """A retrieval subtree: all headings of the tree and the `visible` blocks, in document order. `seen`: all blocks that
    are visible or were in a round before."""

    tree: DocumentTree
    visible: tuple[int, ...]
    seen: frozenset[int]

    def unseen(self, heading: int) -> tuple[int, ...]:
        """What unfolding this heading would show now."""
        return tuple(block for block in self.tree.content_of(heading) if block not in self.seen)[:VISIBLE]

    def expanded(self, heading: int) -> Subtree:
        """The next round: the visible blocks replaced by the unseen ones under the heading. Raises ValueError where
        there are none."""
        fresh = self.unseen(heading)
        if not fresh:
            raise ValueError(f"nothing is folded under {heading}")
        return Subtree(self.tree, fresh, self.seen | set(fresh))

    def choices(self) -> Choices:
        nodes, visible = self.tree.nodes, frozenset(self.visible)
        texts = {node.id: node.text for node in nodes if not node.is_content or node.id in visible}
        unseen = [int(node.is_content and node.id not in self.seen) for node in nodes]
        below = list(unseen)
        for node in reversed(nodes):
            if node.parent is not None:
                below[node.parent] += below[node.id]
        folded = {
            node.id
            for node in nodes
            if not node.is_content
            and (any(unseen[block] for block in own) if (own := self.tree.content.get(node.id)) else below[node.id])
        }
        return Choices(texts, visible, frozenset(folded))

    def render(self, *, structure: bool = True) -> str:
        """S: a line a node, `id: text`, indented by depth. Without `structure`: the visible blocks alone, flat."""
        visible = set(self.visible)
        room = max(MIN_TEXT_CHARACTERS, min(MAX_TEXT_CHARACTERS, MAX_SHOWN_CHARACTERS // max(1, len(visible))))
        lines = []
        for node in self.tree.nodes:
            if node.id in visible:
                lines.append(f"{INDENT * node.depth if structure else ''}{node.id}: {_clipped(node.text, room)}")
            elif structure and not node.is_content:
                lines.append(f"{INDENT * node.depth}{node.id}: {node.text}")
        return "\n".join(lines)


def lines_shown(prompt: str) -> Mapping[int, str] | None:
    """The page at the end of a router's prompt (router.page_prompt), its texts by their ids; None where there is none. The
    last beginning of a page counts: a question may hold such words, the lines of a page cannot."""
    before, _, page = prompt.rpartition("\n<page>\n")
    if not before or not page.endswith("\n</page>"):
        return None
    lines = map(_PAGE_LINE.fullmatch, page.removesuffix("\n</page>").split("\n"))
    return {int(line[1]): line[2] for line in lines if line}


def one_line(text: str, longest: int) -> str:
    """The text without its line breaks, cut. Of a huge text only the beginning is looked at."""
    beginning = text[: 4 * longest]
    line = " ".join(beginning.split())
    return _clipped(line, longest) if len(beginning) == len(text) or len(line) > longest else f"{line} …".strip()


def _clipped(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[:longest]} …"
