"""Extracts as Markdown: word for word, in the form that they have on the page. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from ingest.model import Block
from navigator.answer import Passage
from navigator.citations.cited_lines import as_in_text
from navigator.extracts.units import Piece
from navigator.markdown.spans import fenced

CELL_BAR = " | "
"""Between the cells of a table's row, as a block is shown."""


def runs(pieces: Sequence[Piece]) -> Iterator[tuple[int, list[Piece]]]:
    """The pieces of each block together."""
    for block, group in groupby(pieces, key=lambda piece: piece.block):
        yield block, list(group)


def cited_words(run: Sequence[Piece], cores: Sequence[str], block: Block) -> str:
    """What of the block is cited, whose pieces these are: the first of `cores` that stands in it, else its first piece; of
    a table the last, since the first may be its header."""
    told = run[-1 if block.kind == "table" else 0].text.strip()
    return next((words for core in cores if (words := as_in_text(core, block))), told)


def quoted(pieces: Sequence[Piece], passage: Passage) -> str:
    """Pieces as Markdown, an ellipsis where something between two was left out."""
    parts: list[str] = []
    last: Piece | None = None
    for block, run in runs(pieces):
        if last is not None and run[0].at > last.at + 1:
            parts.append("…")
        parts.append(_quoted_block(run, passage.blocks[block].language or ""))
        last = run[-1]
    return "\n\n".join(parts)


def _quoted_block(run: Sequence[Piece], language: str) -> str:
    """Sentences of a paragraph in one line, list items and rows on their own, code in a fence longer than
    any run of backticks inside."""
    kind = run[0].kind
    if kind == "code":
        return fenced("\n\n".join(piece.text.rstrip() for piece in run), language)
    if kind in ("text", "quote", "math"):
        return "".join(
            escape(piece.text.rstrip("\n")) + _joint(piece, after) for piece, after in zip_longest(run, run[1:])
        )
    if kind == "table" and (table := _table([line for piece in run for line in piece.text.split("\n")])):
        return table
    line_of = _term_line if kind == "terms" else _escape_line
    rows: list[str] = []
    for piece, after in zip_longest(run, run[1:]):
        rows += [line_of(line) for line in piece.text.split("\n")]
        if after is not None and after.at > piece.at + 1 and kind != "table":
            rows.append("…  ")
    return "\n".join(rows)


def _table(lines: Sequence[str]) -> str:
    """The rows as a table under their header; "" where they are none: one row or one column."""
    rows = [[escape(cell.strip()).replace("|", "\\|") for cell in line.split(CELL_BAR)] for line in lines]
    columns = max(map(len, rows))
    if len(rows) < 2 or columns < 2:
        return ""
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [filled[0], ["---"] * columns, *filled[1:]])


def _term_line(line: str) -> str:
    """A term in bold, or a line of its definition, which stands under it and is indented."""
    if not line.strip():
        return ""
    return f"  {escape(line.strip())}  " if line[:1].isspace() else f"- **{escape(line.strip())}**  "


def _joint(piece: Piece, after: Piece | None) -> str:
    """What stands between two sentences of a paragraph."""
    if after is None:
        return ""
    if after.at > piece.at + 1:
        return " … "
    return "  \n" if piece.text.endswith("\n") else " "


def escape(text: str) -> str:
    """Markdown's own signs in a quotation are not markup."""
    return re.sub(r"([\\*_\[\]<>`])", r"\\\1", text)


def _escape_line(line: str) -> str:
    """A list item or table row: its indentation and bullet stay markup, the words do not."""
    match = re.match(r"\s*(?:[-*] |\d+[.)] )?", line)
    head = match.group() if match else ""
    return head + escape(line[len(head) :]) + ("" if head.strip() else "  ")
