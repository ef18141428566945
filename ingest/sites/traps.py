"""Crawl traps: calendars, session ids, facets, relative links that lead ever deeper. Addresses without end, at which a server says
what it said before. Bounded by what pages say, and by the shape of their addresses.

Two rules. Links of one more page are not followed where so many have said exactly the same. And where so many pages in a row,
at addresses that differ only in the values of a query, in numbers, dates or ids of the path, said nearly what another of them
said, addresses of that shape are closed, but for paths that nobody has seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from urllib.parse import urlsplit

from ingest.text.likeness import Likeness, counts_of

MAX_COPIES = 20
"""Pages of one text whose links are followed."""
MAX_STALE = 20
"""Pages in a row, of one shape, that say nothing new."""
STALE = 0.5
"""Share of the pairs of words that two pages have in common: pages of a list have less, months of a calendar more."""
_MAX_TEXTS = 4
"""Texts of one path that are remembered, the last ones."""
MIN_ID_CHARACTERS = 12
"""Of a part of a path with letters and digits: shorter ones are names."""


class Traps:
    """Of one crawl. `closed`: shapes that an earlier one found to be traps."""

    def __init__(self, closed: frozenset[str] = frozenset()) -> None:
        self.closed = set(closed)
        self._copies: Counter[Likeness] = Counter()
        self._texts: defaultdict[str, list[Likeness]] = defaultdict(list)
        self._stale: Counter[str] = Counter()

    def note(self, url: str, says: Likeness) -> bool:
        """A page was read; whether its links lead on."""
        path, shape = shape_of(url)
        self._copies[says] += 1
        texts = self._texts[path]
        if texts and shape:
            new = not any(_nearly_says(says, text) for text in texts)
            self._stale[shape] = 0 if new else self._stale[shape] + 1
            if self._stale[shape] == MAX_STALE:
                self.closed.add(shape)
        texts.append(says)
        del texts[:-_MAX_TEXTS]
        return self._copies[says] <= MAX_COPIES

    def most_said(self) -> int:
        """How many pages say what is said most."""
        return max(self._copies.values(), default=0)

    def holds(self, url: str) -> bool:
        """Whether the address is one of a trap."""
        path, shape = shape_of(url)
        return shape in self.closed and path in self._texts


def shape_of(url: str) -> tuple[str, str]:
    """The path of an address with numbers, dates and ids left out, and what is varied in it: the names of its query's
    parameters, and which parts of the path. The latter is empty for an address in which nothing is."""
    parts = urlsplit(url)
    path, _, parameters = parts.path.partition(";")
    names = {part.partition("=")[0] for part in (*parts.query.split("&"), *parameters.split(";")) if part}
    segments = path.split("/")
    counted = [at for at, segment in enumerate(segments) if _is_counted(segment)]
    told = "/".join("0" if at in counted else segment for at, segment in enumerate(segments))
    shape = f"{'/'.join(map(str, counted))}?{'&'.join(sorted(names))}"
    return f"{parts.netloc}{told}", "" if shape == "?" else shape


def _nearly_says(one: Likeness, other: Likeness) -> bool:
    shared, together = counts_of(one, other)
    return shared >= STALE * together


def _is_counted(segment: str) -> bool:
    """A number, a date, or an id, which ASP.NET writes as (S(…))."""
    told = segment.strip("()").removeprefix("S(").replace("-", "").replace(".", "").replace("_", "")
    digits = any(letter.isdigit() for letter in told)
    return told.isdecimal() or (digits and told.isalnum() and len(told) >= MIN_ID_CHARACTERS and "-" not in segment)
