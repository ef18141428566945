"""The Editions on OpenSearch: one document a text of a section, found under the section and the text's hash. The text is
kept and not indexed, so that no limit on what can be searched holds for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Self

from bot import codec
from bot.model import Edition
from bot.store.stored import moment, readable
from ingest.model import sha256
from ingest.stores.cluster.opensearch import (
    NUMBER,
    UNINDEXED,
    WORD,
    OpenSearch,
    StoredDocument,
    index_of,
    over_conflicts,
)

_EDITIONS = index_of(
    {
        **dict.fromkeys(("id", "node", "read", "kept"), WORD),
        "linked": NUMBER,
        **dict.fromkeys(("edition", "mark"), UNINDEXED),
    }
)


class OpenSearchEditions:
    """Implements bot.ports.Editions; any number of processes may open the index of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot") -> None:
        self._server = server
        self._editions = f"{name}-editions"

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._editions, _EDITIONS)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    async def keep(self, editions: Iterable[Edition]) -> None:
        for edition in editions:
            await over_conflicts(partial(self._keep, edition))

    async def of(self, node: str) -> Sequence[Edition]:
        await self._server.refresh(self._editions)
        query = {"term": {"node": node}}
        found = [_loaded(document) async for document in self._server.every(self._editions, query, "id", ["edition"])]
        return sorted(found, key=lambda edition: (edition.section.checked_at, edition.section.node_hash), reverse=True)

    async def expire(self, before: datetime) -> int:
        old = [{"term": {"linked": 0}}, {"range": {"kept": {"lt": moment(before)}}}]
        return await self._server.remove(self._editions, {"bool": {"filter": old}}, "id")

    async def all(self) -> AsyncIterator[Edition]:
        await self._server.refresh(self._editions)
        async for document in self._server.every(self._editions, {"match_all": {}}, "id", ["edition"]):
            yield _loaded(document)

    async def _keep(self, edition: Edition) -> None:
        section = edition.section
        edition_id = sha256(section.node_id, section.node_hash)
        there = await self._server.document(self._editions, edition_id)
        whole = edition.after(_loaded(there) if there else None)
        source = {
            "id": edition_id,
            "node": section.node_id,
            "read": moment(whole.section.checked_at),
            "kept": moment(whole.kept_at),
            "linked": int(whole.linked),
            "edition": codec.dump_edition(whole).decode(),
        }
        document = StoredDocument(edition_id, source)
        await self._server.replace(self._editions, document, there.revision if there else None)


def _loaded(document: StoredDocument) -> Edition:
    with readable(f"a text of a section ({document.id})"):
        return codec.load_edition(document.source["edition"].encode())
