"""The TreeStore on OpenSearch: one document a page, whole, and the watch state in an index beside it.

The record lies in its document as `record`, kept but not indexed; beside it stands what is searched for. Reading a
record or an outline by key is real-time. What is found by searching (nodes, find, duplicates, aliases, scan, places)
is searched after a refresh: these follow a change at once, as the embedded store does, and two indexers that commit equal
copies at the same time both see both. A refresh with nothing new costs next to nothing, and one that is due is made
anyway within a second; refreshes asked for side by side are one.

Documents are found under the sha256 of their key, since OpenSearch allows 512 bytes.

`place` is worked out from a whole site's claims and kept until the site's `print` changes: a sum over its documents of a
number made from all that may move a page in the site tree.

Both indexes have one shard: sequence numbers tell of two records which was written last.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from ingest import codec
from ingest.errors import Conflict, StoreUnavailable
from ingest.model import PageRecord, sha256
from ingest.ports import (
    MAX_IDS_FOUND,
    Located,
    Outline,
    OutlineHeading,
    PageState,
    SiteAncestor,
    VersionedRecord,
    WatchState,
)
from ingest.stores.cluster.opensearch import (
    NUMBER,
    UNINDEXED,
    WORD,
    Json,
    OpenSearch,
    StoredDocument,
    index_of,
    over_conflicts,
)
from ingest.tree.site_tree import place

_PAGES = index_of(
    {
        **dict.fromkeys(("key", "site", "version", "state", "target", "content_hash", "node_ids"), WORD),
        **dict.fromkeys(("print", "nodes", "chunks"), NUMBER),
        "mark": UNINDEXED,
        "record": {"type": "object", "enabled": False},
    }
)
_PAGE = "record.page"
_NODES = f"{_PAGE}.nodes"
_TEXTS = [f"{_NODES}.blocks.{field}" for field in ("text", "language", "marks")]
"""Paths into the document; what `_TEXTS` name is all that an outline does not need."""
_WATCH = index_of(
    {
        **dict.fromkeys(("key", "site"), WORD),
        **dict.fromkeys(("seq", "due_at"), NUMBER),
        "state": UNINDEXED,
    }
)

_IDS_PER_QUERY = 10_000
_MAX_PREFIX_CHARACTERS = 128
_MAX_UPDATE_CONFLICTS = 20


class OpenSearchTreeStore:
    """Implements ingest.ports.TreeStore; any number of processes may open the indexes of one `name`."""

    def __init__(self, server: OpenSearch, name: str = "ritbot") -> None:
        self._server = server
        self._pages = f"{name}-pages"
        self._watch = f"{name}-watch"
        self._places: dict[str, tuple[int, Mapping[str, tuple[SiteAncestor, ...]]]] = {}

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._pages, _PAGES)
        await self._server.ensure(self._watch, _WATCH)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is closed by who opened it."""

    # --- records

    async def get(self, key: str) -> VersionedRecord | None:
        document = await self._server.document(self._pages, document_id(key))
        return VersionedRecord(_record_of(document.source), document.revision) if document else None

    async def put(self, record: PageRecord, expected: str | None) -> str:
        document = StoredDocument(document_id(record.key), source_of(record))
        try:
            return await self._server.replace(self._pages, document, expected)
        except Conflict as conflict:
            raise Conflict(f"the record of {record.key} was changed by someone else meanwhile") from conflict

    async def outlines(self, keys: Iterable[str]) -> Mapping[str, Outline]:
        wanted = list(keys)
        documents = await self._server.documents(self._pages, map(document_id, wanted), ["record"], _TEXTS)
        found = {key: documents[document_id(key)] for key in wanted if document_id(key) in documents}
        return {key: _outline_of(document.source) for key, document in found.items() if _is_live(document.source)}

    # --- nodes

    async def nodes(self, ids: Iterable[str]) -> Mapping[str, Located]:
        """Found by searching, then read as they are now. While a page moves, two records may list one node for a
        moment: the one that was written last counts."""
        wanted = list(dict.fromkeys(ids))
        among = set(wanted)
        keys: set[str] = set()
        for start in range(0, len(wanted), _IDS_PER_QUERY):
            keys |= set(await self._keys({"terms": {"node_ids": wanted[start : start + _IDS_PER_QUERY]}}))
        pages = (await self._server.documents(self._pages, map(document_id, keys))).values()
        located: dict[str, Located] = {}
        for document in sorted(pages, key=lambda document: int(document.revision.partition(".")[0])):
            record = _record_of(document.source)
            if record.state == "live" and record.page:
                outline = _outline_of(document.source)
                located |= {node.id: Located(node, outline) for node in record.page.nodes if node.id in among}
        return {node_id: located[node_id] for node_id in wanted if node_id in located}

    async def find(self, prefix: str) -> Sequence[str]:
        if len(prefix) > _MAX_PREFIX_CHARACTERS:
            return []
        await self._server.refresh(self._pages)
        terms = {
            "field": "node_ids",
            "size": MAX_IDS_FOUND,
            "order": {"_key": "asc"},
            "include": f"{_literally(prefix)}.*",
        }
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
        async for document in self._server.every(self._pages, query, "key", without=[_NODES, "node_ids"]):
            record = _record_of(document.source)
            if record.page:
                pages.append(record.page)
            elif record.target:
                aliases[record.key] = record.target
        return place(pages, aliases)

    async def scan(self, site: str | None = None) -> AsyncIterator[PageState]:
        await self._server.refresh(self._pages)
        query: Json = {"match_all": {}} if site is None else _all_of(site=[site])
        without = [_NODES, f"{_PAGE}.claims", "record.chunk_ids", "node_ids"]
        async for document in self._server.every(self._pages, query, "key", without=without):
            yield _state_of(document.source)

    async def duplicates(self, site: str, version: str, content_hash: str) -> Sequence[str]:
        return await self._keys(_all_of(site=[site], version=[version], content_hash=[content_hash], state=["live"]))

    async def aliases(self, key: str) -> Sequence[str]:
        return await self._keys(_all_of(target=[key], state=["alias", "moved"]))

    async def _keys(self, query: Json) -> list[str]:
        await self._server.refresh(self._pages)
        return [document.source["key"] async for document in self._server.every(self._pages, query, "key", ["key"])]

    async def forget(self, site: str) -> int:
        """Page by page: what is cut short half-way is finished by doing it again."""
        await self._server.remove(self._watch, _all_of(site=[site]), "key")
        return await self._server.remove(self._pages, _all_of(site=[site]), "key")

    # --- watch state

    async def reserve(self, key: str, site: str, above: int = 0) -> int:
        """Above what was given out and above what was handled, should the watch state be younger than the record. A
        number whose giving out was not answered is never given again."""

        async def attempt() -> int:
            old, handled = await asyncio.gather(
                self._server.document(self._watch, document_id(key)),
                self._server.document(self._pages, document_id(key), ["record.seq"]),
            )
            source = old.source if old else watch_source(WatchState(key, site))
            seq: int = 1 + max(above, source["seq"], handled.source["record"]["seq"] if handled else 0)
            new = StoredDocument(document_id(key), {**source, "site": site, "seq": seq})
            await self._server.write(self._watch, new, old.revision if old else None)
            return seq

        return await over_conflicts(attempt)

    async def watched(self, key: str) -> WatchState | None:
        document = await self._server.document(self._watch, document_id(key))
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
        params = {"retry_on_conflict": _MAX_UPDATE_CONFLICTS, "require_alias": "true"}
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
        "state": codec.WATCH.dump(state).decode(),
    }


