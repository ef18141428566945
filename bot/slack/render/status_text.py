"""Signs of life: what goes on, in the few characters that a status in Slack holds. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.slack.render.blocks import shortened
from bot.slack.render.sanitize import plain
from navigator.answer import Passage, Step

LONGEST = 50
"""Characters of a status or loading message (assistant.threads.setStatus)."""

BUSY = "is looking for an answer …"
"""Behind the bot's name, where a client does not show what goes on."""
STARTED = "Looking into the documentation …"

_OFFERED = re.compile(r"^ *\d+: |\"is_readable\": true", re.MULTILINE)


def status_text(step: Step, passages: Sequence[Passage]) -> str:
    """What a tool call led to: "Looking through 12 sections …", "Reading Scaling › Autoscaling"."""
    if step.error is not None:
        return "Trying another way …"
    if step.shown is not None:
        count = len(_OFFERED.findall(step.shown or ""))
        return f"Looking through {count} section{'' if count == 1 else 's'} …" if count else "Trying other words …"
    read = [passage for passage in passages if passage.number in step.numbers]
    if not read and step.query:
        return "Trying other words …"
    if not read:
        return "Looking for the right section …"
    more = f" and {len(read) - 1} more" if len(read) > 1 else ""
    return f"{_reading(read[0].path, LONGEST - len(more))}{more}"


def _reading(path: Sequence[str], most: int) -> str:
    """The section under its page or parent; a long parent gives way, then the section's own end."""
    *above, own = [plain(title) for title in path[-2:]] or ["a section"]
    whole = f"Reading {' › '.join([*above, own])}"
    return whole if len(whole) <= most else shortened(f"Reading {own}", most)
