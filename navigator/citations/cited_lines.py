"""Which lines of a block a citation points at: an item, a term with its definition, a row; of other blocks all. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ingest.model import Block
from ingest.text.words import terms


def unit_lines(block: Block) -> list[range]:
    """The lines that are read together, in order. A line without a mark of its own goes on with the item before it; a term
    begins a new one after a definition, also a term inside of one."""
    lines = block.text.split("\n")
    if block.kind == "table":
        return [range(n, n + 1) for n, line in enumerate(lines) if line.strip()]
    if not block.marks:
        return [range(len(lines))]
    begins: list[int] = []
    defined = True
    marks = [*block.marks, ""]
    for n, mark in enumerate(block.marks):
        inner = mark.isspace() and marks[n + 1].isspace() and len(marks[n + 1]) > len(mark)
        new = defined and (inner or not mark) if block.kind == "terms" else bool(mark.strip())
        if new or not begins:
            begins.append(n)
        defined = bool(mark) and not (inner and new)
    return [range(begin, end) for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


def nearest_unit(claim: str, block: Block) -> str:
    """The unit that shares most words with the claim, the fewer units hold a word the more of it; the first of equals, and
    "" where none shares any. The header of a table is none."""
    lines = block.text.split("\n")
    spans = unit_lines(block)
    if block.kind == "table" and len(spans) > 1:
        del spans[0]
    units = ["\n".join(lines[span.start : span.stop]) for span in spans]
    wanted = set(terms(claim)) if len(units) > 1 else set()
    held = [wanted.intersection(terms(unit)) for unit in units]
    spread = Counter(word for words in held for word in words)
    weights = [sum(1 / spread[word] for word in words) for words in held]
    best = max(weights, default=0.0)
    return units[weights.index(best)] if best else ""


def as_in_text(quote: str, block: Block) -> str:
    """A quotation of the block, which may leave out lines, as it stands in the text: from its first line to its last. ""
    where its first line is none of the block's."""
    if quote in block.text:
        return quote
    wanted = [line.strip() for line in quote.split("\n") if line.strip()]
    shown = [line.strip() for line in replace(block, header="").shown.split("\n")]
    if not wanted or wanted[0] not in shown:
        return ""
    begin = end = shown.index(wanted[0])
    for line in wanted:
        end = shown.index(line, end) if line in shown[end:] else end
    return "\n".join(block.text.split("\n")[begin : end + 1])
