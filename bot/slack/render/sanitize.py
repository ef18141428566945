"""The last gate before Slack: no live mention, and no address but those of sections that were read. Pure.

Three ways out pass through here: plain text (`plain_line`), pieces for a markdown block (`sanitized`), and an
answer that arrives bit by bit (`Stream`). Prose loses every mention; code stays as it is but for the very tokens
that Slack would turn into a mention, or into a link to a host that no section says, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from bot.slack.render.message_split import BETWEEN, grouped, one_table
from navigator.answer import CitedSource, Passage
from navigator.citations.links import Gate, gate_for
from navigator.markdown.blocks import MIN_PART_CHARACTERS, MarkdownTable, Piece, Spans, markdown_of
from navigator.markdown.parse import parse_markdown, settled_end
from navigator.markdown.spans import APART, Span, ticks_apart

NO_LINKS = Gate()
MAX_LINK_CHARACTERS = 2_000
"""Characters of an address that a message still carries."""

# What a reader does not see, and what Slack or a client may drop before it looks for a mention.
_UNSEEN = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    r"\ufeff\U000e0000-\U000e01ef]*"
)


def _spread(word: str) -> str:
    return _UNSEEN.join(word)


_BROADCAST = "|".join(map(_spread, ("channel", "here", "everyone")))
_TOKEN = re.compile(
    rf"<(?={_UNSEEN}(?:!{_UNSEEN}(?i:{_BROADCAST}|{_spread('subteam')}|{_spread('date')})"
    rf"|[@#]{_UNSEEN}[A-Z](?:{_UNSEEN}[A-Z0-9]){{3,}}))"
)
_BARE = re.compile(rf"(?<!\w)@(?={_UNSEEN}(?:{_BROADCAST})(?!\w))", re.IGNORECASE)
_ADDRESS_IN_FRONT = r"(?<![\w.@/-])(?:[\w.+-]{1,64}@)?"
_PORT = r"(?::\d{1,5})?(?![\w-]|\.\w)"
_IP = r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
_HOST_LIKE = re.compile(
    rf"{_ADDRESS_IN_FRONT}(?:(?:[\w-]{{1,63}}\.){{1,8}}(?!js\b)(?:[a-z]{{2,24}}|[A-Z]{{2,24}}|xn--[a-z0-9-]{{1,60}}|рф|укр|бел|中国|中國|香港|한국)"
    rf"|{_IP}){_PORT}(?:\(\))?"
)
"""What may be a host without a scheme or a path, or a mail address, of which Slack makes a link all the same. There are 1,400
top domains, and file names and dotted identifiers look alike: as code those look as they should, too; Node.js is a name."""
_CODE_LIKE = re.compile(
    rf"{_HOST_LIKE.pattern}|(?<![\w./-])(?:[A-Za-z][A-Za-z0-9]{{0,40}}(?:_{{1,2}}[A-Za-z0-9]{{1,40}}){{1,10}}(?!\w)"
    r"|--[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6}(?![\w-])|(?:/[a-z][\w.-]{0,60}){2,10}(?![\w/]))"
)
"""The same, and identifiers, options and paths of files: code that nobody marked as such."""
_ADDRESS_IN_CODE = re.compile(
    r"\b([a-z][a-z0-9+.-]{0,30}:/)(/[^\s<>\"'`/?#.]{1,63}\.[^\s<>\"'`/?#]{1,200})", re.IGNORECASE
)
_COMMON_HOST = re.compile(
    rf"{_ADDRESS_IN_FRONT}(?:(?:[a-z0-9-]{{1,63}}\.){{1,8}}"
    r"(?:com|net|org|io|dev|co|ai|app|info|biz|me|xyz|site|online|shop|store|top|cloud|tech|link|click|page|live|zip|mov|edu|gov"
    r"|pro|news|blog|club|icu|vip|wiki|world|website|space|fun|win|email|services|ru|cn|de|uk|eu|fr|jp|in|br|us|ca|au|nz|nl|be|ch"
    r"|at|it|es|pt|se|no|fi|dk|cz|tr|ua|mx|ar|za|hk|tw|sg|vn|id|pl|tk|ml|gq|cf|ga|to|cc|tv|ws|ly|gg|so|su|ir|kr)"
    rf"|{_IP}){_PORT}",
    re.IGNORECASE,
)
"""The same where it is surely one: for titles and labels, of which Slack is asked to make nothing (`verbatim`)."""
_MARK = re.compile(r"(?<!\w)\[(\d+)\]")


def defuse_mentions(text: str) -> str:
    """Prose that mentions nobody: `<` and `@` of a mention give way to a sign that looks alike."""
    return _BARE.sub("＠", defuse_mentions_in_code(text))


def defuse_mentions_in_code(text: str) -> str:
    """Code without the tokens <!channel>, <!subteam^…>, <@U…>, <#C…> and their like."""
    return _TOKEN.sub("‹", text)


def leads(url: str) -> bool:
    """Whether Slack makes a link of it: it leads to the web, and is not too long. Pages of a folder are not there."""
    return url.startswith(("https://", "http://")) and len(url) <= MAX_LINK_CHARACTERS


