"""The ChunkIndex in two stores: vectors in one, words in the other.

Vectors are written first, then words: what was embedded once is known when a write that failed in between is
done again. Both are written when `upsert` and `delete` return. What only one store holds, `ids_of` shows with an empty
input hash: it is there to be swept, and not there for who asks whether a chunk must still be written. So a failure
between the two is mended by doing the same again, and by `reconcile`.

Writes of one chunk take effect in the order of the calls, as far as these come from one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Self

from ingest.model import EVERYWHERE, Chunk, Scope
from ingest.ports import Hit, Vector
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords


class SplitChunkIndex:
    """Implements ingest.ports.ChunkIndex over two stores that are open, and stay the opener's to close. A write that
    has begun is carried to its end, also where its caller is cancelled."""

    def __init__(self, vectors: QdrantVectors, words: OpenSearchWords) -> None:
        self._vectors = vectors
        self._words = words
        self._writing: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._writing:
            await asyncio.wait(set(self._writing.values()))

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        async def write() -> None:
            await self._vectors.upsert(chunks, vectors)
            await self._words.upsert(chunks)

        await self._in_turn({chunk.id for chunk in chunks}, write)

    async def delete(self, ids: Iterable[str]) -> None:
        gone = list(dict.fromkeys(ids))

        async def write() -> None:
            await self._words.delete(gone)
            await self._vectors.delete(gone)

        await self._in_turn(set(gone), write)

    async def _in_turn(self, ids: set[str], write: Callable[[], Awaitable[None]]) -> None:
        """After all earlier writes of any of these chunks."""
        earlier = {self._writing[chunk_id] for chunk_id in ids & self._writing.keys()}

        async def wait_and_write() -> None:
            if earlier:
                await asyncio.wait(earlier)
            await write()

        def forget(task: asyncio.Task[None]) -> None:
            for chunk_id in ids:
                if self._writing.get(chunk_id) is task:
                    del self._writing[chunk_id]

        task = asyncio.create_task(wait_and_write())
        self._writing |= dict.fromkeys(ids, task)
        task.add_done_callback(forget)
        await asyncio.shield(task)

    async def dense(self, vector: Vector, k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        return await self._vectors.dense(vector, k, scope)

    async def words(self, terms: Sequence[str], k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        return await self._words.words(terms, k, scope)

    async def occurrences(self, terms: Iterable[str], scope: Scope = EVERYWHERE) -> Mapping[str, int]:
        return await self._words.occurrences(terms, scope)

    async def ids_of(self, page_key: str, scope: Scope = EVERYWHERE) -> Mapping[str, str]:
        embedded, worded = await asyncio.gather(
            self._vectors.ids_of(page_key, scope), self._words.ids_of(page_key, scope)
        )
        whole = {chunk_id: known for chunk_id, known in embedded.items() if worded.get(chunk_id) == known}
        return {**dict.fromkeys((*embedded, *worded), ""), **whole}

    async def pages(self, scope: Scope = EVERYWHERE) -> AsyncIterator[tuple[str, str]]:
        given: set[tuple[str, str]] = set()
        for half in (self._vectors, self._words):
            async for pair in half.pages(scope):
                if pair not in given:
                    given.add(pair)
                    yield pair

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        return await self._vectors.vectors(input_hashes)

    async def count(self, scope: Scope = EVERYWHERE) -> int:
        """The chunks that have a vector."""
        return await self._vectors.count(scope)
