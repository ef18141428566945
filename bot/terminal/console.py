"""The console that commands print to: what pages, models and people wrote is text there, whatever it holds.

Markup in square brackets, emoji codes and escape sequences mean something only where ritbot itself says so, with a style or
a Text. It is held at the one place that everything printed passes, a terminal's as well as a pipe's.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal may take for a command: C0 but newline and tab, DEL, C1; and what turns the direction of writing."""


def safe_text(text: str) -> str:
    """Each character that a terminal might obey is shown as a replacement character instead."""
    return _COMMANDS.sub("\ufffd", text)


def print_json(value: object, default: Callable[[Any], object] | None = None) -> None:
    """A value as JSON on standard output. `default`: as of json.dumps."""
    print_json_text(json.dumps(value, ensure_ascii=False, indent=1, default=default))


def print_json_text(text: str) -> None:
    """JSON on standard output, with escapes for what a terminal might obey: it means the same."""
    sys.stdout.write(_COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


class SafeConsole(Console):
    """`options`: as of rich's Console."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's own control codes (a progress bar's) are marked as such and pass."""
        for text, style, control in super().render(renderable, options):
            lured = style is not None and style.link is not None and _COMMANDS.search(style.link)
            yield Segment(text if control else safe_text(text), None if lured else style, control)
