"""Notes in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping

from ingest.notes import NoteEntry, NoteKind, Spent, Total


class MemoryNotes:
    """Implements ingest.notes.Notes."""

    def __init__(self) -> None:
        self.entries: dict[str, NoteEntry] = {}

    async def of(self, kind: NoteKind, hashes: Iterable[str]) -> Mapping[str, NoteEntry]:
        wanted = set(hashes)
        return {entry.hash: entry for entry in self.entries.values() if entry.kind == kind and entry.hash in wanted}

    async def any(self, kind: NoteKind) -> bool:
        return any(entry.kind == kind and entry.found is not None for entry in self.entries.values())

    async def add(self, entry: NoteEntry) -> None:
        self.entries[entry.key] = entry.after(self.entries.get(entry.key))

    async def totals(self) -> Mapping[NoteKind, Total]:
        by_kind: dict[NoteKind, list[NoteEntry]] = defaultdict(list)
        for entry in self.entries.values():
            by_kind[entry.kind].append(entry)
        return {
            kind: Total(sum(e.found is not None for e in entries), sum((e.spent for e in entries), Spent()))
            for kind, entries in by_kind.items()
        }

    async def all(self) -> AsyncIterator[NoteEntry]:
        for key in sorted(self.entries):
            yield self.entries[key]
