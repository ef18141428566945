"""A Qdrant server on a loopback port, as far as ritbot's adapter speaks to it, over Qdrant Edge shards (the same engine).

    with QdrantServer(folder) as server:
        server.url
        server.next("upsert", Fault(status=503))                    # refused, nothing applied
        server.next("upsert", Fault(status=500, applies="half"))    # half of the points are there
        server.next("delete", Fault(delay=2.0))                     # done, but the answer comes late
        server.requests                                             # ["create", "index", …, "upsert"]

It is strict where the server is: a filter on a field without payload index, another vector size, a point id that is no
UUID, an unknown or existing collection, a limit of 0, a body of more than 32 MB are refused in the server's words; without
wait=true a write is acknowledged before it is done; an alias stands for its collection and goes with it. Whatever the
adapter does not use (any other endpoint, field or filter) is refused too, so that what passes here was meant.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import qdrant_edge as edge
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.qdrant_rules import Collection, Json, Refused, limit, only, uuid
from tests.fakes.threaded import ThreadedServer

LARGEST_BODY = 32 * 1024 * 1024
LATE = 0.1
"""Seconds after its acknowledgement that a write without wait=true is done."""

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
    applies: Literal["nothing", "half", "all"] = "nothing"
    retry_after: int | None = None


class QdrantServer(ThreadedServer):
    """`folder` is where the shards lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._collections: dict[str, Collection] = {}
        self._aliases: dict[str, str] = {}
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._made = 0
        self.requests: list[str] = []

    def next(self, operation: str, *faults: Fault) -> None:
        """The next requests of this kind go wrong like this, one after the other."""
        self._faults[operation].extend(faults)

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for name in list(self._collections):
            self._drop(name)

    def application(self) -> Starlette:
        return Starlette(routes=self._routes())

    # --- requests

    def _routes(self) -> list[Route]:
        one = "/collections/{name}"
        table: list[tuple[str, str, str, Callable[[Request, Json], Any]]] = [
            ("GET", "/collections", "list", self._list),
            ("GET", "/aliases", "list_aliases", self._list_aliases),
            ("POST", "/collections/aliases", "change_aliases", self._change_aliases),
            ("GET", f"{one}/exists", "exists", self._exists),
            ("GET", one, "describe", self._describe),
            ("PUT", one, "create", self._create),
            ("DELETE", one, "drop", lambda request, _: self._drop(self._real(request.path_params["name"]))),
            ("PUT", f"{one}/index", "index", self._index),
            ("PUT", f"{one}/points", "upsert", self._upsert),
            ("POST", f"{one}/points/delete", "delete", self._delete),
            ("POST", f"{one}/points/query", "query", self._query),
            ("POST", f"{one}/points/scroll", "scroll", self._scroll),
            ("POST", f"{one}/points/count", "count", self._count),
        ]
        return [Route(path, self._endpoint(name, work), methods=[method]) for method, path, name, work in table]

    def _endpoint(
        self, operation: str, work: Callable[[Request, Json], Any]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self.requests.append(operation)
            raw = await request.body()
            fault = self._faults[operation].popleft() if self._faults[operation] else Fault()
            try:
                if len(raw) > LARGEST_BODY:
                    raise Refused(413, "Payload too large")
                body = await request.json() if raw else {}
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

    def _spoil(self, fault: Fault, request: Request, body: Json, work: Callable[[Request, Json], Any]) -> None:
        if fault.applies == "half":
            work(request, {**body, "points": body["points"][: len(body["points"]) // 2]})
        elif fault.applies == "all":
            work(request, body)
        raise Refused(fault.status, "Service internal error: as the test wants it")

    def _written(self, request: Request, body: Json, work: Callable[[Request, Json], Any]) -> Json:
        if request.query_params.get("wait") == "true":
            work(request, body)
            return {"operation_id": 0, "status": "completed"}
        asyncio.get_running_loop().call_later(LATE, work, request, body)
        return {"operation_id": 0, "status": "acknowledged"}

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
        only(body, "vectors", "strict_mode_config")
        name, vectors, strict = request.path_params["name"], body["vectors"], body.get("strict_mode_config", {})
        only(vectors, "size", "distance")
        only(strict, "enabled", "unindexed_filtering_retrieve", "unindexed_filtering_update")
        if name in self._collections or name in self._aliases:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        if vectors["distance"] != "Cosine":
            raise Refused(400, "this server knows Cosine only")
        self._made += 1
        folder = self._folder / f"shard-{self._made}"
        folder.mkdir(parents=True)
        config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=vectors["size"], distance=edge.Distance.Cosine))
        is_strict = bool(strict.get("enabled")) and not strict.get("unindexed_filtering_retrieve", True)
        shard = edge.EdgeShard.create(str(folder), config)
        self._collections[name] = Collection(shard, folder, vectors["size"], is_strict)
        return True

    def _describe(self, request: Request, _: Json) -> Json:
        collection = self._asked(request)
        vectors = {"size": collection.size, "distance": "Cosine"}
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": collection.shard.info().points_count,
            "segments_count": 1,
            "config": {**CONFIG, "params": {"vectors": vectors}},
            "payload_schema": {name: {"data_type": "keyword", "points": 0} for name in sorted(collection.indexed)},
        }

    def _drop(self, name: str) -> bool:
        collection = self._collections.pop(name)
        collection.shard.close()
        shutil.rmtree(collection.folder)
        self._aliases = {alias: target for alias, target in self._aliases.items() if target != name}
        return True

    def _index(self, request: Request, body: Json) -> Json:
        only(body, "field_name", "field_schema")
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
        """All or nothing."""
        only(body, "actions")
        changed = dict(self._aliases)
        for action in body["actions"]:
            only(action, "create_alias", "delete_alias")
            if create := action.get("create_alias"):
                if create["collection_name"] not in self._collections:
                    raise Refused(404, f"Not found: Collection `{create['collection_name']}` doesn't exist!")
                if create["alias_name"] in self._collections:
                    raise Refused(409, f"Wrong input: Collection `{create['alias_name']}` already exists!")
                changed[create["alias_name"]] = create["collection_name"]
            else:
                changed.pop(action["delete_alias"]["alias_name"], None)
        self._aliases = changed
        return True

    # --- points

    def _upsert(self, request: Request, body: Json) -> None:
        only(body, "points")
        collection = self._asked(request)
        for point in body["points"]:
            only(point, "id", "vector", "payload")
        points = [
            edge.Point(uuid(point["id"]), collection.vector(point["vector"]), point["payload"])
            for point in body["points"]
        ]
        if not points:
            raise Refused(400, "Wrong input: Empty update request")
        collection.shard.update(edge.UpdateOperation.upsert_points(points))

    def _delete(self, request: Request, body: Json) -> None:
        only(body, "points")
        gone: list[edge.PointId] = [uuid(point) for point in body["points"]]
        self._asked(request).shard.update(edge.UpdateOperation.delete_points(gone))

    def _query(self, request: Request, body: Json) -> Json:
        only(body, "query", "filter", "params", "limit", "with_payload", "with_vector", "offset")
        only(body["query"], "nearest")
        collection = self._asked(request)
        asked = edge.QueryRequest(
            limit=limit(body),
            query=edge.Query.Nearest(collection.vector(body["query"]["nearest"])),
            filter=collection.filter(body.get("filter")),
            params=edge.SearchParams(exact=bool(body["params"]["exact"])),
            with_payload=body["with_payload"],
        )
        points = collection.shard.query(asked)
        return {"points": [{"id": str(p.id), "version": 0, "score": p.score, "payload": p.payload} for p in points]}

    def _scroll(self, request: Request, body: Json) -> Json:
        only(body, "filter", "limit", "offset", "with_payload", "with_vector")
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
            {"id": str(p.id), "payload": p.payload, **({"vector": p.vector} if body["with_vector"] else {})}
            for p in found
        ]
        return {"points": points, "next_page_offset": None if after is None else str(after)}

    def _count(self, request: Request, body: Json) -> Json:
        only(body, "filter", "exact")
        collection = self._asked(request)
        asked = edge.CountRequest(exact=body["exact"], filter=collection.filter(body.get("filter")))
        return {"count": collection.shard.count(asked)}
