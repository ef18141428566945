"""Which tables hold data, and which only place things on the page.

A data table becomes one block, rows as lines. The cells of a layout table are read one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.html.dom import Element

_PLACING = frozenset("highlighttable rouge-table hljs-ln mlabels".split())


@dataclass(slots=True)
class _Facts:
    rows: int = 0
    widest: int = 0
    headed: bool = False
    nested: bool = False
    code: bool = False


@dataclass(slots=True)
class Tables:
    """`layout`: tables that place. `cells`: cells of data tables that have neighbours in their row."""

    layout: set[Element] = field(default_factory=set)
    cells: set[Element] = field(default_factory=set)


def classify(root: Element) -> Tables:
    """Judge all tables below `root` in one pass."""
    facts: dict[Element, _Facts] = {}
    rows: list[tuple[Element, list[Element]]] = []
    open_tables: list[Element] = []
    for element in root.walk():
        while open_tables and open_tables[-1].end < element.order:
            open_tables.pop()
        if element.tag == "table":
            if open_tables:
                facts[open_tables[-1]].nested = True
            facts[element] = _Facts()
            open_tables.append(element)
        elif open_tables:
            _note(element, open_tables[-1], facts[open_tables[-1]], rows)
    layout = {table for table, known in facts.items() if _places(table, known)}
    cells = {cell for table, row in rows if table not in layout and len(row) > 1 for cell in row}
    return Tables(layout, cells)


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


def _places(table: Element, known: _Facts) -> bool:
    if table.role in ("presentation", "none") or not table.classes.isdisjoint(_PLACING):
        return True
    if known.nested or known.code or known.widest <= 1:
        return True
    return known.rows <= 1 and not known.headed


def _filled(cell: Element) -> bool:
    return any(not text.isspace() for text in cell.strings()) or any(e.tag == "img" for e in cell.walk())
