"""A Qdrant server on a loopback port, as far as ritbot's adapter speaks to it, over Qdrant Edge shards (the same engine).

    with QdrantServer(folder) as server:
        server.url
        server.next("upsert", Fault(status=503))                    # refused, nothing applied
        server.next("upsert", Fault(status=500, applies="half"))    # half of the points are there
        server.next("delete", Fault(delay=2.0))                     # done, but the answer comes late
        server.requests                                             # ["create", "index", …, "upsert"]

It does as the server of this version was seen to do, in the server's words. Strict: a filter on a field without payload
index, an exact search where that is forbidden, another vector size, a point id that is neither UUID nor whole number, an
unknown or existing collection, one named like an alias, no points, a limit below 1, broken JSON and a body of more than
32 MB are refused. Lenient: fields that it does not know are left alone, dropping what is not there is no error, nor is
dropping by an alias, which drops nothing. Alias actions are done one by one, and those before a wrong one stay done.
Without wait=true a write is acknowledged before it is done, or after, as it comes. With an API key it wants one, and one
that may only read is known apart. What the adapter does not use (any other endpoint or kind of filter) is not there.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import qdrant_edge as edge
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.qdrant_rules import (
    Collection,
    Json,
    Refused,
    collection_name,
    json_body,
    limit,
    plain_id,
    point_ids,
    vector_size,
)
from tests.fakes.threaded import ThreadedServer
from tests.servers.certificates import Certificate

VERSION = "1.18.3"
"""Of the server that it does as."""
LATE_SECONDS = 0.1
"""How long after its acknowledgement every other write without wait=true is done."""

KILLED = 400
"""What a client is told that is taken for dead: it does not ask again."""

Applies = Literal["nothing", "half", "all"]

CONFIG: Json = {
    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000, "max_indexing_threads": 0},
    "optimizer_config": {
        "deleted_threshold": 0.2,
        "vacuum_min_vector_number": 1000,
        "default_segment_number": 0,
        "flush_interval_sec": 5,
    },
}


@dataclass(frozen=True)
class Fault:
    """How one request goes wrong. `status` 0: it does not, but for the delay (seconds, before the answer)."""

    status: int = 0
    delay: float = 0.0
    applies: Applies = "nothing"
    retry_after: int | None = None


class QdrantServer(ThreadedServer):
    """`folder` is where the shards lie. `api_key` and `read_only_api_key` as in the server's settings; `tls`: HTTPS only.
    `strict`: what strict mode forbids in collections that say nothing of it."""

    def __init__(
        self,
        folder: Path,
        *,
        api_key: str | None = None,
        read_only_api_key: str | None = None,
        tls: Certificate | None = None,
        strict: Json | None = None,
    ) -> None:
        self._folder = folder
        self._keys = {key for key in (api_key, read_only_api_key) if key}
        self._may_write = {key for key in (api_key,) if key}
        self.tls = tls
        self._strict = strict or {}
        self._late = False
        self._steps, self._counted = 0, set[str]()
        self._last: Applies = "nothing"
        self._collections: dict[str, Collection] = {}
        self._aliases: dict[str, str] = {}
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._made = 0
        self.requests: list[str] = []

    def next(self, operation: str, *faults: Fault) -> None:
        """The next requests of this kind go wrong like this, one after the other."""
        self._faults[operation].extend(faults)

    def die_after(self, steps: int, *operations: str, applies: Applies = "nothing") -> None:
        """As if the client were killed: of these operations so many are done, of the next as much as `applies` says,
        and whatever comes then is refused, until `live_on`."""
        self._steps, self._counted, self._last = steps, set(operations), applies

    def live_on(self) -> None:
        self._counted, self._steps = set(), 0

    @property
    def collections(self) -> Sequence[str]:
        return sorted(self._collections)

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for name in list(self._collections):
            self._drop(name)

    def application(self) -> Starlette:
        return Starlette(routes=self._routes())

    # --- requests

    def _routes(self) -> list[Route]:
        one = "/collections/{name}"
        reading = {"list", "list_aliases", "exists", "describe", "query", "scroll", "count"}
        table: list[tuple[str, str, str, Callable[[Request, Json], Any]]] = [
            ("GET", "/collections", "list", self._list),
            ("GET", "/aliases", "list_aliases", self._list_aliases),
            ("POST", "/collections/aliases", "change_aliases", self._change_aliases),
            ("GET", f"{one}/exists", "exists", self._exists),
            ("GET", one, "describe", self._describe),
            ("PUT", one, "create", self._create),
            ("DELETE", one, "drop", lambda request, _: self._drop(request.path_params["name"])),
            ("PUT", f"{one}/index", "index", self._index),
            ("PUT", f"{one}/points", "upsert", self._upsert),
            ("POST", f"{one}/points/delete", "delete", self._delete),
            ("POST", f"{one}/points/query", "query", self._query),
            ("POST", f"{one}/points/scroll", "scroll", self._scroll),
            ("POST", f"{one}/points/count", "count", self._count),
        ]
        return [
            Route(path, self._endpoint(name, work, writes=name not in reading), methods=[method])
            for method, path, name, work in table
        ]

    def _endpoint(
        self, operation: str, work: Callable[[Request, Json], Any], *, writes: bool
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self.requests.append(operation)
            raw = await request.body()
            fault = self._faults[operation].popleft() if self._faults[operation] else self._death(operation)
            try:
                self._admit(request, writes=writes)
                body = json_body(raw) if request.method in ("PUT", "POST") else {}
                if fault.status:
                    self._spoil(fault, request, body, work)
                result = (
                    self._written(request, body, work) if operation in ("upsert", "delete") else work(request, body)
                )
            except Refused as refused:
                await asyncio.sleep(fault.delay)
                headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
                error = {"status": {"error": str(refused)}, "time": 0.0}
                return JSONResponse(error, refused.status, headers)
            await asyncio.sleep(fault.delay)
            return JSONResponse({"result": result, "status": "ok", "time": 0.0})

        return answer

    def _death(self, operation: str) -> Fault:
        if not self._counted:
            return Fault()
        if self._steps < 0:
            return Fault(status=KILLED)
        if operation in self._counted:
            self._steps -= 1
        return Fault(status=KILLED, applies=self._last) if self._steps < 0 else Fault()

    def _admit(self, request: Request, *, writes: bool) -> None:
        if not self._keys:
            return
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = request.headers.get("api-key") or bearer
        if not key:
            raise Refused(401, "Must provide an API key or an Authorization bearer token")
        if key not in self._keys:
            raise Refused(401, "Invalid API key or JWT")
        if writes and key not in self._may_write:
            raise Refused(403, "Forbidden: Global write access is required")

    def _spoil(self, fault: Fault, request: Request, body: Json, work: Callable[[Request, Json], Any]) -> None:
        if fault.applies == "half":
            work(request, {name: many[: len(many) // 2] for name, many in body.items()})
        elif fault.applies == "all":
            work(request, body)
        raise Refused(fault.status, "Service internal error: as the test wants it")

    def _written(self, request: Request, body: Json, work: Callable[[Request, Json], Any]) -> Json:
        if request.query_params.get("wait") == "true":
            work(request, body)
            return {"operation_id": 0, "status": "completed"}
        self._late = not self._late
        if self._late:
            asyncio.get_running_loop().call_later(LATE_SECONDS, self._write_late, work, request, body)
        else:
            work(request, body)
        return {"operation_id": 0, "status": "acknowledged"}

    def _write_late(self, work: Callable[[Request, Json], Any], request: Request, body: Json) -> None:
        with suppress(Refused):  # the collection is gone meanwhile: nobody is told
            work(request, body)

    # --- collections and aliases

    def _real(self, name: str) -> str:
        name = self._aliases.get(name, name)
        if name not in self._collections:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return name

    def _asked(self, request: Request) -> Collection:
        return self._collections[self._real(request.path_params["name"])]

    def _list(self, _: Request, __: Json) -> Json:
        return {"collections": [{"name": name} for name in sorted(self._collections)]}

    def _exists(self, request: Request, _: Json) -> Json:
        name = request.path_params["name"]
        return {"exists": self._aliases.get(name, name) in self._collections}

    def _create(self, request: Request, body: Json) -> bool:
        name, size = collection_name(request.path_params["name"]), vector_size(body.get("vectors"))
        if name in self._collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        if name in self._aliases:
            raise Refused(
                400, f"Wrong input: Can't create collection with name {name}. Alias with the same name already exists"
            )
        self._made += 1
        folder = self._folder / f"shard-{self._made}"
        folder.mkdir(parents=True)
        config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine))
        strict = {**self._strict, **(body.get("strict_mode_config") or {})}
        shard = edge.EdgeShard.create(str(folder), config)
        self._collections[name] = Collection(shard, folder, size, strict)
        return True

    def _describe(self, request: Request, _: Json) -> Json:
        collection = self._asked(request)
        vectors = {"size": collection.size, "distance": "Cosine"}
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": collection.shard.info().points_count,
            "segments_count": 1,
            "config": {**CONFIG, "params": {"vectors": vectors}, "strict_mode_config": collection.strict},
            "payload_schema": {name: {"data_type": "keyword", "points": 0} for name in sorted(collection.indexed)},
        }

    def _drop(self, name: str) -> bool:
        collection = self._collections.pop(name, None)
        if collection is None:
            return False
        collection.shard.close()
        shutil.rmtree(collection.folder)
        self._aliases = {alias: target for alias, target in self._aliases.items() if target != name}
        return True

    def _index(self, request: Request, body: Json) -> Json:
        if body["field_schema"] != "keyword":
            raise Refused(400, "this server knows keyword indexes only")
        collection = self._asked(request)
        operation = edge.UpdateOperation.create_field_index(body["field_name"], edge.KeywordIndexParams())
        collection.shard.update(operation)
        collection.indexed.add(body["field_name"])
        return {"operation_id": 0, "status": "completed"}

    def _list_aliases(self, _: Request, __: Json) -> Json:
        pairs = sorted(self._aliases.items())
        return {"aliases": [{"alias_name": alias, "collection_name": name} for alias, name in pairs]}

    def _change_aliases(self, _: Request, body: Json) -> bool:
        """One by one; those before a wrong one stay done."""
        for action in body["actions"]:
            if create := action.get("create_alias"):
                if create["collection_name"] not in self._collections:
                    raise Refused(404, f"Not found: Collection `{create['collection_name']}` doesn't exist!")
                if create["alias_name"] in self._collections:
                    raise Refused(409, f"Wrong input: Collection `{create['alias_name']}` already exists!")
                self._aliases[create["alias_name"]] = create["collection_name"]
            elif delete := action.get("delete_alias"):
                self._aliases.pop(delete["alias_name"], None)
            else:
                raise Refused(400, "Format error in JSON body: no variant of enum AliasOperations")
        return True

    # --- points

    def _upsert(self, request: Request, body: Json) -> None:
        collection = self._asked(request)
        ids = point_ids([point["id"] for point in body["points"]])
        points = [
            edge.Point(id_, collection.vector(point["vector"]), point["payload"])
            for id_, point in zip(ids, body["points"], strict=True)
        ]
        collection.shard.update(edge.UpdateOperation.upsert_points(points))

    def _delete(self, request: Request, body: Json) -> None:
        gone: list[edge.PointId] = list(point_ids(body["points"]))
        self._asked(request).shard.update(edge.UpdateOperation.delete_points(gone))

    def _query(self, request: Request, body: Json) -> Json:
        collection = self._asked(request)
        asked = edge.QueryRequest(
            limit=limit(body),
            query=edge.Query.Nearest(collection.vector(body["query"]["nearest"])),
            filter=collection.filter(body.get("filter")),
            params=edge.SearchParams(exact=collection.exact(bool((body.get("params") or {}).get("exact")))),
            with_payload=body["with_payload"],
        )
        points = collection.shard.query(asked)
        return {
            "points": [{"id": plain_id(p.id), "version": 0, "score": p.score, "payload": p.payload} for p in points]
        }

    def _scroll(self, request: Request, body: Json) -> Json:
        collection = self._asked(request)
        asked = edge.ScrollRequest(
            offset=body.get("offset"),
            limit=limit(body),
            filter=collection.filter(body.get("filter")),
            with_payload=body["with_payload"],
            with_vector=body["with_vector"],
        )
        found, after = collection.shard.scroll(asked)
        points = [
            {"id": plain_id(p.id), "payload": p.payload, **({"vector": p.vector} if body["with_vector"] else {})}
            for p in found
        ]
        return {"points": points, "next_page_offset": None if after is None else plain_id(after)}

    def _count(self, request: Request, body: Json) -> Json:
        collection = self._asked(request)
        asked = edge.CountRequest(exact=body["exact"], filter=collection.filter(body.get("filter")))
        return {"count": collection.shard.count(asked)}
