"""Handling one page event: the only way a page gets into, or out of, the stores (DESIGN "Events").

 1. read the record; an event not newer than it is done. Fetch, parse; the same hash moves only seq and
    freshness.
 2. hand ids on from the old tree; cut chunks; embed the inputs that have no vector yet; upsert.
 3. put the record by compare-and-set: the commit point. Lost the race: start again from 1. What it changed for sections
    that were known stands in the record itself, and is told (docs.nodes) right after the commit; told again where the
    event comes again, and before the record is replaced, so that no crash loses it. Nothing changed: nothing is told.
 4. delete the chunks that the index holds for the page and the record, read again, does not list.

A crash anywhere leaves at worst chunks that no record lists; they are dropped at query time and swept
by step 4 of the page's next event. Nothing is removed here unless the event says `removed`: a page
found missing or emptied is only reported: the watch cycle weighs all that would go first (ingest/watch/removal_guard.py). So is
one that says something else than when it was announced, and is no edit of what is indexed: the site may have a bad day since
(ingest/watch/turned.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, get_args

import structlog

from ingest.errors import Conflict
from ingest.events.announce import Tell, moved_to, told_nobody
from ingest.indexing.duplicates import duplicates_of, original
from ingest.indexing.page_reader import PageReader, PageReading
from ingest.indexing.projection import Projection
from ingest.model import PARSER_VERSION, Chunk, NodeChange, Page, PageEvent, PageRecord, Site, SkipReason
from ingest.ports import ChunkIndex, Clock, Embedder, TreeStore, VersionedRecord
from ingest.sites.scope import version_of
from ingest.text.chunks import Sizes
from ingest.text.likeness import KEPT, Likeness, is_edit, is_known, replaces
from ingest.tree.induced_headings import same_tree
from ingest.tree.node_changes import node_changes
from ingest.tree.node_identity import assign
from ingest.urls import page_key

log = structlog.get_logger()

OutcomeKind = Literal[
    "new", "changed", "unchanged", "moved", "alias", "skipped", "gone", "missing", "emptied", "doubtful", "stale"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one event. `missing`, `emptied` and `doubtful` changed nothing: the page was live and would
    now go, or says something else, for `reason`. `links` are pages to look at; `goes_to` is the URL that a moved page went to:
    it must be handled next, with moved_from = this key if `hands_over`."""

    kind: OutcomeKind
    key: str
    reason: str | None = None
    detail: str = ""
    nodes: int = 0
    chunks: int = 0
    embedded: int = 0
    links: tuple[str, ...] = ()
    goes_to: str | None = None
    hands_over: bool = False
    revisit: tuple[str, ...] = ()
    """Keys of other pages that this outcome may concern (aliases of a page that went)."""

    @property
    def left_alone(self) -> bool:
        """Nothing was changed: a watch cycle weighs it first."""
        return self.kind in ("missing", "emptied", "doubtful") or self.hands_over


