"""The ChunkIndex in one Qdrant Edge shard: vectors and BM25 side by side, in one folder.

Search is exact: every vector is compared (5 to 13 ms at 50,000 chunks), and no HNSW graph is ever built.
Words are ranked by the shard's own BM25 over terms split at white space and otherwise left alone; the
number of documents and their mean length count only chunks that have terms, as in Lucene.

All calls to the shard run in one thread. Writes that arrive while others are being written are then
applied together and flushed to disk once (group commit); a caller returns after the flush. Writes are
applied in small steps, between which searches find their turn.

Edge's errors and panics are translated in `_guarded`, and nowhere else.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self, TypeVar, cast

import qdrant_edge as edge

from ingest.errors import FolderBusy, IndexMismatch, StoreUnavailable
from ingest.model import EVERYWHERE, Chunk, Scope
from ingest.ports import Hit, Vector

_T = TypeVar("_T")
_Step = Callable[[edge.EdgeShard], None]

_BM25 = edge.Bm25Params(k=1.2, b=0.75)
_POINTS_PER_UPDATE = 128
"""Points in one update: Edge holds the GIL for as long as one takes, about 20 ms."""
_POINTS_PER_CALL = 1000
_NO_GRAPH_BELOW_KILOBYTES = 10**9


@dataclass(slots=True)
class _Write:
    """What one caller wants written, and the caller's wait for it."""

    steps: Sequence[_Step]
    done: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class EdgeChunkIndex:
    """Implements ingest.ports.ChunkIndex. One opener at a time: another raises FolderBusy. A folder that is not
    there is made. Vectors are kept and given back normalised to length 1."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._thread: ThreadPoolExecutor | None = None
        self._shard: edge.EdgeShard | None = None
        self._waiting: list[_Write] = []
        self._committer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._folder.name)
        try:
            await self._in_thread(self._open)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._thread is not None:
            try:
                if self._committer is not None:
                    await asyncio.wait([self._committer])
                await self._in_thread(self._close)
            finally:
                self._thread.shutdown()
                self._thread = None

    # --- writing

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        pairs = list(zip(chunks, vectors, strict=True))
        for _, vector in pairs:
            self._check(vector)
        await self._write(
            [partial(_upsert, pairs[i : i + _POINTS_PER_UPDATE]) for i in range(0, len(pairs), _POINTS_PER_UPDATE)]
        )

    async def delete(self, ids: Iterable[str]) -> None:
        gone: list[edge.PointId] = list(ids)
        await self._write(
            [partial(_delete, gone[i : i + _POINTS_PER_CALL]) for i in range(0, len(gone), _POINTS_PER_CALL)]
        )

    async def _write(self, steps: Sequence[_Step]) -> None:
        if not steps:
            return
        write = _Write(steps)
        self._waiting.append(write)
        if self._committer is None or self._committer.done():
            self._committer = asyncio.create_task(self._commit())
        await write.done

    async def _commit(self) -> None:
        """Apply and flush what is waiting, until nothing is. A write that fails fails alone; a flush that fails
        fails all that it was for.

        A flush costs a disk's sync however much it writes, so whoever comes during one waits for the next, together with
        all others. The event offset is committed only after `upsert` returns: nothing may be told done before its flush."""
        while self._waiting:
            group, self._waiting = self._waiting, []
            failures = [await self._failure(write.steps) for write in group]
            unflushed = await self._failure([edge.EdgeShard.flush])
            for write, failure in zip(group, failures, strict=True):
                if write.done.done():
                    continue  # its caller was cancelled and waits no more
                if error := unflushed or failure:
                    write.done.set_exception(error)
                else:
                    write.done.set_result(None)

    async def _failure(self, steps: Iterable[_Step]) -> StoreUnavailable | None:
        try:
            for step in steps:
                await self._call(step)
        except StoreUnavailable as error:
            return error
        return None

    # --- reading

    async def dense(self, vector: Vector, k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        self._check(vector)
        return await self._search(edge.Query.Nearest(list(vector)), k, scope)

    async def words(self, terms: Sequence[str], k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        return await self._search(edge.TextQuery("terms", " ".join(terms), _BM25), k, scope)

    async def _search(self, query: edge.Query | edge.TextQuery, k: int, scope: Scope) -> Sequence[Hit]:
        if k <= 0:
            return []
        request = edge.QueryRequest(
            limit=k,
            query=query,
            filter=_filter(scope),
            params=edge.SearchParams(exact=True),
            with_payload=["node", "page"],
        )
        points = await self._call(lambda shard: shard.query(request))
        hits = [Hit(str(p.id), p.payload["node"], p.payload["page"], p.score) for p in points if p.payload]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    async def occurrences(self, terms: Iterable[str], scope: Scope = EVERYWHERE) -> Mapping[str, int]:
        wanted = list(dict.fromkeys(terms))
        requests = [edge.CountRequest(exact=True, filter=_filter(scope, term)) for term in wanted]
        counts = await self._call(lambda shard: [shard.count(request) for request in requests])
        return dict(zip(wanted, counts, strict=True))

    async def ids_of(self, page_key: str, scope: Scope = EVERYWHERE) -> Mapping[str, str]:
        found = self._scroll(_filter(scope, page=[page_key]), ["input"])
        return {str(record.id): record.payload["input"] async for record in found if record.payload}

    async def pages(self, scope: Scope = EVERYWHERE) -> AsyncIterator[tuple[str, str]]:
        given: set[tuple[str, str]] = set()
        async for record in self._scroll(_filter(scope), ["page", "site"]):
            if record.payload and (pair := (record.payload["page"], record.payload["site"])) not in given:
                given.add(pair)
                yield pair

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        wanted = list(dict.fromkeys(input_hashes))
        found: dict[str, Vector] = {}
        for i in range(0, len(wanted), _POINTS_PER_CALL):
            only = _filter(EVERYWHERE, input=wanted[i : i + _POINTS_PER_CALL])
            async for record in self._scroll(only, ["input"], with_vector=True):
                if record.payload:
                    found[record.payload["input"]] = cast(Vector, record.vector)
        return found

    async def _scroll(
        self, only: edge.Filter | None, fields: list[str], *, with_vector: bool = False
    ) -> AsyncIterator[edge.Record]:
        """All points that the filter lets through, in the order of their ids, with these fields of their payload."""
        offset: edge.PointId | None = None
        while True:
            request = edge.ScrollRequest(
                offset=offset,
                limit=_POINTS_PER_CALL,
                filter=only,
                with_payload=fields,
                with_vector=with_vector,
            )
            page, offset = await self._call(partial(edge.EdgeShard.scroll, scroll=request))
            for record in page:
                yield record
            if offset is None:
                return

    async def count(self, scope: Scope = EVERYWHERE) -> int:
        request = edge.CountRequest(exact=True, filter=_filter(scope))
        return await self._call(lambda shard: shard.count(request))

    def _check(self, vector: Vector) -> None:
        if len(vector) != self._dimensions:
            raise IndexMismatch(
                f"the index in {self._folder} holds vectors of {self._dimensions} numbers, this one has {len(vector)}:"
                " use the embedding model that made the index, or run `ritbot reembed`"
            )

    # --- the shard and its thread

    async def _call(self, work: Callable[[edge.EdgeShard], _T]) -> _T:
        return await self._in_thread(lambda: work(self._opened()))

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        if self._thread is None:
            raise StoreUnavailable(f"the index in {self._folder} is not open")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)

    def _guarded(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except StoreUnavailable:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if "WouldBlock" in str(error):
                raise FolderBusy(
                    f"the index in {self._folder} is open in another process: stop that one first"
                ) from error
            raise StoreUnavailable(
                f"the index in {self._folder} does not answer ({error}); it holds nothing that cannot be made again:"
                " start anew, and if this stays, move that folder away and run `ritbot reconcile --repair`"
            ) from error

    def _opened(self) -> edge.EdgeShard:
        if self._shard is None:
            raise StoreUnavailable(f"the index in {self._folder} is not open")
        return self._shard

    def _open(self) -> None:
        if not self._folder.exists():
            self._create()
        self._shard = edge.EdgeShard.load(str(self._folder), self._config())
        self._shard.optimize()  # gives back the room of deleted chunks, where there are many

    def _close(self) -> None:
        if self._shard is not None:
            self._shard.flush()
            self._shard.close()
            self._shard = None

    def _create(self) -> None:
        """Made beside its place and then renamed, so that a shard is there whole or not at all."""
        unfinished = self._folder.with_name(f"{self._folder.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        shard = edge.EdgeShard.create(str(unfinished), self._config())
        for name in ("page", "site", "version", "input"):
            shard.update(edge.UpdateOperation.create_field_index(name, edge.KeywordIndexParams()))
        terms = edge.TextIndexParams(tokenizer=edge.TokenizerType.Whitespace, lowercase=False, scoring=True)
        shard.update(edge.UpdateOperation.create_field_index("terms", terms))
        shard.flush()
        shard.close()
        unfinished.rename(self._folder)

    def _config(self) -> edge.EdgeConfig:
        return edge.EdgeConfig(
            vectors=edge.EdgeVectorParams(size=self._dimensions, distance=edge.Distance.Cosine),
            hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=_NO_GRAPH_BELOW_KILOBYTES),
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NO_GRAPH_BELOW_KILOBYTES),
        )


def _upsert(pairs: Sequence[tuple[Chunk, Vector]], shard: edge.EdgeShard) -> None:
    points = [edge.Point(chunk.id, list(vector), _payload(chunk)) for chunk, vector in pairs]
    shard.update(edge.UpdateOperation.upsert_points(points))


def _payload(chunk: Chunk) -> edge.Payload:
    return {
        "node": chunk.node_id,
        "page": chunk.page_key,
        "site": chunk.site,
        "version": chunk.version,
        "input": chunk.input_hash,
        "terms": chunk.terms,
    }


def _delete(ids: list[edge.PointId], shard: edge.EdgeShard) -> None:
    shard.update(edge.UpdateOperation.delete_points(ids))


def _is_among(name: str, values: Iterable[str]) -> edge.FieldCondition:
    return edge.FieldCondition(name, match=edge.MatchAny(sorted(values)))


def _filter(scope: Scope, term: str | None = None, **more: Iterable[str]) -> edge.Filter | None:
    """`term`: what the chunk's words must hold."""
    fields: dict[str, Iterable[str] | None] = {"site": scope.sites, "version": scope.versions, **more}
    conditions: list[edge.ConditionType] = [
        _is_among(name, among) for name, among in fields.items() if among is not None
    ]
    if term is not None:
        conditions.append(edge.FieldCondition("terms", match=edge.MatchText(term)))
    return edge.Filter(must=conditions) if conditions else None
