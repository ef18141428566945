"""How alike two pages are, whatever differs on every answer of a server. Pure.

A page that is given for any address (a maintenance page, a check of the browser, a form to sign in) often names the path
asked for, the moment, or an id of the request. These are left out; words and numbers of the text are not: two pages that
differ in "Part 1" and "Part 2" are two pages.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus, urlsplit
from zlib import crc32

from ingest.text.scripts import UNSPACED

MAX_PAIRS = 128
"""Of one text; of more, those with the smallest hashes are kept (Broder 1997): a fair sample, the same of equal texts."""
MAX_BRIEF_PAIRS, MAX_BRIEF_TITLE = 32, 100
"""Of a text that is kept to know it again."""
ONE_TEXT = 0.95
"""From here on two texts are nearly one, whatever their titles."""
ONE_TEXT_AND_TITLE = 0.6
"""With one title, from here on: a greeting, a hint or a name of the page may differ in a few lines."""
EDITED = 2 / 3
"""A page that holds so much of its old text was edited, which nobody doubts."""
KEPT = 0.1
"""A page of which so much stood there before was edited, short as it is."""
MAX_CHARACTERS = 20_000
"""So far the beginning of a page is looked at."""
_IDS_AND_TIMES = re.compile(
    r"\b(?:(?=[^\W_]*\d[^\W\d_]++\d)[^\W_]{8,}+|\d{5,}+|\d++(?:[-/:.]\d++)++(?:t[\d:.]++z?+)?+)\b"
)
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]++")


class Likeness(NamedTuple):
    """What is compared of a page: its title, and hashes of the pairs of words that follow each other in its text. Crawls keep
    one of every page: `packed`, sorted and four bytes each, they take a twentieth of a set's memory."""

    title: str
    packed: bytes

    @property
    def pairs(self) -> frozenset[int]:
        return frozenset(memoryview(self.packed).cast("I"))


def likeness(url: str, title: str, texts: Iterable[str]) -> Likeness:
    """Of the page that was asked for by `url` and has these texts, its titles among them."""
    address = _names(url)
    words = _WORD.findall(_masked("\n".join(texts)[:MAX_CHARACTERS], address))
    pairs = {crc32(f"{one} {other}".encode("utf-8", "surrogatepass")) for one, other in pairwise(["", *words, ""])}
    return Likeness(" ".join(_WORD.findall(_masked(title, address))), array("I", sorted(pairs)[:MAX_PAIRS]).tobytes())


def alike(one: Likeness, other: Likeness) -> bool:
    """Whether both are nearly one text."""
    shared, together = counts_of(one, other)
    return shared >= (ONE_TEXT_AND_TITLE if one.title == other.title else ONE_TEXT) * together


def counts_of(one: Likeness, other: Likeness) -> tuple[int, int]:
    """How many pairs both have, and how many there are in either."""
    mine, theirs = one.pairs, other.pairs
    shared = len(mine & theirs)
    return shared, len(mine) + len(theirs) - shared


def brief(one: Likeness) -> str:
    """Enough of it to know it again."""
    return " ".join([*(f"{pair:x}" for pair in sorted(one.pairs)[:MAX_BRIEF_PAIRS]), one.title[:MAX_BRIEF_TITLE]])


def is_known(one: Likeness, kept: str, share: float = ONE_TEXT_AND_TITLE) -> bool:
    """Whether this is nearly the text that was kept in brief, or so much of it."""
    mine, theirs = ({*text.split(" ")[:MAX_BRIEF_PAIRS]} for text in (brief(one), kept))
    return len(mine & theirs) >= share * len(mine | theirs)


def is_edit(new: Likeness, old: Likeness) -> bool:
    """Whether most of the old text stands in the new one: it was edited, not replaced."""
    has, had = new.pairs, old.pairs
    seen = had if len(has) < MAX_PAIRS else {pair for pair in had if pair <= max(has)}
    return len(seen & has) >= EDITED * len(seen)


def replaces(new: Likeness, old: Likeness) -> bool:
    """Whether nothing of the old text is left, its title neither."""
    has = new.pairs
    return new.title != old.title and len(has & old.pairs) <= KEPT * len(has)


def _names(url: str) -> list[str]:
    """The ways in which a page may name its own address, whole or its path, longest first; a bare word of it is a word of the
    text."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    values = [unquote_plus(part.partition("=")[2]) for part in parts.query.split("&")]
    names = [url, path, path.rstrip("/"), path.lstrip("/"), path.rpartition("/")[2], parts.query, *values]
    told = {name.casefold() for name in names if re.search(r"[/.=]", name)} - {"/"}
    return sorted(told, key=len, reverse=True)


def _masked(text: str, address: Sequence[str]) -> str:
    text = text.casefold()
    said = [name for name in address if name in text]
    if said:
        text = re.sub(rf"(?<!\w)(?:{'|'.join(map(re.escape, said))})(?!\w)", " ", text)
    return _IDS_AND_TIMES.sub(" ", text)
