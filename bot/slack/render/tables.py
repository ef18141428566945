"""A table's cells as aligned columns of one width, for where only monospace can show them. Pure."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

WIDE = 100
"""Columns of text up to which a table stays unwrapped."""
COLUMN = 36
"""The widest a column may be in a table that is wrapped."""


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines, the first one underlined. A wide table's long cells take several lines."""
    columns = max(map(len, rows), default=0)
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    if sum(2 + max(width(row[c]) for row in filled) for c in range(columns)) - 2 > WIDE:
        lines = [[_wrapped(cell) for cell in row] for row in filled]
    else:
        lines = [[[cell] for cell in row] for row in filled]
    widths = [max(width(line) for row in lines for line in row[c]) for c in range(columns)]
    shown = [_line(cells, widths) for row in lines for cells in zip_longest(*row, fillvalue="")]
    head = max((len(cell) for cell in lines[0]), default=0) if lines else 0
    return "\n".join([*shown[:head], _line(["─" * w for w in widths], widths), *shown[head:]])


def width(text: str) -> int:
    """Columns that a text takes in monospace: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _wrapped(cell: str) -> list[str]:
    return textwrap.wrap(cell, COLUMN, break_on_hyphens=False) or [""]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (w - width(cell)) for cell, w in zip(cells, widths, strict=True)).rstrip()
