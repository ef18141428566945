"""An answer as Slack messages: its text, one row a cited section, remarks, buttons; or a call for help with it. Pure.

The first message holds the answer or its beginning; what Slack's limits leave out follows in further messages of the
thread, cut at the borders of pieces. Rows, remarks and buttons end the last one. Every number in the text is a link to
the words that it rests on, and has its row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.freshness import ago
from bot.model import Exchange
from bot.permalinks.permalink import Permalink
from bot.slack.render import actions, blocks
from bot.slack.render.blocks import LIMITS, Block, BlockLimits, link, path, shortened
from bot.slack.render.message_split import grouped
from bot.slack.render.sanitize import NO_LINKS, escaped, plain_line, sanitized, source_link, source_links, unescaped
from ingest.text.sentences import sentences
from navigator.answer import Answer, CitedSource, Passage
from navigator.citations.links import gate_of
from navigator.markdown.blocks import (
    Code,
    MarkdownHeading,
    MarkdownList,
    MarkdownTable,
    Paragraph,
    Piece,
    Rule,
    markdown_of,
)
from navigator.markdown.parse import parse_markdown
from navigator.markdown.spans import Span

MAX_SUMMARY_CHARACTERS = 150
"""Characters of a message's `text`: what a notification, a search result and a screen reader say."""
MAX_MESSAGES = 100
"""Messages of one answer."""
MAX_CLAIMS = 5
"""How many unsupported claims are spelled out."""
MAX_CLAIM_CHARACTERS = 300
MAX_FALLBACK_CHARACTERS, MAX_FALLBACK_BYTES = 3_000, 3_900
"""Of a message without blocks: chat.update takes 4,000 bytes of `text`."""
MAX_ESCALATED_QUESTION_CHARACTERS, MAX_ESCALATED_ANSWER_CHARACTERS, MAX_ESCALATED_SECTIONS = 2_000, 4_000, 8
"""What a call for help repeats of the exchange."""
MIN_SUMMARY_CHARACTERS = 40
"""Characters of a sentence that says enough by itself."""
MAX_ASKED_CHARACTERS = 80
"""Characters of the question where a `text` names it."""

_FREE_MARK = re.compile(r"(?<!\w)\[\d+\]")

HELP = (
    "• Mention me in a channel, or write to me directly, and ask in your own words.",
    "• In a thread that I am in, just ask on: I remember what was said and read.",
    "• `/ask` answers you alone; you decide whether to share it.",
    "• Every number in an answer is a link to the section that I read for it.",
)
LONGER_PRIVATE = (
    "This answer is longer than fits here. “Share in channel” shows all of it, to everyone in this channel."
)
LONGER = "This answer is longer than fits here."
SINCE = " · *changed since*"
"""Behind when a section was read, where it says something else now."""
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
    shown: str = "",
    public_url: str = "",
    changed: Collection[int] = (),
    most: int = MAX_MESSAGES,
    limits: BlockLimits = LIMITS,
) -> tuple[Message, ...]:
    """One message or more, in order. `person`: there is someone to ask. `retry`: asking again may help. `private`:
    only the asker sees it. `shown`: what people have seen of the text: it is left out, and there may be nothing to say.
    `public_url`: where permalinks of the sections lead, "" for none. `changed`: numbers of the sources that are not as they
    were read. `most`: messages; an answer that needs more loses the end of its text, and says so."""
    text = answer.text if answer.outcome in ("answered", "not_found") else ""
    head = [blocks.context([f"Understood as: {answer.understood}"])] if answer.understood and not shown else []
    room = limits.characters - blocks.characters([*head, blocks.markdown("")])
    seen = {_bare(piece) for piece in parse_markdown(unescaped(shown))}
    announced, said = _announced(parse_markdown(text), answer)
    pieces = [piece for piece in said if _bare(piece) not in seen]
    groups = grouped(sanitized(pieces, gate_of(answer), source_links(answer.sources)), room, limits.pieces) or [()]
    tail = [*_told(answer), *_rows(answer, now, public_url, changed, limits), *_remarks(answer, announced)]
    tail += _buttons(answer, question_id, person=person, retry=retry, private=private)
    packed = _packed(head, groups, tail, limits)
    while len(packed) > most and len(groups) > 1:
        groups = groups[:-1]
        packed = _packed(head, groups, [blocks.plain_section(LONGER_PRIVATE if private else LONGER), *tail], limits)
    first = f"Continued: {_first_sentence(groups[0])}" if shown and groups[0] else _summary(answer, groups[0])
    texts = [first, *(f"Continued: {_first_sentence(group)}" for group in groups[1:])]
    texts += [f"Sources of the answer to {_asked(answer)}"] * (len(packed) - len(texts))
    return tuple(Message(said, tuple(made)) for said, made in zip(texts, packed, strict=True) if made or not shown)


