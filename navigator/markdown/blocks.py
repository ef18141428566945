"""An answer as pieces (paragraph, heading, list, quote, code, table, rule), written as Markdown that Slack shows too. Pure.

A piece that is too long is split at a border: code between lines with its fence reopened, lists between items, tables
between rows with the header repeated, text between sentences or words. Every part is at most `limit` characters, where
`limit` is at least MIN_PART_CHARACTERS.

mdformat 1.0 was tried as the writer: what it writes reads the same, but its fences of more ticks end at any three in Slack,
"10)" becomes "10.", hard breaks become backslashes, and tables are padded. Overriding these, and making its tokens of
pieces that were cut, took as many lines as writing them.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from navigator.markdown.spans import APART, Span, cut_spans, text_of, write_markdown

MIN_PART_CHARACTERS = 1_000
_MIN_INNER_CHARACTERS = 100
"""To so few characters a part may shrink inside quotes and lists, which need room of their own."""
MAX_TABLE_ROWS, MAX_TABLE_COLUMNS, MAX_TABLE_CHARACTERS = 100, 20, 10_000
"""What Slack shows as a table (facts of the table block); a cell must not be empty."""
MAX_TABLE_WIDTH = 100
"""Columns of monospace text up to which a table stays unwrapped."""
MAX_CELL_WIDTH = 36
"""The widest that a column may be in a table that is wrapped."""

_FENCE_TICKS = re.compile(r"`(?=``)|(?<=`)`(?=`)")

Spans = tuple[Span, ...]
Rewrite = Callable[[Spans], Spans]
Recode = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Paragraph:
    spans: Spans

    @property
    def markdown(self) -> str:
        return write_markdown(self.spans)

    @property
    def plain(self) -> str:
        return text_of(self.spans)

    def split(self, limit: int) -> list[Piece]:
        return [Paragraph(part) for part in cut_spans(self.spans, limit)]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return Paragraph(spans(self.spans))


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    level: int
    spans: Spans

    @property
    def markdown(self) -> str:
        text = write_markdown(self.spans, cell=True).replace("\\|", "|")
        closing = text.rstrip("#")
        escaped = f"{closing}\\{text[len(closing) :]}" if closing != text and closing[-1:] in ("", " ") else text
        return f"{'#' * self.level} {escaped}"

    @property
    def plain(self) -> str:
        return text_of(self.spans)

    def split(self, limit: int) -> list[Piece]:
        return [MarkdownHeading(self.level, part) for part in cut_spans(self.spans, limit - self.level - 2)]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return MarkdownHeading(self.level, spans(self.spans))


@dataclass(frozen=True, slots=True)
class Rule:
    markup: str = "---"

    @property
    def markdown(self) -> str:
        return self.markup

    @property
    def plain(self) -> str:
        return ""

    def split(self, limit: int) -> list[Piece]:
        return [self]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return self


@dataclass(frozen=True, slots=True)
class Code:
    """Verbatim lines. Slack ends a fence at any run of three backticks, however long the fence is, so that such runs
    are held apart by an invisible character."""

    text: str
    language: str = ""

    @property
    def markdown(self) -> str:
        return f"```{self.language}\n{_FENCE_TICKS.sub('`' + APART, self.text)}\n```"

    @property
    def plain(self) -> str:
        return self.text

    def split(self, limit: int) -> list[Piece]:
        room = limit - len(self.language) - 8
        parts: list[str] = []
        lines: list[str] = []
        size = 0
        for line in self._lines(room // 2 - 1):
            length = 2 * len(line) - len(line.replace("`", "")) + 1
            if lines and size + length > room:
                parts.append("\n".join(lines))
                lines, size = [], 0
            lines.append(line)
            size += length
        return [Code(part, self.language) for part in [*parts, "\n".join(lines)]]

    def _lines(self, longest: int) -> list[str]:
        return [line[i : i + longest] for line in self.text.split("\n") for i in range(0, max(1, len(line)), longest)]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return Code(code(self.text), self.language)


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """`rows`: the header first, all as long as it. `columns`: the alignments as written (":-:"). `monospace`: to be
    shown as aligned text."""

    rows: tuple[tuple[Spans, ...], ...]
    columns: tuple[str, ...]
    monospace: bool = False

    @property
    def native(self) -> bool:
        """Whether Slack can show it as a table."""
        cells = [text_of(cell).strip() for row in self.rows for cell in row]
        return (
            not self.monospace
            and len(self.rows) <= MAX_TABLE_ROWS
            and len(self.columns) <= MAX_TABLE_COLUMNS
            and all(cells)
            and sum(map(len, cells)) <= MAX_TABLE_CHARACTERS
        )

    @property
    def markdown(self) -> str:
        if not self.native:
            return Code(_aligned([[" ".join(text_of(cell).split()) for cell in row] for row in self.rows])).markdown
        written = [[write_markdown(cell, cell=True) for cell in row] for row in self.rows]
        lines = [f"| {' | '.join(row)} |" for row in [written[0], list(self.columns), *written[1:]]]
        return "\n".join(lines)

    @property
    def plain(self) -> str:
        return "\n".join(" ".join(text_of(cell) for cell in row) for row in self.rows)

    def split(self, limit: int) -> list[Piece]:
        if len(self.markdown) <= limit:
            return [self]
        header, *body = self.rows
        if len(body) > 1:
            half = len(body) // 2
            parts = (replace(self, rows=(header, *rows)) for rows in (body[:half], body[half:]))
            return [piece for part in parts for piece in part.split(limit)]
        return [piece for cell in self._spelled(header, body) for piece in cell.split(limit)]

    def _spelled(self, header: tuple[Spans, ...], body: Sequence[tuple[Spans, ...]]) -> list[Paragraph]:
        """A row too long for a table: each cell as a paragraph under its column's name."""
        if not body:
            return [Paragraph(cell) for cell in header]
        return [Paragraph((*name, Span(": "), *cell)) for name, cell in zip(header, body[0], strict=True)]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return replace(self, rows=tuple(tuple(spans(cell) for cell in row) for row in self.rows))