class Indexer:
    """Keeps the stores in step with the pages of one site. Any number of events may be handled side by
    side; events of one page must come one after the other. Raises FetchFailed and store errors; then
    nothing of the page has changed and the event may be handled again. `rebuild`: an unchanged page is
    brought into the index again too (a lost index, another embedding model). `tell` hears of sections that changed."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        index: ChunkIndex,
        embedder: Embedder,
        reader: PageReader,
        clock: Clock,
        sizes: Sizes,
        tell: Tell = told_nobody,
        rebuild: bool = False,
    ) -> None:
        self._site = site
        self._trees = trees
        self._projection = Projection(index, embedder, sizes)
        self._reader = reader
        self._clock = clock
        self._tell = tell
        self._rebuild = rebuild

    async def handle(self, event: PageEvent) -> Outcome:
        while True:
            try:
                outcome = await self._handle(event)
            except Conflict:
                log.info("record_race_lost", key=event.key, seq=event.seq)
                continue
            log.debug(
                "event_handled",
                key=event.key,
                seq=event.seq,
                kind=outcome.kind,
                reason=outcome.reason,
                embedded=outcome.embedded,
                kept=outcome.chunks - outcome.embedded,
            )
            return outcome

    async def _handle(self, event: PageEvent) -> Outcome:
        stored = await self._trees.get(event.key)
        if stored is not None and self._is_done(event, stored.record):
            return Outcome("stale", event.key, revisit=await self._finish(event, stored.record))
        if event.kind == "removed":
            return await self._remove(event, stored)
        reading = await self._reader.read(event.key, event.url)
        if await self._is_doubtful(event, stored, reading):
            return Outcome("doubtful", event.key, reason="it says something else than when it was last looked at")
        if reading.page is not None:
            return await self._keep(event, stored, reading, reading.page)
        if reading.kind == "missing":
            return await self._missing(event, stored, reading.reason or "missing")
        if reading.kind == "moved" and reading.target:
            return await self._moved(event, stored, reading.target)
        return await self._skipped(event, stored, reading)

    async def _is_doubtful(self, event: PageEvent, stored: VersionedRecord | None, reading: PageReading) -> bool:
        """Whether the answer is neither what was seen when the event was made, nor an edit of what is indexed. Of a page that
        nobody has looked at, only what stands in for a page is doubted."""
        says, seen = reading.likeness, event.seen
        if reading.page is None or says is None or (seen and is_known(says, seen)):
            return False
        before = await self._indexed(event, stored)
        if seen is None:
            return before is not None and reading.stands_in is not None and replaces(says, before)
        return not (is_edit(says, before) if before else is_known(says, seen, KEPT))

    async def _indexed(self, event: PageEvent, stored: VersionedRecord | None) -> Likeness | None:
        """What is indexed of the page, or of the one that moved here."""
        if not (stored and stored.record.page) and event.moved_from:
            stored = await self._trees.get(event.moved_from)
        return stored.record.page.likeness if stored and stored.record.page else None

    # --- a page with content

    async def _keep(
        self, event: PageEvent, stored: VersionedRecord | None, reading: PageReading, page: Page
    ) -> Outcome:
        version = version_of(self._site, event.url)
        duplicates = await duplicates_of(self._trees, self._site.name, version, page, event.moved_from)
        first = await original(self._trees, page, duplicates)
        if first == event.key:
            outcome = await self._make_live(event, stored, page, version, duplicates, reading.links)
            first = await self._settle(event, version, page)
        else:
            await self._put_aside(event, stored, "alias", target=first)
            await self._follow(event.key)
            outcome = Outcome("alias", event.key, detail=first, links=reading.links)
        if event.moved_from and event.moved_from != first:
            await self._retire(event.moved_from, "moved", first)
        return outcome

    async def _make_live(
        self,
        event: PageEvent,
        stored: VersionedRecord | None,
        page: Page,
        version: str,
        duplicates: list[str],
        links: tuple[str, ...],
    ) -> Outcome:
        old = stored.record if stored else None
        if old and old.page and same_tree(old.page, page) and self._current(old) and not self._rebuild:
            looked_at = replace(old, seq=event.seq, checked_at=self._clock.now(), node_changes=())
            await self._put(looked_at, stored)
            return Outcome("unchanged", event.key, nodes=len(page.nodes), chunks=len(old.chunk_ids), links=links)
        before, handed_by = await self._tree_before(old, event.moved_from, duplicates)
        page = assign(page, before.nodes if before else None, event.key, event.seq)
        chunks = await self._projection.chunks(page, self._site.name, version, self._site.language)
        embedded = await self._projection.write(event.key, chunks, old, afresh=self._rebuild)
        try:
            changes = _told_of(before, page, page_moved=handed_by is not None)
            await self._put(self._live_record(event, old, page, version, chunks, changes), stored)
        except Conflict:
            await self._take_back(event, chunks)
            raise
        await self._sweep(event.key)
        kind: OutcomeKind = "moved" if handed_by else "changed" if old and old.page else "new"
        return Outcome(kind, event.key, nodes=len(page.nodes), chunks=len(chunks), embedded=embedded, links=links)

    def _live_record(
        self,
        event: PageEvent,
        old: PageRecord | None,
        page: Page,
        version: str,
        chunks: Sequence[Chunk],
        changes: tuple[NodeChange, ...],
    ) -> PageRecord:
        now = self._clock.now()
        # What another parser makes of a page tells nothing of a change.
        same = (
            old is not None
            and old.page is not None
            and (old.page.content_hash == page.content_hash or old.page.parser_version != page.parser_version)
        )
        return PageRecord(
            key=event.key,
            site=self._site.name,
            state="live",
            seq=event.seq,
            checked_at=now,
            changed_at=old.changed_at if old and same else now,
            version=version,
            page=page,
            chunk_ids=tuple(chunk.id for chunk in chunks),
            analyser_version=self._projection.made_by,
            node_changes=changes,
        )

    async def _settle(self, event: PageEvent, version: str, page: Page) -> str:
        """Of equal pages one stays; the others, also those that came in at the same time, become its
        aliases. Both sides of a race look after their commit and decide alike."""
        duplicates = await duplicates_of(self._trees, self._site.name, version, page, event.moved_from)
        first = await original(self._trees, page, duplicates)
        for other in (event.key, *duplicates):
            if other != first:
                await self._retire(other, "alias", first)
        return first

    async def _tree_before(
        self, old: PageRecord | None, moved_from: str | None, duplicates: list[str]
    ) -> tuple[Page | None, str | None]:
        """The tree whose ids are handed on, and the key it comes from if that is another page."""
        if old is not None and old.page is not None:
            return old.page, None
        for key in [moved_from, *duplicates]:
            stored = await self._trees.get(key) if key else None
            if stored and stored.record.page:
                return stored.record.page, key
        return None, None

    async def _sweep(self, key: str, successor: str | None = None) -> None:
        """Step 4: what the index holds for the page beyond what its record lists goes. `successor` has the page's ids now, and
        so its chunks: where both were written at the same time, what was swept of one was the other's, and is put back."""
        stored = await self._trees.get(key)
        await self._projection.sweep(key, frozenset(stored.record.chunk_ids) if stored else ())
        if successor:
            await self._put_back(successor)

    async def _take_back(self, event: PageEvent, chunks: Sequence[Chunk]) -> None:
        """Whoever was stalled until a later event of the page was handled wrote after its sweep, and writes no more: what
        the record does not list goes."""
        stored = await self._trees.get(event.key)
        if stored and self._is_done(event, stored.record):
            await self._projection.take_back(chunks, frozenset(stored.record.chunk_ids))

    async def _put_back(self, key: str) -> None:
        """What the record lists is written again. Where the record changes meanwhile, its own sweep may be over: what was
        written too late is taken out again, and what is listed now is looked after."""
        there = await self._trees.get(key)
        while there and there.record.page:
            record, page = there.record, there.record.page
            chunks = await self._projection.chunks(page, record.site, record.version, self._site.language)
            await self._projection.write(key, chunks, record)
            now = await self._trees.get(key)
            if now is None or now.revision == there.revision:
                return
            await self._projection.take_back(chunks, frozenset(now.record.chunk_ids))
            there = now

    # --- a page without content, or with somebody else's

    async def _missing(self, event: PageEvent, stored: VersionedRecord | None, reason: str) -> Outcome:
        if stored and stored.record.state == "live":
            return Outcome("missing", event.key, reason=reason)
        await self._put_aside(event, stored, "gone", reason=reason)
        return Outcome("gone", event.key, reason=reason)

    async def _skipped(self, event: PageEvent, stored: VersionedRecord | None, reading: PageReading) -> Outcome:
        reason, detail, links = reading.reason, reading.detail, reading.links
        if stored and stored.record.state == "live":
            return Outcome("emptied", event.key, reason=reason, detail=detail, links=links)
        await self._put_aside(event, stored, "skipped", reason=reason)
        return Outcome("skipped", event.key, reason=reason, detail=detail, links=links)

    async def _moved(self, event: PageEvent, stored: VersionedRecord | None, target: str) -> Outcome:
        """The page now answers from another URL: that page first, then this one leaves."""
        key = page_key(target)
        there = await self._trees.get(key)
        expected = event.seen in (None, moved_to(key)) and there is not None and there.record.state == "live"
        if stored and stored.record.state == "live" and not expected:
            return Outcome("moved", event.key, detail=key, goes_to=target, hands_over=True)
        known = stored is not None and (stored.record.state, stored.record.target) == ("moved", key)
        await self._put_aside(event, stored, "moved", target=key)
        return Outcome("unchanged" if known else "moved", event.key, detail=key, goes_to=target)

    async def _remove(self, event: PageEvent, stored: VersionedRecord | None) -> Outcome:
        state: Literal["skipped", "gone"] = "skipped" if event.reason in get_args(SkipReason) else "gone"
        await self._put_aside(event, stored, state, reason=event.reason)
        return Outcome("gone", event.key, reason=event.reason, revisit=tuple(await self._trees.aliases(event.key)))

    async def _finish(self, event: PageEvent, record: PageRecord) -> tuple[str, ...]:
        """The event comes again: whoever handled it may have died after the commit, so what follows it is done again. The
        aliases that nobody has looked at yet."""
        if event.seq < record.seq:
            return ()
        if record.node_changes:
            await self._tell(record)
        await self._sweep(event.key, record.target)
        first = await self._settle(event, record.version, record.page) if record.page else record.target
        if event.moved_from and first and event.moved_from != first and await self._took_over(first, event.moved_from):
            await self._retire(event.moved_from, "moved", first)
        return tuple(await self._trees.aliases(event.key)) if event.kind == "removed" else ()

    async def _took_over(self, key: str, left: str) -> bool:
        """Whether the page has what stood at the address that was left, or stands there still. That address may have another
        page again, and an old event that comes once more must not take it away."""
        there, before = await self._trees.get(key), await self._trees.get(left)
        if there is None or before is None:
            return False
        if before.record.page is None:
            return before.record.target == key
        return there.record.page is not None and not _ids(there.record.page).isdisjoint(_ids(before.record.page))

    async def _put_aside(
        self,
        event: PageEvent,
        stored: VersionedRecord | None,
        state: Literal["alias", "moved", "gone", "skipped"],
        *,
        target: str | None = None,
        reason: str | None = None,
    ) -> None:
        """The page has no nodes of its own (any more): one record that says why, and no chunk."""
        now = self._clock.now()
        old = stored.record if stored else None
        same = old is not None and (old.state, old.target, old.reason) == (state, target, reason)
        record = PageRecord(
            key=event.key,
            site=self._site.name,
            state=state,
            seq=event.seq,
            checked_at=now,
            changed_at=old.changed_at if old and same else now,
            version=version_of(self._site, event.url),
            target=target,
            reason=reason,
            node_changes=await self._went(old, target),
        )
        await self._put(record, stored)
        await self._sweep(event.key, target)

    async def _retire(self, key: str, state: Literal["alias", "moved"], target: str) -> None:
        """Another page took over this page's content and ids. Where that is known already, its sweep is done again: who
        wrote it down may have been told then that another index is the live one."""
        while True:
            stored = await self._trees.get(key)
            if stored and (stored.record.state, stored.record.target) == (state, target):
                if stored.record.node_changes:
                    await self._tell(stored.record)
                await self._sweep(key, target)
            if stored is None or stored.record.state != "live":
                return
            went = await self._went(stored.record, target)
            record = replace(stored.record, state=state, target=target, page=None, chunk_ids=(), reason=None)
            record = replace(record, node_changes=went)
            try:
                await self._put(record, stored)
            except Conflict:
                continue
            await self._sweep(key, target)
            for alias in await self._trees.aliases(key):
                await self._follow(alias)
            return

    async def _follow(self, key: str) -> None:
        """An alias of a page that has become an alias itself points at what that one points at. Whoever made either looks
        after the commit, so that one of them sees both."""
        while (stored := await self._trees.get(key)) and stored.record.state == "alias" and stored.record.target:
            there = await self._trees.get(stored.record.target)
            if not there or there.record.state != "alias" or there.record.target in (None, key):
                return
            with suppress(Conflict):
                await self._put(replace(stored.record, target=there.record.target), stored)

    async def _went(self, old: PageRecord | None, target: str | None) -> tuple[NodeChange, ...]:
        """What it means for the page's sections that it has none any more; those that stand on `target` now did not go."""
        if old is None or old.page is None:
            return ()
        there = await self._trees.get(target) if target else None
        nodes = there.record.page.nodes if there and there.record.page else ()
        return tuple(change for change in node_changes(old.page.nodes, nodes) if change.kind != "moved")

    # --- small questions

    async def _put(self, record: PageRecord, stored: VersionedRecord | None) -> None:
        """The commit. Whoever wrote what is replaced may have died before it was told."""
        if stored and stored.record.node_changes:
            await self._tell(stored.record)
        await self._trees.put(record, stored.revision if stored else None)
        if record.node_changes:
            await self._tell(record)

    def _is_done(self, event: PageEvent, record: PageRecord) -> bool:
        """What another model or version did last is done again: it may have written to an index that was just replaced."""
        if event.seq == record.seq and record.state == "live":
            return self._current(record)
        return event.seq <= record.seq

    def _current(self, record: PageRecord) -> bool:
        """Made by the parser, analyser and embedding model of today."""
        page = record.page
        return page is not None and page.parser_version == PARSER_VERSION and self._projection.fits(record)


def _told_of(old: Page | None, new: Page, *, page_moved: bool) -> tuple[NodeChange, ...]:
    """What another parser makes of a page tells nothing of a change."""
    if old is None or old.parser_version != new.parser_version:
        return ()
    return node_changes(old.nodes, new.nodes, page_moved=page_moved)


def _ids(page: Page) -> set[str]:
    return {node.id for node in page.nodes}
