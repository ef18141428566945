"""The search index compared with the truth, and mended.

The TreeStore says which chunks a page has; the ChunkIndex should hold these and no others, each with its own input, site
and version. A page that differs is looked at again as long as its record changes meanwhile, so that an indexer at work is
no difference. In three steps:

 1. every live page is cut into chunks again from the text that the record keeps, and what the index lacks is
    written; nothing is fetched, and an input is embedded only if its vector is nowhere. Cutting must give the
    ids that the record lists: a record of another make is left to `reembed` and `reindex`.
 2. pages of which the index holds chunks though no record knows them are found from the index's side.
 3. what no record listed at the first look and, a while later (`grace`), at a second, is an orphan and is deleted. A
    record that came to list such a chunk in that moment is looked at once more and gets it back.

The first two steps only add, so a run that is cut short has done no harm and is simply started again. Kept in memory are
the keys of all pages and the ids of suspected orphans, nothing else that grows with the index.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from ingest.concurrency import for_each
from ingest.indexing.projection import Projection
from ingest.model import Chunk, PageRecord, Scope
from ingest.ports import ChunkIndex, PageState, TreeStore, VersionedRecord

log = structlog.get_logger()

MAX_PAGES_SIDE_BY_SIDE = 16


@dataclass(slots=True)
class SiteReport:
    """What was found of a site. `chunks` are those that live pages list. `missing`: listed, but not held, or only in part,
    or under another site or version; `orphans`: held, but not listed. `filled` and `swept` of them were mended.
    `other_make`: live pages whose chunks were made by another version, model or setting than today's. `dangling`: keys of
    aliases whose page is not live, and of moved pages whose target was never seen. `waiting`: live pages whose last
    announced change is not handled yet. `known`: whether the settings name the site."""

    known: bool = True
    pages: int = 0
    chunks: int = 0
    missing: int = 0
    orphans: int = 0
    filled: int = 0
    swept: int = 0
    embedded: int = 0
    other_make: int = 0
    waiting: int = 0
    dangling: list[str] = field(default_factory=list)

    @property
    def in_step(self) -> bool:
        """Nothing differs, or what did is mended."""
        return self.missing == self.filled and self.orphans == self.swept and not self.dangling


Report = dict[str, SiteReport]


_Cut = dict[str, list[Chunk] | None]
"""By a record's revision."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Between a record and what the index holds for its key. `missing` is how many chunks lack; `chunks` are these, made
    again, or None where that cannot be done."""

    stored: VersionedRecord
    missing: int
    chunks: list[Chunk] | None
    orphans: frozenset[str]


class Reconciler:
    """`languages`: of each site of the settings. `repair`: mend, else only look. `grace`: seconds between the two looks at
    an orphan; 0 where nobody else writes. `progress` is called with how many records were looked at, and the report as it grows."""

    def __init__(
        self,
        trees: TreeStore,
        index: ChunkIndex,
        projection: Projection,
        languages: Mapping[str, str],
        *,
        repair: bool = False,
        grace: float = 0.0,
        progress: Callable[[int, Report], None] = lambda looked, report: None,
    ) -> None:
        self._trees = trees
        self._index = index
        self._projection = projection
        self._languages = languages
        self._repair = repair
        self._grace = grace
        self._progress = progress
        self._report: Report = {}
        self._seen: set[str] = set()
        self._suspects: dict[str, tuple[str, frozenset[str]]] = {}
        self._may_sweep = False

    async def run(self, site: str | None = None) -> Report:
        """Over one site, or all. Raises store errors and IndexMismatch; then it can be run again."""
        self._report, self._suspects, self._seen = {}, {}, set()
        await for_each(self._trees.scan(site), self._look, MAX_PAGES_SIDE_BY_SIDE)
        scope = Scope(frozenset({site})) if site else Scope()
        await for_each(self._index.pages(scope), self._look_up, MAX_PAGES_SIDE_BY_SIDE)
        if self._suspects:
            await asyncio.sleep(self._grace)
            self._may_sweep = self._repair and await self._knows_any_page()
            await for_each(self._suspected(), self._sweep, MAX_PAGES_SIDE_BY_SIDE)
        return self._report

    def _of(self, site: str) -> SiteReport:
        return self._report.setdefault(site, SiteReport(known=site in self._languages))

    # --- from the record's side

    async def _look(self, state: PageState) -> None:
        report = self._of(state.site)
        self._seen.add(state.key)
        if state.state in ("alias", "moved") and await self._dangles(state):
            report.dangling.append(state.key)
        report.pages += state.state == "live"
        report.chunks += state.chunks
        found = await self._mended(state.key, report)
        if found is not None:
            if found.orphans:
                self._suspects[state.key] = (state.site, found.orphans)
            report.other_make += report.known and found.chunks is None
            waits = await self._waits(found.stored.record)
            report.waiting += waits
        self._progress(len(self._seen), self._report)

    async def _dangles(self, state: PageState) -> bool:
        """A page that moved may have gone since; an alias stands for a page that is there."""
        target = await self._trees.get(state.target or "")
        return target is None or (state.state == "alias" and target.record.state != "live")

    async def _waits(self, record: PageRecord) -> bool:
        """What was last announced of the page is not what its record holds."""
        watched = await self._trees.watched(record.key)
        return bool(watched and watched.sent and record.page and watched.sent != record.page.hash)

    async def _mended(self, key: str, report: SiteReport) -> Difference | None:
        """The difference of a page, found and, if so wished, mended; looked at again until its record stands still."""
        filled: str | None = None
        cut: _Cut = {}
        while (found := await self._difference(key, cut)) is not None:
            report.missing += found.missing
            if not self._repair or not found.chunks or found.stored.revision == filled:
                return found
            filled = found.stored.revision
            embedded = await self._projection.write(key, found.chunks, None, afresh=True)
            report.filled += len(found.chunks)
            report.embedded += embedded
            log.info("page_filled", key=key, chunks=len(found.chunks), embedded=embedded)
        return None

    async def _difference(self, key: str, cut: _Cut) -> Difference | None:
        """None where there is no record. Whatever differs was read from one and the same revision. `cut`: the chunks of
        revisions that were looked at before, since cutting is what a look costs."""
        stored = await self._trees.get(key)
        while stored is not None:
            if stored.revision not in cut:
                cut[stored.revision] = await self._again(stored.record)
            difference = await self._compared(stored, cut[stored.revision])
            if not difference.missing and not difference.orphans:
                return difference
            again = await self._trees.get(key)
            if again is not None and again.revision == stored.revision:
                return difference
            stored = again
        return None

    async def _compared(self, stored: VersionedRecord, chunks: list[Chunk] | None) -> Difference:
        record = stored.record
        held, right = await asyncio.gather(
            self._index.ids_of(record.key),
            self._index.ids_of(record.key, Scope(frozenset({record.site}), frozenset({record.version}))),
        )
        orphans = frozenset(held) - frozenset(record.chunk_ids)
        if chunks is None:
            lacking = sum(not right.get(chunk_id) for chunk_id in record.chunk_ids)
            return Difference(stored, lacking, None, orphans)
        missing = [chunk for chunk in chunks if right.get(chunk.id) != chunk.input_hash]
        missing = await self._not_elsewhere(record, missing)
        return Difference(stored, len(missing), missing, orphans)

    async def _again(self, record: PageRecord) -> list[Chunk] | None:
        """The chunks that the record lists, cut anew; None where it cannot be done. While a page is embedded anew, its
        record lists those of the next index too."""
        language = self._languages.get(record.site)
        if record.page is None:
            return []
        if language is None or not self._projection.fits(record):
            return None
        chunks = await self._projection.chunks(record.page, record.site, record.version, language)
        return chunks if {chunk.id for chunk in chunks}.issubset(record.chunk_ids) else None

    async def _not_elsewhere(self, record: PageRecord, missing: list[Chunk]) -> list[Chunk]:
        """While a page moves, two records may list its nodes for a moment: the one that was written last counts."""
        if not missing:
            return []
        located = await self._trees.nodes({chunk.node_id for chunk in missing})
        owners = {node_id: there.page.key for node_id, there in located.items()}
        return [chunk for chunk in missing if owners.get(chunk.node_id, record.key) == record.key]

    # --- from the index's side

    async def _look_up(self, held: tuple[str, str]) -> None:
        """A page that no record knows: all that the index holds for it is suspect."""
        key, site = held
        if key not in self._seen and await self._trees.get(key) is None:
            self._suspects[key] = (site, frozenset(await self._index.ids_of(key)))

    # --- orphans

    async def _knows_any_page(self) -> bool:
        """Where there is no record at all, it is the truth that was lost, and not the index that is wrong."""
        async for _ in self._trees.scan():
            return True
        return False

    async def _suspected(self) -> AsyncIterator[tuple[str, str, frozenset[str]]]:
        for key, (site, chunk_ids) in self._suspects.items():
            yield key, site, chunk_ids

    async def _sweep(self, suspected: tuple[str, str, frozenset[str]]) -> None:
        """What was an orphan at both looks goes, if it may."""
        key, site, suspects = suspected
        stored = await self._trees.get(key)
        listed = frozenset(stored.record.chunk_ids) if stored else frozenset()
        orphans = suspects & (await self._index.ids_of(key)).keys() - listed
        report = self._of(site)
        report.orphans += len(orphans)
        self._progress(len(self._seen), self._report)
        if not orphans or not self._may_sweep:
            return
        await self._index.delete(orphans)
        report.swept += len(orphans)
        log.info("page_swept", key=key, chunks=len(orphans))
        for name in filter(None, (key, stored.record.target if stored else None)):
            now = await self._trees.get(name)
            if now is not None and not orphans.isdisjoint(now.record.chunk_ids):
                await self._mended(name, report)
