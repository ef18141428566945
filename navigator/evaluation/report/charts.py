"""The pictures of a report: which points, lines and axes a summary gives. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from navigator.evaluation.report.axes import amounts, shares
from navigator.evaluation.report.figures import MISSING, interval, money, named, percent, seconds
from navigator.evaluation.report.markup import Markup
from navigator.evaluation.report.plots import Frame, Point, Scale, curve, scatter
from navigator.evaluation.report.rows import Row
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.tables import ReportTable
from navigator.evaluation.statistics import pareto

FRONTIER = "The dashed line is the Pareto frontier: for those on it, no other contender is better and takes less."
GUIDES = (0.2, 0.4, 0.6, 0.8)
"""F1 of the curves in the plot of P against R."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot with the table of its figures; `plot` is None where there is nothing to draw, and the table's
    `about` says why."""

    plot: Markup | None
    table: ReportTable


@dataclass(frozen=True, slots=True)
class Gain:
    """What a contender is worth: its share, and the ends of its interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


def charts(summary: RunSummary) -> tuple[Chart, ...]:
    if summary.rows and all(row.contender.reader for row in summary.rows):
        return (_reading(summary.rows),)
    return (
        _against(summary, "cost", "Cost", "US dollars a question", lambda row: row.cost, money),
        _against(summary, "latency", "Latency", "Seconds a question, median", lambda row: row.seconds_p50, seconds),
        _reading(summary.rows),
    )


def gain_name(rows: Sequence[Row]) -> str:
    """What contenders are compared by: the judge's verdicts, else the gold answers' words."""
    return "Accuracy" if any(row.accuracy for row in rows) else "Token recall"


def gain(row: Row, name: str) -> Gain | None:
    if name == "Accuracy":
        return Gain(row.accuracy.value, row.accuracy.low, row.accuracy.high) if row.accuracy else None
    return None if row.token_recall is None else Gain(row.token_recall)


def tick(value: float) -> str:
    """A number of an axis without an exponent."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


def share_scale(values: Sequence[float], title: str) -> Scale:
    return Scale(shares(values), title, lambda value: f"{100 * value:.0f}%")


def _against(
    summary: RunSummary,
    name: str,
    what: str,
    unit: str,
    paid: Callable[[Row], float | None],
    write: Callable[[float | None], str],
) -> Chart:
    """Accuracy against what it takes. Scripted readers are left out: they take nothing and are no answers."""
    better = gain_name(summary.rows)
    real = [row for row in summary.rows if row.asked and not row.contender.reader]
    points = _points(real, paid, better)
    title = f"{better} against {what.lower()}"
    on_line = {point.label for point in points if point.best}
    rows = [
        (named(row.contender), write(paid(row)), _told(row, better), "yes" if named(row.contender) in on_line else "")
        for row in real
    ]
    about = FRONTIER if points else f"There is no picture: {what.lower()} and {better.lower()} are not both known."
    missing = [named(row.contender) for row in real if paid(row) is None]
    if points and missing:
        about += f" Not shown, {what.lower()} unknown: {', '.join(missing)}."
    table = ReportTable(title, about, ("Contender", what, better, "On the frontier"), tuple(rows))
    if not points:
        return Chart(None, table)
    axis = amounts([point.x for point in points])
    reach = [end for point in points for end in (point.y, point.low, point.high) if end is not None]
    across = Scale(axis, f"{unit}{', logarithmic' if axis.logarithmic else ''}", tick)
    told = f"{len(points)} contenders; on the frontier: {', '.join(sorted(on_line))}."
    return Chart(scatter(Frame(name, title, told, across, share_scale(reach, better)), points), table)


def _points(rows: Sequence[Row], paid: Callable[[Row], float | None], better: str) -> list[Point]:
    """Of those with both figures; the frontier is marked."""
    points = [
        Point(named(row.contender), x, y.value, y.low, y.high)
        for row in rows
        if (x := paid(row)) is not None and (y := gain(row, better)) is not None
    ]
    frontier = set(pareto([(point.x, point.y) for point in points]))
    return [replace(point, best=index in frontier) for index, point in enumerate(points)]


def _told(row: Row, better: str) -> str:
    return interval(row.accuracy) if better == "Accuracy" else percent(row.token_recall)


def _reading(rows: Sequence[Row]) -> Chart:
    points = [
        Point(named(row.contender), row.recall, row.precision, scripted=bool(row.contender.reader))
        for row in rows
        if row.recall is not None and row.precision is not None
    ]
    title = "Precision against recall of what was read"
    about = "Curves join places of equal F1. Hollow points are scripted readers."
    if not points:
        about = "There is no picture: no question has gold that the index knows, or nothing was read."
    head = ("Contender", "R", "P", "F1")
    figures = [(named(r.contender), percent(r.recall), percent(r.precision), percent(r.reading_f1)) for r in rows]
    table = ReportTable(title, about, head, tuple(cells for cells in figures if MISSING not in cells))
    if not points:
        return Chart(None, table)
    whole = (0.0, 1.0)
    told = f"{len(points)} contenders."
    frame = Frame("reading", title, told, share_scale(whole, "Recall"), share_scale(whole, "Precision"))
    return Chart(scatter(frame, points, [_equal_f1(frame, f1) for f1 in GUIDES]), table)


def _equal_f1(frame: Frame, f1: float) -> Markup:
    """P = F1 * R / (2R - F1), from P = 1 to R = 1."""
    start = f1 / (2 - f1)
    steps = [start + (1 - start) * step / 40 for step in range(41)]
    return curve(frame, [(r, f1 * r / (2 * r - f1)) for r in steps], f"F1 {f1:g}")
