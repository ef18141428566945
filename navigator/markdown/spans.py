"""Running text as spans: words in one style, code, links, marks. Written as Markdown, or cut where nobody minds. Pure.

What is written parses to the same spans again (CommonMark 0.31): literal characters are escaped where they would mean
something, and nowhere else, since every backslash may be seen by somebody.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Literal

SpanKind = Literal["text", "code", "link", "mark", "break"]

APART = "\u200b"
"""Stands between backticks that Slack would take for a fence."""

_SPECIAL = re.compile(r"[\\`*_\[\]<&~|!]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_BLOCK_START = re.compile(r"#{1,6}(?=\s|$)|>|[-+](?=\s|$)|(?=[-|:=])[-|:=\s]+$|(?P<number>\d{1,9})(?=[.)](?:\s|$))")
_ATOM = re.compile(r"\s+|\S+\s*")
_SENTENCE_END = re.compile(r"(?:[.!?:;…]['\")]*|[。！？])(?:\s*\[\d+\])*\s*$|\n$")
_TICKS = re.compile(r"`(?=`)")
_RUNS = re.compile(r"`+")
_UNSAFE = re.compile(r"[\s<>|\"\\`]")


@dataclass(frozen=True, slots=True)
class Span:
    """`styles`: the delimiters around it, outermost first ("**", "_", "~~"). `target`: where a link or mark leads.
    A text holds a line break only where the reader may see one; "break" is one that the reader must see."""

    text: str
    kind: SpanKind = "text"
    styles: tuple[str, ...] = ()
    target: str = ""


def text_of(spans: Sequence[Span]) -> str:
    """What a reader reads, without any markup."""
    return "".join(span.text for span in spans)


def write_markdown(spans: Sequence[Span], *, cell: bool = False) -> str:
    """The spans as Markdown. `cell`: inside a table, where it is all one line."""
    # A delimiter counts only beside a word (CommonMark's flanking rules): white space at the edges of a style is held back
    # as the gap and written outside of it, and of the styles that go on nothing is closed.
    parts: list[str] = []
    styles: tuple[str, ...] = ()
    gap = ""
    merged = _merged([replace(span, text=span.text.replace("\n", " ")) for span in spans] if cell else spans)
    if any(span.styles for span in merged):
        merged = _merged(list(_counting(merged)))
    for position, span in enumerate(merged):
        core = span.text.strip() if span.kind == "text" else "" if span.kind == "break" else span.text
        if not core:
            gap += "  \n" if span.kind == "break" else span.text
            continue
        gap += span.text[: len(span.text) - len(span.text.lstrip())] if span.kind == "text" else ""
        shared = sum(1 for _ in _shared(styles, span.styles))
        blank = _blank(gap, cell) if parts else ""
        opened = "".join(span.styles[shared:])
        line_start = (not parts or "\n" in blank) and not opened and not cell
        following = merged[position + 1].kind if position + 1 < len(merged) else "text"
        parts += [*reversed(styles[shared:]), blank, opened]
        parts.append(_written(span, core, cell, line_start, before_link=following in ("link", "mark")))
        styles = span.styles
        gap = span.text[len(span.text.rstrip()) :] if span.kind == "text" else ""
    return "".join([*parts, *reversed(styles)])


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Neighbours in one style as one span; line breaks stay apart."""
    merged: list[Span] = []
    spans = [span for span in spans if span.text]
    for (kind, styles, _), group in groupby(spans, key=lambda s: (s.kind, s.styles, "\n" in s.text)):
        same = list(group)
        merged += [Span(text_of(same), kind, styles)] if kind == "text" else same
    return merged


def _counting(spans: Sequence[Span]) -> Iterator[Span]:
    """Delimiters where every reader of CommonMark sees them: one between punctuation in its style and a word outside is
    none, so that such punctuation, a link or code at the edge of a style stands outside of it. No word changes."""
    for position, span in enumerate(spans):
        before = spans[position - 1] if position else Span("")
        after = spans[position + 1] if position + 1 < len(spans) else Span("")
        left, right = len(_shared(before.styles, span.styles)), len(_shared(span.styles, after.styles))
        begins = left == len(before.styles) < len(span.styles) and _is_word(before, -1)
        ends = right == len(after.styles) < len(span.styles) and _is_word(after, 0)
        alone = left == right and (begins or ends)
        if alone and len({style[0] for style in span.styles[left:]}) > 1:  # the inner delimiter is punctuation, too
            span = replace(span, styles=span.styles[: left + 1])  # noqa: PLW2901
        if span.kind != "text":
            yield replace(span, styles=span.styles[: left if begins else right]) if begins or ends else span
            continue
        head, tail = _leading(span.text), _leading(span.text[::-1])
        both = any(map(_opening, head)) and any(map(_closing, tail))  # brackets look best together
        first = len(head) if begins or (ends and both) else 0
        last = len(span.text) - (len(tail) if ends or (begins and both) else 0)
        yield replace(span, text=span.text[:first], styles=span.styles[:left])
        yield replace(span, text=span.text[first:last])
        yield replace(span, text=span.text[max(first, last) :], styles=span.styles[:right])


def _is_word(span: Span, edge: int) -> bool:
    """Whether there is a letter at that edge."""
    char = span.text[edge] if span.text and span.kind == "text" else " "
    return not char.isspace() and not is_punctuation(char)


def is_punctuation(char: str) -> bool:
    """As CommonMark 0.31 has it: symbols too."""
    return unicodedata.category(char)[0] in "PS"


def _leading(text: str) -> str:
    """The punctuation that it begins with."""
    return "".join(takewhile(is_punctuation, text))


def _opening(char: str) -> bool:
    return unicodedata.category(char) in ("Ps", "Pi")


