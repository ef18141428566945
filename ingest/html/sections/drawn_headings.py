"""Headings drawn in characters: in a long preformatted text (manual pages, RFCs, README files) lines that a reader sees as
headings though no markup says so.

Such are lines over a line of `=` or `-` (Setext, reStructuredText), lines with a section number, and lines in capitals over
text that is set in (man). A listing in a programming language has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MIN_TEXT_CHARACTERS = 6_000
"""About 1,000 words. A shorter text is read whole."""
MIN_DRAWN_HEADINGS = 3
"""Fewer lines that look alike may do so by chance."""
MAX_DRAWN_CHARACTERS = 80
MIN_PLAIN_SHARE = 0.6
"""Of the words of a text so many are plain words; of code fewer are."""

_UNDERLINE = re.compile(r"[=\-~^*#]{3,200}")
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]{1,8}[^\W\d_]")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&'()-]{2,79}")
_NO_TITLE_END = (".", ":", ";", ",", "…")
_PUNCTUATION = ".,;:!?()[]\"'`"


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under a drawn heading; the first part has none, and depth 0. `depth` is 1 for the highest headings."""

    title: str
    depth: int
    text: str


def parts(text: str) -> list[Part]:
    """The text cut at its headings, or whole. Line breaks at the borders of parts are left out, and lines that underline."""
    if len(text) < MIN_TEXT_CHARACTERS or not _reads_as_text(text):
        return [Part("", 0, text)]
    lines = text.split("\n")
    for found in (list(_underlined(lines)), list(_numbered(lines)), list(_capitals(lines))):
        if len(found) >= MIN_DRAWN_HEADINGS:
            return _cut(lines, found)
    return [Part("", 0, text)]


def _cut(lines: Sequence[str], found: Sequence[tuple[int, int, int]]) -> list[Part]:
    """`found`: the line of a heading, how many lines it takes, its rank, in order."""
    ranks = sorted({rank for _, _, rank in found})
    first = found[0][0]
    made = [Part("", 0, _filled(lines[:first]))]
    ends = [line for line, _, _ in found[1:]] + [len(lines)]
    for (line, height, rank), end in zip(found, ends, strict=True):
        made.append(Part(" ".join(lines[line].split()), 1 + ranks.index(rank), _filled(lines[line + height : end])))
    return made


def _filled(lines: Sequence[str]) -> str:
    """Without empty lines at either end."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _underlined(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """A title over a line of one sign that is about as long. The sign that is met first is the highest."""
    signs: list[str] = []
    for at in range(len(lines) - 1):
        title, line = lines[at].rstrip(), lines[at + 1].rstrip()
        alike = _UNDERLINE.fullmatch(line) and len(set(line)) == 1 and abs(len(line) - len(title)) <= 2
        if alike and _is_title(title) and _is_blank(lines, at - 1):
            if line[0] not in signs:
                signs.append(line[0])
            yield at, 2, signs.index(line[0])


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """A line at the margin that stands alone and begins with a section number."""
    for at, line in enumerate(lines):
        number = _NUMBER.match(line)
        if number and _is_title(line) and _is_blank(lines, at - 1) and _is_blank(lines, at + 1):
            yield at, 1, number[1].removesuffix(".0").count(".")


def _capitals(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """A line at the margin in capitals, over a line that is set in."""
    for at, line in enumerate(lines[:-1]):
        below = next((other for other in lines[at + 1 : at + 3] if other.strip()), "")
        if _CAPITALS.fullmatch(line.rstrip()) and _is_blank(lines, at - 1) and below[:1].isspace():
            yield at, 1, 0


def _is_title(line: str) -> bool:
    plain = line.rstrip()
    return (
        0 < len(plain) <= MAX_DRAWN_CHARACTERS
        and not plain[0].isspace()
        and any(map(str.isalpha, plain))
        and not plain.endswith(_NO_TITLE_END)
        and "..." not in plain
        and ". . " not in plain
    )


def _is_blank(lines: Sequence[str], at: int) -> bool:
    return not 0 <= at < len(lines) or not lines[at].strip()


def _reads_as_text(text: str) -> bool:
    words = text.split()
    plain = sum(word.strip(_PUNCTUATION).replace("-", "").replace("'", "").isalpha() for word in words)
    return plain >= MIN_PLAIN_SHARE * len(words)
