"""Links that land on the cited lines, also where their words stand earlier on the page.

A browser scrolls to the first place on the page that matches a text fragment
(https://wicg.github.io/scroll-to-text-fragment/). Where that is not in the cited lines, words that stand around it are added
(`prefix-,` and `,-suffix`) until it is; where none tell it apart, the link goes to the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import unquote

from ingest.model import Page
from ingest.ports import TreeStore
from ingest.urls import directive_term
from navigator.answer import Answer, Citation, CitedSource

_MARK = ":~:text="
_CONTEXT_WORDS = (3, 6, 12)
"""So many words are added, more where fewer do not do."""
_LINES = re.compile(r"[\n\t\r\f\v\x85\u2028\u2029]")


class _Place(NamedTuple):
    """Where words stand: in which line, from and to which character."""

    line: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class _Shown:
    """A page's lines and cells, in the order in which a browser looks through them, and those that are cited."""

    lines: Sequence[str]
    cited: range

    def places(self, words: str, before: str = "", after: str = "") -> Iterator[_Place]:
        """Where the words stand whole, between words that end and begin so."""
        for at, line in enumerate(self.lines):
            begin = line.find(words)
            while begin >= 0:
                place = _Place(at, begin, begin + len(words))
                if _is_whole(line, place) and self.left(place).endswith(before) and self.right(place).startswith(after):
                    yield place
                begin = line.find(words, begin + 1)

    def left(self, place: _Place) -> str:
        """What a browser sees before: in the line, or, at its beginning, the line above."""
        above = self.lines[place.line - 1] if place.line else ""
        return self.lines[place.line][: place.begin].rstrip() or above

    def right(self, place: _Place) -> str:
        below = self.lines[place.line + 1] if place.line + 1 < len(self.lines) else ""
        return self.lines[place.line][place.end :].lstrip() or below

    def lands(self, words: str, before: str = "", after: str = "") -> bool:
        first = next(self.places(words, before, after), None)
        return first is not None and first.line in self.cited


async def with_landing_links(answer: Answer, trees: TreeStore) -> Answer:
    """The answer with links that land on what is cited, as far as its pages are still as they were read. Raises store
    errors."""
    keys = {
        passage.node_id: passage.page_key
        for passage in answer.trace.passages
        if any(citation.node_id == passage.node_id for source in answer.sources for citation in source.citations)
    }
    stored = {key: await trees.get(key) for key in dict.fromkeys(keys.values())}
    pages = {key: found.record.page for key, found in stored.items() if found and found.record.page}

    def landed(citation: Citation) -> Citation:
        page = pages.get(keys.get(citation.node_id, ""))
        return replace(citation, link=landing_link(citation, page)) if page else citation

    sources = (CitedSource(source.number, tuple(map(landed, source.citations))) for source in answer.sources)
    return replace(answer, sources=tuple(sources))


def landing_link(citation: Citation, page: Page) -> str:
    """The citation's link, made to land on its block on that page. Pure."""
    base, mark, directive = citation.link.partition(_MARK)
    shown = _shown(page, citation)
    if shown is None:
        return citation.link
    if not mark:  # words that say little by themselves, but do between others
        base = f"{base}{'' if '#' in base else '#'}"
        directive = directive_term(shown.lines[shown.cited.start])
    start, *rest = [_plain(unquote(term)) for term in directive.split(",")]
    if mark and shown.lands(start):
        return citation.link
    own = next((place for place in shown.places(start) if place.line in shown.cited), None)
    if own is None:
        return citation.link
    for before, after in _contexts(shown, own, suffix=not rest):
        if shown.lands(start, before, after):
            terms = [f"{directive_term(before)}-" if before else "", *directive.split(",")]
            terms += [f"-{directive_term(after)}"] if after else []
            return f"{base}{_MARK}{','.join(term for term in terms if term)}"
    return citation.node_link


def _contexts(shown: _Shown, own: _Place, *, suffix: bool) -> Iterator[tuple[str, str]]:
    """Words before, words after, and both, ever more of them."""
    for count in _CONTEXT_WORDS:
        before = " ".join(shown.left(own).split()[-count:])
        after = " ".join(shown.right(own).split()[:count]) if suffix else ""
        yield from (pair for pair in ((before, ""), ("", after), (before, after)) if any(pair))


def _shown(page: Page, citation: Citation) -> _Shown | None:
    """None where the cited section is not on the page as it was read."""
    lines: list[str] = []
    cited: range | None = None
    for node in page.nodes:
        lines += _lines(node.title)
        for at, block in enumerate(node.blocks):
            if node.id == citation.node_id and node.own_hash == citation.node_hash and at == citation.block:
                above, quoted = _quoted_lines(block.text, citation.quote)
                begin = len(lines) + len(_lines(above))
                cited = range(begin, begin + len(_lines(quoted)))
            lines += _lines(block.text)
    return _Shown(lines, cited) if cited else None


def _quoted_lines(text: str, quote: str) -> tuple[str, str]:
    """What stands above the lines of the quotation, and those lines; a quotation of several blocks begins with the first."""
    whole = f"\n{text}\n".find(f"\n{quote}\n")
    at = whole if whole >= 0 else text.find(quote)
    if at < 0 or not quote:
        return "", text
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at + len(quote))
    return text[:begin], text[begin : end if end >= 0 else len(text)]


def _lines(text: str) -> list[str]:
    return [line for line in map(_plain, _LINES.split(text)) if line]


def _plain(text: str) -> str:
    """As a browser compares: in small letters, white space as one space."""
    return " ".join(text.casefold().split())


def _is_whole(line: str, place: _Place) -> bool:
    """From word border to word border; Chinese and Japanese mark none."""
    before, after = line[place.begin - 1 : place.begin], line[place.end : place.end + 1]
    first, last = line[place.begin], line[place.end - 1]
    return not (_joins(before, first) or _joins(last, after))


def _joins(one: str, other: str) -> bool:
    return bool(one and other) and all(letter.isalnum() and letter < "\u2e80" for letter in (one, other))
