"""The TreeStore on OpenSearch: one document a page, whole, and the watch state in an index beside it.

The record lies in its document as `record`, kept but not indexed; beside it stands what is searched for. Reading a
record or an outline by key is real-time. What is found by searching (nodes, find, copies, aliases, scan, places)
is searched after a refresh: these follow a change at once, as the embedded store does, and two indexers that commit equal
copies at the same time both see both. A refresh with nothing new costs next to nothing, and one that is due is made
anyway within a second; refreshes asked for side by side are one.

Documents are found under the sha256 of their key, since OpenSearch allows 512 bytes. Each put leaves a mark of its own in
the document, by which a put that is sent twice, because the first answer was lost, knows that it was not another's.

`place` is worked out from a whole site's claims and kept until the site's `print` changes: a sum over its documents of a
number made from all that may move a page in the site tree.

Both indexes have one shard: sequence numbers tell of two records which was written last.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self
from uuid import uuid4

from ingest import codec
from ingest.errors import Conflict, StoreUnavailable
from ingest.model import PageRecord
from ingest.ports import Located, Outline, PageState, SiteAncestor, Stored, WatchState
from ingest.stores.cluster.opensearch import KEPT, NUMBER, ONE_SHARD, WORD, BulkItem, Json, OpenSearch, StoredDocument
from ingest.stores.cluster.pages import (
    NODES,
    PAGE,
    PAGES,
    TEXTS,
    document_id,
    is_live,
    outline_of,
    record_of,
    source_of,
    state_of,
)
from ingest.tree.site_tree import place

_WATCH: Json = {
    "settings": ONE_SHARD,
    "mappings": {
        "dynamic": "strict",
        "_meta": {"schema": 1},
        "properties": {
            **dict.fromkeys(("key", "site"), WORD),
            **dict.fromkeys(("seq", "due_at"), NUMBER),
            "state": KEPT,
        },
    },
}

_FOUND = 20
_IDS_A_QUERY = 10_000
_LONGEST_PREFIX = 128
_REPEATS = 20


class OpenSearchTreeStore:
    """Implements ingest.ports.TreeStore; any number of processes may open the indexes of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot") -> None:
        self._server = server
        self._pages = f"{name}-pages"
        self._watch = f"{name}-watch"
        self._places: dict[str, tuple[int, Mapping[str, tuple[SiteAncestor, ...]]]] = {}

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._pages, PAGES)
        await self._server.ensure(self._watch, _WATCH)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    # --- records

    async def get(self, key: str) -> Stored | None:
        document = await self._read(key)
        return Stored(record_of(document.source), document.revision) if document else None

    async def put(self, record: PageRecord, expected: str | None) -> str:
        mark = uuid4().hex
        document = StoredDocument(document_id(record.key), source_of(record, mark))
        try:
            return await self._server.write(self._pages, document, expected)
        except Conflict as conflict:
            there = await self._read(record.key, ["mark"])
            if there and there.source["mark"] == mark:
                return there.revision
            raise Conflict(f"the record of {record.key} was changed by someone else meanwhile") from conflict

    async def outlines(self, keys: Iterable[str]) -> Mapping[str, Outline]:
        wanted = list(keys)
        documents = await self._server.documents(self._pages, map(document_id, wanted), ["record"], TEXTS)
        found = {key: documents[document_id(key)] for key in wanted if document_id(key) in documents}
        return {key: outline_of(document.source) for key, document in found.items() if is_live(document.source)}

    async def _read(self, key: str, fields: Sequence[str] = ("*",)) -> StoredDocument | None:
        return (await self._server.documents(self._pages, [document_id(key)], fields)).get(document_id(key))

    # --- nodes

    async def nodes(self, ids: Iterable[str]) -> Mapping[str, Located]:
        """Found by searching, then read as they are now. While a page moves, two records may list one node for a
        moment: the one that was written last counts."""
        wanted = list(dict.fromkeys(ids))
        among = set(wanted)
        keys: set[str] = set()
        for start in range(0, len(wanted), _IDS_A_QUERY):
            keys |= set(await self._keys({"terms": {"node_ids": wanted[start : start + _IDS_A_QUERY]}}))
        pages = (await self._server.documents(self._pages, map(document_id, keys))).values()
        located: dict[str, Located] = {}
        for document in sorted(pages, key=lambda document: int(document.revision.partition(".")[0])):
            record = record_of(document.source)
            if record.state == "live" and record.page:
                outline = outline_of(document.source)
                located |= {node.id: Located(node, outline) for node in record.page.nodes if node.id in among}
        return {node_id: located[node_id] for node_id in wanted if node_id in located}

    async def find(self, prefix: str) -> Sequence[str]:
        if len(prefix) > _LONGEST_PREFIX:
            return []
        await self._server.refresh(self._pages)
        terms = {"field": "node_ids", "size": _FOUND, "order": {"_key": "asc"}, "include": f"{_literally(prefix)}.*"}
        answer = await self._server.search(self._pages, {"size": 0, "aggs": {"ids": {"terms": terms}}})
        return [bucket["key"] for bucket in answer["aggregations"]["ids"]["buckets"]]

    # --- sites

    async def place(self, keys: Iterable[str]) -> Mapping[str, tuple[SiteAncestor, ...]]:
        wanted = list(keys)
        documents = await self._server.documents(self._pages, map(document_id, wanted), ["key", "site", "state"])
        sites = {d.source["key"]: d.source["site"] for d in documents.values() if d.source["state"] == "live"}
        for site, now in (await self._prints(set(sites.values()))).items():
            if self._places.get(site, (None,))[0] != now:
                self._places[site] = now, await self._placed(site)
        placed = {key: self._places[sites[key]][1] for key in wanted if key in sites and sites[key] in self._places}
        return {key: places[key] for key, places in placed.items() if key in places}

    async def _prints(self, sites: set[str]) -> dict[str, int]:
        if not sites:
            return {}
        await self._server.refresh(self._pages)
        by_site = {"terms": {"field": "site", "size": len(sites)}, "aggs": {"print": {"sum": {"field": "print"}}}}
        body = {"size": 0, "query": {"terms": {"site": sorted(sites)}}, "aggs": {"sites": by_site}}
        answer = await self._server.search(self._pages, body)
        return {bucket["key"]: bucket["print"]["value"] for bucket in answer["aggregations"]["sites"]["buckets"]}

    async def _placed(self, site: str) -> Mapping[str, tuple[SiteAncestor, ...]]:
        pages, aliases = [], {}
        query = _all_of(site=[site], state=["live", "alias", "moved"])
        async for document in self._server.every(self._pages, query, "key", without=[NODES, "node_ids"]):
            record = record_of(document.source)
            if record.page:
                pages.append(record.page)
            elif record.target:
                aliases[record.key] = record.target
        return place(pages, aliases)

    async def scan(self, site: str | None = None) -> AsyncIterator[PageState]:
        await self._server.refresh(self._pages)
        query: Json = {"match_all": {}} if site is None else _all_of(site=[site])
        without = [NODES, f"{PAGE}.claims", "record.chunk_ids", "node_ids"]
        async for document in self._server.every(self._pages, query, "key", without=without):
            yield state_of(document.source)

    async def copies(self, site: str, version: str, content_hash: str) -> Sequence[str]:
        return await self._keys(_all_of(site=[site], version=[version], content_hash=[content_hash], state=["live"]))

    async def aliases(self, key: str) -> Sequence[str]:
        return await self._keys(_all_of(target=[key], state=["alias", "moved"]))

    async def _keys(self, query: Json) -> list[str]:
        await self._server.refresh(self._pages)
        return [document.source["key"] async for document in self._server.every(self._pages, query, "key", ["key"])]

    async def forget(self, site: str) -> int:
        """Page by page: what is cut short half-way is finished by doing it again."""
        await self._remove(self._watch, site)
        return await self._remove(self._pages, site)

    async def _remove(self, alias: str, site: str) -> int:
        await self._server.refresh(alias)
        found = self._server.every(alias, _all_of(site=[site]), "key", ["key"])
        items = [BulkItem(document.id) async for document in found]
        await self._server.bulk(alias, items)
        return len(items)

    # --- watch state

    async def reserve(self, key: str, site: str, above: int = 0) -> int:
        """Above what was given out and above what was handled, should the watch state be younger than the record. A
        number whose giving out was not answered is never given again."""
        while True:
            watched, handled = await asyncio.gather(
                self._server.documents(self._watch, [document_id(key)]), self._read(key, ["record.seq"])
            )
            old = watched.get(document_id(key))
            source = old.source if old else watch_source(WatchState(key, site))
            seq: int = 1 + max(above, source["seq"], handled.source["record"]["seq"] if handled else 0)
            new = StoredDocument(document_id(key), {**source, "site": site, "seq": seq})
            try:
                await self._server.write(self._watch, new, old.revision if old else None)
            except Conflict:
                await asyncio.sleep(random.uniform(0.0, 0.05))
                continue
            return seq

    async def watched(self, key: str) -> WatchState | None:
        document = (await self._server.documents(self._watch, [document_id(key)])).get(document_id(key))
        return _watch_state(document.source) if document else None

    async def watching(self, site: str) -> AsyncIterator[WatchState]:
        await self._server.refresh(self._watch)
        async for document in self._server.every(self._watch, _all_of(site=[site]), "key"):
            yield _watch_state(document.source)

    async def due(self, site: str, until: datetime) -> AsyncIterator[WatchState]:
        await self._server.refresh(self._watch)
        later: Json = {
            "range": {"due_at": {"gt": _milliseconds(until)}}
        }  # not set: at once, also where an older ritbot wrote
        query = {"bool": {**_all_of(site=[site])["bool"], "must_not": [later]}}
        async for document in self._server.every(self._watch, query, "key"):
            yield _watch_state(document.source)

    async def watch(self, state: WatchState) -> None:
        new = watch_source(replace(state, seq=0))
        changes = {field: value for field, value in new.items() if field != "seq"}
        body = {"doc": changes, "upsert": new}
        params = {"retry_on_conflict": _REPEATS, "require_alias": "true"}
        await self._server.call(
            lambda client: client.update(index=self._watch, id=document_id(state.key), body=body, params=params)
        )


def watch_source(state: WatchState) -> Json:
    """The state is one string, so that an update replaces it whole; `site` and `seq` count, not what it says of them.
    `due_at` stands beside it to be searched for, in milliseconds since 1970."""
    return {
        "key": state.key,
        "site": state.site,
        "seq": state.seq,
        "due_at": _milliseconds(state.due_at) if state.due_at else None,
        "state": codec.dump_watch(state).decode(),
    }


def _milliseconds(when: datetime) -> int:
    return int(when.timestamp() * 1000)


def _watch_state(source: Json) -> WatchState:
    try:
        state = codec.load_watch(source["state"].encode())
    except ValueError as error:
        message = f"the watch state of {source['key']} cannot be read: remove it, and the page is looked at anew"
        raise StoreUnavailable(message) from error
    return replace(state, site=source["site"], seq=source["seq"])


def _all_of(**among: Sequence[str]) -> Json:
    return {"bool": {"filter": [{"terms": {field: values}} for field, values in among.items()]}}


def _literally(text: str) -> str:
    """As a regular expression of Lucene that matches nothing else."""
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in text)
