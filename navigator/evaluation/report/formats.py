"""Figures as people read them. Pure. What is not known is a dash, never 0."""

from __future__ import annotations

import math
import re

from navigator.evaluation.report.scores import Proportion
from navigator.evaluation.results import Contender

MISSING = "–"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def percent(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:.1f}%"


def points(value: float | None) -> str:
    """A difference of two shares, in percentage points with its sign."""
    return MISSING if value is None else f"{100 * value:+.1f}".replace("-", "\u2212")


def interval(share: Proportion | None) -> str:
    """The share, its interval, and what it is a share of."""
    if share is None:
        return MISSING
    return f"{percent(share.value)} ({100 * share.low:.0f}–{100 * share.high:.0f}) of {share.of}"


def money(value: float | None) -> str:
    """US dollars: cents, or three significant digits below one dollar."""
    if value is None:
        return MISSING
    if value == 0:
        return "$0"
    places = 2 if value >= 1 else 2 - math.floor(math.log10(value))
    return f"${value:,.{places}f}"


def seconds(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.2f} s" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def number(value: float | None) -> str:
    """A mean of things that are counted: one decimal below a hundred."""
    return MISSING if value is None else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def chance(p: float | None) -> str:
    return MISSING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def named(contender: Contender) -> str:
    """The label; what is no real answering from documents says so."""
    marks = ["scripted"] if contender.reader else []
    marks += ["no documentation"] if contender.strategy == "none" else []
    return f"{contender.label} ({', '.join(marks)})" if marks else contender.label


def xml_text(text: str) -> str:
    """Without what neither HTML nor SVG may hold: control characters and halves of pairs become U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text)
