"""An answer as Slack messages: its text, one row a cited section, remarks, buttons. Pure.

The first message holds the answer or its beginning; what Slack's limits leave out follows in further messages of the
thread, cut at the borders of pieces. Rows, remarks and buttons end the last one. Every number in the text is a link to
the words that it rests on, and has its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.freshness import ago
from bot.slack.render import actions, blocks
from bot.slack.render.blocks import LIMITS, Block, BlockLimits, shortened
from bot.slack.render.markdown import parse
from bot.slack.render.markdown_blocks import Code, MarkdownHeading, MarkdownTable, Paragraph, Piece, Rule, joined
from bot.slack.render.message_split import grouped
from bot.slack.render.sanitize import escaped, gate_of, link_of, links_of, neutral, plain
from ingest.text.sentences import sentences
from navigator.answer import Answer, CitedSource, Passage

SUMMARY = 150
"""Characters of a message's `text`: what a notification, a search result and a screen reader say."""
CLAIMS = 5
"""How many unsupported claims are spelled out."""
CLAIM = 300
ENOUGH = 40
"""Characters of a sentence that says enough by itself."""
ASKED = 80
"""Characters of the question where a `text` names it."""

_MARK = re.compile(r"(?<!\w)\s*\[\d+\]|\s+\[\d+\]")

GREETED = (
    "• Mention me in a channel, or write to me directly, and ask in your own words.",
    "• In a thread that I am in, just ask on: I remember what was said and read.",
    "• `/ask` answers you alone; you decide whether to share it.",
    "• Every number in an answer is a link to the section that I read for it.",
)
TO_ALL = "This shows your question and my answer to everyone in this channel, together with the call for help."
NOT_EVIDENCE = "*The nearest sections* (I looked at them, but they do not answer this)"


@dataclass(frozen=True, slots=True)
class Message:
    """What chat.postMessage and chat.update take. `text` is escaped, and short: the answer is in `blocks`."""

    text: str
    blocks: tuple[Block, ...]


def messages(
    answer: Answer,
    *,
    question_id: str,
    now: datetime,
    person: bool = False,
    retry: bool = False,
    private: bool = False,
    limits: BlockLimits = LIMITS,
) -> tuple[Message, ...]:
    """One message or more, in order. `person`: there is someone to ask. `retry`: asking again may help. `private`:
    only the asker sees it."""
    text = answer.text if answer.outcome in ("answered", "not_found") else ""
    room = limits.characters - blocks.characters([blocks.markdown("")])
    groups = grouped(neutral(parse(text), gate_of(answer), links_of(answer.sources)), room, limits.pieces) or [()]
    tail = [*_told(answer), *_rows(answer, now, limits), *_remarks(answer)]
    tail += _buttons(answer, question_id, person=person, retry=retry, private=private)
    packed = _packed(groups, tail, limits)
    texts = [_summary(answer, groups[0]), *(f"Continued: {_first_sentence(group)}" for group in groups[1:])]
    texts += [f"Sources of the answer to {_asked(answer)}"] * (len(packed) - len(texts))
    return tuple(Message(said, tuple(made)) for said, made in zip(texts, packed, strict=True))


def notice(text: str, *, question_id: str = "", retry: bool = False, trace_id: str = "") -> Message:
    """One message in plain words where there is no answer: stopped, refused, over a limit, something broke."""
    made = [blocks.plain_section(text)]
    if trace_id:
        made.append(blocks.context([f"Trace id {trace_id}"]))
    if retry:
        made.append(blocks.buttons([blocks.button(actions.RETRY, "Retry", question_id)]))
    return Message(escaped(shortened(plain(text), SUMMARY)), tuple(made))


def _packed(groups: Sequence[tuple[Piece, ...]], tail: Sequence[Block], limits: BlockLimits) -> list[list[Block]]:
    """The blocks of each message; the tail goes into the last, and on into further ones where it does not fit."""
    packed = [[blocks.markdown(joined(group))] if group else [] for group in groups]
    for block in tail:
        if blocks.characters([*packed[-1], block]) > limits.characters or len(packed[-1]) >= limits.blocks:
            packed.append([])
        packed[-1].append(block)
    return packed


