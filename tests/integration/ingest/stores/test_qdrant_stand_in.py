"""What a Qdrant server does that nobody would guess, asked of the stand-in, or of the server that
RITBOT_TEST_QDRANT_URL names: as seen on 1.18.3."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.qdrant_rules import MAX_BODY_BYTES
from tests.fakes.qdrant_server import QdrantServer
from tests.servers.certificates import certificate
from tests.servers.qdrant import own_name

COSINE = {"vectors": {"size": 2, "distance": "Cosine"}}
POINT = {"id": "11111111-1111-4111-8111-111111111111", "vector": [1.0, 0.0], "payload": {"site": "a"}}


class Asked:
    """Requests as nobody's client would send them, about a collection of the test's own."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.name = own_name()

    async def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        answer = await self._http.request(method, path.replace("{name}", self.name), json=body, **more)
        found = answer.json()
        return answer.status_code, found.get("result", found.get("status"))

    async def raw(self, method: str, path: str, content: bytes) -> int:
        headers = {"content-type": "application/json"}
        path = path.replace("{name}", self.name)
        return (await self._http.request(method, path, content=content, headers=headers)).status_code

    async def alias(self, *actions: tuple[str, str]) -> int:
        """Each: the alias, and the collection that it is to name."""
        wanted = [{"create_alias": {"alias_name": alias, "collection_name": to}} for alias, to in actions]
        return (await self("POST", "/collections/aliases", {"actions": wanted}))[0]

    async def aliases(self) -> dict[str, str]:
        """Those that begin with the test's own name."""
        _, found = await self("GET", "/aliases")
        pairs = {each["alias_name"]: each["collection_name"] for each in found["aliases"]}
        return {alias.removeprefix(self.name): to for alias, to in pairs.items() if alias.startswith(self.name)}


@pytest.fixture
async def ask(qdrant: str) -> AsyncIterator[Asked]:
    async with httpx.AsyncClient(base_url=qdrant, trust_env=False) as http:
        asked = Asked(http)
        assert (await asked("PUT", "/collections/{name}", COSINE)) == (200, True)
        yield asked
        for name in ("{name}", "{name}-2"):
            await asked("DELETE", f"/collections/{name}")


async def test_alias_actions_before_a_wrong_one_stay_done_and_an_alias_is_overwritten(ask: Asked) -> None:
    assert await ask.alias((f"{ask.name}-a", ask.name), (f"{ask.name}-b", "not there")) == 404
    assert await ask.aliases() == {"-a": ask.name}
    assert await ask("PUT", "/collections/{name}-2", COSINE) == (200, True)
    assert await ask.alias((f"{ask.name}-a", f"{ask.name}-2")) == 200
    assert await ask.aliases() == {"-a": f"{ask.name}-2"}
    assert await ask("DELETE", "/collections/{name}-2") == (200, True)
    assert await ask.aliases() == {}, "an alias goes with its collection"


async def test_dropping_what_is_not_there_or_an_alias_is_no_error_and_drops_nothing(ask: Asked) -> None:
    assert await ask("DELETE", "/collections/{name}-none") == (200, False)
    assert await ask.alias((f"{ask.name}-a", ask.name)) == 200
    assert await ask("DELETE", "/collections/{name}-a") == (200, False)
    assert (await ask("GET", "/collections/{name}/exists"))[1] == {"exists": True}


async def test_names_are_taken_once_and_are_not_too_long(ask: Asked) -> None:
    assert (await ask("PUT", "/collections/{name}", COSINE))[0] == 409
    assert await ask.alias((f"{ask.name}-a", ask.name)) == 200
    assert (await ask("PUT", "/collections/{name}-a", COSINE))[0] == 400
    assert (await ask("PUT", f"/collections/{'n' * 256}", COSINE))[0] == 422


@pytest.mark.parametrize("vectors", [None, {"size": 0, "distance": "Cosine"}])
async def test_a_collection_without_vectors_of_some_length_is_refused(ask: Asked, vectors: Any) -> None:
    assert (await ask("PUT", "/collections/{name}-2", {"vectors": vectors}))[0] == 400


