"""Plots as inline SVG, coloured by the page's style sheet. Pure.

Every plot carries a title and a description; the page puts a table of the same figures beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from navigator.evaluation.report.axes import Axis
from navigator.evaluation.report.labels import LABEL_HEIGHT, Box, place, spread
from navigator.evaluation.report.markup import Markup, element, joined

WIDTH, HEIGHT = 640.0, 400.0
LEFT, TOP, BOTTOM = 64.0, 30.0, 56.0
"""Room around the points for ticks and titles, and above them for a label."""
CHARACTER = 6.9
"""Pixels, of a label's letters on average."""
LONGEST_LABEL = 34


@dataclass(frozen=True, slots=True)
class Point:
    """`low` and `high` end an error bar. `best`: on the Pareto frontier. `scripted`: drawn hollow."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    best: bool = False
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis with its title, and how its ticks are written."""

    axis: Axis
    title: str
    write: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Frame:
    """What every plot has. `name` is unique on its page and makes the ids."""

    name: str
    title: str
    description: str
    x: Scale
    y: Scale
    right: float = 24.0
    """Room beside the points, in pixels."""

    @property
    def area(self) -> Box:
        """Where the points are."""
        return Box(LEFT, TOP, WIDTH - LEFT - self.right, HEIGHT - TOP - BOTTOM)

    def across(self, value: float) -> float:
        return self.area.left + self.area.width * self.x.axis.at(value)

    def down(self, value: float) -> float:
        return self.area.top + self.area.height * (1 - self.y.axis.at(value))

    def draw(self, *children: Markup) -> Markup:
        return element(
            "svg",
            element("title", self.title, id=f"{self.name}-title"),
            element("desc", self.description, id=f"{self.name}-desc"),
            self._grid(),
            *children,
            viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
            role="img",
            aria_labelledby=f"{self.name}-title {self.name}-desc",
        )

    def _grid(self) -> Markup:
        area = self.area
        bottom, right = area.top + area.height, area.left + area.width
        parts = []
        for value in self.x.axis.ticks:
            x = self.across(value)
            parts.append(_line(x, area.top, x, bottom, "grid"))
            parts.append(_text(self.x.write(value), x, bottom + 18, "tick", "middle"))
        for value in self.y.axis.ticks:
            y = self.down(value)
            parts.append(_line(area.left, y, right, y, "grid"))
            parts.append(_text(self.y.write(value), area.left - 8, y + 4, "tick", "end"))
        middle = area.top + area.height / 2
        turned = element(
            "g", _text(self.y.title, 0, 0, "axis", "middle"), transform=f"translate(16 {middle}) rotate(-90)"
        )
        title = _text(self.x.title, area.left + area.width / 2, bottom + 42, "axis", "middle")
        return joined(parts, _line(area.left, bottom, right, bottom, "base"), title, turned)


def scatter(frame: Frame, points: Sequence[Point], guides: Sequence[Markup] = ()) -> Markup:
    """Labelled points, their error bars, and a line through the frontier."""
    frontier = sorted((point for point in points if point.best), key=lambda point: (point.x, point.y))
    spots = [(frame.across(point.x), frame.down(point.y)) for point in points]
    marks = [_mark(frame, point) for point in points]
    bars = [_bar(frame, point) for point in points if point.high is not None]
    area = frame.area
    room = Box(area.left, 0.0, area.width + frame.right, area.top + area.height)
    labels = _labels([point.label for point in points], spots, room, bars)
    return frame.draw(*guides, _path(frame, frontier, "frontier"), *marks, *labels)


def lines(frame: Frame, series: Sequence[tuple[str, Sequence[Point]]]) -> Markup:
    """One line a series, named beside its right end, where the frame leaves room for it."""
    parts = []
    for index, (_, points) in enumerate(series):
        kind = f"line s{index % 4}"
        parts.append(element("g", _path(frame, points, "run"), [_mark(frame, point) for point in points], class_=kind))
    area = frame.area
    heights = spread([frame.down(points[-1].y) for _, points in series], area.top, area.top + area.height)
    for (name, points), y in zip(series, heights, strict=True):
        x = frame.across(points[-1].x) + 10
        parts.append(_text(name, x, y + 4, "label", "start"))
    return frame.draw(*parts)


def curve(frame: Frame, places: Sequence[tuple[float, float]], name: str) -> Markup:
    """A thin guide through places of the plot, named at its last."""
    drawn = " ".join(f"{frame.across(x):.1f},{frame.down(y):.1f}" for x, y in places)
    x, y = places[-1]
    label = _text(name, frame.across(x) - 4, frame.down(y) - 4, "guide-name", "end")
    return joined(element("polyline", points=drawn, class_="guide"), label)


def _mark(frame: Frame, point: Point) -> Markup:
    x, y = frame.across(point.x), frame.down(point.y)
    bar: list[Markup] = []
    if point.low is not None and point.high is not None:
        ends = (frame.down(point.high), frame.down(point.low))
        bar = [_line(x, ends[0], x, ends[1], "bar"), *(_line(x - 4, end, x + 4, end, "bar") for end in ends)]
    classes = " ".join(
        name for name, given in (("dot", True), ("best", point.best), ("scripted", point.scripted)) if given
    )
    told = f"{point.label}: {frame.x.title} {frame.x.write(point.x)}, {frame.y.title} {frame.y.write(point.y)}"
    return joined(bar, element("circle", element("title", told), cx=x, cy=y, r=5.0, class_=classes))


def _path(frame: Frame, points: Sequence[Point], kind: str) -> Markup:
    if len(points) < 2:
        return Markup()
    drawn = " ".join(f"{frame.across(point.x):.1f},{frame.down(point.y):.1f}" for point in points)
    return element("polyline", points=drawn, class_=kind)


def _bar(frame: Frame, point: Point) -> Box:
    """Where a point's error bar is."""
    top = frame.down(point.y if point.high is None else point.high)
    bottom = frame.down(point.y if point.low is None else point.low)
    return Box(frame.across(point.x) - 3, top, 6, bottom - top)


def _labels(
    names: Sequence[str], spots: Sequence[tuple[float, float]], area: Box, obstacles: Sequence[Box]
) -> list[Markup]:
    shown = [name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…" for name in names]
    boxes = place(spots, [CHARACTER * len(name) for name in shown], area, obstacles)
    parts = []
    for name, (x, y), box in zip(shown, spots, boxes, strict=True):
        near_x = min(max(x, box.left), box.left + box.width)
        near_y = min(max(y, box.top), box.top + box.height)
        if abs(near_x - x) + abs(near_y - y) > 16:
            parts.append(_line(x, y, near_x, near_y, "leader"))
        parts.append(_text(name, box.left + box.width / 2, box.top + LABEL_HEIGHT - 3, "label", "middle"))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _text(words: str, x: float, y: float, kind: str, anchor: str) -> Markup:
    return element("text", words, x=x, y=y, class_=kind, text_anchor=anchor)
