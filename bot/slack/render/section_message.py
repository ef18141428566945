"""A section as a Slack message: its path with the link that stays, its first lines, how fresh it is; sections to choose
from; and what is unfolded under a link that somebody pasted. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.freshness import ago
from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Standing
from bot.permalinks.state_lines import gone, state_lines
from bot.slack.render import actions, blocks
from bot.slack.render.answer_message import Message
from bot.slack.render.blocks import Block, link, path, shortened
from bot.slack.render.sanitize import escaped, plain_line
from navigator.answer import Passage

MAX_FIRST_LINES_CHARACTERS = 400
"""Of a section's text, where it is posted."""
MAX_CHOICE_CHARACTERS = 120
"""The same, where there are several to choose from."""
NONE_FOUND = "I found no section that says this. Try words that stand in it, or in its title."


def section_message(section: Passage, *, now: datetime, live: str, public_url: str) -> Message:
    """`live`: the address of the section's words in the documentation."""
    stays = Permalink(section.node_id, section.node_hash).address(public_url)
    head = f"*{link(stays or live, path(section.path))}*"
    head += f" · {link(live, 'documentation')}" if stays else ""
    made = [blocks.section(head)]
    if section.blocks:
        made.append(blocks.plain_section(first_lines(section, MAX_FIRST_LINES_CHARACTERS)))
    made.append(blocks.context([f"Checked {ago(section.checked_at, now)}."]))
    return Message(path(section.path), tuple(made))


def unfurled(standing: Standing, *, url: str, now: datetime) -> Sequence[Block]:
    """What stands under the pasted address. Raises ValueError for a section of which nothing is known."""
    section = standing.shown
    made = [blocks.section(f"*{link(url, path(section.path))}*")]
    if section.blocks:
        made.append(blocks.plain_section(first_lines(section, MAX_FIRST_LINES_CHARACTERS)))
    state = " · ".join(line.label for line in state_lines(standing, now))
    rest = f"checked {ago(section.checked_at, now)}" if standing.now else gone(standing)
    return [*made, blocks.context([f"{state} · {rest}"])]


def choice_message(sections: Sequence[Passage], *, thread: str) -> Message:
    """Sections to choose from, each with a button that posts it. `thread`: where, "" for the channel."""
    if not sections:
        return Message(NONE_FOUND, (blocks.plain_section(NONE_FOUND),))
    made = [blocks.plain_section("Which section shall I post?"), *(_choice(section, thread) for section in sections)]
    return Message("Sections to choose from", tuple(made))


def first_lines(section: Passage, most: int) -> str:
    return shortened(" ".join("\n".join(block.shown for block in section.blocks).split()), most)


def _choice(section: Passage, thread: str) -> Block:
    lines = escaped(plain_line(first_lines(section, MAX_CHOICE_CHARACTERS)))
    text = "\n".join(filter(None, [link(section.link, path(section.path)), lines]))
    value = actions.citation_value(section.node_id, thread)
    return {**blocks.section(text), "accessory": blocks.button(actions.CITE, "Post", value)}
