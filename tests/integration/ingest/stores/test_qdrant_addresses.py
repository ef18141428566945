"""Addresses and keys at which Qdrant cannot work: each is told at once and by name, whatever the patience."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ingest.errors import StoreUnavailable
from ingest.stores.cluster.vectors import QdrantVectors
from tests.contract.chunks import DIMENSIONS, EAST, chunk
from tests.fakes.qdrant_server import Fault, QdrantServer
from tests.fakes.threaded import ThreadedServer
from tests.servers.certificates import Certificate, certificate

AT_ONCE_SECONDS = 8.0
"""Far less than the patience, on a busy machine."""


async def told(url: str, *, api_key: str | None = None, ca_file: Path | None = None) -> str:
    """What is said of the address, without trying again."""
    vectors = QdrantVectors(url, DIMENSIONS, api_key=api_key, ca_file=str(ca_file) if ca_file else None, patience=600.0)
    with pytest.raises(StoreUnavailable) as caught:
        async with asyncio.timeout(AT_ONCE_SECONDS), vectors:
            pass
    return str(caught.value)


@pytest.fixture
def signed(tmp_path: Path) -> Certificate:
    return certificate(tmp_path)


async def test_a_certificate_of_an_authority_that_is_named_is_trusted(tmp_path: Path, signed: Certificate) -> None:
    with QdrantServer(tmp_path / "q", tls=signed, api_key="k") as server:
        async with QdrantVectors(server.url, DIMENSIONS, api_key="k", ca_file=str(signed.authority)) as vectors:
            await vectors.upsert([chunk(1)], [EAST])
            assert await vectors.count() == 1


async def test_a_certificate_of_another_authority_is_told(tmp_path: Path, signed: Certificate) -> None:
    with QdrantServer(tmp_path / "q", tls=signed) as server:
        assert "certificate is not trusted" in (said := await told(server.url))
    assert "stores.qdrant_ca_file" in said


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_file_without_authorities_is_told(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    assert "ca.pem holds no certificates" in await told("https://127.0.0.1:1", ca_file=file)


async def test_http_to_a_port_that_speaks_tls_is_told(tmp_path: Path, signed: Certificate) -> None:
    with QdrantServer(tmp_path / "q", tls=signed) as server:
        assert "speaks TLS only: write https://" in await told(server.url.replace("https", "http"))


async def test_https_to_a_port_that_speaks_none_is_told(tmp_path: Path) -> None:
    with QdrantServer(tmp_path) as server:
        assert "does not speak TLS" in await told(server.url.replace("http", "https"))


@asynccontextmanager
async def grpc_port(settings: bytes) -> AsyncIterator[str]:
    """A server of HTTP/2 alone: it sends its settings, and hangs up on whoever sends no preface."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(settings)
        await writer.drain()
        await reader.read(3)
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_the_port_of_grpc_is_told() -> None:
    async with grpc_port(bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))) as url:
        assert "the port of gRPC" in await told(url)


async def test_a_wrong_path_is_told_and_no_embedding_model_is_blamed(tmp_path: Path) -> None:
    with QdrantServer(tmp_path) as server:
        said = await told(f"{server.url}/vectors")
    assert "404" in said
    assert "no address of Qdrant's. Check stores.qdrant_url" in said
    assert "embedding model" not in said


async def test_an_address_without_a_port_says_which_is_meant() -> None:
    said = await told("http://127.0.0.9")
    assert "port 6333, since the address names none" in said
    assert "name the port in stores.qdrant_url" in said


class Website(ThreadedServer):
    """Says the same to everyone."""

    def application(self) -> Starlette:
        async def home(_: Request) -> Response:
            return HTMLResponse("<h1>Welcome</h1>")

        return Starlette(routes=[Route("/{path:path}", home, methods=["GET", "PUT", "POST"])])


async def test_a_server_that_is_another_kind_is_told() -> None:
    with Website() as website:
        assert "what answers there is no Qdrant" in await told(website.url)


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("guessed", 401), ("reader", 403)])
async def test_a_key_that_does_not_do_is_told(
    tmp_path: Path, signed: Certificate, key: str | None, status: int
) -> None:
    with QdrantServer(tmp_path / "q", tls=signed, api_key="k", read_only_api_key="reader") as server:
        said = await told(server.url, api_key=key, ca_file=signed.authority)
    assert f"answers {status}" in said
    assert "check the API key" in said


async def test_a_server_that_has_answered_is_waited_for_when_it_breaks_off(tmp_path: Path) -> None:
    with QdrantServer(tmp_path) as server:
        async with QdrantVectors(server.url, DIMENSIONS, patience=20.0) as vectors:
            server.next("count", Fault(status=408), Fault(status=503))
            assert await vectors.count() == 0
            assert server.requests.count("count") == 3


async def test_where_strict_mode_forbids_exact_search_the_graph_decides(tmp_path: Path) -> None:
    with QdrantServer(tmp_path, strict={"search_allow_exact": False}) as server:
        async with QdrantVectors(server.url, DIMENSIONS) as vectors:
            await vectors.upsert([chunk(1)], [EAST])
            assert [hit.chunk_id for hit in await vectors.dense(EAST, 3)] == [chunk(1).id]
