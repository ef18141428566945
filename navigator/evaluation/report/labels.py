"""Labels of points that keep out of each other's way. Pure. In pixels, y downwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LABEL_HEIGHT = 14.0
MARKER = 12.0
_TURNS = (0, 180, 270, 90, 315, 45, 225, 135)
_REACHES = (9, 18, 30, 44, 60, 80)


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    width: float
    height: float

    def shared(self, other: Box) -> float:
        """The area of what both cover."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def place(
    points: Sequence[tuple[float, float]], widths: Sequence[float], area: Box, obstacles: Sequence[Box] = ()
) -> list[Box]:
    """A box for each point's label, near it and inside the area, off the points, off the obstacles and off
    one another as far as there is room. Near places are tried first."""
    taken = [*obstacles, *(Box(x - MARKER / 2, y - MARKER / 2, MARKER, MARKER) for x, y in points)]
    found: list[Box] = []
    for (x, y), width in zip(points, widths, strict=True):
        boxes = [_beside(x, y, width, turn, reach) for reach in _REACHES for turn in _TURNS]
        best = min(range(len(boxes)), key=lambda i: (_covered(boxes[i], taken, area), i))
        taken.append(boxes[best])
        found.append(boxes[best])
    return found


def spread(heights: Sequence[float], low: float, high: float) -> list[float]:
    """Where the middles of labels stand that want to be at these heights: a label's height apart, between
    low and high as far as there is room."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    found = list(heights)
    for before, at in pairwise(order):
        found[at] = max(found[at], found[before] + LABEL_HEIGHT)
    for at in reversed(order):
        found[at] = min(found[at], high)
        high = found[at] - LABEL_HEIGHT
    return [max(low, height) for height in found]


def _beside(x: float, y: float, width: float, turn: int, reach: float) -> Box:
    """A label whose nearest edge is `reach` away in a direction (degrees, clockwise from the right)."""
    across, down = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    middle_x = x + across * (reach + width / 2)
    middle_y = y + down * (reach + LABEL_HEIGHT / 2)
    return Box(middle_x - width / 2, middle_y - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)


def _covered(box: Box, taken: Sequence[Box], area: Box) -> float:
    outside = box.width * box.height - box.shared(area)
    return round(10 * outside + sum(box.shared(other) for other in taken), 3)
