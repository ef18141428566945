"""An answer as plain text with links: what is said where Slack refuses the message with blocks. Pure."""

from __future__ import annotations

from bot.slack.render.answer_message import Message
from bot.slack.render.blocks import link, path, shortened
from bot.slack.render.markdown import parse
from bot.slack.render.sanitize import escaped, link_of, plain
from navigator.answer import Answer

LONGEST = 3_000
"""Characters of text and of rows together; chat.update takes 4,000 bytes of text."""
MOST_BYTES = 3_900


def plain_fallback(answer: Answer) -> Message:
    """The text's beginning, and as many source rows as fit."""
    said = "\n\n".join(plain(piece.plain) for piece in parse(answer.text))
    rows = [f"[{source.number}] {link(link_of(source), path(source.first.path))}" for source in answer.sources]
    kept: list[str] = []
    for row in rows:
        if _bytes("\n".join([*kept, row])) > MOST_BYTES // 2:
            break
        kept.append(row)
    tail = "\n".join(["", "", *kept]) if kept else ""
    most = LONGEST
    while _bytes(escaped(shortened(said, most)) + tail) > MOST_BYTES:
        most -= 200
    return Message(escaped(shortened(said, most)) + tail, ())


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