def notice(text: str, *, question_id: str = "", retry: bool = False, trace_id: str = "") -> Message:
    """One message in plain words where there is no answer: stopped, refused, over a limit, something broke."""
    made = [blocks.plain_section(text)]
    if trace_id:
        made.append(blocks.context([f"Trace id {trace_id}"]))
    if retry:
        made.append(blocks.buttons([blocks.button(actions.RETRY, "Retry", question_id)]))
    return Message(escaped(shortened(plain_line(text), MAX_SUMMARY_CHARACTERS)), tuple(made))


def plain_fallback(answer: Answer) -> Message:
    """The answer as plain text with links, for where Slack refuses its blocks: the text's beginning, and as many source
    rows as fit."""
    said = "\n\n".join(plain_line(piece.plain) for piece in parse_markdown(answer.text))
    rows = [f"[{source.number}] {link(source_link(source), path(source.first.path))}" for source in answer.sources]
    kept: list[str] = []
    for row in rows:
        if _bytes("\n".join([*kept, row])) > MAX_FALLBACK_BYTES // 2:
            break
        kept.append(row)
    tail = "\n".join(["", "", *kept]) if kept else ""
    most = MAX_FALLBACK_CHARACTERS
    while _bytes(escaped(shortened(said, most)) + tail) > MAX_FALLBACK_BYTES:
        most -= 200
    return Message(escaped(shortened(said, most)) + tail, ())


def escalation(exchange: Exchange, *, whom: str, asked_by: str, comment: str = "") -> Message:
    """When a person is asked instead: what was asked, answered and read, as it is. The one message of ritbot's that mentions
    anybody: `whom` (see `mention_of`) and the person who pressed."""
    question, answer = exchange.question, exchange.answer
    asked = exchange.standalone or question.text
    made = [blocks.section(f"{whom} <@{asked_by}> asks for a person's help.")]
    if comment:
        made.append(blocks.markdown(_repeated(comment, MAX_ESCALATED_QUESTION_CHARACTERS)))
    made.append(blocks.markdown(f"**Question**\n\n{_repeated(asked, MAX_ESCALATED_QUESTION_CHARACTERS)}"))
    if answer is not None:
        said = _repeated(answer.text, MAX_ESCALATED_ANSWER_CHARACTERS, answer)
        made.append(blocks.markdown(f"**What I answered**\n\n{said or 'Nothing.'}"))
        read = dict.fromkeys(f"• {link(p.link, path(p.path))}" for p in answer.trace.passages)
        if read:
            made += blocks.sections(["*What I read*", *[*read][:MAX_ESCALATED_SECTIONS]])
    return Message(escaped(shortened(f"A person's help is asked for: {plain_line(asked)}", 150)), tuple(made))


def mention_of(person: str) -> str:
    """Of a user group or a person, by id."""
    return f"<!subteam^{person}>" if person.startswith("S") else f"<@{person}>"


def _repeated(text: str, most: int, answer: Answer | None = None) -> str:
    """Somebody's words as Markdown with nothing live in them, code as it is; their beginning where they are long."""
    gate, marks = (gate_of(answer), source_links(answer.sources)) if answer else (NO_LINKS, {})
    pieces = parse_markdown(text)
    groups = grouped(sanitized(_announced(pieces, answer)[1] if answer else pieces, gate, marks), most)
    return markdown_of(groups[0]) + ("\n\n…" if len(groups) > 1 else "") if groups else ""


