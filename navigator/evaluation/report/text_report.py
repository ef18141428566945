"""A summary as Markdown and as JSON. Pure.

Markdown: what wins at what cost, then the tables, then what was left out. JSON: every figure of the report, of each
contender and of each question; names are those of RunSummary and what it is made of, null is what has no ground,
shares are 0 to 1, costs US dollars.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict

from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.tables import ReportTable, tables

NOTES_SHOWN = 20
_MARKDOWN_SIGN = re.compile(r"([\\`*_\[\]<>|~#])")


def to_json(summary: RunSummary) -> str:
    figures = {"headline": headline(summary), **asdict(summary)}
    return json.dumps(figures, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def to_markdown(summary: RunSummary, title: str = "Evaluation") -> str:
    contenders = f"{len(summary.rows)} contender{'' if len(summary.rows) == 1 else 's'}"
    asked = f"{summary.questions} question{'' if summary.questions == 1 else 's'}"
    parts = [f"# {_plain(title)}", _plain(" ".join(headline(summary))), f"{asked}, {contenders}."]
    parts += [f"## {table.title}\n\n{_plain(table.about)}\n\n{_table(table)}" for table in tables(summary)]
    if summary.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {_plain(note)}" for note in shown_notes(summary.notes)))
    return "\n\n".join(parts) + "\n"


def shown_notes(notes: Sequence[str]) -> list[str]:
    """The first of them, and how many more there are."""
    more = len(notes) - NOTES_SHOWN
    return [*notes[:NOTES_SHOWN], *([f"{more} more notes stand in the JSON report."] if more > 0 else [])]


def _table(table: ReportTable) -> str:
    rule = "|".join([" :-- ", *(" --: " for _ in table.head[1:])])
    lines = [_line(table.head), f"|{rule}|", *map(_line, table.rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKDOWN_SIGN.sub(r"\\\1", " ".join(text.split()))
