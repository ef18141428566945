"""What one setting changes: contenders that differ in n, in k or in E alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from navigator.evaluation.report.axes import Axis
from navigator.evaluation.report.charts import Chart, Gain, gain, gain_name, share_scale, tick
from navigator.evaluation.report.figures import percent
from navigator.evaluation.report.plots import Frame, Point, Scale, lines
from navigator.evaluation.report.rows import Row
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.tables import ReportTable
from navigator.evaluation.results import Contender


@dataclass(frozen=True, slots=True)
class Setting:
    """`value` of a contender, and `rest`: everything else that makes it what it is."""

    name: str
    title: str
    value: Callable[[Contender], int | None]
    rest: Callable[[Contender], tuple[object, ...]]


def _chunks(contender: Contender) -> int | None:
    """Chunks retrieved, unless they follow from n (k' = 4n, RIT-RAG section 4)."""
    return None if contender.n is not None and contender.k == 4 * contender.n else contender.k


ROOM = 110.0
"""Pixels for the names of lines at their right ends."""
SETTINGS = (
    Setting(
        "n", "nodes a forest", lambda c: c.n, lambda c: (c.strategy, _chunks(c), c.expansions, c.structure, c.reader)
    ),
    Setting("k", "chunks retrieved", lambda c: c.k, lambda c: (c.strategy, c.n, c.expansions, c.structure, c.reader)),
    Setting("E", "expansions", lambda c: c.expansions, lambda c: (c.strategy, c.n, c.k, c.structure, c.reader)),
)


def sweeps(summary: RunSummary) -> tuple[Chart, ...]:
    """One chart for each setting and each group of contenders that have two or more values of it and differ
    in nothing else."""
    found: list[Chart] = []
    for setting in SETTINGS:
        groups: dict[tuple[object, ...], dict[int, Row]] = {}
        for row in summary.rows:
            value = setting.value(row.contender)
            if value is not None and row.asked:
                groups.setdefault(setting.rest(row.contender), {}).setdefault(value, row)
        for rows in groups.values():
            if len(rows) > 1:
                chart = _chart(setting, dict(sorted(rows.items())), f"sweep-{len(found)}", gain_name(summary.rows))
                found += [chart] if chart else []
    return tuple(found)


def _chart(setting: Setting, rows: dict[int, Row], name: str, better: str) -> Chart | None:
    """None where no figure is known."""
    figures: tuple[tuple[str, Callable[[Row], Gain | None]], ...] = (
        (better, lambda row: gain(row, better)),
        ("P", lambda row: _gain(row.precision)),
        ("R", lambda row: _gain(row.recall)),
        ("F1 of P and R", lambda row: _gain(row.reading_f1)),
    )
    series: list[tuple[str, list[Point]]] = []
    for title, figure in figures:
        known = [(value, found) for value, row in rows.items() if (found := figure(row))]
        if known:
            series.append((title, [Point(title, value, y.value, y.low, y.high) for value, y in known]))
    if not series:
        return None
    first = next(iter(rows.values())).contender
    marks = [mark for mark, given in (("scripted", first.reader), ("no structure", not first.structure)) if given]
    who = f"{first.strategy} ({', '.join(marks)})" if marks else first.strategy
    title = f"{who}: what {setting.name} changes"
    values = list(rows)
    reach = [end for _, points in series for p in points for end in (p.y, p.low, p.high) if end is not None]
    x = Scale(Axis(values[0], values[-1], _apart(values)), f"{setting.name}, {setting.title}", tick)
    frame = Frame(name, title, f"Lines: {', '.join(each for each, _ in series)}.", x, share_scale(reach, "Share"), ROOM)
    shown = {each: {point.x: point.y for point in points} for each, points in series}
    cells = [(str(value), *(percent(shown[each].get(value)) for each, _ in series)) for value in values]
    about = f"These contenders differ in {setting.name} alone."
    table = ReportTable(title, about, (setting.name, *(each for each, _ in series)), tuple(cells))
    return Chart(lines(frame, series), table)


def _gain(share: float | None) -> Gain | None:
    return None if share is None else Gain(share)


def _apart(values: Sequence[int]) -> tuple[float, ...]:
    """The values as ticks, without those whose numbers would run into the one before."""
    span = values[-1] - values[0]
    kept = [values[0]]
    for value in values[1:]:
        if (value - kept[-1]) / span >= 0.06:
            kept.append(value)
    return tuple(kept)
