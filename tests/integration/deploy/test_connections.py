"""What one caller may take of the process's HTTP server, over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

from deploy.serving.connections import LimitedProtocol
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.settings.process import HttpSettings

HEAD, BODY, PLACES = 0.5, 1.0, 20


class Hurried(LimitedProtocol):
    max_connections = PLACES
    max_head_seconds = HEAD
    max_body_seconds = BODY


async def told(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def thinks(_: Request) -> Response:
    await asyncio.sleep(2 * BODY)
    return PlainTextResponse("thought about it")


@pytest.fixture
async def address() -> AsyncIterator[str]:
    health = Health()
    health.ready({}, [Route("/told", told, methods=["POST"]), Route("/thinks", thinks)])
    async with serving(health.app, HttpSettings(port=0), Hurried) as address:
        yield address


Caller = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Call = Callable[..., Awaitable[Caller]]


@pytest.fixture
async def call(address: str) -> AsyncIterator[Call]:
    """Connects and sends; what was opened is closed in the end."""
    opened: list[asyncio.StreamWriter] = []

    async def call(text: str = "") -> Caller:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        opened.append(writer)
        writer.write(text.encode())
        await writer.drain()
        return reader, writer

    yield call
    for writer in opened:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def seconds_until_let_go(caller: Caller, trickle: bytes = b"") -> float:
    """Until the server ended the connection, to whom a byte is sent again and again."""
    reader, writer = caller
    start = time.monotonic()
    try:
        async with asyncio.timeout(20):
            while True:
                try:
                    async with asyncio.timeout(0.05):
                        if not await reader.read(1024):
                            break
                except TimeoutError:
                    writer.write(trickle)
                    await writer.drain()
    except ConnectionError:
        pass
    return time.monotonic() - start


async def test_who_sends_nothing_or_a_byte_at_a_time_is_let_go(call: Call) -> None:
    silent, trickling = await call(), await call("GET /healthz HTTP/1.1\r\nx-long: ")
    with capture_logs() as logs:
        waits = await asyncio.gather(seconds_until_let_go(silent), seconds_until_let_go(trickling, b"a"))
    assert all(HEAD / 2 < wait < HEAD + 5 for wait in waits)
    assert {line["reason"] for line in logs} == {"the head of a request took too long"}


async def test_a_body_that_never_ends_is_let_go_and_is_no_error_of_ours(call: Call) -> None:
    head = "POST /told HTTP/1.1\r\nhost: here\r\ncontent-length: 100000\r\n\r\n"
    with capture_logs() as logs:
        caller = await call(head)
        wait = await seconds_until_let_go(caller, b"a")
        await asyncio.sleep(0.1)
    assert BODY / 2 < wait < BODY + 5
    assert [(line["event"], line.get("reason") or line.get("path")) for line in logs] == [
        ("connection_refused", "the body of a request took too long"),
        ("client_left", "/told"),
    ]


async def test_a_client_that_leaves_is_one_quiet_line(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as logs:
        _, writer = await call("POST /told HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\nhalf")
        await asyncio.sleep(0.1)
        writer.transport.abort()
        await asyncio.sleep(0.2)
    assert logs == [{"event": "client_left", "path": "/told", "log_level": "info"}]
    assert caplog.text == ""


async def test_hundreds_of_half_open_connections_do_not_keep_a_health_check_out(call: Call, address: str) -> None:
    for _ in range(10 * PLACES):
        await call("GET /healthz HTTP/1.1\r\n")
    async with httpx.AsyncClient() as client:
        for _ in range(5):
            assert (await client.get(f"{address}/healthz")).status_code == 200


async def test_where_all_places_are_at_work_a_newcomer_has_to_go(call: Call) -> None:
    asked = "GET /thinks HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"
    callers = [await call(asked) for _ in range(PLACES)]
    await asyncio.sleep(0.1)
    newcomer = await call()
    assert await seconds_until_let_go(newcomer) < HEAD
    answers = await asyncio.gather(*(reader.read() for reader, _ in callers))
    assert all(answer.endswith(b"thought about it") for answer in answers)


async def test_time_is_taken_from_nobody_who_keeps_to_the_limits(address: str) -> None:
    async with httpx.AsyncClient(timeout=20) as client:
        assert (await client.get(f"{address}/thinks")).text == "thought about it"
        await asyncio.sleep(1.5 * HEAD)  # the same connection, kept open
        assert (await client.post(f"{address}/told", content=b"a" * 300_000)).text == "300000"


async def test_what_is_no_http_is_refused_in_one_line(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as logs:
        reader, _ = await call("\x16\x03\x01 hello\r\n\r\n")
        assert b" 400 " in await reader.readline()
    assert [line["reason"] for line in logs] == ["what came is no HTTP"]