def _closing(char: str) -> bool:
    return unicodedata.category(char) in ("Pe", "Pf")


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    shared: list[str] = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared.append(a)
    return shared


def _blank(gap: str, cell: bool) -> str:
    if "\n" not in gap or cell:
        return " " if gap.isascii() and gap else gap.replace("\n", " ")
    return "  \n" if "  \n" in gap else "\n"


def _written(span: Span, core: str, cell: bool, line_start: bool, *, before_link: bool) -> str:
    match span.kind:
        case "code":
            return _code(core, cell)
        case "link":
            return f"[{_escaped(core.strip(), cell, label=True)}]({destination(span.target)})"
        case "mark":
            return f"[{core}]({destination(span.target)})"
    text = _escaped(core, cell, before_link=before_link)
    start = _BLOCK_START.match(text) if line_start else None
    if start is None:
        return text
    return f"{start['number'] or ''}\\{text[len(start['number'] or '') :]}"


def _escaped(text: str, cell: bool, *, label: bool = False, before_link: bool = False) -> str:
    def one(match: re.Match[str]) -> str:
        char, at = match[0], match.start()
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        around = before.isspace() and after.isspace()
        needed = {
            "`": True,
            "\\": not after or after in string.punctuation,
            "*": not around,
            "_": not around and not (before.isalnum() and after.isalnum()),
            "[": label,
            "]": label or (after != "" and after in "([:"),
            "<": not after or after.isalpha() or after in "/!?@#",
            "&": _ENTITY.match(text, at) is not None,
            "~": "~" in (before, after),
            "|": cell,
            "!": not after and before_link,
        }[char]
        return f"\\{char}" if needed else char

    return _SPECIAL.sub(one, text)


def ticks_apart(text: str) -> str:
    """Backticks, each held apart from the next."""
    return _TICKS.sub("`" + APART, text)


def fenced(code: str, language: str) -> str:
    """Word for word, in a fence longer than any run of backticks inside; `Code` is how Slack may have it."""
    fence = "`" * max(3, 1 + max(map(len, _RUNS.findall(code)), default=0))
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def _code(text: str, cell: bool) -> str:
    """Backticks inside are held apart by an invisible character: three in a row begin a fence for Slack."""
    inner = ticks_apart(text)
    ticks = "``" if "`" in inner else "`"
    padded = inner[0] == "`" or inner[-1] == "`" or (inner[0] == inner[-1] == " " and inner.strip(" ") != "")
    inner = f" {inner} " if padded else inner
    return f"{ticks}{inner.replace('|', chr(92) + '|') if cell else inner}{ticks}"


@lru_cache(maxsize=1_024)  # a source's mark stands many times in an answer
def destination(url: str) -> str:
    """A URL as it may stand between the brackets of a link; parentheses only in pairs."""
    safe = _UNSAFE.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), url)
    depth = 0
    for char in safe:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            break
    return safe if depth == 0 else safe.replace("(", "%28").replace(")", "%29")


def cut_spans(spans: Sequence[Span], limit: int) -> list[tuple[Span, ...]]:
    """The spans in parts that are each written in at most `limit` characters: cut after a sentence if one ends in the
    second half, else after a word, never in a link, a code span or a mark. Only what is longer than half a part by
    itself is cut inside: such a word or code anywhere, such a link loses its target."""
    atoms = [atom for span in spans for atom in _atoms(span, limit // 2)]
    parts: list[tuple[Span, ...]] = []
    start, total, border = 0, 0, 0
    costs = [_cost(atom) for atom in atoms]
    for position, cost in enumerate(costs):
        if total + cost > limit:
            border = _border(atoms, costs, start, position)
            parts.append(tuple(atoms[start:border]))
            start, total = border, sum(costs[border:position])
        total += cost
    return [part for part in [*parts, tuple(atoms[start:])] if text_of(part).strip()]


def _atoms(span: Span, longest: int) -> list[Span]:
    size = max(1, (longest - 2 * sum(map(len, span.styles))) // 3)
    if _cost(span) <= longest and span.kind != "text":
        return [span]
    if span.kind == "text":
        pieces = [p[i : i + size] for p in _ATOM.findall(span.text) for i in range(0, len(p), size)]
        return [replace(span, text=piece) for piece in pieces]
    if span.kind == "code":
        return [replace(span, text=span.text[i : i + size]) for i in range(0, len(span.text), size)]
    return _atoms(replace(span, kind="text", target=""), longest)


def _cost(span: Span) -> int:
    """No less than what it takes to write it."""
    styles = 2 * sum(map(len, span.styles))
    match span.kind:
        case "code":
            return styles + len(span.text) + span.text.count("|") + span.text.count("`") + 6
        case "link" | "mark":
            return styles + 2 * len(span.text) + len(destination(span.target)) + 4
        case "break":
            return 3
    return styles + len(span.text) + len(_SPECIAL.findall(span.text)) + 1


def _border(atoms: Sequence[Span], costs: Sequence[int], start: int, end: int) -> int:
    """Where to cut atoms[start:end]: as late as possible, but after a sentence if that is not too early."""

    def loose(position: int) -> bool:
        before, after = atoms[position - 1], atoms[position]
        apart = before.text[-1:].isspace() or after.text[:1].isspace()
        return apart and after.kind not in ("mark", "break") and after.text.strip() != ""

    places = [position for position in range(end, start, -1) if loose(position)]
    half = sum(costs[start:end]) // 2
    for position in places:
        if sum(costs[start:position]) < half:
            break
        if _SENTENCE_END.search(text_of(atoms[max(start, position - 9) : position])):
            return position
    return places[0] if places else end
