"""Charts drawn as SVG by matplotlib, to stand inside a page: text stays text, colours are the page's style sheet's,
and the same chart gives the same bytes."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from io import StringIO
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter
from matplotlib.transforms import Bbox

from navigator.evaluation.report.charts import Point, Scatter, Sweep
from navigator.evaluation.report.formats import xml_text

COLOURS = {
    "--ink": "#1b1f24",
    "--soft": "#57606a",
    "--paper": "#ffffff",
    "--rule": "#d5dae0",
    "--s0": "#0b62c4",
    "--s1": "#a84300",
    "--s2": "#17703a",
    "--s3": "#7a3fb0",
}
"""What matplotlib draws with -> in its place, the variable of the page's style sheet that is light or dark."""
INK, SOFT, PAPER, RULE, *SERIES = COLOURS.values()
SERIES_DASHES = ("-", (0, (7, 3)), (0, (2, 3)), (0, (9, 3, 2, 3)))
STYLE: dict[Any, object] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar in a contender's name is a dollar
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.bottom": False,
    "ytick.left": False,
}
SIZE = (6.8, 4.3)
"""Inches of 72 SVG units."""
SCATTER_AREA = (0.1, 0.125, 0.88, 0.825)
SWEEP_AREA = (0.1, 0.125, 0.66, 0.825)
"""Left, bottom, width and height of the axes, of the whole; room for ticks and titles, beside a sweep for its legend."""
LOGARITHMIC_FROM = 20
"""Largest by smallest amount, from which amounts are shown on a logarithmic axis."""
EQUAL_F1 = (0.2, 0.4, 0.6, 0.8)
"""F1 of the curves in the plot of precision against recall."""
MAX_LABEL_CHARACTERS = 34
LABEL_STEP = 11.0
"""Points of 1/72 inch between the places that are tried for a label, one above the other."""
_ALIGNED = {"left": 0.0, "center": 0.5, "right": 1.0}
"""How much of a label is left of its place."""
_PLACES = (
    *((9.0, 0.0), (-9.0, 0.0), (0.0, LABEL_STEP), (0.0, -LABEL_STEP)),
    *((side, sign * LABEL_STEP * steps) for steps in range(1, 15) for sign in (1, -1) for side in (9.0, -9.0)),
)
TICK_APART = 0.06
"""Of the axis's length: ticks that are nearer would run into one another."""


def svg(plot: Scatter | Sweep, chart: str) -> str:
    """One `<svg>` element. `chart` is unique on its page: it makes the ids."""
    with rc_context({**STYLE, "svg.hashsalt": chart}), warnings.catch_warnings():
        # Names may be in any script; the browser has fonts that matplotlib has not.
        warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
        figure = draw(plot)
        drawn = StringIO()
        nameless = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # no date, no address of a project
        figure.savefig(drawn, format="svg", transparent=True, metadata=nameless)
    found = drawn.getvalue()
    found = found[found.index("<svg") :]
    found = re.sub(r'<g id="[^"]*"', "<g", found)  # axes_1 and its kin, the same in every plot of a page
    found = re.sub(r' (?:width|height)="[\d.]+pt"', "", found, count=2)
    for variable, colour in COLOURS.items():
        found = re.sub(rf"(?<=: ){colour}\b", f"var({variable})", found)
    return found


def draw(plot: Scatter | Sweep) -> Figure:
    figure = Figure(figsize=SIZE)
    axes = figure.add_axes(SCATTER_AREA if isinstance(plot, Scatter) else SWEEP_AREA)
    axes.set_xlabel(plot.x_title)
    axes.set_ylabel(plot.y_title)
    if isinstance(plot, Scatter):
        _scatter(axes, plot)
    else:
        _sweep(axes, plot)
    return figure


def _scatter(axes: Axes, plot: Scatter) -> None:
    if plot.reading:
        _whole(axes.xaxis)
        _whole(axes.yaxis)
        axes.set(xlim=(-0.02, 1.04), ylim=(-0.02, 1.04))
        _equal_f1(axes)
    else:
        _amounts(axes, [point.x for point in plot.points])
        _shares(axes, plot.points)
    place_labels(axes, plot.points)
    frontier = sorted((point.x, point.y) for point in plot.points if point.best)
    axes.plot([x for x, _ in frontier], [y for _, y in frontier], color=SERIES[0], linewidth=1.2, dashes=(5, 3))
    for point in plot.points:
        colour = SERIES[0] if point.best else SOFT
        _error_bars(axes, [point], SOFT)
        face, edge = (PAPER, SOFT) if point.scripted else (colour, PAPER)
        axes.plot(point.x, point.y, "o", markersize=8, color=face, markeredgecolor=edge, markeredgewidth=1.2, zorder=3)


def _sweep(axes: Axes, plot: Sweep) -> None:
    _shares(axes, [point for _, points in plot.lines for point in points])
    for (title, points), colour, dashes in zip(plot.lines, SERIES, SERIES_DASHES, strict=False):
        _error_bars(axes, points, colour)
        x, y = [point.x for point in points], [point.y for point in points]
        axes.plot(x, y, "o", linestyle=dashes, color=colour, markeredgecolor=PAPER, markersize=7, label=title)
    axes.set_xticks(_apart(sorted({point.x for _, points in plot.lines for point in points})))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, handlelength=3.5)


