"""The charts of a report: which points and lines a summary gives, each with the table of its figures. Pure; plots.py
draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from navigator.evaluation.report.formats import MISSING, interval, money, named, percent, seconds
from navigator.evaluation.report.scores import Row
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.tables import ReportTable
from navigator.evaluation.results import Contender
from navigator.evaluation.statistics import pareto

FRONTIER = "The dashed line is the Pareto frontier: for those on it, no other contender is better and takes less."


@dataclass(frozen=True, slots=True)
class Point:
    """`y` is a share (0 to 1); `low` and `high` end its error bar. `best`: on the Pareto frontier. `scripted`: drawn
    hollow."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    best: bool = False
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """Labelled points and their frontier. `reading`: recall across and precision up, with curves of equal F1;
    otherwise an amount across."""

    x_title: str
    y_title: str
    points: tuple[Point, ...]
    reading: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """One line a figure, over the values of one setting."""

    x_title: str
    y_title: str
    lines: tuple[tuple[str, tuple[Point, ...]], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot with the table of its figures; `plot` is None where there is nothing to draw, and the table's
    `about` says why."""

    plot: Scatter | Sweep | None
    table: ReportTable


def charts(summary: RunSummary) -> tuple[Chart, ...]:
    """Where only scripted readers took part, there is nothing but what they read: they take nothing and are no
    answers."""
    reading = _reading(summary.rows)
    if summary.rows and all(row.contender.reader for row in summary.rows):
        return reading, *_sweeps(summary)
    return (
        _against(summary, "Cost", "US dollars a question", lambda row: row.cost, money),
        _against(summary, "Latency", "Seconds a question, median", lambda row: row.seconds_p50, seconds),
        reading,
        *_sweeps(summary),
    )


def _gain_name(rows: Sequence[Row]) -> str:
    """What contenders are compared by: the judge's verdicts, else the gold answers' words."""
    return "Accuracy" if any(row.accuracy for row in rows) else "Token recall"


def _gain(row: Row, name: str) -> tuple[float, float | None, float | None] | None:
    """The share, and the ends of its interval where it has one."""
    if name == "Accuracy":
        return (row.accuracy.value, row.accuracy.low, row.accuracy.high) if row.accuracy else None
    return None if row.token_recall is None else (row.token_recall, None, None)


def _against(
    summary: RunSummary,
    what: str,
    unit: str,
    amount: Callable[[Row], float | None],
    write: Callable[[float | None], str],
) -> Chart:
    """Accuracy against what it takes. Scripted readers are left out."""
    better = _gain_name(summary.rows)
    real = [row for row in summary.rows if row.asked and not row.contender.reader]
    points = [
        Point(named(row.contender), x, *y)
        for row in real
        if (x := amount(row)) is not None and (y := _gain(row, better)) is not None
    ]
    frontier = set(pareto([(point.x, point.y) for point in points]))
    points = [replace(point, best=index in frontier) for index, point in enumerate(points)]
    best = {point.label for point in points if point.best}
    rows = [
        (
            named(row.contender),
            write(amount(row)),
            interval(row.accuracy) if better == "Accuracy" else percent(row.token_recall),
            "yes" if named(row.contender) in best else "",
        )
        for row in real
    ]
    about = FRONTIER if points else f"There is no picture: {what.lower()} and {better.lower()} are not both known."
    missing = [named(row.contender) for row in real if amount(row) is None]
    if points and missing:
        about += f" Not shown, {what.lower()} unknown: {', '.join(missing)}."
    head = ("Contender", what, better, "On the frontier")
    table = ReportTable(f"{better} against {what.lower()}", about, head, tuple(rows))
    return Chart(Scatter(unit, better, tuple(points)) if points else None, table)


def _reading(rows: Sequence[Row]) -> Chart:
    points = [
        Point(named(row.contender), row.recall, row.precision, scripted=bool(row.contender.reader))
        for row in rows
        if row.recall is not None and row.precision is not None
    ]
    about = "Curves join places of equal F1. Hollow points are scripted readers."
    if not points:
        about = "There is no picture: no question has gold that the index knows, or nothing was read."
    figures = [(named(r.contender), percent(r.recall), percent(r.precision), percent(r.reading_f1)) for r in rows]
    table = ReportTable(
        "Precision against recall of what was read",
        about,
        ("Contender", "R", "P", "F1"),
        tuple(cells for cells in figures if MISSING not in cells),
    )
    return Chart(Scatter("Recall", "Precision", tuple(points), reading=True) if points else None, table)


@dataclass(frozen=True, slots=True)
class _SweptSetting:
    """`value` of a contender, and `rest`: everything else that makes it what it is."""

    name: str
    title: str
    value: Callable[[Contender], int | None]
    rest: Callable[[Contender], tuple[object, ...]]


def _own_k(contender: Contender) -> int | None:
    """Chunks retrieved, unless they follow from n (k' = 4n, RIT-RAG section 4)."""
    return None if contender.n is not None and contender.k == 4 * contender.n else contender.k


SWEPT_SETTINGS = (
    _SweptSetting(
        "n", "nodes a forest", lambda c: c.n, lambda c: (c.strategy, _own_k(c), c.expansions, c.structure, c.reader)
    ),
    _SweptSetting(
        "k", "chunks retrieved", lambda c: c.k, lambda c: (c.strategy, c.n, c.expansions, c.structure, c.reader)
    ),
    _SweptSetting("E", "expansions", lambda c: c.expansions, lambda c: (c.strategy, c.n, c.k, c.structure, c.reader)),
)
READING_FIGURES: tuple[tuple[str, Callable[[Row], float | None]], ...] = (
    ("P", lambda row: row.precision),
    ("R", lambda row: row.recall),
    ("F1 of P and R", lambda row: row.reading_f1),
)


def _sweeps(summary: RunSummary) -> Iterator[Chart]:
    """What one setting changes: one chart for each setting and each group of contenders that have two or more
    values of it and differ in nothing else."""
    for setting in SWEPT_SETTINGS:
        groups: dict[tuple[object, ...], dict[int, Row]] = {}
        for row in summary.rows:
            value = setting.value(row.contender)
            if value is not None and row.asked:
                groups.setdefault(setting.rest(row.contender), {}).setdefault(value, row)
        for rows in groups.values():
            if len(rows) > 1:
                yield from _sweep(setting, dict(sorted(rows.items())), _gain_name(summary.rows))


def _sweep(setting: _SweptSetting, rows: dict[int, Row], better: str) -> Iterator[Chart]:
    """No chart where no figure is known."""
    lines: list[tuple[str, tuple[Point, ...]]] = []
    gains = {value: gain for value, row in rows.items() if (gain := _gain(row, better))}
    if gains:
        lines.append((better, tuple(Point(better, value, *gain) for value, gain in gains.items())))
    for title, figure in READING_FIGURES:
        known = tuple(Point(title, value, y) for value, row in rows.items() if (y := figure(row)) is not None)
        if known:
            lines.append((title, known))
    if not lines:
        return
    first = next(iter(rows.values())).contender
    marks = [mark for mark, given in (("scripted", first.reader), ("no structure", not first.structure)) if given]
    who = f"{first.strategy} ({', '.join(marks)})" if marks else first.strategy
    shown = {title: {point.x: point.y for point in points} for title, points in lines}
    table = ReportTable(
        f"{who}: what {setting.name} changes",
        f"These contenders differ in {setting.name} alone.",
        (setting.name, *shown),
        tuple((str(value), *(percent(of.get(value)) for of in shown.values())) for value in rows),
    )
    yield Chart(Sweep(f"{setting.name}, {setting.title}", "Share", tuple(lines)), table)
