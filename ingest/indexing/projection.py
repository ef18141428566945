"""A page's tree brought into a search index: cut into chunks, embedded, written, and what is no longer listed swept.

The Indexer does it for a page that changed, reembed for all pages. The record says which projection it fits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence

from ingest.model import Chunk, Page, PageRecord
from ingest.ports import ChunkIndex, Embedder, Vector
from ingest.text.chunks import Sizes, chunk_page
from ingest.text.words import ANALYSER_VERSION

MAX_CACHED_VECTORS = 2_000


class VectorCache:
    """Vectors of chunks that were removed a moment ago, by input hash, the `most` last ones: text that moves to another page
    is not embedded again. In memory only: to lose them costs an embedding."""

    def __init__(self, most: int = MAX_CACHED_VECTORS) -> None:
        self._most = most
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors.update(vectors)
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)

    def among(self, input_hashes: Iterable[str]) -> dict[str, Vector]:
        """Those of the inputs that are there."""
        return {wanted: self._vectors[wanted] for wanted in input_hashes if wanted in self._vectors}


class Projection:
    """Into `index`, by one analyser, one size of chunks and one embedding model: `made_by` names the three, and stands
    in the records (PageRecord.analyser_version). Any number of pages at once; one page by one caller at a time."""

    def __init__(self, index: ChunkIndex, embedder: Embedder, sizes: Sizes) -> None:
        self._index = index
        self._embedder = embedder
        self._sizes = sizes
        self._removed = VectorCache()
        self.made_by = f"{ANALYSER_VERSION}/{sizes.text}+{sizes.path}/{embedder.name}"

    async def chunks(self, page: Page, site: str, version: str, language: str) -> list[Chunk]:
        """The page's chunks, in document order; cut in another thread."""
        return await asyncio.to_thread(chunk_page, page, site, version, self._sizes, self._embedder.count, language)

    async def write(self, key: str, chunks: Sequence[Chunk], before: PageRecord | None, *, afresh: bool = False) -> int:
        """Let the index hold the chunks of the page; how many inputs had to be embedded. A chunk that is there already
        is left alone, but for its words where another analyser made those of `before`, and where all is wanted
        `afresh`. No input is embedded whose vector the index has."""
        afresh = afresh or (before is not None and before.page is not None and _analyser(before) != ANALYSER_VERSION)
        held = await self._index.ids_of(key)
        missing = [chunk for chunk in chunks if afresh or held.get(chunk.id) != chunk.input_hash]
        wanted = {chunk.input_hash for chunk in missing}
        vectors: dict[str, Vector] = {**await self._index.vectors(wanted), **self._removed.among(wanted)}
        inputs: Mapping[str, str] = {c.input_hash: c.embedded for c in missing if c.input_hash not in vectors}
        made = await self._embedder.embed(list(inputs.values()))
        vectors.update(zip(inputs, made, strict=True))
        await self._index.upsert(missing, [vectors[chunk.input_hash] for chunk in missing])
        return len(inputs)

    async def sweep(self, key: str, listed: Collection[str]) -> None:
        """Delete what the index holds for the page beyond the listed chunks. Raises IndexMismatch where the index is
        not the live one any more."""
        held = await self._index.ids_of(key)
        if stray := {chunk: held[chunk] for chunk in held if chunk not in listed}:
            self._removed.keep(await self._index.vectors(stray.values()))
            await self._index.delete(stray)

    async def take_back(self, written: Iterable[Chunk], listed: Collection[str]) -> None:
        """Delete those of the chunks that were written in vain, since the page's record does not list them any more."""
        if stray := [chunk.id for chunk in written if chunk.id not in listed]:
            await self._index.delete(stray)

    def fits(self, record: PageRecord) -> bool:
        """Whether the chunks that the record lists are of this make."""
        return record.analyser_version == self.made_by


def _analyser(record: PageRecord) -> str:
    return record.analyser_version.partition("/")[0]
