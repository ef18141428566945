"""How long ago something was, in words. Pure."""

from __future__ import annotations

from datetime import datetime


def ago(then: datetime, now: datetime) -> str:
    """ "just now", "5 minutes ago", "3 days ago"."""
    seconds = max(0, int((now - then).total_seconds()))
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
