"""The note in an answer's thread when words that it quoted have changed: what they were, what stands there now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.model import ChangedSource, Exchange
from bot.slack.render import actions, blocks
from bot.slack.render.answer_message import MAX_SUMMARY_CHARACTERS, Message
from bot.slack.render.blocks import LIMITS, Block, link, path, shortened
from bot.slack.render.sanitize import escaped, plain_line, source_link
from navigator.answer import CitedSource

CHANGED = "The documentation has changed since I answered this."
MAX_SOURCES = 5
"""Sources that are told of; of more it is said how many."""
MAX_WORDS_CHARACTERS = 600
"""Characters of what was quoted, and of what stands there now."""


def change_note(exchange: Exchange) -> Message:
    """One message, whatever changed. Raises ValueError where nothing that was quoted did."""
    told = [source for source in exchange.changed if source.stale]
    sources = {source.number: source for source in exchange.answer.sources} if exchange.answer else {}
    if not told:
        raise ValueError(f"no source of {exchange.question.id} is stale")
    shown = [(sources[each.number], each) for each in told if each.number in sources]
    made: list[Block] = [blocks.plain_section(CHANGED)]
    for source, each in shown[:MAX_SOURCES]:
        made += blocks.sections(list(_lines(source, each)), LIMITS.section)
    if len(shown) > MAX_SOURCES:
        made.append(blocks.context([f"and {len(shown) - MAX_SOURCES} more of its sources"]))
    made.append(blocks.buttons([blocks.button(actions.ASK_AGAIN, "Ask again", exchange.question.id)]))
    return Message(shortened(f"{CHANGED} {_titles(shown)}", MAX_SUMMARY_CHARACTERS), tuple(made))


def standing_text(exchange: Exchange, changed: Sequence[ChangedSource]) -> str:
    """How each source of an answer stands, in Slack's own markup."""
    by_number = {each.number: each for each in changed}
    lines: list[str] = []
    for source in exchange.answer.sources if exchange.answer else ():
        each = by_number.get(source.number)
        if each is not None and each.stale:
            lines += _lines(source, each)
        else:
            said = "the quoted words still stand; other words of the section changed" if each else "as it was quoted"
            lines.append(f"[{source.number}] {link(source_link(source), path(source.first.path))}: {said}")
    head = (
        "Not all that I quoted still stands." if any(each.stale for each in changed) else "What I quoted still stands."
    )
    return "\n".join([head, *lines])


def _lines(source: CitedSource, changed: ChangedSource) -> Iterator[str]:
    title = path(source.first.path)
    shown = link(changed.link or source_link(source), title) if changed.state != "gone" or changed.link else title
    yield f"[{source.number}] {shown}"
    if changed.before:
        yield f"Before: {_words(changed.before)}"
    if changed.after:
        yield f"Now: {_words(changed.after)}"
    elif changed.state == "gone":
        yield "This section is no longer there."
    else:
        yield "These words are no longer there."


def _words(text: str) -> str:
    return f"“{escaped(shortened(plain_line(text), MAX_WORDS_CHARACTERS))}”"


def _titles(shown: Sequence[tuple[CitedSource, ChangedSource]]) -> str:
    return ", ".join(escaped(plain_line(source.first.path[-1])) for source, _ in shown if source.first.path)
