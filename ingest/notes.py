"""What a model wrote about sections, kept apart from their trees: summaries, and outlines of long sections. Pure.

All of it is kept under the content of a section (Node.own_hash), so that a note is of what the section says now or is not
found, and so that equal sections share it, whatever page or site they stand on. This layer knows no model: it keeps
notes and applies outlines (ingest.tree.induced_headings). What they cost is kept with them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

NoteKind = Literal["summary", "outline"]


@dataclass(frozen=True, slots=True)
class SectionSummary:
    """The optional metadata of a node (RIT-RAG section 3): hints where to look, never evidence. One line each."""

    summary: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InducedOutline:
    """Titles over runs of a section's blocks, each with the index of its first block, rising. Blocks before the first
    title stay with the section. No titles: the section is best left whole."""

    titles: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """What replies of a model cost. `cost` is in US dollars; `unpriced` of the replies are not in it, their price being
    unknown."""

    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.replies + other.replies,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """All that is kept of one content in one kind. `form` is the version of the question that was asked last, `failures`
    how many of its replies were of no use, since the last that was; `found` may be of an earlier form. `hash` is
    the Node.own_hash."""

    kind: NoteKind
    hash: str
    form: str
    found: SectionSummary | InducedOutline | None = None
    failures: int = 0
    spent: Spent = Spent()

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.hash}"

    def after(self, before: NoteEntry | None) -> NoteEntry:
        """This one on top of what was kept `before`."""
        if before is None:
            return self
        failures = self.failures + (before.failures if before.form == self.form and self.found is None else 0)
        spent = before.spent + self.spent
        return replace(self, found=self.found or before.found, failures=failures, spent=spent)


@dataclass(frozen=True, slots=True)
class Total:
    """Of one kind: how many contents have a note, and what all replies cost, those of no use too."""

    found: int = 0
    spent: Spent = Spent()


class Notes(Protocol):
    """The door to the notes; adapters as those of ingest.ports. What was added is found at once."""

    async def of(self, kind: NoteKind, hashes: Iterable[str]) -> Mapping[str, NoteEntry]:
        """Those of the entries that are there, by hash."""
        ...

    async def any(self, kind: NoteKind) -> bool:
        """Whether something was found for any content; cheap, and a second late at most."""
        ...

    async def add(self, entry: NoteEntry) -> None:
        """Put `entry.after` what is there in its place; of two that add at once, neither is lost."""
        ...

    async def totals(self) -> Mapping[NoteKind, Total]:
        """Of the kinds of which anything is kept."""
        ...

    def all(self) -> AsyncIterator[NoteEntry]:
        """Every entry, in the order of their keys."""
        ...


async def summaries_of(notes: Notes, hashes: Iterable[str]) -> dict[str, SectionSummary]:
    found = await notes.of("summary", hashes)
    return {hash_: entry.found for hash_, entry in found.items() if isinstance(entry.found, SectionSummary)}


async def outlines_of(notes: Notes, hashes: Iterable[str]) -> dict[str, InducedOutline]:
    found = await notes.of("outline", hashes)
    return {hash_: entry.found for hash_, entry in found.items() if isinstance(entry.found, InducedOutline)}