def plain_line(text: str) -> str:
    """One line that mentions nobody and leads nowhere: for a label, a title, a notification."""
    unlinked = _COMMON_HOST.sub(lambda match: match[0].replace(".", "․"), NO_LINKS.words(text))
    return " ".join(defuse_mentions(unlinked).split())


def escaped(text: str) -> str:
    """As leaf text of Slack's own markup (`text`, mrkdwn), where three backticks would begin a fence."""
    return ticks_apart(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    """Slack's own markup as characters: what `escaped` did."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def source_links(sources: Sequence[CitedSource]) -> dict[int, str]:
    """Where the mark of each source leads: the quoted words, or the section where that address is too long."""
    return {source.number: source_link(source) for source in sources}


def source_link(source: CitedSource) -> str:
    """ "" where Slack takes not even the section's address."""
    return next(filter(leads, (source.first.link, source.first.node_link)), "")


def sanitized(pieces: Sequence[Piece], gate: Gate, marks: Mapping[int, str]) -> tuple[Piece, ...]:
    """The pieces with nothing live in them; [n] leads where `marks` says."""
    web = Gate(frozenset(filter(leads, gate.links)), gate.said)
    return tuple(
        piece.rewritten(partial(_sanitized, gate=web, marks=marks), partial(_sanitized_code, gate=web))
        for piece in pieces
    )


def _sanitized_code(text: str, gate: Gate) -> str:
    """Lines of code, in which Slack makes links too: of an address on a host that no section says it makes none where an
    invisible sign holds it apart."""

    def apart(match: re.Match[str]) -> str:
        return match[0] if gate.says(match[0]) else f"{match[1]}{APART}{match[2]}"

    return _ADDRESS_IN_CODE.sub(apart, defuse_mentions_in_code(text))


def _sanitized(spans: Spans, *, gate: Gate, marks: Mapping[int, str]) -> Spans:
    made: list[Span] = []
    for span in gate.rewritten(spans):
        match span.kind:
            case "text":
                for part in _hosts_apart(span):
                    if part.kind == "code":
                        made.append(part)
                    else:
                        made += _marked(replace(part, text=defuse_mentions(part.text)), marks)
            case "code":
                made.append(replace(span, text=defuse_mentions_in_code(span.text)))
            case "link" if span.text != span.target:
                made.append(replace(span, text=plain_line(span.text)))
            case _:
                made.append(span)
    return tuple(span for span in made if span.text)


def _hosts_apart(span: Span) -> Iterator[Span]:
    """What is code, or may be a host or mail address, as code, of which Slack makes no link."""
    last = 0
    for match in _CODE_LIKE.finditer(span.text):
        yield replace(span, text=span.text[last : match.start()])
        yield Span(match[0], "code", span.styles)
        last = match.end()
    yield replace(span, text=span.text[last:])


def _marked(span: Span, marks: Mapping[int, str]) -> Iterator[Span]:
    last = 0
    for match in _MARK.finditer(span.text):
        target = marks.get(int(match[1]), "")
        if target:
            yield Span(span.text[last : match.start()], styles=span.styles)
            yield Span(match[0], "mark", span.styles, target)
            last = match.end()
    yield Span(span.text[last:], styles=span.styles)


class Stream:
    """An answer that arrives in bits cut anywhere, as pieces that can be shown at once.

    What comes out, joined, is the answer as Markdown; each piece is at most `limit` characters and whole: no fence,
    link, code span or mark goes on in the next. A block is held until the next one begins. `sent`: how many characters
    came out so far."""

    def __init__(self, passages: Sequence[Passage], limit: int = 12_000) -> None:
        if limit < MIN_PART_CHARACTERS + len(BETWEEN):
            raise ValueError(f"a piece needs room for {MIN_PART_CHARACTERS + len(BETWEEN)} characters")
        self._passages = passages
        self._limit = limit
        self._held = ""
        self._tabled = False
        self.sent = 0

    def feed(self, text: str, sources: Sequence[CitedSource] = ()) -> tuple[str, ...]:
        """What can be shown now. `sources`: those known so far; a mark of another stays plain text."""
        self._held += text
        return self._released(settled_end(self._held), sources)

    def finish(self, sources: Sequence[CitedSource] = ()) -> tuple[str, ...]:
        """The rest."""
        return self._released(len(self._held), sources)

    def _released(self, end: int, sources: Sequence[CitedSource]) -> tuple[str, ...]:
        ready, self._held = self._held[:end], self._held[end:]
        gate = gate_for(self._passages, sources)
        pieces = one_table(sanitized(parse_markdown(ready), gate, source_links(sources)), self._tabled)
        self._tabled = self._tabled or any(isinstance(piece, MarkdownTable) and piece.native for piece in pieces)
        made = [markdown_of(group) for group in grouped(pieces, self._limit - len(BETWEEN))]
        out = tuple(BETWEEN + text if position or self.sent else text for position, text in enumerate(made))
        self.sent += sum(map(len, out))
        return out
