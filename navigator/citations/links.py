"""The gate of links: no address leaves but those of sections that were read. Pure.

A model may invent an address, or be talked into one by a page. What is a link is decided by a parser and not by a
pattern: an address can be escaped, spelled in entities, defined elsewhere, or stand in what only looks like code. Code
stays as it is: nobody is led anywhere by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from navigator.answer import Answer, CitedSource, Passage
from navigator.markdown.blocks import Piece, Spans, markdown_of
from navigator.markdown.parse import block_starts, parse_markdown, plain_reading
from navigator.markdown.spans import Span, text_of

LEFT_OUT = "(link left out)"

_WRITTEN_ADDRESS = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{0,30}:[/\\]{2}|\bmailto:|\btel:(?=[+\d])|\bwww\."
    r"|\b(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}[/\\])[^\s<>()\[\]\"'`]*",
    re.IGNORECASE,
)
"""What a reader, or the client that shows it, takes for an address. Bounded: no text makes it look twice."""
_HOST_ONLY = re.compile(r"(?:[a-z][a-z0-9+.-]*:[/\\]*)?[^/\\?#]*", re.IGNORECASE)


@dataclass(frozen=True)
class Gate:
    """`links`: the addresses that may leave. `said`: what was read; an address in it stays, as words."""

    links: frozenset[str] = frozenset()
    said: str = ""

    def spans(self, text: str, styles: tuple[str, ...] = ()) -> Iterator[Span]:
        """Prose as spans: its allowed addresses as links, those that a section says as code, the rest left out."""
        last = 0
        for start, url in _addresses_at(text):
            yield Span(text[last:start], styles=styles)
            if url in self.links:
                yield Span(url, "link", styles, url)
            else:
                yield Span(url, "code", styles) if self.says(url) else Span(LEFT_OUT, styles=styles)
            last = start + len(url)
        yield Span(text[last:], styles=styles)

    def says(self, url: str) -> bool:
        """Whether a section says this address, or one on the same host that begins with it: `github.co` does not stand
        in `github.com`."""
        ends = r"(?![\w@:-]|\.\w)" if _HOST_ONLY.fullmatch(url) else ""
        return re.search(rf"(?<![\w.@/-]){re.escape(url)}{ends}", self.said) is not None

    def rewritten(self, spans: Spans) -> Spans:
        """Running text in which nothing leads elsewhere. A link that may not leave is its words."""
        made: list[Span] = []
        for prose, group in groupby(map(self._unlinked, spans), key=lambda span: span.kind == "text"):
            run = list(group)
            parts = [part for span in run for part in self.spans(span.text, span.styles)] if prose else run
            whole = text_of(run)
            if prose and _addresses(whole) != [url for span in run for url in _addresses(span.text)]:
                parts = list(self.spans(whole))  # an address that is bold in the middle is one all the same
            made += parts
        return tuple(span for span in made if span.text)

    def _unlinked(self, span: Span) -> Span:
        """A link that may not leave as its words; the words of one that may lead nowhere else."""
        if span.kind != "link":
            return span
        if span.target not in self.links:
            return Span(span.text, styles=span.styles)
        return span if span.text == span.target else replace(span, text=self.words(span.text))

    def words(self, text: str) -> str:
        """Text without any address, for where no link may stand."""
        return "".join(LEFT_OUT if span.kind != "text" else span.text for span in Gate().spans(text))

    def passed(self, markdown: str) -> str:
        """Markdown that leads nowhere else. Blocks in which nothing does stay as they were written, so that an answer that
        grows goes on from where it was."""
        if not self.leads_elsewhere(markdown):
            return markdown
        borders = [0, *block_starts(markdown)[1:], len(markdown)]
        blocks = [markdown[start:end] for start, end in pairwise(borders)]
        kept = "".join(self._written_anew(block) if self.leads_elsewhere(block) else block for block in blocks)
        return self._written_anew(markdown) if self.leads_elsewhere(kept) else kept

    def _written_anew(self, markdown: str) -> str:
        """With the line breaks that stood at its end."""
        return markdown_of(gated(parse_markdown(markdown), self)) + markdown[len(markdown.rstrip("\n")) :]

    def leads_elsewhere(self, markdown: str) -> bool:
        """Whether CommonMark's own reading, with HTML and definitions, finds a way out that is not allowed."""
        targets, prose = plain_reading(markdown)
        written = (url for text in prose for url in _addresses(text))
        return not self.links.issuperset(targets) or any(
            url not in self.links and not self.says(url) for url in written
        )


def gate_for(passages: Sequence[Passage], sources: Sequence[CitedSource] = ()) -> Gate:
    """What may leave when these were read."""
    links = {link for passage in passages for link in (passage.link, passage.page_url)}
    cited = [citation for source in sources for citation in source.citations]
    links |= {link for citation in cited for link in (citation.link, citation.node_link, citation.page_url)}
    return Gate(frozenset(links), "\n".join(block.text for passage in passages for block in passage.blocks))


def gate_of(answer: Answer) -> Gate:
    """The nearest sections were looked at, and are offered as links; what they say is no answer."""
    gate = gate_for(answer.trace.passages, answer.sources)
    return Gate(gate.links | {passage.link for passage in answer.nearest}, gate.said)


def gated(pieces: Sequence[Piece], gate: Gate) -> tuple[Piece, ...]:
    return tuple(piece.rewritten(gate.rewritten, str) for piece in pieces)


def without_foreign_links(text: str, passages: Sequence[Passage]) -> str:
    """The text with no address that is not of a passage, or said by one."""
    return gate_for(passages).passed(text)


def _addresses_at(text: str) -> Iterator[tuple[int, str]]:
    for match in _WRITTEN_ADDRESS.finditer(text):
        yield match.start(), match[0].rstrip(".,;:!?*_~")


def _addresses(text: str) -> list[str]:
    return [url for _, url in _addresses_at(text)]