def _announced(pieces: Sequence[Piece], answer: Answer) -> tuple[str, Sequence[Piece]]:
    """Of extracts what announces them, for the small print, and the extracts: what they say is first to be read, and their
    paths stand under Sources. Other answers as they are."""
    titles = _titles(pieces, answer)
    if not any(titles):
        return "", pieces
    announced = not titles[0] and titles[1] and pieces[0].plain.rstrip().endswith(":")
    words = f"{plain_line(pieces[0].plain).rstrip(' :')}." if announced else ""
    return words, tuple(_untitled(pieces[announced:], titles[announced:]))


def _titles(pieces: Sequence[Piece], answer: Answer) -> list[bool]:
    """Which are paths of cited sections, over extracts."""
    paths = {" ".join(" › ".join(source.first.path).split()) for source in answer.sources}
    return [
        isinstance(piece, Paragraph)
        and _bare(piece) in paths
        and all("**" in span.styles or not _without_marks(span.text).strip() for span in piece.spans)
        for piece in pieces
    ]


def _untitled(pieces: Sequence[Piece], titles: Sequence[bool]) -> Iterator[Piece]:
    """The marks of a path go to the end of what it stands over."""
    marks: tuple[Span, ...] = ()
    for piece, is_title, ends in zip(pieces, titles, [*titles[1:], True], strict=True):
        if is_title and isinstance(piece, Paragraph):
            marks = tuple(replace(span, styles=()) for span in piece.spans if "**" not in span.styles)
        elif ends and marks:
            yield from _marked(piece, marks)
        else:
            yield piece


def _marked(piece: Piece, marks: tuple[Span, ...]) -> Iterator[Piece]:
    """With marks at its end: in its last paragraph, or behind it."""
    match piece:
        case Paragraph():
            yield Paragraph((*piece.spans, *marks))
        case MarkdownList(items=(*before, (*pieces, Paragraph() as last))):
            yield replace(piece, items=(*before, (*pieces, Paragraph((*last.spans, *marks)))))
        case _:
            yield piece
            yield Paragraph(marks)


def _packed(
    head: Sequence[Block], groups: Sequence[tuple[Piece, ...]], tail: Sequence[Block], limits: BlockLimits
) -> list[list[Block]]:
    """The blocks of each message; the head goes into the first, the tail into the last, and on into further ones where it
    does not fit."""
    packed = [[blocks.markdown(markdown_of(group))] if group else [] for group in groups]
    packed[0] = [*head, *packed[0]]
    for block in tail:
        if blocks.characters([*packed[-1], block]) > limits.characters or len(packed[-1]) >= limits.blocks:
            packed.append([])
        packed[-1].append(block)
    return packed


def _told(answer: Answer) -> Iterator[Block]:
    """Outcomes that are told in ritbot's own words."""
    if answer.outcome == "greeting":
        yield blocks.plain_section(answer.text)
        yield blocks.section("\n".join(HELP))
    if answer.outcome == "failed":
        yield blocks.plain_section(f"I could not answer this. {answer.text}".strip())


def _rows(
    answer: Answer, now: datetime, public_url: str, changed: Collection[int], limits: BlockLimits
) -> Iterator[Block]:
    if answer.sources:
        rows = (_source(source, now, public_url, changed=source.number in changed) for source in answer.sources)
        yield from blocks.sections(["*Sources*", *rows], limits.section)
    if answer.nearest and not answer.sources:
        yield from blocks.sections([NOT_EVIDENCE, *map(_near, answer.nearest)], limits.section)


def _source(source: CitedSource, now: datetime, public_url: str, *, changed: bool) -> str:
    first = source.first
    shown = f"[{source.number}] {link(source_link(source), path(first.path))} · checked {ago(first.checked_at, now)}"
    shown += SINCE if changed else ""
    stays = Permalink(first.node_id, first.node_hash).address(public_url, first.block)
    return f"{shown} · {link(stays, 'permalink')}" if stays else shown


def _near(passage: Passage) -> str:
    return f"• {link(passage.link, path(passage.path))}"


