"""Text to blocks: paragraphs, lists, code, tables, terms, quotes and formulas of one section after another.

A Writer is told what is met in document order and appends blocks to the section it was last turned to.
White space is collapsed except in code; no block is empty; no text is lost or written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.html.dom import clean
from ingest.model import Block, BlockKind

_SEPARATORS = frozenset(" |·•↑")
"""What a site sets between its links; alone in a paragraph it is what is left of them."""
_MAX_INDENT_LEVELS = 20
"""Deeper lines are not moved further to the right: their blanks would outgrow the page."""


@dataclass(slots=True)
class _Level:
    """One open list. `mark` is what the next line of the current item gets, then blanks of equal width."""

    kind: str
    number: int = 1
    mark: str = ""
    width: int = 0


@dataclass(slots=True)
class _Table:
    rows: list[list[list[str]]] = field(default_factory=list)


class Writer:
    """Collects inline text and closes it into blocks."""

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks
        self._inline: list[str] = []
        self._lines: list[str] = []
        self._images: list[str] = []
        self._levels: list[_Level] = []
        self._base = 0
        self._listed: list[tuple[str, str]] = []
        self._listed_kind: BlockKind = "list"
        self._tables: list[_Table] = []
        self._quotes = 0

    def turn_to(self, blocks: list[Block]) -> None:
        """A new section begins, or an earlier one goes on. Lists that are open around it only place things
        from here on; tables around it end, and what follows in them is a new table."""
        depth = len(self._tables)
        self.end_paragraph()
        while self._tables:
            self.close_table()
        self.end()
        self._blocks = blocks
        self._base = len(self._levels)
        self._tables.extend(_Table() for _ in range(depth))

    def text(self, text: str) -> None:
        if self._inline or not text.isspace():
            self._inline.append(text)

    def line_break(self) -> None:
        self._lines.append(clean("".join(self._inline)))
        self._inline.clear()

    def image(self, alt: str) -> None:
        """Shown only where a paragraph has nothing else."""
        self._images.append(alt)

    def end(self) -> None:
        """Close the paragraph and the list block being written."""
        self.end_paragraph()
        self._end_list_block()

    def end_paragraph(self) -> None:
        """Close the paragraph, if one is being written."""
        if self._inline or self._lines:
            self.line_break()
        elif not self._images:
            return
        lines = [line for line in self._lines if line] or [clean(" ".join(dict.fromkeys(self._images)))]
        self._lines.clear()
        self._images.clear()
        loose = not self._tables and len(self._levels) <= self._base
        if lines == [""] or (loose and all(char in _SEPARATORS for line in lines for char in line)):
            return
        if self._tables:
            self._cell().extend(lines)
        elif len(self._levels) > self._base:
            self._list_lines(lines)
        else:
            self._end_list_block()
            self._blocks.append(Block("quote" if self._quotes else "text", "\n".join(lines)))

    def code(self, text: str, language: str | None) -> None:
        """A listing, verbatim."""
        self.end_paragraph()
        if not text.strip():
            return
        if self._tables:
            self._cell().append(clean(text))
        else:
            self._end_list_block()
            self._blocks.append(Block("code", text, language))

    def math(self, tex: str) -> None:
        """A formula on a line of its own."""
        if self._tables or len(self._levels) > self._base:
            self.text(f" {tex} ")
        elif tex:
            self.end()
            self._blocks.append(Block("math", tex))

    def open_list(self, kind: str, start: int = 1) -> None:
        """`kind`: ul, ol, or dl for plain terms."""
        self.end_paragraph()
        if len(self._levels) <= self._base and not self._tables:
            self._end_list_block()
            self._listed_kind = "terms" if kind == "dl" else "list"
        self._levels.append(_Level(kind, start))

    def close_list(self) -> None:
        self.end_paragraph()
        if self._levels:
            self._levels.pop()
        self._base = min(self._base, len(self._levels))
        if len(self._levels) <= self._base:
            self._end_list_block()

    def item(self, tag: str) -> None:
        """li, dt or dd begins."""
        self.end_paragraph()
        if not self._levels:
            return
        level = self._levels[-1]
        level.mark, level.width = {"dt": ("", 0), "dd": ("", 2)}.get(tag, ("- ", 2))
        if tag == "li" and level.kind == "ol":
            level.mark = f"{level.number}. "
            level.width = len(level.mark)
            level.number += 1

    def open_quote(self) -> None:
        self.end_paragraph()
        self._quotes += 1

    def close_quote(self) -> None:
        self.end_paragraph()
        self._quotes -= 1

    def open_table(self) -> None:
        self.end_paragraph()
        if not self._tables:
            self._end_list_block()
        self._tables.append(_Table())

    def row(self) -> None:
        self.end_paragraph()
        if self._tables:
            self._tables[-1].rows.append([])

    def cell(self) -> None:
        self.end_paragraph()
        if self._tables:
            if not self._tables[-1].rows:
                self._tables[-1].rows.append([])
            self._tables[-1].rows[-1].append([])

    def close_table(self) -> None:
        self.end_paragraph()
        if not self._tables:
            return
        table = self._tables.pop()
        rows = ["\t".join(row) for row in _filled([[clean(" ".join(cell)) for cell in row] for row in table.rows])]
        lines = [row for row in rows if row.strip()]
        if not lines:
            return
        if self._tables:
            self._cell().extend(line.replace("\t", " ") for line in lines)
        else:
            self._blocks.append(Block("table", "\n".join(lines)))

    def _cell(self) -> list[str]:
        rows = self._tables[-1].rows
        if not rows:
            rows.append([])
        if not rows[-1]:
            rows[-1].append([])
        return rows[-1][-1]

    def _list_lines(self, lines: list[str]) -> None:
        level = self._levels[-1]
        indent = "  " * min(len(self._levels) - self._base - 1, _MAX_INDENT_LEVELS)
        for line in lines:
            self._listed.append((indent + level.mark.ljust(level.width), line))
            level.mark = ""

    def _end_list_block(self) -> None:
        if self._listed:
            marks, lines = zip(*self._listed, strict=True)
            self._blocks.append(Block(self._listed_kind, "\n".join(lines), None, marks))
            self._listed = []


def _filled(rows: list[list[str]]) -> list[list[str]]:
    """Without the columns that are empty in every row: they set in what stands beside them (groff)."""
    filled = {at for row in rows for at, cell in enumerate(row) if cell}
    return [[cell for at, cell in enumerate(row) if at in filled] for row in rows]
