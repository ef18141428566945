"""A connection to OpenSearch, shared by the stores on it: documents by id, searches, bulk writes.

Reading by id is real-time; a search sees what was written before the index was last refreshed. Indexes are reached by
their alias only, and a write through an alias that is not there fails instead of making an index of its own kind.

opensearch-py's errors are translated in `_once`, those of single items in `_read` and `_refused`: a lost
compare-and-set is Conflict; no connection, no answer in time, 408, 429 and 5xx are asked again within `patience` and then are
StoreUnavailable, as is all else at once. What is asked again may have been done already: writes are such that this does
no harm.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeVar
from uuid import uuid4

from opensearchpy import AsyncOpenSearch, ConnectionTimeout, OpenSearchException, TransportError
from opensearchpy import ConnectionError as NotConnected

from ingest.errors import Conflict, StoreUnavailable
from ingest.retry import PASSING_STATUSES, STORE_RETRIES, NotNow, retrying

Json = Mapping[str, Any]
_T = TypeVar("_T")

WORD = {"type": "keyword"}
UNINDEXED = {"type": "keyword", "index": False, "doc_values": False}
NUMBER = {"type": "long"}
ONE_SHARD = {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}}
"""Sequence numbers, which tell of two records the one written last, and BM25's statistics are a shard's own."""


def index_of(properties: Mapping[str, Json]) -> Json:
    """The first version of an index of documents with these fields and no others."""
    return {
        "settings": ONE_SHARD,
        "mappings": {"dynamic": "strict", "_meta": {"schema": 1}, "properties": properties},
    }


_Api = Callable[[AsyncOpenSearch], Awaitable[Any]]

_NO_INDEX = "index_not_found_exception"
_MAX_CONNECTIONS = 32
_IDS_PER_MGET = 5_000
_HITS_PER_SEARCH = 500
_ITEMS_PER_BULK = 500
_MAX_CONFLICT_PAUSE_SECONDS = 0.05
_REVISION = re.compile(r"(\d{1,18})\.(\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """`revision` is what `write` wants as `expected`; only documents that were read by id have one."""

    id: str
    source: Json
    revision: str = ""


@dataclass(frozen=True, slots=True)
class BulkItem:
    """One line of a bulk: the document to store whole, or None to delete."""

    id: str
    source: Json | None = None


class NoIndex(StoreUnavailable):
    """The index, or its alias, is not there (any more)."""


class OpenSearch:
    """`url` is shown in errors: user and password stand apart from it. `timeout`: seconds for one request; `patience`:
    seconds that a request is repeated while the cluster is away."""

    def __init__(
        self,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        ca_file: str | None = None,
        timeout: float = 30.0,
        patience: float = STORE_RETRIES.within,
    ) -> None:
        self._url = url
        self._auth = (user, password or "") if user is not None else None
        self._ca_file = ca_file
        self._timeout = timeout
        self._retries = replace(STORE_RETRIES, within=patience)
        self._client: AsyncOpenSearch | None = None
        self._refreshing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._next_refresh: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        self._client = AsyncOpenSearch(
            self._url,
            http_auth=self._auth,
            ca_certs=self._ca_file,
            timeout=self._timeout,
            max_retries=0,
            http_compress=True,
            maxsize=_MAX_CONNECTIONS,
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    # --- indexes

    async def ensure(self, alias: str, definition: Json) -> None:
        """Make the index behind `alias` where there is none; one of an earlier version gets the fields that came since, which
        its documents do not have. One that was made by a newer definition (`_meta.schema`) is left alone:
        StoreUnavailable."""
        if not await self.call(lambda client: client.indices.exists_alias(name=alias)):
            body = {**definition, "aliases": {alias: {}}}
            # Of two that make it at once, the second is told that it exists (400) and is as well served.
            await self.call(lambda client: client.indices.create(index=f"{alias}-1", body=body, ignore=400))
        found = await self.call(lambda client: client.indices.get_mapping(index=alias))
        known = definition["mappings"]["_meta"]["schema"]
        schemas = [index["mappings"].get("_meta", {}).get("schema") for index in found.values()]
        if schemas != [known]:
            raise StoreUnavailable(
                f"{alias} at {self._url} has schema {schemas}, this ritbot knows {known}: upgrade ritbot, or name"
                " another index"
            )
        fields = definition["mappings"]["properties"]
        if any(fields.keys() - index["mappings"]["properties"].keys() for index in found.values()):
            await self.call(lambda client: client.indices.put_mapping(index=alias, body={"properties": fields}))

    async def refresh(self, alias: str) -> None:
        """Make searchable what was written before this call. Callers that come while a refresh runs, which may be
        too early for them, share the next one."""
        task = self._next_refresh.get(alias)
        if task is None:
            task = self._next_refresh[alias] = asyncio.create_task(self._refresh(alias))
        await asyncio.shield(task)

    async def _refresh(self, alias: str) -> None:
        async with self._refreshing[alias]:
            del self._next_refresh[alias]
            await self.call(lambda client: client.indices.refresh(index=alias))

    # --- documents by id

    async def documents(
        self, alias: str, ids: Iterable[str], fields: Sequence[str] = ("*",), without: Sequence[str] = ()
    ) -> dict[str, StoredDocument]:
        """Those of the documents that exist, as they are now. `fields` and `without` are paths into the document."""
        params = {"_source_includes": ",".join(fields), "_source_excludes": ",".join(without)}
        found: dict[str, StoredDocument] = {}
        for batch in _batches(list(dict.fromkeys(ids)), _IDS_PER_MGET):
            items = await retrying(partial(self._read, alias, batch, params), self._retries)
            found |= {item["_id"]: StoredDocument(item["_id"], item["_source"], _revision(item)) for item in items}
        return found

    async def _read(self, alias: str, ids: Sequence[str], params: Json) -> list[Json]:
        """Those that are found. A shard that recovers answers an error for each of its documents."""
        body = {"ids": list(ids)}
        answer = await self._once(lambda client: client.mget(index=alias, body=body, params=params))
        for item in answer["docs"]:
            if "error" in item:
                what = f"{self._url} cannot read {alias}: {json.dumps(item['error'])[:500]}"
                raise NoIndex(what) if item["error"]["type"] == _NO_INDEX else NotNow(what)
        return [item for item in answer["docs"] if item["found"]]

    async def document(self, alias: str, document_id: str, fields: Sequence[str] = ("*",)) -> StoredDocument | None:
        """As `documents`, of one."""
        return (await self.documents(alias, [document_id], fields)).get(document_id)

    async def replace(self, alias: str, document: StoredDocument, expected: str | None) -> str:
        """Compare-and-set, as `write` does it. The document gets a `mark` of this very write, by which one that is sent
        twice, because the first answer was lost, is known for ours and is no Conflict."""
        mark = uuid4().hex
        try:
            return await self.write(alias, replace(document, source={**document.source, "mark": mark}), expected)
        except Conflict:
            there = await self.document(alias, document.id, ["mark"])
            if there is None or there.source.get("mark") != mark:
                raise
            return there.revision

    async def write(self, alias: str, document: StoredDocument, expected: str | None) -> str:
        """Replace the document whose revision is `expected` (None: it must not exist); the new revision. Raises
        Conflict, also where the write was done at a first try whose answer was lost."""
        if expected is None:
            condition: dict[str, Any] = {"op_type": "create"}
        elif match := _REVISION.fullmatch(expected):
            condition = {"if_seq_no": match[1], "if_primary_term": match[2]}
        else:
            raise Conflict(f"{expected!r} is no revision of {alias}")
        params = {**condition, "require_alias": "true"}
        answer = await self.call(
            lambda client: client.index(index=alias, id=document.id, body=document.source, params=params)
        )
        return _revision(answer)

    async def bulk(self, alias: str, items: Sequence[BulkItem], *, wait_for_refresh: bool = False) -> None:
        """Store and delete; of items that are refused for now, these alone are sent again. Deleting what is not there
        is no error. `wait_for_refresh`: the last request returns when all are searchable."""
        batches = list(_batches(items, _ITEMS_PER_BULK))
        for number, batch in enumerate(batches, 1):
            refresh = "wait_for" if wait_for_refresh and number == len(batches) else "false"
            left = list(batch)

            async def attempt(left: list[BulkItem] = left, refresh: str = refresh) -> None:
                body = [line for item in left for line in _lines(item)]
                params = {"refresh": refresh, "require_alias": "true"}
                answer = await self._once(lambda client: client.bulk(index=alias, body=body, params=params))
                left[:] = self._refused(left, answer)
                if left:
                    raise NotNow(f"{self._url} refuses {len(left)} items for {alias} just now")

            await retrying(attempt, self._retries)

    def _refused(self, items: Iterable[BulkItem], answer: Json) -> list[BulkItem]:
        refused = []
        for item, result in zip(items, (next(iter(each.values())) for each in answer["items"]), strict=True):
            if result["status"] in PASSING_STATUSES:
                refused.append(item)
            elif "error" in result:
                what = f"{self._url} cannot store {item.id} in {result['_index']}: {json.dumps(result['error'])[:500]}"
                raise NoIndex(what) if result["error"]["type"] == _NO_INDEX else StoreUnavailable(what)
        return refused

    async def remove(self, alias: str, query: Json, by: str) -> int:
        """Remove all that match and were stored before the call, document by document: what is cut short half-way is
        finished by doing it again. How many went; `by` as in `every`."""
        await self.refresh(alias)
        items = [BulkItem(document.id) async for document in self.every(alias, query, by, [by])]
        await self.bulk(alias, items)
        return len(items)

    # --- searching

    async def search(self, alias: str, body: Json) -> Json:
        """The whole answer; never one that lacks a part of the index."""
        params = {"allow_partial_search_results": "false"}
        answer: Json = await self.call(lambda client: client.search(index=alias, body=body, params=params))
        return answer

    async def every(
        self, alias: str, query: Json, by: str, fields: Sequence[str] = ("*",), without: Sequence[str] = ()
    ) -> AsyncIterator[StoredDocument]:
        """All that match, in the order of the field `by`, whose values must be unique and never change: then a walk from
        value to value misses nothing that is there all the while, and holds nothing on the cluster that a caller who
        stops half-way would have to give back."""
        source = {"includes": list(fields), "excludes": list(without)}
        body = {"query": query, "sort": [{by: "asc"}], "size": _HITS_PER_SEARCH, "_source": source}
        while True:
            hits = (await self.search(alias, body))["hits"]["hits"]
            for hit in hits:
                yield StoredDocument(hit["_id"], hit["_source"])
            if len(hits) < _HITS_PER_SEARCH:
                return
            body["search_after"] = hits[-1]["sort"]

    # --- the one way to the cluster

    async def call(self, api: _Api) -> Any:
        return await retrying(lambda: self._once(api), self._retries)

    async def _once(self, api: _Api) -> Any:
        if self._client is None:
            raise StoreUnavailable(f"the connection to {self._url} is not open")
        try:
            return await api(self._client)
        except ConnectionTimeout as error:
            raise NotNow(f"OpenSearch at {self._url} gave no answer within {self._timeout:g} s") from error
        except NotConnected as error:
            raise NotNow(f"OpenSearch at {self._url} cannot be reached ({error.error}): is it running?") from error
        except TransportError as error:
            raise self._translated(error) from error
        except OpenSearchException as error:
            raise StoreUnavailable(f"OpenSearch at {self._url}: {error}") from error

    def _translated(self, error: TransportError) -> Conflict | StoreUnavailable:
        what = f"OpenSearch at {self._url} answers {error.status_code} ({_reason(error)})"
        if error.status_code == 409:
            return Conflict(what)
        if error.status_code == 404 and error.error == _NO_INDEX:
            return NoIndex(what)
        if error.status_code in (401, 403):
            return StoreUnavailable(f"{what}: check the user, the password and what that user may do")
        return NotNow(what) if error.status_code in PASSING_STATUSES else StoreUnavailable(what)


async def over_conflicts(attempt: Callable[[], Awaitable[_T]]) -> _T:
    """Read, change and write: from the start as often as another writer was faster."""
    while True:
        try:
            return await attempt()
        except Conflict:
            await asyncio.sleep(random.uniform(0.0, _MAX_CONFLICT_PAUSE_SECONDS))


def _reason(error: TransportError) -> str:
    info: Any = error.info
    try:
        return str(info["error"]["reason"])[:500]
    except (KeyError, TypeError):
        return str(error.error)[:500]


def _revision(answer: Json) -> str:
    return f"{answer['_seq_no']}.{answer['_primary_term']}"


def _lines(item: BulkItem) -> Iterator[Json]:
    if item.source is None:
        yield {"delete": {"_id": item.id}}
    else:
        yield {"index": {"_id": item.id}}
        yield item.source


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
