"""Which tables hold data, and which only place things on the page.

A data table becomes one block, rows as lines. The cells of a layout table are read one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.html.content.boilerplate import HEADINGS, callout
from ingest.html.dom import Element

_PLACING = frozenset("highlighttable rouge-table hljs-ln lntable crayon-table mlabels".split())
_SIGNATURES = frozenset({"memname"})
_PARTS = frozenset({"ul", "ol", "dl", "blockquote", *HEADINGS})
_MIN_COLUMN_CHARACTERS = 200
"""From here on a cell of a single row is a column of the page."""


@dataclass(slots=True)
class _Facts:
    rows: int = 0
    widest: int = 0
    headed: bool = False
    nested: bool = False
    code: bool = False
    parts: bool = False


@dataclass(slots=True)
class Tables:
    """`layout`: tables that place. `lines`: tables that set one line of text (a signature) in columns.
    `cells`: cells of data tables that have neighbours in their row."""

    lines: set[Element] = field(default_factory=set)
    layout: set[Element] = field(default_factory=set)
    cells: set[Element] = field(default_factory=set)


def classify(elements: Iterable[Element]) -> Tables:
    """Judge all tables among the elements of the content, given in document order."""
    facts: dict[Element, _Facts] = {}
    rows: list[tuple[Element, list[Element]]] = []
    open_tables: list[Element] = []
    for element in elements:
        while open_tables and open_tables[-1].end < element.order:
            open_tables.pop()
        if element.tag == "table":
            if open_tables:
                facts[open_tables[-1]].nested = True
            facts[element] = _Facts()
            open_tables.append(element)
        elif open_tables:
            _note(element, open_tables[-1], facts[open_tables[-1]], rows)
    lines = {table for table in facts if not table.classes.isdisjoint(_SIGNATURES)}
    layout = {table for table, known in facts.items() if _places(table, known)}
    cells = {cell for table, row in rows if table not in layout and table not in lines and len(row) > 1 for cell in row}
    return Tables(lines, layout, cells)


def _note(element: Element, table: Element, known: _Facts, rows: list[tuple[Element, list[Element]]]) -> None:
    if element.tag == "tr":
        row = [cell for cell in element.elements if cell.tag in ("td", "th") and _filled(cell)]
        known.rows += 1
        known.widest = max(known.widest, len(row))
        rows.append((table, row))
    elif element.tag == "th":
        known.headed = True
    elif element.tag == "pre" and "\n" in "".join(element.strings()).strip():
        known.code = True
    elif element.tag in _PARTS:
        known.parts = True


def _places(table: Element, known: _Facts) -> bool:
    if table.role in ("presentation", "none") or not table.classes.isdisjoint(_PLACING):
        return True
    if known.nested or known.code or known.widest <= 1:
        return True
    if known.rows <= 1 and not known.headed:
        return known.parts or any(len(cell.text) > _MIN_COLUMN_CHARACTERS for cell in table.walk() if cell.tag == "td")
    return _frames_callout(table)


def _frames_callout(table: Element) -> bool:
    """Some generators draw the box of a note as a table with the sign in its first cell."""
    box = table.parent
    return box is not None and callout(box) and next(box.elements) is table


def _filled(cell: Element) -> bool:
    return any(not text.isspace() for text in cell.strings()) or any(e.tag == "img" for e in cell.walk())
