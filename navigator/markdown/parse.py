"""Markdown in, pieces out: CommonMark with tables and strike-through, parsed by markdown-it-py. Pure.

Tags of HTML are read for what they mean (html_tags); other HTML is text. Images are their words. There are no link
definitions, so that an answer's [1] stays a mark whatever stands at its end. Nothing that a reader would read is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline.state_inline import Scanned, StateInline
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from navigator.markdown.blocks import (
    Code,
    MarkdownHeading,
    MarkdownList,
    MarkdownTable,
    Paragraph,
    Piece,
    Quote,
    Rule,
    Spans,
)
from navigator.markdown.html_tags import Reading, meant, tag_of
from navigator.markdown.spans import Span, is_punctuation

MAX_NESTING = 60
"""How deep quotes and lists may stand in each other; the parser loses what is deeper."""


class _UnspacedState(StateInline):
    """Emphasis beside letters and punctuation of Chinese, Japanese and Korean, which are written without spaces: neither
    hinders a delimiter there (github.com/tats-u/markdown-cjk-friendly, after commonmark/commonmark-spec#650)."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 (the parser's names)
        scanned = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start else " "
        after = self.src[start + scanned.length] if start + scanned.length < self.posMax else " "
        if before.isspace() or after.isspace() or not (_is_unspaced(before) or _is_unspaced(after)):
            return scanned
        counts = canSplitWord or is_punctuation(before) or is_punctuation(after)
        return Scanned(counts, counts, scanned.length)


class _UnspacedInline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _UnspacedState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _is_unspaced(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WFH" and unicodedata.category(char) != "So"


def _unspaced_markdown() -> MarkdownIt:
    markdown = MarkdownIt()
    markdown.inline = _UnspacedInline()
    return markdown.configure("commonmark", {"html": True, "maxNesting": MAX_NESTING})


_MARKDOWN = _unspaced_markdown().enable(["table", "strikethrough"]).disable(["reference", "html_block"])
_COMMONMARK = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,30}(?=\s|$)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\t\n\r\x85\u2028\u2029]")
_OTHER_MARKER = {"-": "*", "*": "-", "+": "-", ".": ")", ")": "."}
_COLUMN_MARKS = {"": "---", "text-align:left": ":--", "text-align:center": ":-:", "text-align:right": "--:"}


def parse_markdown(text: str) -> tuple[Piece, ...]:
    """The document's pieces in order; of a document that is nested too deeply its source, as code."""
    tokens = _MARKDOWN.parse(_CONTROL.sub("\ufffd", text))
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return (Code(text.strip("\n")),)
    return _pieces(SyntaxTreeNode(tokens), nested=False)


def block_starts(text: str) -> list[int]:
    """Where the blocks of the document begin that stand in no other."""
    lines = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return [lines[node.map[0]] for node in SyntaxTreeNode(_MARKDOWN.parse(text)).children if node.map]


def settled_end(text: str) -> int:
    """Where the last piece begins that more text could still change: all before it is as it will be. Only whole lines
    count."""
    starts = block_starts(text[: text.rfind("\n") + 1])
    return starts[-1] if len(starts) > 1 else 0


def plain_reading(text: str) -> tuple[list[str], list[str]]:
    """How everybody else reads the document, with HTML and link definitions: the targets of its links and images, and its
    prose in runs between code and line breaks. HTML counts as prose, and with an attribute as a target too."""
    env: dict[str, Any] = {}
    tokens = [inner for token in _COMMONMARK.parse(text, env) for inner in (token, *(token.children or ()))]
    targets = [str(reference["href"]) for reference in env.get("references", {}).values()]
    prose = [""]
    for token in tokens:
        match token.type:
            case "link_open" | "image":
                targets.append(str(token.attrs.get("href", token.attrs.get("src", ""))))
            case "text":
                prose[-1] += token.content
            case "html_inline" | "html_block":
                prose += [token.content, ""]
                targets += [token.content] if "=" in token.content else []
            case "inline" | "code_inline" | "softbreak" | "hardbreak":
                prose.append("")
    return targets, prose


