"""The Notes on OpenSearch: one document an entry, found under its kind and hash, whole as JSON; beside it stands what is
summed. Reading by hash is real-time; totals and walks see all that was written before they were asked for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Self

from ingest import codec
from ingest.errors import StoreUnavailable
from ingest.notes import NoteEntry, NoteKind, Spent, Total
from ingest.stores.cluster.opensearch import (
    NUMBER,
    UNINDEXED,
    WORD,
    OpenSearch,
    StoredDocument,
    index_of,
    over_conflicts,
)

_SUMS = ("found", "replies", "input_tokens", "output_tokens", "cost", "unpriced")
_NOTES = index_of(
    {
        **dict.fromkeys(("key", "kind"), WORD),
        **dict.fromkeys(_SUMS, NUMBER),
        "cost": {"type": "double"},
        **dict.fromkeys(("entry", "mark"), UNINDEXED),
    }
)


class OpenSearchNotes:
    """Implements ingest.notes.Notes; any number of processes may open the index of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot") -> None:
        self._server = server
        self._notes = f"{name}-notes"

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._notes, _NOTES)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    async def of(self, kind: NoteKind, hashes: Iterable[str]) -> Mapping[str, NoteEntry]:
        documents = await self._server.documents(self._notes, (f"{kind}:{each}" for each in hashes), ["entry"])
        return {entry.hash: entry for entry in map(_entry, documents.values())}

    async def any(self, kind: NoteKind) -> bool:
        found = [{"term": {"kind": kind}}, {"term": {"found": 1}}]
        body = {"size": 0, "terminate_after": 1, "query": {"bool": {"filter": found}}}
        return bool((await self._server.search(self._notes, body))["hits"]["total"]["value"])

    async def add(self, entry: NoteEntry) -> None:
        async def attempt() -> None:
            there = await self._server.document(self._notes, entry.key)
            whole = entry.after(_entry(there) if there else None)
            await self._server.replace(self._notes, _document(whole), there.revision if there else None)

        await over_conflicts(attempt)

    async def totals(self) -> Mapping[NoteKind, Total]:
        await self._server.refresh(self._notes)
        sums = {field: {"sum": {"field": field}} for field in _SUMS}
        body = {"size": 0, "aggs": {"kinds": {"terms": {"field": "kind"}, "aggs": sums}}}
        answer = await self._server.search(self._notes, body)
        return {bucket["key"]: _total(bucket) for bucket in answer["aggregations"]["kinds"]["buckets"]}

    async def all(self) -> AsyncIterator[NoteEntry]:
        await self._server.refresh(self._notes)
        async for document in self._server.every(self._notes, {"match_all": {}}, "key", ["entry"]):
            yield _entry(document)


def _document(entry: NoteEntry) -> StoredDocument:
    spent = entry.spent
    source = {
        "key": entry.key,
        "kind": entry.kind,
        "found": int(entry.found is not None),
        "replies": spent.replies,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": spent.cost,
        "unpriced": spent.unpriced,
        "entry": codec.ENTRY.dump(entry).decode(),
    }
    return StoredDocument(entry.key, source)


def _total(bucket: Mapping[str, Any]) -> Total:
    found, replies, read, written, cost, unpriced = (bucket[field]["value"] for field in _SUMS)
    return Total(int(found), Spent(int(replies), int(read), int(written), cost, int(unpriced)))


def _entry(document: StoredDocument) -> NoteEntry:
    try:
        return codec.ENTRY.load(document.source["entry"].encode())
    except ValueError as error:
        message = f"the note {document.id} cannot be read: remove it, and run `ritbot enrich` again"
        raise StoreUnavailable(message) from error
