"""Slack's blocks as plain dictionaries, and the limits that Slack sets them (docs.slack.dev, Block Kit). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.slack.render.actions import FEEDBACK, feedback_value
from bot.slack.render.sanitize import escaped, leads, plain_line
from navigator.markdown.spans import destination

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """Of one message. `characters`: all strings of all blocks; Slack refuses about 13,200, and 12,000 of Markdown.
    `pieces`: of the answer; Slack makes several blocks of one. `section`: of one text."""

    characters: int = 12_000
    blocks: int = 50
    pieces: int = 40
    section: int = 3_000


LIMITS = BlockLimits()
MAX_PATH_TITLE_CHARACTERS = 60
"""Characters of a section's title in a path."""
MAX_PATH_CHARACTERS = 120
"""Characters of a path."""


def markdown(text: str) -> Block:
    return {"type": "markdown", "text": text}


def section(text: str) -> Block:
    """Slack's own markup, already escaped. `verbatim`: Slack looks for no addresses and names in it."""
    return {"type": "section", "expand": True, "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def sections(lines: Sequence[str], most: int = LIMITS.section) -> Iterator[Block]:
    """Lines of Slack's own markup, in as few sections as hold them."""
    for text in gathered(lines, most):
        yield section(text)


def gathered(lines: Iterable[str], most: int) -> Iterator[str]:
    """Lines, each at most `most` characters, in as few texts as hold them."""
    text = ""
    for one in lines:
        if text and len(text) + 1 + len(one) > most:
            yield text
            text = one
        else:
            text = f"{text}\n{one}" if text else one
    if text:
        yield text


def plain_section(text: str) -> Block:
    return {"type": "section", "expand": True, "text": plain_text(text, LIMITS.section)}


def context(texts: Sequence[str]) -> Block:
    """Small print; at most ten."""
    return {"type": "context", "elements": [plain_text(text, LIMITS.section) for text in texts[:10]]}


def plain_text(text: str, most: int) -> Block:
    """Slack takes no empty text."""
    return {"type": "plain_text", "text": shortened(plain_line(text), most) or "…", "emoji": False}


def button(action_id: str, label: str, question_id: str) -> Block:
    return {"type": "button", "action_id": action_id, "text": plain_text(label, 75), "value": question_id}


def buttons(made: Sequence[Block]) -> Block:
    return {"type": "actions", "elements": list(made)}


def feedback(question_id: str) -> Block:
    return {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": FEEDBACK,
                "positive_button": {
                    "text": plain_text("Good answer", 75),
                    "accessibility_label": "This answer helped",
                    "value": feedback_value("good", question_id),
                },
                "negative_button": {
                    "text": plain_text("Bad answer", 75),
                    "accessibility_label": "This answer did not help",
                    "value": feedback_value("bad", question_id),
                },
            }
        ],
    }


def link(url: str, label: str) -> str:
    """A link in Slack's own markup; its words alone where there is no address that Slack takes."""
    if not leads(url):
        return label
    return f"<{destination(url).replace('&', '&amp;')}|{label}>"


def path(titles: Sequence[str], most: int = MAX_PATH_CHARACTERS) -> str:
    """ "Guide › … › Scaling", escaped: a long path loses its middle, a long title its end."""
    shown = [escaped(shortened(plain_line(title), MAX_PATH_TITLE_CHARACTERS)) for title in titles] or ["(no title)"]
    while len(shown) > 3 and len(" › ".join(shown)) > most:
        del shown[len(shown) // 2]
    cut = len(shown) < len(titles)
    middle = (len(shown) + 1) // 2
    return " › ".join([*shown[:middle], "…", *shown[middle:]] if cut else shown)


def shortened(text: str, most: int) -> str:
    """At most so many characters; what is cut ends at a word."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    word = head.rfind(" ")
    return f"{head[:word] if word > most // 2 else head}…".replace(" …", "…")


def characters(blocks: Sequence[Block]) -> int:
    """All strings of all blocks."""
    return sum(_characters(block) for block in blocks)


def _characters(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 0