def _pieces(node: SyntaxTreeNode, *, nested: bool) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for piece in (piece for child in node.children for piece in _piece(child, nested)):
        match pieces[-1:], piece:
            case [MarkdownList(marker=before)], MarkdownList(marker=marker) if marker == before:
                # what stood between the two had nothing to read; they stay two
                pieces.append(replace(piece, marker=_OTHER_MARKER[marker]))
            case _:
                pieces.append(piece)
    return tuple(pieces)


def _piece(node: SyntaxTreeNode, nested: bool) -> Iterator[Piece]:
    """A node as a piece; none where there is nothing to read."""
    match node.type:
        case "paragraph" if spans := _spans_of(node):
            yield Paragraph(spans)
        case "heading" if spans := _spans_of(node):
            yield MarkdownHeading(int(node.tag[1:]), spans)
        case "fence" | "code_block" if node.content.strip():
            language = _FENCE_LANGUAGE.match(node.info.strip())
            yield Code(node.content.removesuffix("\n"), language[0] if language else "")
        case "hr":
            yield Rule(node.markup[:3])
        case "blockquote" if pieces := _pieces(node, nested=True):
            yield Quote(pieces)
        case "bullet_list" | "ordered_list":
            yield _listing(node)
        case "table":
            yield _table(node, nested)


def _listing(node: SyntaxTreeNode) -> MarkdownList:
    paragraphs = [child for item in node.children for child in item.children if child.type == "paragraph"]
    return MarkdownList(
        items=tuple(_pieces(item, nested=True) for item in node.children),
        marker=node.markup,
        start=int(node.attrs.get("start", 1)),
        tight=all(paragraph.hidden for paragraph in paragraphs),
    )


def _table(node: SyntaxTreeNode, nested: bool) -> MarkdownTable:
    """Slack has no tables inside quotes and lists."""
    rows = [row.children for part in node.children for row in part.children]
    return MarkdownTable(
        rows=tuple(tuple(_spans_of(cell) for cell in row) for row in rows),
        columns=tuple(_COLUMN_MARKS[str(cell.attrs.get("style", ""))] for cell in rows[0]),
        monospace=nested,
    )


def _spans_of(node: SyntaxTreeNode) -> Spans:
    spans = tuple(span for inline in node.children for span in _inner(inline, ()))
    return spans if any(span.text.strip() for span in spans) else ()


def _inner(node: SyntaxTreeNode, styles: tuple[str, ...]) -> Iterator[Span]:
    """The spans of what is in a node, with what HTML's tags among it mean."""
    parts = node.children
    tags = [tag_of(part.content) if part.type == "html_inline" else None for part in parts]
    if not any(tags):
        for part in parts:
            yield from _spans(part, styles)
        return
    ends = [part.type in ("softbreak", "hardbreak") for part in parts]
    words = [
        tag is None and not end and (part.type != "text" or bool(part.content.strip()))
        for part, tag, end in zip(parts, tags, ends, strict=True)
    ]
    reading = Reading()
    for part, tag in zip(parts, meant(tags, ends, words), strict=True):
        if tag:
            yield from reading.tag(tag)
        else:
            for span in _spans(part, styles):
                yield from reading.span(span)
    yield from reading.end()


def _spans(node: SyntaxTreeNode, styles: tuple[str, ...]) -> Iterator[Span]:
    match node.type:
        case "softbreak":
            yield Span("\n", styles=styles)
        case "hardbreak":
            yield Span("\n", "break", styles)
        case "code_inline":
            yield Span(_one_line(node.content), "code", styles)
        case "em" | "strong" | "s":
            inner = styles if node.markup in styles else (*styles, node.markup)  # *a *b* c* could not be written again
            yield from _inner(node, inner)
        case "link":
            inside = list(_inner(node, styles))
            label = "".join(span.text for span in inside).replace("\n", " ")
            if label.strip():
                yield Span(label, "link", styles, str(node.attrs.get("href", "")))
        case "image":
            for child in node.children:
                yield from _spans(child, styles)
        case _:
            yield Span(_one_line(node.content), styles=styles)


def _one_line(text: str) -> str:
    """Without the line breaks that a character reference can hide."""
    first, *others = _BREAK.split(text)  # split and not substituted with the space around: that would be quadratic
    if not others:
        return text
    inner = (part.strip() for part in others[:-1])
    return " ".join([first.rstrip(), *filter(None, inner), others[-1].lstrip()])