def _told(answer: Answer) -> Iterator[Block]:
    """Outcomes that are told in ritbot's own words."""
    if answer.outcome == "greeting":
        yield blocks.plain_section(answer.text)
        yield blocks.section("\n".join(GREETED))
    if answer.outcome == "failed":
        yield blocks.plain_section(f"I could not answer this. {answer.text}".strip())


def _rows(answer: Answer, now: datetime, limits: BlockLimits) -> Iterator[Block]:
    if answer.sources:
        yield from blocks.sections(["*Sources*", *(_source(source, now) for source in answer.sources)], limits.section)
    if answer.nearest and not answer.sources:
        yield from blocks.sections([NOT_EVIDENCE, *map(_near, answer.nearest)], limits.section)


def _source(source: CitedSource, now: datetime) -> str:
    shown = blocks.link(link_of(source), blocks.path(source.first.path))
    return f"[{source.number}] {shown} · checked {ago(source.first.checked_at, now)}"


def _near(passage: Passage) -> str:
    return f"• {blocks.link(passage.link, blocks.path(passage.path))}"


def _remarks(answer: Answer) -> Iterator[Block]:
    notes = [
        f"Understood as: {answer.understood}" if answer.understood else "",
        f"Version {answer.version}." if answer.version else "",
        answer.note,
    ]
    notes += [f"Trace id {answer.trace_id}"] if answer.outcome == "failed" and answer.trace_id else []
    if any(notes):
        yield blocks.context([note for note in notes if note])
    if answer.unsupported:
        claims = [f"“{shortened(plain(claim), CLAIM)}”" for claim in answer.unsupported[:CLAIMS]]
        more = len(answer.unsupported) - len(claims)
        claims += [f"and {more} more"] if more else []
        yield blocks.context(["Not supported by any section that I read:", *claims])


def _buttons(answer: Answer, question_id: str, *, person: bool, retry: bool, private: bool) -> Iterator[Block]:
    if answer.outcome == "greeting":
        return
    found = answer.outcome == "answered"
    offered = [
        (retry, actions.RETRY, "Retry"),
        (bool(answer.trace.steps), actions.SHOW_WAY, "Show the way"),
        (person, actions.ASK_PERSON, "Ask a person"),
        (private and found, actions.SHARE, "Share in channel"),
    ]
    sure = {actions.ASK_PERSON: TO_ALL} if private else {}
    made = [
        blocks.button(action, label, question_id, sure=sure.get(action, ""))
        for wanted, action, label in offered
        if wanted
    ]
    if made:
        yield blocks.buttons(made)
    if answer.outcome in ("answered", "not_found"):
        yield blocks.feedback(question_id)


def _summary(answer: Answer, group: Sequence[Piece]) -> str:
    """What this answer says, in a sentence; where it says nothing, what was asked."""
    match answer.outcome:
        case "failed":
            return shortened(f"I could not answer {_asked(answer)}: {escaped(plain(answer.text))}", SUMMARY)
        case "not_found":
            return f"I found nothing about {_asked(answer)}"
        case "greeting":
            return escaped(shortened(plain(answer.text), SUMMARY))
    return _first_sentence(group) or f"The answer to {_asked(answer)}"


def _asked(answer: Answer) -> str:
    return f"“{escaped(shortened(plain(answer.understood or answer.question), ASKED))}”"


def _first_sentence(group: Sequence[Piece]) -> str:
    """The first words that say something: of a text rather than of what announces one, a heading, a table or code; the
    next sentence too where one says little."""
    ranked = sorted(group, key=_announces)
    said = plain(_MARK.sub("", ranked[0].plain)) if ranked else ""
    chosen = ""
    for sentence in sentences(said):
        if chosen and (len(chosen) >= ENOUGH or len(chosen) + len(sentence) > SUMMARY):
            break
        chosen += sentence
    return escaped(shortened(chosen.strip(), SUMMARY))


def _announces(piece: Piece) -> int:
    if isinstance(piece, MarkdownHeading | Code | MarkdownTable | Rule):
        return 2
    return piece.plain.rstrip().endswith(":") or (isinstance(piece, Paragraph) and _is_title(piece))


def _is_title(paragraph: Paragraph) -> bool:
    """A line that is bold from end to end, but for its marks: the path over an extract."""
    texts = [span for span in paragraph.spans if span.kind not in ("link", "mark") and span.text.strip()]
    return bool(texts) and all("**" in span.styles for span in texts)