def _milliseconds(when: datetime) -> int:
    return int(when.timestamp() * 1000)


def _watch_state(source: Json) -> WatchState:
    try:
        state = codec.WATCH.load(source["state"].encode())
    except ValueError as error:
        message = f"the watch state of {source['key']} cannot be read: remove it, and the page is looked at anew"
        raise StoreUnavailable(message) from error
    return replace(state, site=source["site"], seq=source["seq"])


def _all_of(**among: Sequence[str]) -> Json:
    return {"bool": {"filter": [{"terms": {field: values}} for field, values in among.items()]}}


def _literally(text: str) -> str:
    """As a regular expression of Lucene that matches nothing else."""
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in text)


def document_id(key: str) -> str:
    return sha256(key)


def source_of(record: PageRecord) -> Json:
    """A page's document."""
    page = record.page if record.state == "live" else None
    return {
        "key": record.key,
        "site": record.site,
        "version": record.version,
        "state": record.state,
        "target": record.target,
        "content_hash": page.content_hash if page else None,
        "node_ids": [node.id for node in page.nodes] if page else [],
        "print": _place_print(record),
        "nodes": len(record.page.nodes) if record.page else 0,
        "chunks": len(record.chunk_ids),
        "record": json.loads(codec.RECORD.dump(record)),
    }


def _place_print(record: PageRecord) -> int:
    """32 bits of all that may move a page in its site's tree, so that the sum over two million pages is exact."""
    if record.state not in ("live", "alias", "moved"):
        return 0
    page = codec.PAGE.dump(replace(record.page, nodes=())).decode() if record.page else ""
    return int(sha256(record.key, record.site, record.state, record.target or "", page)[:8], 16)


def _record_of(source: Json) -> PageRecord:
    """What the document holds of the record: parts that were not asked for are empty."""
    record = dict(source["record"])
    if record.get("page") and "nodes" not in record["page"]:
        record["page"] = {**record["page"], "nodes": []}
    try:
        return codec.RECORD.load(json.dumps(record).encode())
    except ValueError as error:
        message = f"what is stored of {record.get('key')} cannot be read: put a backup in its place, or index again"
        raise StoreUnavailable(message) from error


def _is_live(source: Json) -> bool:
    return source["record"]["state"] == "live" and bool(source["record"].get("page"))


def _outline_of(source: Json) -> Outline:
    record, page = source["record"], source["record"]["page"]
    return Outline(
        key=record["key"],
        site=record["site"],
        version=record["version"],
        title=page["title"],
        canonical=page["canonical"],
        headings=tuple(_heading(node) for node in page["nodes"]),
        chunk_ids=frozenset(record["chunk_ids"]),
        checked_at=datetime.fromisoformat(record["checked_at"]),
    )


def _heading(node: Json) -> OutlineHeading:
    fields: dict[str, Any] = {name: node[name] for name in ("id", "parent", "level", "title", "anchor", "kind")}
    return OutlineHeading(**fields, readable=bool(node.get("blocks")), links_only=bool(node.get("links_only")))


def _state_of(source: Json) -> PageState:
    record = _record_of(source)
    return PageState(
        key=record.key,
        site=record.site,
        version=record.version,
        state=record.state,
        seq=record.seq,
        target=record.target,
        reason=record.reason,
        nodes=source["nodes"],
        chunks=source["chunks"],
        checked_at=record.checked_at,
        changed_at=record.changed_at,
        parser_version=record.page.parser_version if record.page else "",
        analyser_version=record.analyser_version,
    )
