"""The half of a ChunkIndex that the indexer writes and reads, in memory. It does not search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ingest.model import Chunk
from ingest.ports import Vector


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

    async def ids_of(self, page_key: str) -> Mapping[str, str]:
        return {name: chunk.input_hash for name, (chunk, _) in self.held.items() if chunk.page_key == page_key}

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        wanted = set(input_hashes)
        return {chunk.input_hash: vector for chunk, vector in self.held.values() if chunk.input_hash in wanted}
