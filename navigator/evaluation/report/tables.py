"""The tables of a report: made once, shown as Markdown and as HTML. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from navigator.evaluation.report.formats import (
    MISSING,
    chance,
    interval,
    money,
    named,
    number,
    percent,
    points,
    seconds,
)
from navigator.evaluation.report.scores import Row
from navigator.evaluation.report.summary import Pair, RunSummary
from navigator.evaluation.results import DIMENSIONS


@dataclass(frozen=True, slots=True)
class ReportTable:
    """`about` is a sentence or two on how to read it. The first column names the row."""

    title: str
    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


SETS_SHOWN = 30
"""Lines of the table of overlap."""
Column = tuple[str, Callable[[Row], str]]

ANSWERS: tuple[Column, ...] = (
    ("Right (95% interval)", lambda row: interval(row.accuracy)),
    ("Exact match", lambda row: percent(row.exact)),
    ("Gold in answer", lambda row: percent(row.em_recall)),
    ("String F1", lambda row: percent(row.f1)),
    ("Token recall", lambda row: percent(row.token_recall)),
    ("Nuggets, by words", lambda row: percent(row.nuggets)),
    ("Nuggets, by judge", lambda row: percent(row.judged_nuggets)),
    ("Answered / not found / failed", lambda row: f"{row.answered} / {row.not_found} / {row.failed}"),
)
READING: tuple[Column, ...] = (
    ("P", lambda row: percent(row.precision)),
    ("R", lambda row: percent(row.recall)),
    ("F1", lambda row: percent(row.reading_f1)),
    ("Questions with gold", lambda row: str(row.with_gold) if row.with_gold else MISSING),
    ("Nodes read", lambda row: number(row.nodes_read)),
    ("Searches", lambda row: number(row.searches)),
    ("Reads", lambda row: number(row.reads)),
    ("Nodes a Read", lambda row: number(row.nodes_a_read)),
)
COSTS: tuple[Column, ...] = (
    ("Tokens in", lambda row: number(row.input_tokens)),
    ("Tokens out", lambda row: number(row.output_tokens)),
    ("Cached (read / written)", lambda row: f"{number(row.cache_read_tokens)} / {number(row.cache_write_tokens)}"),
    ("Cost a question", lambda row: money(row.cost)),
    ("Cost in all", lambda row: money(row.cost_in_all)),
    ("Cost known for", lambda row: f"{row.cost_known} of {row.asked}"),
    ("Seconds, median", lambda row: seconds(row.seconds_p50)),
    ("Seconds, p95", lambda row: seconds(row.seconds_p95)),
    ("Tokens before", lambda row: f"{row.preprocessing.tokens:,}" if row.preprocessing else MISSING),
    ("Cost before", lambda row: money(row.preprocessing.cost) if row.preprocessing else MISSING),
)


def tables(summary: RunSummary) -> tuple[ReportTable, ...]:
    """Those that have something to show, in the order of a report."""
    made = [
        _of_rows(
            "Answers",
            "Right: by the judge. Exact match, gold in answer, string F1 and token recall compare words with the gold "
            "answers. Answers that were not given count as wrong.",
            ANSWERS,
            [row for row in summary.rows if not row.contender.reader],
        ),
        _of_rows(
            "Reading",
            "P: how much of what was read is gold. R: how much of the gold was read. F1 is made from these two. "
            "The rest are means a question.",
            READING,
            summary.rows,
        ),
        _of_rows(
            "Cost and time",
            "Tokens are means a question. Before: what a strategy costs once, ahead of the first question.",
            COSTS,
            summary.rows,
        ),
        _grades(summary),
        _retrieval(summary),
        _pairs(summary),
        _overlap(summary),
    ]
    return tuple(table for table in made if table.rows)


def _of_rows(title: str, about: str, columns: Sequence[Column], rows: Sequence[Row]) -> ReportTable:
    head = ("Contender", *(name for name, _ in columns))
    return ReportTable(
        title, about, head, tuple((named(row.contender), *(show(row) for _, show in columns)) for row in rows)
    )


def _grades(summary: RunSummary) -> ReportTable:
    columns: list[Column] = [(name.capitalize(), _grade(name)) for name in DIMENSIONS]
    graded = [row for row in summary.rows if row.grades]
    return _of_rows("Graded answers", "Means of a judge's grades from 0 to 1, one call a dimension.", columns, graded)


def _grade(dimension: str) -> Callable[[Row], str]:
    return lambda row: f"{row.grades[dimension]:.3f}" if dimension in row.grades else MISSING


def _retrieval(summary: RunSummary) -> ReportTable:
    rows = [(str(each.n), percent(each.forest), percent(each.page)) for each in summary.retrieval]
    about = (
        "Plain retrieval, no model. forest@n: the gold section is one of the n best nodes or above one "
        f"({summary.with_section} questions). page@n: the gold page holds one of them ({summary.with_page} questions)."
    )
    return ReportTable("Retrieval", about, ("n", "forest@n", "page@n"), tuple(rows))


def _pairs(summary: RunSummary) -> ReportTable:
    names = {row.contender.label: named(row.contender) for row in summary.rows}
    ordered = sorted(summary.pairs, key=lambda pair: (pair.p_corrected is None, pair.p_corrected or 0.0))
    about = (
        "Two contenders on the same questions. Only first, only second: questions that just one of them got right. "
        "Differences are in percentage points, the first less the second. p: McNemar's exact test for right answers, "
        "a sign-flip test for R, both corrected for the number of pairs (Holm); below 0.05 is beyond chance."
    )
    head = ("Pair", "Judged on both", "Only first", "Only second", "Difference", "p", "Difference of R", "p of R")
    return ReportTable("Pairs", about, head, tuple(_pair(pair, names) for pair in ordered))


def _pair(pair: Pair, names: dict[str, str]) -> tuple[str, ...]:
    return (
        f"{names[pair.first]} / {names[pair.second]}",
        str(pair.judged) if pair.judged else MISSING,
        str(pair.only_first) if pair.judged else MISSING,
        str(pair.only_second) if pair.judged else MISSING,
        points(pair.difference),
        chance(pair.p_corrected),
        points(pair.recall_difference),
        chance(pair.recall_p_corrected),
    )


def _overlap(summary: RunSummary) -> ReportTable:
    """As an UpSet plot: a line for each set of contenders, ticked where they are right."""
    labels = [row.contender.label for row in summary.rows if row.accuracy]
    rows = [
        (str(each.questions), *("✓" if label in each.right else "·" for label in labels))
        for each in summary.overlap[:SETS_SHOWN]
    ]
    about = "How many questions exactly the ticked contenders got right, of those on which all have a verdict."
    if rest := [each.questions for each in summary.overlap[SETS_SHOWN:]]:
        about += f" {len(rest)} smaller sets, of {sum(rest)} questions together, are left out."
    head = ("Questions", *(named(row.contender) for row in summary.rows if row.accuracy))
    return ReportTable("Overlap of right answers", about, head, tuple(rows))
