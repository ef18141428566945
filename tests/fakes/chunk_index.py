"""The half of a ChunkIndex that the indexer writes and reads, in memory. It does not search."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from ingest.model import Chunk, Scope
from ingest.ports import Vector

_EVERYWHERE = Scope()


class HeldChunks:
    """Chunks and vectors by chunk id."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[Chunk, Vector]] = {}

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        for chunk, vector in zip(chunks, vectors, strict=True):
            self.held[chunk.id] = (chunk, vector)

    async def delete(self, ids: Iterable[str]) -> None:
        for chunk_id in list(ids):
            self.held.pop(chunk_id, None)

    async def ids_of(self, page_key: str, scope: Scope = _EVERYWHERE) -> Mapping[str, str]:
        return {chunk.id: chunk.input_hash for chunk in self._within(scope) if chunk.page_key == page_key}

    async def pages(self, scope: Scope = _EVERYWHERE) -> AsyncIterator[tuple[str, str]]:
        for pair in {(chunk.page_key, chunk.site) for chunk in self._within(scope)}:
            yield pair

    def _within(self, scope: Scope) -> list[Chunk]:
        return [chunk for chunk, _ in self.held.values() if scope.holds(chunk.site, chunk.version)]

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        wanted = set(input_hashes)
        return {chunk.input_hash: vector for chunk, vector in self.held.values() if chunk.input_hash in wanted}
