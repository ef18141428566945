"""Another embedding model while questions are answered: a new search index is filled from the trees, then takes over.

 1. Fill, beside the live index: each live page is cut and embedded for the new one. Its record then lists the chunks of
    both, since a question drops hits that the record does not list. Indexers go on writing to the live index.
 2. Catch up: pages whose seq moved meanwhile, until a pass finds few.
 3. Take over: from now on the new index is the live one, and whoever holds the model before is told IndexMismatch.
 4. Settle: every record that is not of the new model, those of the last moment too, is brought in step once more and
    lists the new chunks only; what a page that went meanwhile left in the new index goes. An indexer that commits later finds out in its last step, does not acknowledge, and its
    successor does the event again (Indexer).
 5. The index before is removed by who ran this.

Records are replaced by compare-and-set and keep seq and times. A run that was killed is begun again: what the new index
holds is not embedded again, and after step 3 only what is not settled is looked at. Where the model did not change, but
the size of chunks, there is step 4 alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from ingest.concurrency import for_each
from ingest.errors import Conflict
from ingest.indexing.projection import Projection
from ingest.model import Chunk, PageRecord
from ingest.ports import ChunkIndex, Embedder, PageState, TreeStore, VersionedRecord
from ingest.text.chunks import Sizes

log = structlog.get_logger()

MAX_PAGES_LEFT_TO_SETTLE = 20
"""So many pages of the last moment are left to step 4."""

Phase = Literal["filling", "catching up", "settling"]


@dataclass(slots=True)
class ReembedProgress:
    """`pages`: how many are live; `done`: how many this phase has dealt with; `chunks` and `embedded`: of the run."""

    phase: Phase = "filling"
    pages: int = 0
    done: int = 0
    chunks: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class Successor:
    """The search index of the embedding model that is set: filled beside the live one, or live itself. `take_over` makes
    it so, `drop_before` removes what was live before, and says whether there was any; both may be done again."""

    index: ChunkIndex
    live: bool
    take_over: Callable[[], Awaitable[None]]
    drop_before: Callable[[], Awaitable[bool]]


class Reembedding:
    """One run. `languages` are those of the sites, by name. `workers` pages are in hand at once; their texts are embedded
    in common batches. Of each page key and seq are kept in memory. Raises store errors."""

    def __init__(
        self,
        trees: TreeStore,
        successor: Successor,
        embedder: Embedder,
        sizes: Sizes,
        languages: Mapping[str, str],
        *,
        workers: int = 16,
        show: Callable[[ReembedProgress], None] = lambda progress: None,
    ) -> None:
        self._trees = trees
        self._successor = successor
        self._projection = Projection(successor.index, embedder, sizes)
        self._languages = languages
        self._workers = workers
        self._show = show
        self._filled: dict[str, int] = {}
        self.progress = ReembedProgress()

    async def run(self) -> ReembedProgress:
        if not self._successor.live:
            await self._pass("filling", self._fill)
            while await self._pass("catching up", self._fill) > MAX_PAGES_LEFT_TO_SETTLE:
                continue
        await self._successor.take_over()
        log.info("index_took_over", chunks=self.progress.chunks, embedded=self.progress.embedded)
        await self._pass("settling", self._settle)
        return self.progress

    # --- over all pages

    async def _pass(self, phase: Phase, bring: Callable[[PageState], Awaitable[bool]]) -> int:
        """Every record once; how many of them there was something to do for."""
        progress = self.progress
        progress.phase, progress.done = phase, 0
        progress.pages = len([0 async for state in self._trees.scan() if state.state == "live"])
        changed = 0

        async def work(state: PageState) -> None:
            nonlocal changed
            changed += await bring(state)
            progress.done += state.state == "live"
            self._show(progress)

        await for_each(self._trees.scan(), work, self._workers)
        return changed

    async def _fill(self, state: PageState) -> bool:
        if self._filled.get(state.key) == state.seq:
            return False
        seq = state.seq
        if state.state == "live" and (record := await self._bring(state.key)):
            seq = record.seq
        # Nobody else writes to an index that is not live: what no record lists is of an earlier look at the page.
        stored = await self._trees.get(state.key)
        await self._projection.sweep(state.key, _listed(stored))
        self._filled[state.key] = seq
        return True

    async def _settle(self, state: PageState) -> bool:
        """The index holds what the record lists and nothing else; of a page that went while it was filled, nothing. An
        indexer may change the record meanwhile, and lose to the sweep what it has just written: then once more."""
        key, changed = state.key, False
        while stored := await self._trees.get(key):
            record = stored.record
            if not changed and record.page and self._projection.fits(record) and self._filled.get(key) != record.seq:
                return False
            chunks = await self._write(record)
            ours = tuple(chunk.id for chunk in chunks)
            made_by = self._projection.made_by if record.page else record.analyser_version
            changed = True
            try:
                revision = await self._put(replace(record, chunk_ids=ours, analyser_version=made_by), stored)
            except Conflict:
                continue
            await self._projection.sweep(key, ours)
            now = await self._trees.get(key)
            if now is None or now.revision == revision:
                return record.page is not None
        return False

    # --- one page

    async def _bring(self, key: str) -> PageRecord | None:
        """The record that lists the chunks of both indexes; None where the page is not live any more."""
        while (stored := await self._trees.get(key)) and stored.record.page:
            ours = [chunk.id for chunk in await self._write(stored.record)]
            wanted = replace(stored.record, chunk_ids=tuple(dict.fromkeys((*stored.record.chunk_ids, *ours))))
            try:
                await self._put(wanted, stored)
            except Conflict:
                continue
            return wanted
        return None

    async def _write(self, record: PageRecord) -> Sequence[Chunk]:
        """The chunks of the page, which the new index holds now."""
        if record.page is None:
            return ()
        language = self._languages.get(record.site, record.page.language or "en")
        chunks = await self._projection.chunks(record.page, record.site, record.version, language)
        embedded = await self._projection.write(record.key, chunks, record)  # other pages count meanwhile
        self.progress.embedded += embedded
        self.progress.chunks += 0 if record.key in self._filled else len(chunks)
        return chunks

    async def _put(self, wanted: PageRecord, stored: VersionedRecord) -> str:
        """The revision of the record as it is wanted."""
        return await self._trees.put(wanted, stored.revision) if wanted != stored.record else stored.revision


def _listed(stored: VersionedRecord | None) -> frozenset[str]:
    return frozenset(stored.record.chunk_ids) if stored and stored.record.state == "live" else frozenset()
