"""The words of all chunks in one OpenSearch index, ranked by BM25 over terms that come ready.

Terms are split at white space and otherwise left alone. Lucene cuts what is longer than 255 characters in two: longer
terms are stored, and asked for, as their digest. A query may hold 1,024 clauses: a longer question is asked in parts
whose scores are summed; the sum is exact for the chunks that are among the best of each part.

Lucene keeps a field's length in one byte (exact below 40 terms, then up to 1/8 too short) and counts deleted documents
until segments merge: scores differ a little from those of the embedded index. On 9,780 chunks and 145 questions, of the
200 best chunks 193 or more are the same, 198 in the mean; tests/integration/ingest/indexing/test_columns.py holds what comes of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self

from ingest.errors import IndexMismatch
from ingest.model import EVERYWHERE, Chunk, Scope, sha256
from ingest.ports import Hit
from ingest.stores.cluster.opensearch import ONE_SHARD, UNINDEXED, WORD, BulkItem, Json, NoIndex, OpenSearch

Refresh = Literal["now", "wait_for"]

_MAX_TERM_CHARACTERS = 120
"""In characters, of which Lucene counts some as two."""
_TERMS_PER_QUERY = 1000
_MIN_HITS_PER_PART = 1000
_PAGES_PER_REQUEST = 1000
_INDEX: Json = {
    "settings": {
        "index": {
            **ONE_SHARD["index"],
            "max_result_window": 100_000,
            "similarity": {"bm25": {"type": "BM25", "k1": 1.2, "b": 0.75}},
        },
    },
    "mappings": {
        "dynamic": "strict",
        "_meta": {"schema": 1},
        "_source": {"excludes": ["terms"]},
        "properties": {
            **dict.fromkeys(("chunk", "page", "site", "version"), WORD),
            **dict.fromkeys(("node", "input"), UNINDEXED),
            "terms": {"type": "text", "analyzer": "whitespace", "similarity": "bm25", "index_options": "freqs"},
        },
    },
}


class OpenSearchWords:
    """One half of a ChunkIndex. What is written is searchable on return: `refresh` "now" refreshes the index after each
    call (calls side by side share one), "wait_for" waits for the index's own refresh, up to a second, which costs the
    cluster less. Any number of processes may open the index of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot", *, refresh: Refresh = "now") -> None:
        self._server = server
        self._alias = f"{name}-words"
        self._refresh = refresh

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._alias, _INDEX)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    async def remove(self) -> None:
        """The index goes with all that it holds; need not be entered. No error where there is none."""
        await self._server.call(lambda client: client.indices.delete(index=f"{self._alias}-1", ignore=404))

    async def upsert(self, chunks: Sequence[Chunk]) -> None:
        await self._write([BulkItem(chunk.id, _source(chunk)) for chunk in chunks])

    async def delete(self, ids: Iterable[str]) -> None:
        """Unknown ids are no error."""
        await self._write([BulkItem(chunk_id) for chunk_id in ids])

    async def _write(self, items: Sequence[BulkItem]) -> None:
        with self._there():
            if items:
                await self._server.bulk(self._alias, items, wait_for_refresh=self._refresh == "wait_for")
            if items and self._refresh == "now":
                await self._server.refresh(self._alias)

    async def words(self, terms: Sequence[str], k: int, scope: Scope = EVERYWHERE) -> Sequence[Hit]:
        """As ingest.ports.ChunkIndex."""
        wanted = list(dict.fromkeys(_terms(" ".join(terms))))
        if k <= 0 or not wanted:
            return []
        parts = [wanted[start : start + _TERMS_PER_QUERY] for start in range(0, len(wanted), _TERMS_PER_QUERY)]
        depth = k if len(parts) == 1 else max(k, _MIN_HITS_PER_PART)
        with self._there():
            answers = await asyncio.gather(*(self._best(part, depth, scope) for part in parts))
        hits: dict[str, Hit] = {}
        for hit in (hit for answer in answers for hit in answer):
            before = hits[hit.chunk_id].score if hit.chunk_id in hits else 0.0
            hits[hit.chunk_id] = Hit(hit.chunk_id, hit.node_id, hit.page_key, before + hit.score)
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    async def _best(self, terms: Sequence[str], k: int, scope: Scope) -> list[Hit]:
        body = {
            "query": {"bool": {"must": [{"match": {"terms": " ".join(terms)}}], "filter": _filter(scope)}},
            "sort": ["_score", {"chunk": "asc"}],
            "size": k,
            "_source": ["node", "page"],
            "track_total_hits": False,
        }
        found = (await self._server.search(self._alias, body))["hits"]["hits"]
        return [Hit(hit["_id"], hit["_source"]["node"], hit["_source"]["page"], hit["sort"][0]) for hit in found]

    async def occurrences(self, terms: Iterable[str], scope: Scope = EVERYWHERE) -> Mapping[str, int]:
        """As ingest.ports.ChunkIndex; a search for each thousand of them."""
        wanted = list(dict.fromkeys(terms))
        counts: dict[str, int] = {}
        for start in range(0, len(wanted), _TERMS_PER_QUERY):
            part = wanted[start : start + _TERMS_PER_QUERY]
            each = {str(at): {"term": {"terms": term}} for at, term in enumerate(_terms(" ".join(part)))}
            body = {
                "size": 0,
                "query": {"bool": {"filter": _filter(scope)}},
                "aggs": {"each": {"filters": {"filters": each}}},
                "track_total_hits": False,
            }
            with self._there():
                buckets = (await self._server.search(self._alias, body))["aggregations"]["each"]["buckets"]
            counts |= {term: buckets[str(at)]["doc_count"] for at, term in enumerate(part)}
        return counts

    async def ids_of(self, page_key: str, scope: Scope = EVERYWHERE) -> Mapping[str, str]:
        """As ingest.ports.ChunkIndex; also what a writer that failed half-way has left."""
        query = {"bool": {"filter": [{"term": {"page": page_key}}, *_filter(scope)]}}
        with self._there():
            await self._server.refresh(self._alias)
            found = self._server.every(self._alias, query, "chunk", ["input"])
            return {document.id: document.source["input"] async for document in found}

    async def pages(self, scope: Scope = EVERYWHERE) -> AsyncIterator[tuple[str, str]]:
        """As ingest.ports.ChunkIndex; in the order of the keys."""
        await self._server.refresh(self._alias)
        sources = [{field: {"terms": {"field": field}}} for field in ("page", "site")]
        pairs: dict[str, Any] = {"size": _PAGES_PER_REQUEST, "sources": sources}
        body = {"size": 0, "query": {"bool": {"filter": _filter(scope)}}, "aggs": {"pairs": {"composite": pairs}}}
        while True:
            found = (await self._server.search(self._alias, body))["aggregations"]["pairs"]
            for bucket in found["buckets"]:
                yield bucket["key"]["page"], bucket["key"]["site"]
            if "after_key" not in found:
                return
            pairs["after"] = found["after_key"]

    @contextmanager
    def _there(self) -> Iterator[None]:
        """The index of an embedding model goes when another takes over."""
        try:
            yield
        except NoIndex as error:
            raise IndexMismatch(
                f"{error}: another embedding model took over, or somebody removed it. Start again"
            ) from error


def _source(chunk: Chunk) -> Json:
    return {
        "chunk": chunk.id,
        "page": chunk.page_key,
        "site": chunk.site,
        "version": chunk.version,
        "node": chunk.node_id,
        "input": chunk.input_hash,
        "terms": " ".join(_terms(chunk.terms)),
    }


def _terms(text: str) -> Iterable[str]:
    return (term if len(term) <= _MAX_TERM_CHARACTERS else f"sha256:{sha256(term)}" for term in text.split())


def _filter(scope: Scope) -> list[dict[str, Any]]:
    fields = {"site": scope.sites, "version": scope.versions}
    return [{"terms": {field: sorted(among)}} for field, among in fields.items() if among is not None]
