"""A block as a model is given it: Markdown, so that code is seen as code and a table as a table. Pure."""

from __future__ import annotations

from ingest.model import Block
from navigator.markdown.spans import fenced


def given_text(block: Block) -> str:
    """Code in a fence with its language, a table with its first row as the header; else as a reader sees it."""
    if not block.text.strip():
        return ""
    match block.kind:
        case "code":
            return fenced(block.text, block.language or "")
        case "table":
            return _table("\n".join(part for part in (block.header, block.text) if part))
        case _:
            return block.shown


def _table(text: str) -> str:
    """All rows as long as the longest. A table of one column, or of one row, is lines."""
    rows = [line.replace("|", "\\|").split("\t") for line in text.split("\n") if line.strip()]
    columns = max(map(len, rows))
    if columns == 1 or len(rows) == 1:
        return text.replace("\t", " | ")
    header, *body = (f"| {' | '.join([*row, *[''] * (columns - len(row))])} |" for row in rows)
    return "\n".join([header, "|" + "---|" * columns, *body])