@dataclass(frozen=True, slots=True)
class Quote:
    pieces: tuple[Piece, ...]

    @property
    def markdown(self) -> str:
        return "\n".join(f"> {line}".rstrip() for line in markdown_of(self.pieces).split("\n"))

    @property
    def plain(self) -> str:
        return "\n".join(piece.plain for piece in self.pieces)

    def split(self, limit: int) -> list[Piece]:
        return _grouped(self.pieces, limit, Quote)

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        return Quote(tuple(piece.rewritten(spans, code) for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class MarkdownList:
    """`marker`: "-", "*", "+", or "." and ")" of a numbered list, which begins at `start`. `tight`: no blank lines."""

    items: tuple[tuple[Piece, ...], ...]
    marker: str
    start: int = 1
    tight: bool = True

    @property
    def markdown(self) -> str:
        written = [self._item(number, item) for number, item in enumerate(self.items, self.start)]
        return ("\n" if self.tight else "\n\n").join(written)

    def _item(self, number: int, item: Sequence[Piece]) -> str:
        marker = f"{number}{self.marker}" if self.marker in ".)" else self.marker
        indent = "\n" + " " * (len(marker) + 1)
        # without a blank line before it "---" could end a heading or a table, or begin a list
        written = ("___" if self.tight and isinstance(piece, Rule) else piece.markdown for piece in item)
        text = ("\n" if self.tight else "\n\n").join(written)
        return re.sub(r"\n +(?=\n)", "\n", f"{marker} {text}".replace("\n", indent)).rstrip(" ")

    @property
    def plain(self) -> str:
        return "\n".join(piece.plain for item in self.items for piece in item)

    def split(self, limit: int) -> list[Piece]:
        """Between items; an item too long by itself goes on without its bullet, before the next one."""
        sizes = [len(self._item(number, item)) + 2 for number, item in enumerate(self.items, self.start)]
        parts: list[Piece] = []
        for first, end in _runs(sizes, limit):
            if sizes[first] > limit:
                parts += self._long_item(first, limit)
            else:
                parts.append(replace(self, items=self.items[first:end], start=self.start + first))
        return parts

    def _long_item(self, number: int, limit: int) -> list[Piece]:
        def listed(pieces: tuple[Piece, ...]) -> Piece:
            return replace(self, items=(pieces,), start=self.start + number)

        begun, *others = _grouped(self.items[number], limit, listed)
        loose = [piece for other in others if isinstance(other, MarkdownList) for piece in other.items[0]]
        return [begun, *loose]

    def rewritten(self, spans: Rewrite, code: Recode) -> Piece:
        items = tuple(tuple(piece.rewritten(spans, code) for piece in item) for item in self.items)
        return replace(self, items=items)


Piece = Paragraph | MarkdownHeading | Rule | Code | MarkdownTable | Quote | MarkdownList


def markdown_of(pieces: Sequence[Piece]) -> str:
    """The pieces as one Markdown document."""
    return "\n\n".join(piece.markdown for piece in pieces)


def _grouped(pieces: Sequence[Piece], limit: int, wrap: Callable[[tuple[Piece, ...]], Piece]) -> list[Piece]:
    """Pieces in as few wrapped groups as fit; one that does not fit alone is split first."""
    parts = [part for piece in pieces for part in _fitting(piece, limit, wrap)]
    sizes = [len(wrap((part,)).markdown) + 3 for part in parts]
    return [wrap(tuple(parts[first:end])) for first, end in _runs(sizes, limit)]


def _fitting(piece: Piece, limit: int, wrap: Callable[[tuple[Piece, ...]], Piece]) -> list[Piece]:
    """The piece in parts that fit with what is wrapped around them: a few characters a line."""
    if len(wrap((piece,)).markdown) <= limit:
        return [piece]
    size = limit
    parts = piece.split(size)
    while size > _MIN_INNER_CHARACTERS and any(len(wrap((part,)).markdown) > limit for part in parts):
        size = max(_MIN_INNER_CHARACTERS, size * 2 // 3)
        parts = piece.split(size)
    return parts


def _runs(sizes: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """(first, end) of as few runs of neighbours as fit; what does not fit is alone."""
    first = total = 0
    for position, size in enumerate(sizes):
        if position > first and total + size > limit:
            yield first, position
            first, total = position, 0
        total += size
    if sizes:
        yield first, len(sizes)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows in columns of one width, for where only monospace can show them; the first one underlined. A wide table's long cells take several lines."""
    columns = max(map(len, rows), default=0)
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    if sum(2 + max(_width(row[c]) for row in filled) for c in range(columns)) - 2 > MAX_TABLE_WIDTH:
        lines = [[_wrapped(cell) for cell in row] for row in filled]
    else:
        lines = [[[cell] for cell in row] for row in filled]
    widths = [max(_width(line) for row in lines for line in row[c]) for c in range(columns)]
    shown = [_line(cells, widths) for row in lines for cells in zip_longest(*row, fillvalue="")]
    head = max((len(cell) for cell in lines[0]), default=0) if lines else 0
    return "\n".join([*shown[:head], _line(["─" * w for w in widths], widths), *shown[head:]])


def _width(text: str) -> int:
    """Columns that a text takes in monospace: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _wrapped(cell: str) -> list[str]:
    return textwrap.wrap(cell, MAX_CELL_WIDTH, break_on_hyphens=False) or [""]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (w - _width(cell)) for cell, w in zip(cells, widths, strict=True)).rstrip()
