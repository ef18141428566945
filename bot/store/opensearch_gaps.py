"""The Gaps on OpenSearch: one document a gap, whole as JSON and not indexed; beside it stands what is searched for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import Self

from bot import codec
from bot.gaps.gap import Gap
from bot.ports import VersionedGap
from bot.store.stored import moment, readable
from ingest.errors import Conflict
from ingest.stores.cluster.opensearch import (
    UNINDEXED,
    WORD,
    BulkItem,
    Json,
    OpenSearch,
    StoredDocument,
    index_of,
)

_GAPS = index_of({**dict.fromkeys(("id", "watched", "due"), WORD), **dict.fromkeys(("gap", "mark"), UNINDEXED)})


class OpenSearchGaps:
    """Implements bot.ports.Gaps; any number of processes may open the index of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot") -> None:
        self._server = server
        self._gaps = f"{name}-gaps"

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._gaps, _GAPS)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    async def gap(self, gap_id: str) -> VersionedGap | None:
        document = await self._server.document(self._gaps, gap_id)
        return VersionedGap(_loaded(document), document.revision) if document else None

    async def keep(self, gap: Gap, expected: str | None) -> str:
        source = {
            "id": gap.id,
            "watched": sorted(set(gap.watched)),
            "due": moment(gap.due_at) if gap.due_at else None,
            "gap": codec.dump_gap(gap).decode(),
        }
        try:
            return await self._server.replace(self._gaps, StoredDocument(gap.id, source), expected)
        except Conflict as conflict:
            raise Conflict(f"the gap {gap.id} was changed by someone else meanwhile") from conflict

    async def all(self) -> AsyncIterator[Gap]:
        await self._server.refresh(self._gaps)
        async for document in self._server.every(self._gaps, {"match_all": {}}, "id", ["gap"]):
            yield _loaded(document)

    async def watching(self, nodes: Iterable[str]) -> Sequence[str]:
        return await self._ids({"terms": {"watched": list(dict.fromkeys(nodes))}})

    async def due(self, until: datetime) -> Sequence[str]:
        return await self._ids({"range": {"due": {"lte": moment(until)}}})

    async def remove(self, gap_id: str) -> None:
        await self._server.bulk(self._gaps, [BulkItem(gap_id)])

    async def _ids(self, query: Json) -> Sequence[str]:
        await self._server.refresh(self._gaps)
        return [document.id async for document in self._server.every(self._gaps, query, "id", ["id"])]


def _loaded(document: StoredDocument) -> Gap:
    with readable(f"the gap {document.id}"):
        return codec.load_gap(document.source["gap"].encode())
