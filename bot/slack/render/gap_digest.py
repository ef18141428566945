"""The weekly digest of gaps: what people asked in vain, where the answer should stand, a button for each state. Pure.

All that a message needs to be made again stands in the ids of its blocks: which digest it is, and which gaps it tells of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.gaps.report import STATES, GapReport, state_line, week_line
from bot.slack.message_text import Payload
from bot.slack.render import actions, blocks
from bot.slack.render.answer_message import Message
from bot.slack.render.blocks import LIMITS, Block, link, path, shortened
from bot.slack.render.sanitize import escaped, plain_line
from ingest.counted import counted

HEADING = "What people asked and the documentation did not answer"
FOOTER = "All gaps: ritbot gaps. A gap is closed by itself when an edit answers its questions."
NO_QUESTION_LEFT = "No question is left in this gap."
MAX_GAPS = 10
"""Gaps that a digest tells of."""
MAX_QUESTION_CHARACTERS = 150
BUTTONS = {"open": "Open again", "taken": "I take it", "fixed": "It is fixed", "ignored": "Ignore it"}
_DIGEST, _GAP = "digest:", "gap:"


def gap_digest(digest: str, gap_ids: Sequence[str], reports: Mapping[str, GapReport], now: datetime) -> Message:
    """`digest`: which one it is. As many of the gaps as one message holds."""
    heading = {**blocks.plain_section(HEADING), "block_id": f"{_DIGEST}{digest}"}
    footer = blocks.context([FOOTER])
    made: list[Block] = [heading]
    for gap_id in gap_ids[:MAX_GAPS]:
        more = _gap(gap_id, reports.get(gap_id), now)
        if blocks.characters([*made, *more, footer]) > LIMITS.characters:
            break
        made += more
    return Message(f"{HEADING}: {counted(len(gap_ids), 'gap')}", (*made, footer))


def told_of(message: Payload) -> tuple[str, tuple[str, ...]]:
    """Which digest a message is, and the gaps that it tells of, as Slack gives it back. Raises ValueError for any other."""
    ids = [str(block.get("block_id")) for block in message.get("blocks") or ()]
    digest = next((each.removeprefix(_DIGEST) for each in ids if each.startswith(_DIGEST)), None)
    if digest is None:
        raise ValueError("not a digest of gaps")
    return digest, tuple(each.removeprefix(_GAP) for each in ids if each.startswith(_GAP))


def _gap(gap_id: str, report: GapReport | None, now: datetime) -> list[Block]:
    name = {"block_id": f"{_GAP}{gap_id}"}
    if report is None:
        return [{**blocks.plain_section(NO_QUESTION_LEFT), **name}]
    pin = report.gap.pin
    where = link(pin.link, path(pin.path)) if pin else escaped(report.where)
    lines = [f"*{where}*"]
    lines += [f"“{escaped(shortened(plain_line(said), MAX_QUESTION_CHARACTERS))}”" for said in report.examples]
    facts = (counted(report.count, "question"), week_line(report, now), state_line(report.gap))
    lines.append(escaped(shortened(plain_line(" · ".join(facts)), MAX_QUESTION_CHARACTERS * 2)))
    offered = [state for state in STATES if state != report.gap.state]
    pressed = [blocks.button(f"{actions.GAP}{state}", BUTTONS[state], gap_id) for state in offered]
    return [{**blocks.section("\n".join(lines)), **name}, blocks.buttons(pressed)]
