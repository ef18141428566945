"""Whether people heard that an answer of theirs is stale, in words for an operator. Pure."""

from __future__ import annotations

from datetime import UTC

from bot.model import Exchange


def note_told(exchange: Exchange) -> str:
    """What Slack said may stand in it."""
    note = exchange.note
    if note is None:
        return "not told: it was a private answer" if exchange.question.response_url else "not told"
    if note.ts:
        return f"told in the thread, message {note.ts}"
    if note.unsent:
        return f"not told: {note.unsent}"
    return f"a note is due at {note.due_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if note.due_at else "not told"
