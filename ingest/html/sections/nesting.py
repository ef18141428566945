"""Sections and what is above them: the rules of nesting, apart from any markup.

The parent of a heading is the nearest earlier heading of a smaller level. A definition hangs under the
section around its list; what follows in it hangs under the definition; after its list everything is as before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.model import Block, NodeKind


@dataclass(slots=True)
class Section:
    """A node being written. `parent` is a position in the outline. `linked`: characters in links; `beside`: the texts
    beside them."""

    level: int
    title: str
    parent: int | None = None
    anchor: str | None = None
    aliases: list[str] = field(default_factory=list)
    kind: NodeKind = "heading"
    blocks: list[Block] = field(default_factory=list)
    linked: int = 0
    beside: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _List:
    """An open list of definitions: the section around it, and how many scopes were open before."""

    around: int
    depth: int


class Sections:
    """Sections in document order, the page's own first. `current` is the one that text belongs to."""

    def __init__(self, page_title: str) -> None:
        self.all = [Section(0, page_title, kind="page")]
        self._current = 0
        # One stack of headings for the page, and one for each definition that is open.
        self._scopes: list[list[int]] = [[0]]
        self._lists: list[_List] = []

    @property
    def current(self) -> Section:
        return self.all[self._current]

    def title_page(self, level: int, title: str) -> None:
        """The heading that names the page is the page's own section."""
        self.all[0].level, self.all[0].title = level, title

    def heading(self, level: int, title: str) -> None:
        open_ones = self._scopes[-1]
        while len(open_ones) > 1 and self.all[open_ones[-1]].level >= level:
            open_ones.pop()
        parent = open_ones[-1]
        open_ones.append(self._begin(Section(max(level, self.all[parent].level + 1), title, parent)))

    def end_heading(self, section: Section) -> None:
        """Back to the section around this one, which the innermost scope holds or held."""
        open_ones = self._scopes[-1]
        if any(self.all[position] is section for position in open_ones[1:]):
            while self.all[open_ones.pop()] is not section:
                pass
            self._current = open_ones[-1]

    def open_list(self) -> None:
        self._lists.append(_List(self._current, len(self._scopes)))

    def definition(self, title: str) -> None:
        """A term of the innermost open list begins."""
        self.end_definition()
        around = self._lists[-1].around
        self._scopes.append([self._begin(Section(self.all[around].level + 1, title, around, kind="definition"))])

    def end_definition(self) -> None:
        """Back to the section around the innermost open list."""
        del self._scopes[self._lists[-1].depth :]
        self._current = self._lists[-1].around

    def close_list(self) -> None:
        self.end_definition()
        self._lists.pop()

    def _begin(self, section: Section) -> int:
        self.all.append(section)
        self._current = len(self.all) - 1
        return self._current
