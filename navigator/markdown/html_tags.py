"""HTML in a model's Markdown: what its tags mean, among the parts of one paragraph. Pure.

A tag means something where it is closed, stands for itself (<br>) or shares its line with tags alone; one in a sentence
that nobody closes ("use <div> here") is a word, as is every tag that HTML does not know (List<String>).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape

from navigator.markdown.spans import Span

_TAG = re.compile(r"<(?P<end>/)?(?P<name>[a-zA-Z][a-zA-Z0-9]{0,20})(?P<attributes>\s[^<>]*)?/?>")
_ATTRIBUTE = r"\b{}\s?=\s?(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
_HREF, _ALT = (re.compile(_ATTRIBUTE.format(name), re.IGNORECASE) for name in ("href", "alt"))
_STYLES = {
    **dict.fromkeys(("b", "strong", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "th", "dt"), "**"),
    **dict.fromkeys(("i", "em", "var", "dfn"), "*"),
    **dict.fromkeys(("s", "del", "strike"), "~~"),
}
_CODE = frozenset("code tt samp kbd pre".split())
_WORDS = frozenset("b strong i em s del u ins sub sup small big mark kbd span font abbr q label time nobr".split())
"""Tags that only style words: one that nobody closed gives way to them."""
_ALONE = frozenset("br hr img !".split())
_CELLS = frozenset(("td", "th"))
_BLOCKS = frozenset(
    "p div section article aside center ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote details summary figure"
    " figcaption pre h1 h2 h3 h4 h5 h6".split()
)


@dataclass(frozen=True, slots=True)
class Tag:
    """`name` in lower case, "!" for a comment. `target`: where it leads; `words`: what an image says of itself."""

    name: str
    ends: bool
    target: str = ""
    words: str = ""


def tag_of(source: str) -> Tag | None:
    """None for what is no tag of HTML's that shows something."""
    if source.startswith("<!--"):
        return Tag("!", ends=False)
    found = _TAG.fullmatch(source)
    if found is None:
        return None
    name, attributes = found["name"].lower(), found["attributes"] or ""
    if name not in _STYLES and name not in _CODE | _WORDS | _BLOCKS | _ALONE | {"a"}:
        return None
    return Tag(name, bool(found["end"]), _value(_HREF, attributes), _value(_ALT, attributes))


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return unescape(next(filter(None, found.groups()), "")).strip() if found else ""


def meant(parts: Sequence[Tag | None], line_ends: Sequence[bool], words: Sequence[bool]) -> list[Tag | None]:
    """Of the parts of a paragraph the tags that mean something; one without its other half is the border of a block at most.
    Of each part: the tag, whether it ends the line, and whether there are words in it."""
    found: list[Tag | None] = [tag if tag and tag.name in _ALONE else None for tag in parts]
    opened: dict[str, list[int]] = {}
    for at, tag in enumerate(parts):
        if tag and not tag.ends:
            opened.setdefault(tag.name, []).append(at)
        elif tag and opened.get(tag.name):
            begin = opened[tag.name].pop()
            found[begin], found[at] = parts[begin], tag
    first = 0
    for at, ends in enumerate(line_ends):
        if ends or at == len(parts) - 1:
            alone = not any(words[first : at + 1])
            for each in range(first, at + 1):
                tag = parts[each]
                if tag and found[each] is None and (alone or tag.name in _WORDS):
                    found[each] = Tag("p" if tag.name in _BLOCKS else "span", tag.ends)
            first = at + 1
    return found


@dataclass(slots=True)
class Reading:
    """What tags make of the spans between them: fed in order, each gives what is to be shown of it."""

    styles: dict[str, int] = field(default_factory=dict)
    """How many tags of each style are open, the outermost style first."""
    code: int = 0
    target: str = ""
    label: list[str] | None = None
    fresh: bool = True
    cell: bool = False
    counts: list[int] = field(default_factory=list)
    """Of the lists that are open the next item's number; 0 where items have none."""

    def span(self, span: Span) -> Iterator[Span]:
        if self.label is not None:
            self.label.append(span.text)
            return
        styles = (*span.styles, *(style for style in self.styles if style not in span.styles))
        if self.code and span.kind == "text":
            shown = Span(span.text.strip(), "code", styles) if span.text.strip() else Span(span.text, styles=styles)
            span = Span("\n", "break", styles) if span.text == "\n" else shown
        else:
            span = replace(span, styles=styles)
        self.fresh = span.kind == "break" or (self.fresh and not span.text.strip())
        yield span

    def tag(self, tag: Tag) -> Iterator[Span]:
        if tag.name in ("br", "hr"):
            yield from self.span(Span("\n", "break"))
            return
        if tag.name == "img":
            yield from self.span(Span(tag.words))
            return
        if tag.name in _BLOCKS:
            yield from self._edge(tag)
        if tag.name == "a":
            yield from self._link(tag)
        if tag.name in _CODE:
            self.code = max(0, self.code + (-1 if tag.ends else 1))
        if style := _STYLES.get(tag.name):
            self.styles[style] = self.styles.get(style, 0) + (-1 if tag.ends else 1)
            if self.styles[style] <= 0:
                del self.styles[style]

    def _edge(self, tag: Tag) -> Iterator[Span]:
        """The border of a block: another line; between the cells of a row a bar."""
        if tag.name in _CELLS:
            if not tag.ends and self.cell:
                yield from self.span(Span(" | "))
            self.cell = True
            return
        self.cell = False
        if not self.fresh:
            yield from self.span(Span("\n", "break"))
        if tag.name in ("ul", "ol"):
            if not tag.ends:
                self.counts.append(int(tag.name == "ol"))
            elif self.counts:
                self.counts.pop()
        elif tag.name == "li" and not tag.ends:
            number = self.counts[-1] if self.counts else 0
            yield from self.span(Span(f"{number}. " if number else "• "))
            if number:
                self.counts[-1] += 1
            self.fresh = True

    def _link(self, tag: Tag) -> Iterator[Span]:
        if not tag.ends:
            self.label, self.target = self.label or [], tag.target
            return
        label, self.label = " ".join("".join(self.label or ()).split()), None
        if label:
            yield from self.span(Span(label, "link", target=self.target) if self.target else Span(label))

    def end(self) -> Iterator[Span]:
        """A link that nobody closed is its words."""
        label, self.label = "".join(self.label or ()), None
        if label:
            yield from self.span(Span(label))