async def test_points_are_counted_or_named_by_uuid_and_must_be_some(ask: Asked) -> None:
    points, removed = "/collections/{name}/points?wait=true", "/collections/{name}/points/delete?wait=true"
    numbered = {**POINT, "id": 7, "payload": {}}
    assert (await ask("PUT", points, {"points": [POINT, numbered], "nobody_knows": 1}))[0] == 200
    scroll = {"limit": 10, "with_payload": ["site"], "with_vector": False}
    _, found = await ask("POST", "/collections/{name}/points/scroll", scroll)
    assert [point["id"] for point in found["points"]] == [7, POINT["id"]]
    assert (await ask("PUT", points, {"points": [{**POINT, "id": "a name"}]}))[0] == 400
    assert (await ask("PUT", points, {"points": [{**POINT, "vector": None}]}))[0] == 400
    assert (await ask("PUT", points, {"points": []}))[0] == 400
    assert (await ask("POST", removed, {"points": []}))[0] == 400
    assert (await ask("POST", removed, {"points": [7]}))[0] == 200
    assert await ask("POST", "/collections/{name}/points/count", {"exact": True}) == (200, {"count": 1})


@pytest.mark.parametrize(("limit", "status"), [(0, 422), (-1, 400), (1, 200)])
async def test_a_limit_is_one_or_more(ask: Asked, limit: int, status: int) -> None:
    asked = {"query": {"nearest": [1.0, 0.0]}, "limit": limit, "with_payload": ["site"]}
    assert (await ask("POST", "/collections/{name}/points/query", asked))[0] == status


@pytest.mark.parametrize("content", [b"", b"{", b"[]"])
async def test_a_body_that_is_no_json_object_is_refused(ask: Asked, content: bytes) -> None:
    assert await ask.raw("POST", "/collections/{name}/points/count", content) == 400


async def test_a_body_of_more_than_32_megabytes_is_refused(ask: Asked) -> None:
    content = b'{"exact": true, "nobody_knows": "' + b"x" * MAX_BODY_BYTES + b'"}'
    assert await ask.raw("POST", "/collections/{name}/points/count", content) == 400


async def test_a_strict_collection_wants_an_index_for_each_filter(ask: Asked) -> None:
    strict = {"strict_mode_config": {"enabled": True, "unindexed_filtering_retrieve": False}}
    assert await ask("PUT", "/collections/{name}-2", {**COSINE, **strict}) == (200, True)
    only = {"must": [{"key": "site", "match": {"any": ["a"]}}]}
    scroll = {"filter": only, "limit": 10, "with_payload": ["site"], "with_vector": False}
    status, said = await ask("POST", "/collections/{name}-2/points/scroll", scroll)
    assert status == 400
    assert 'Index required but not found for "site"' in said["error"]
    index = {"field_name": "site", "field_schema": "keyword"}
    assert (await ask("PUT", "/collections/{name}-2/index?wait=true", index))[0] == 200
    assert (await ask("POST", "/collections/{name}-2/points/scroll", scroll))[0] == 200
    assert await ask("DELETE", "/collections/{name}-2") == (200, True)


async def test_a_write_that_is_not_waited_for_is_done_at_last(ask: Asked) -> None:
    for _ in range(2):
        assert (await ask("PUT", "/collections/{name}/points", {"points": [POINT]}))[0] == 200
        assert (await ask("POST", "/collections/{name}/points/delete", {"points": [POINT["id"]]}))[0] == 200
    assert (await ask("PUT", "/collections/{name}/points", {"points": [POINT]}))[0] == 200
    async with asyncio.timeout(10):
        while await ask("POST", "/collections/{name}/points/count", {"exact": True}) != (200, {"count": 1}):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_keys_and_tls_are_those_of_the_server(tmp_path: Path) -> None:
    made = certificate(tmp_path)
    server = QdrantServer(tmp_path / "q", api_key="writer", read_only_api_key="reader", tls=made)
    with server:
        async with httpx.AsyncClient(base_url=server.url, verify=False, trust_env=False) as http:
            for headers, read, write in (
                ({}, 401, 401),
                ({"api-key": "guessed"}, 401, 401),
                ({"api-key": "reader"}, 200, 403),
                ({"Authorization": "Bearer writer"}, 200, 200),
            ):
                assert (await http.get("/collections", headers=headers)).status_code == read
                assert (await http.put("/collections/c", json=COSINE, headers=headers)).status_code == write
