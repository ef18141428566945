"""The ChunkIndex in two stores: vectors in one, words in the other.

Vectors are written first, then words: what was embedded once is known when a write that failed in between is
done again. Both are written when `upsert` and `delete` return. What only one store holds, `ids_of` shows with an empty
input hash: it is there to be swept, and not there for who asks whether a chunk must still be written. So a failure
between the two is mended by doing the same again, and by `reconcile`.

Writes of one chunk take effect in the order of the calls, as far as these come from one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol, Self

from ingest.model import Chunk, Scope
from ingest.ports import Hit, Vector

_EVERYWHERE = Scope()


class Vectors(Protocol):
    """The half that searches by meaning; methods as in ingest.ports.ChunkIndex."""

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None: ...
    async def delete(self, ids: Iterable[str]) -> None: ...
    async def dense(self, vector: Vector, k: int, scope: Scope = ...) -> Sequence[Hit]: ...
    async def ids_of(self, page_key: str) -> Mapping[str, str]: ...
    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]: ...
    async def count(self, scope: Scope = ...) -> int: ...


class Words(Protocol):
    """The half that searches by words; methods as in ingest.ports.ChunkIndex."""

    async def upsert(self, chunks: Sequence[Chunk]) -> None: ...
    async def delete(self, ids: Iterable[str]) -> None: ...
    async def words(self, terms: Sequence[str], k: int, scope: Scope = ...) -> Sequence[Hit]: ...
    async def ids_of(self, page_key: str) -> Mapping[str, str]: ...


class SplitChunkIndex:
    """Implements ingest.ports.ChunkIndex over two stores that are open, and stay the opener's to close."""

    def __init__(self, vectors: Vectors, words: Words) -> None:
        self._vectors = vectors
        self._words = words
        self._writing: dict[str, asyncio.Future[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing of its own is open."""

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        async with self._in_turn({chunk.id for chunk in chunks}):
            await self._vectors.upsert(chunks, vectors)
            await self._words.upsert(chunks)

    async def delete(self, ids: Iterable[str]) -> None:
        gone = list(dict.fromkeys(ids))
        async with self._in_turn(set(gone)):
            await self._words.delete(gone)
            await self._vectors.delete(gone)

    @asynccontextmanager
    async def _in_turn(self, ids: set[str]) -> AsyncIterator[None]:
        """After all earlier writes of any of these chunks, also where this one is given up while it waits."""
        earlier = {self._writing[chunk_id] for chunk_id in ids if chunk_id in self._writing}
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writing |= dict.fromkeys(ids, done)
        try:
            if earlier:
                await asyncio.wait(earlier)
            yield
        finally:
            _after(earlier, done)
            for chunk_id in ids:
                if self._writing[chunk_id] is done and done.done():
                    del self._writing[chunk_id]

    async def dense(self, vector: Vector, k: int, scope: Scope = _EVERYWHERE) -> Sequence[Hit]:
        return await self._vectors.dense(vector, k, scope)

    async def words(self, terms: Sequence[str], k: int, scope: Scope = _EVERYWHERE) -> Sequence[Hit]:
        return await self._words.words(terms, k, scope)

    async def ids_of(self, page_key: str) -> Mapping[str, str]:
        ours = await self._vectors.ids_of(page_key), await self._words.ids_of(page_key)
        inputs, worded = ours
        return {
            chunk_id: inputs[chunk_id] if inputs.get(chunk_id) == worded.get(chunk_id) else ""
            for chunk_id in (*inputs, *(worded.keys() - inputs.keys()))
        }

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        return await self._vectors.vectors(input_hashes)

    async def count(self, scope: Scope = _EVERYWHERE) -> int:
        """The chunks that have a vector."""
        return await self._vectors.count(scope)
