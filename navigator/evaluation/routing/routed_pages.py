"""The pages that RDR2's router is shown as lines, found again as trees: which lines are headings, and of which sections.

A model reads the lines; a scripted reader needs what stands behind their ids.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingest.ports import Outline, TreeStore
from navigator.strategies.rdr2.tree import MAX_TITLE_CHARACTERS, DocumentTree, one_line

_PAGE = re.compile(r"\n<page>\n(.*)\n</page>", re.DOTALL)
_LINE = re.compile(r" *(\d+): ?(.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that a router is shown."""

    id: int
    text: str


Shown = tuple[Line, ...]


def shown_in(prompt: str) -> Shown | None:
    """The lines of the page in a router's prompt; None where there is no page in it."""
    page = _PAGE.search(prompt)
    if page is None:
        return None
    lines = (_LINE.fullmatch(line) for line in page[1].split("\n"))
    return tuple(Line(int(line[1]), line[2]) for line in lines if line)


class RoutedPages:
    """`outlines`: the pages that there are, by key."""

    def __init__(self, outlines: Mapping[str, Outline], trees: TreeStore) -> None:
        self._trees = trees
        self._by_title: defaultdict[str, list[Outline]] = defaultdict(list)
        self._page_of: dict[str, Outline] = {}
        for page in outlines.values():
            self._by_title[one_line(page.headings[0].title, MAX_TITLE_CHARACTERS)].append(page)
            self._page_of.update((heading.id, page) for heading in page.headings)

    async def tree(self, shown: Shown, nodes: Iterable[str] = ()) -> DocumentTree | None:
        """The tree of the page that is shown; None where it is none of these. A router that sees no headings sees no title:
        then only pages that hold one of the `nodes` are looked at. Raises IngestError."""
        titled = next((line.text for line in shown if line.id == 0), None)
        holding = {page.key: page for node in nodes if (page := self._page_of.get(node))}
        for page in holding.values() if titled is None else self._by_title[titled]:
            found = await self._trees.nodes([heading.id for heading in page.headings])
            tree = DocumentTree.of(page.headings, {node_id: located.node.blocks for node_id, located in found.items()})
            if all(_is(tree, line) for line in shown):
                return tree
        return None


def _is(tree: DocumentTree, line: Line) -> bool:
    return line.id < len(tree.nodes) and tree.nodes[line.id].text.startswith(line.text.removesuffix(" …"))
