"""Which tables hold data, and which only place things on the page.

A data table becomes one block, rows as lines. The cells of a layout table are read one after the other. A long table
that is looked things up in by its first column (error codes, settings) has a key in each row.
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
MIN_KEYED_ROWS, MIN_KEYED_CHARACTERS = 20, 6_000
"""A shorter table is read whole: its rows would take the places of sections in a search. The characters are about 1,000 words."""
MAX_KEY_CHARACTERS = 80
MIN_TOLD_SHARE = 0.5
"""Where fewer rows say what no other says, the table only marks its keys (reserved, deprecated, yes, no)."""
MAX_COUNTED_DIGITS = 2
"""Where no key has more and all are numbers, they only count the rows."""


@dataclass(slots=True)
class _Facts:
    rows: int = 0
    widest: int = 0
    headed: bool = False
    nested: bool = False
    code: bool = False
    parts: bool = False
    sections: bool = False


@dataclass(slots=True)
class Tables:
    """`layout`: tables that place. `lines`: tables that set one line of text (a signature) in columns.
    `cells`: cells of data tables that have neighbours in their row. `keys`: of each row of a long table with a key column the
    key, and of a row of one cell, which names the rows below it, that."""

    lines: set[Element] = field(default_factory=set)
    layout: set[Element] = field(default_factory=set)
    cells: set[Element] = field(default_factory=set)
    keys: dict[Element, Key] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Key:
    """`group`: it names the rows below it. `header`: what stands above the other cells of the row, a tab between two; "" where
    there is only one."""

    table: Element
    group: bool
    header: str


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
    data: dict[Element, list[list[Element]]] = {}
    for table, row in rows:
        if table not in layout and table not in lines and row:
            data.setdefault(table, []).append(row)
    keys = {cell: key for table, its in data.items() if not facts[table].sections for cell, key in _keys(table, its)}
    return Tables(lines, layout, cells, keys)


def _keys(table: Element, rows: list[list[Element]]) -> list[tuple[Element, Key]]:
    """The keys of a long table that has a header and whose first column names each row and nothing twice; else none. Where
    the names are links, the table is an index of what stands elsewhere."""
    header, *body = rows
    keyed = [row[0] for row in body if len(row) > 1]
    if len(keyed) < MIN_KEYED_ROWS or table.amounts.text < MIN_KEYED_CHARACTERS or len(header) < 2:
        return []
    names = [row[0].text for row in body]
    told = {"\t".join(cell.text for cell in row[1:]) for row in body}
    if (
        any(cell.tag != "th" or "colspan" in cell.attrs for cell in header)
        or any("rowspan" in cell.attrs or not _begins_row(row[0]) for row in body for cell in row)
        or len(set(names)) < len(names)
        or len(told) < MIN_TOLD_SHARE * len(body)
        or any(len(name) > MAX_KEY_CHARACTERS or not any(map(str.isalnum, name)) for name in names)
        or all(name.isdecimal() and len(name) <= MAX_COUNTED_DIGITS for name in names)
        or any(inner.tag == "a" and inner.get("href") for cell in keyed for inner in cell.walk())
    ):
        return []
    above = "\t".join(cell.text for cell in header[1:]) if len(header) > 2 else ""
    return [(row[0], Key(table, len(row) == 1, above)) for row in body]


def _begins_row(cell: Element) -> bool:
    row = cell.parent
    return row is not None and next(other for other in row.elements if other.tag in ("td", "th")) is cell


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
        known.sections = known.sections or element.tag == "dl" or element.tag in HEADINGS


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