def _apart(values: Sequence[float]) -> list[float]:
    """The values as ticks, without those whose numbers would run into the one before."""
    kept = [values[0]]
    kept += [v for v in values[1:] if (v - kept[-1]) / ((values[-1] - values[0]) or 1) >= TICK_APART]
    return kept


def _error_bars(axes: Axes, points: Sequence[Point], colour: str) -> None:
    for p in points:
        if p.low is not None and p.high is not None:
            reach = [[max(0.0, p.y - p.low)], [max(0.0, p.high - p.y)]]
            axes.errorbar(p.x, p.y, reach, fmt="none", color=colour, elinewidth=0.9, capsize=3, zorder=2)


def _whole(axis: Axis) -> None:
    axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 10]))


def _shares(axes: Axes, points: Sequence[Point]) -> None:
    """In whole tenths around the points and their bars, and a little more so that points at an end stay whole."""
    ends = [end for point in points for end in (point.y, point.low, point.high) if end is not None]
    low, high = math.floor(10 * min(ends) - 0.1) / 10, math.ceil(10 * max(ends) + 0.1) / 10
    axes.set_ylim(max(0.0, low) - 0.02, min(1.0, high) + 0.02)
    _whole(axes.yaxis)


def _amounts(axes: Axes, amounts: Sequence[float]) -> None:
    """From 0, or logarithmic where they lie far apart."""
    least, most = min(amounts), max(amounts)
    if least > 0 and most / least >= LOGARITHMIC_FROM:
        axes.set_xscale("log")
        axes.set_xlim(least / 1.5, most * 1.5)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if most / least <= 1000 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(f"{axes.get_xlabel()}, logarithmic")
    else:
        axes.set_xlim(0, 1.12 * most or 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.12f}".rstrip("0").rstrip(".")))


def _equal_f1(axes: Axes) -> None:
    """P = F1 * R / (2R - F1), from P = 1 to R = 1."""
    for f1 in EQUAL_F1:
        start = f1 / (2 - f1)
        recall = [start + (1 - start) * step / 40 for step in range(41)]
        precision = [f1 * r / (2 * r - f1) for r in recall]
        axes.plot(recall, precision, color=SOFT, linewidth=0.8, dashes=(1, 4))
        axes.annotate(f"F1 {f1:g}", (start, 1), (0, 2), textcoords="offset points", ha="center", fontsize=7)


def place_labels(axes: Axes, points: Sequence[Point]) -> list[Annotation]:
    """A label beside each point, at the place that hides least of the points, their bars, other labels and the page
    around: the nearest of several. A thin line leads to its point from farther off. The axes' limits must be set."""
    figure = axes.figure
    unit = figure.dpi / 72
    spots = [axes.transData.transform((point.x, point.y)) for point in points]
    taken = [Bbox.from_bounds(x - 5 * unit, y - 5 * unit, 10 * unit, 10 * unit) for x, y in spots]
    for point in points:
        if point.low is not None and point.high is not None:
            ends = axes.transData.transform([(point.x, point.low), (point.x, point.high)])
            taken.append(Bbox(ends).padded(2 * unit))
    room = Bbox.from_extents(axes.bbox.x0, axes.bbox.y0, figure.bbox.x1, figure.bbox.y1)
    labels = []
    for point, (x, y) in zip(points, spots, strict=True):
        label = _label(axes, point)
        size = Text.get_window_extent(label)  # of the words alone: Annotation's own adds the line
        boxes = {
            (across, up): Bbox.from_bounds(
                x + across * unit - _ALIGNED[_side(across)] * size.width,
                y + up * unit - size.height / 2,
                size.width,
                size.height,
            )
            for across, up in _PLACES
        }
        best = min(boxes, key=lambda place: boxes[place].count_overlaps(taken) + 100 * _sticks_out(boxes[place], room))
        label.xyann = best
        label.set_horizontalalignment(_side(best[0]))
        if label.arrow_patch:
            label.arrow_patch.set_visible(abs(best[1]) > LABEL_STEP)
        taken.append(boxes[best])
        labels.append(label)
    return labels


def _label(axes: Axes, point: Point) -> Annotation:
    name = xml_text(point.label)
    name = name if len(name) <= MAX_LABEL_CHARACTERS else f"{name[: MAX_LABEL_CHARACTERS - 1]}…"
    line = {"arrowstyle": "-", "color": SOFT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
    return axes.annotate(
        name,
        (point.x, point.y),
        (0, 0),
        textcoords="offset points",
        va="center",
        arrowprops=line,
        annotation_clip=False,
    )


def _side(across: float) -> Literal["left", "center", "right"]:
    return "left" if across > 0 else "right" if across < 0 else "center"


def _sticks_out(box: Bbox, room: Bbox) -> bool:
    return not (room.x0 <= box.x0 and box.x1 <= room.x1 and room.y0 <= box.y0 and box.y1 <= room.y1)