def _remarks(answer: Answer, announced: str) -> Iterator[Block]:
    notes = [
        announced,
        f"Version {answer.version}." if answer.version else "",
        answer.note,
    ]
    notes += [f"Trace id {answer.trace_id}"] if answer.outcome == "failed" and answer.trace_id else []
    if any(notes):
        yield blocks.context([note for note in notes if note])
    if answer.unsupported:
        claims = [
            f"“{shortened(plain_line(claim), MAX_CLAIM_CHARACTERS)}”" for claim in answer.unsupported[:MAX_CLAIMS]
        ]
        more = len(answer.unsupported) - len(claims)
        claims += [f"and {more} more"] if more else []
        yield blocks.context(["Not supported by any section that I read:", *claims])


def _buttons(answer: Answer, question_id: str, *, person: bool, retry: bool, private: bool) -> Iterator[Block]:
    if answer.outcome == "greeting":
        return
    found = answer.outcome == "answered"
    offered = [
        (retry, actions.RETRY, "Retry"),
        (bool(answer.trace.steps), actions.SHOW_TRACE, "How I found this"),
        (person, actions.ASK_PERSON, "Ask a person"),
        (private and found, actions.SHARE, "Share in channel"),
    ]
    made = [blocks.button(action, label, question_id) for wanted, action, label in offered if wanted]
    if made:
        yield blocks.buttons(made)
    if answer.outcome in ("answered", "not_found"):
        yield blocks.feedback(question_id)


def _summary(answer: Answer, group: Sequence[Piece]) -> str:
    """What this answer says, in a sentence; where it says nothing, what was asked."""
    match answer.outcome:
        case "failed":
            return shortened(
                f"I could not answer {_asked(answer)}: {escaped(plain_line(answer.text))}", MAX_SUMMARY_CHARACTERS
            )
        case "not_found":
            return f"I found nothing about {_asked(answer)}"
        case "greeting":
            return escaped(shortened(plain_line(answer.text), MAX_SUMMARY_CHARACTERS))
    return _first_sentence(group) or f"The answer to {_asked(answer)}"


def _asked(answer: Answer) -> str:
    return f"“{escaped(shortened(plain_line(answer.understood or answer.question), MAX_ASKED_CHARACTERS))}”"


def _first_sentence(group: Sequence[Piece]) -> str:
    """The first words that say something: of a text rather than of what announces one, a heading, a table or code; the
    next sentence too where one says little."""
    worded = [piece for piece in group if _bare(piece)]
    ranked = sorted(range(len(worded)), key=lambda position: _announces(worded[position]))
    said = plain_line(_without_marks(worded[ranked[0]].plain)) if ranked else ""
    if said.endswith(":") and len(worded) > ranked[0] + 1:  # with what it announces
        said += f" {plain_line(_without_marks(worded[ranked[0] + 1].plain))}"
    chosen = ""
    for sentence in sentences(said):
        if chosen and (len(chosen) >= MIN_SUMMARY_CHARACTERS or len(chosen) + len(sentence) > MAX_SUMMARY_CHARACTERS):
            break
        chosen += sentence
    return escaped(shortened(chosen.strip(), MAX_SUMMARY_CHARACTERS))


def _bare(piece: Piece) -> str:
    """The words of a piece, by which it is known again: marks come to a text later than its words."""
    return " ".join(_without_marks(piece.plain).split())


def _without_marks(text: str) -> str:
    """Nor the space before them."""
    *before, last = _FREE_MARK.split(text)
    return "".join([*(part.rstrip() for part in before), last])


def _announces(piece: Piece) -> int:
    if isinstance(piece, MarkdownHeading | Code | MarkdownTable | Rule):
        return 2
    return piece.plain.rstrip().endswith(":") or (isinstance(piece, Paragraph) and _is_title(piece))


def _is_title(paragraph: Paragraph) -> bool:
    """A line that is bold from end to end, but for its marks: the path over an extract."""
    texts = [span for span in paragraph.spans if span.kind not in ("link", "mark") and span.text.strip()]
    return bool(texts) and all("**" in span.styles for span in texts)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
