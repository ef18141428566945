"""What a question can be made from: sections of a site that say something, alone or together. Pure.

Three kinds, as RIT-RAG's benchmark has them (Appendix L): one section; sections of one page that belong together; sections
of several pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ingest.model import Block, sha256
from ingest.ports import Located
from navigator.evaluation.questions import Gold

Thing = TypeVar("Thing")

Kind = Literal["single-section", "multi-section", "multi-page"]
KIND_SHARES: dict[Kind, float] = {"single-section": 0.5, "multi-section": 0.25, "multi-page": 0.25}
"""How much of the material is of each kind, while the site has it."""

MIN_PROSE_BYTES, MAX_TEXT_BYTES = 240, 4_000
"""Of prose that a section has, and of its text: about 40 and 600 words of English."""
MIN_PROSE_LINE_BYTES = 30
"""Shorter lines are names, commands, entries of lists of contents: they make no prose."""
MAX_SECTIONS = 3
"""That one question is made from."""
_SILENT = frozenset({"code", "math"})
_LISTING = re.compile(
    r".*\b(?:change[\s_-]?logs?|release[\s_-]?notes?|what.?s[\s_-]?new)\b.*"
    r"|(?:changes|history|news|releases|(?:gen|(?:py-)?mod)?index|search|(?:table[\s_-]of[\s_-])?contents|licen[sc]es?)",
    re.IGNORECASE | re.DOTALL,
)
"""Titles, and last steps of a URL, of what lists versions or pages: people ask little of it. By English names only."""


@dataclass(frozen=True, slots=True)
class SourceSection:
    """A section with its text. `path`: the titles from the site's root down to its own."""

    located: Located
    path: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.located.node.id

    @property
    def page(self) -> str:
        return self.located.page.key

    @property
    def text(self) -> str:
        """As a reader sees it."""
        return "\n".join(block.shown for block in self.located.node.blocks)

    @property
    def gold(self) -> tuple[Gold, ...]:
        """Its node, which lasts through edits and moves, and, where that means the same, the address under which a person
        finds it: the page for the page's own section, else page and anchor. A section without an anchor of its own has
        its node only, since any address would mean more than it."""
        node, page = self.located.node, self.located.page
        address = page.canonical.partition("#")[0]
        if page.headings[0].id == node.id:
            return Gold(node=node.id), Gold(page=address)
        alone = node.anchor and [heading.anchor for heading in page.headings].count(node.anchor) == 1
        return (Gold(node=node.id), Gold(page=address, anchor=node.anchor)) if alone else (Gold(node=node.id),)


@dataclass(frozen=True, slots=True)
class Material:
    """Sections from which one question is to be made."""

    sections: tuple[SourceSection, ...]

    @property
    def kind(self) -> Kind:
        return kind_of(self.sections)

    @property
    def key(self) -> str:
        """The same for the same sections while they say the same."""
        said = sorted(f"{section.id} {section.located.node.own_hash}" for section in self.sections)
        return sha256(*said)[:16]


def kind_of(sections: Sequence[SourceSection]) -> Kind:
    if len(sections) == 1:
        return "single-section"
    return "multi-section" if len({section.page for section in sections}) == 1 else "multi-page"


def says_enough(section: Located) -> bool:
    """Whether a section says enough, not too much, and is no list of versions or pages."""
    node, page = section.node, section.page
    step = page.canonical.partition("#")[0].rstrip("/").rpartition("/")[2].removesuffix(".html")
    titles = (node.title.strip(), page.title.strip())
    if any(map(_LISTING.fullmatch, titles)) or (step != "index" and _LISTING.fullmatch(step)):
        return False
    return _prose(node.blocks) >= MIN_PROSE_BYTES and _bytes(node.text) <= MAX_TEXT_BYTES


def _prose(blocks: Iterable[Block]) -> int:
    lines = (line for block in blocks if block.kind not in _SILENT for line in block.text.split("\n"))
    return sum(size for size in map(_bytes, lines) if size >= MIN_PROSE_LINE_BYTES)


def _bytes(text: str) -> int:
    """Bytes, not words: they hold for scripts without spaces too."""
    return len(text.encode("utf-8", "replace"))


def groups(sections: Sequence[Located]) -> list[tuple[Located, ...]]:
    """Sections of one page that belong together, two or three each: a section with those under it, in document order. No
    section is in two groups. `sections` are those of the page that are says_enough, in document order."""
    found: list[tuple[Located, ...]] = []
    taken: set[str] = set()
    for parent in dict.fromkeys(section.node.parent for section in sections if section.node.parent):
        family = [each for each in sections if parent in (each.node.id, each.node.parent) and each.node.id not in taken]
        runs = [tuple(family[at : at + MAX_SECTIONS]) for at in range(0, len(family), MAX_SECTIONS)]
        for run in runs:
            if len(run) > 1:
                found.append(run)
                taken |= {each.node.id for each in run}
    return found


def shuffled(items: Iterable[Thing], name: str, seed: int) -> list[Thing]:
    """In an order that chance and `seed` decide, and that other items do not change. Items are told apart by `str`."""
    return sorted(items, key=lambda item: rank(str(item), name, seed))


def rank(item: str, name: str, seed: int) -> str:
    return sha256(str(seed), name, item)
