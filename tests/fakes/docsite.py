"""A real documentation server on a loopback port that can misbehave in every way that servers do.

    async with DocSite() as docs:
        docs.pages["/"] = "<h1>Start</h1>"              # a str is a page, status 200, text/html; charset=utf-8
        docs.pages["/a"] = page("<h1>A</h1>", etag='"1"', last_modified="Tue, 01 Jul 2025 10:00:00 GMT")
        docs.pages["/b"] = redirect("/a", 301)
        docs.pages["/c?view=v2"] = status(410)          # a key with a query wins over the bare path
        site = Site(name="docs", start=docs.url("/"), allow_private=True)
        …
        assert docs.count("/a") == 1

`pages` may change at any time; a path that is not in it answers as `fallback`, at first 404. `requests` holds what came in, in order;
`count(path)` counts it; `most_at_once` is the highest number of requests that were being answered at one
time. `docs.url(path, host="localhost")` names the same server by another host: off the site. As a proxy it looks
up the whole URL without its query, "http://elsewhere.test/a". `docs.clear()` forgets pages and requests.

Behaviours: page (304 by ETag and Last-Modified), status, redirect, fails_first (N times another answer, then fine),
slow, truncated, dripping, flipping (other validators each time), gzipped, gzip_bomb. A behaviour is any
function Request -> Response, so a test can bring its own.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Self

import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

Behaviour = Callable[[Request], Response]
HTML = "text/html; charset=utf-8"


def page(
    body: str | bytes, *, content_type: str = HTML, etag: str | None = None, last_modified: str | None = None
) -> Behaviour:
    """`body` as bytes goes out as it is, whatever charset `content_type` claims. With validators it answers
    304 to a request that carries them."""
    raw = body.encode() if isinstance(body, str) else body
    validators = {name: value for name, value in (("etag", etag), ("last-modified", last_modified)) if value}

    def answer(request: Request) -> Response:
        asked = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        known = asked[0] == etag if asked[0] else asked[1] == last_modified
        if validators and any(asked) and known:
            return Response(status_code=304, headers=validators)
        return Response(raw, headers={"content-type": content_type, **validators})

    return answer


def status(code: int, body: str = "", **headers: str) -> Behaviour:
    """Headers by name with underscores: status(429, retry_after="2")."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Response(body, status_code=code, headers={"content-type": HTML, **named})


def redirect(to: str, code: int = 302) -> Behaviour:
    """`to` goes into Location as it is: a path, a whole URL, or nonsense."""
    return status(code, location=to)


def fails_first(times: int, failure: Behaviour, then: Behaviour) -> Behaviour:
    """The first `times` requests get `failure`, the others `then`."""
    turns = itertools.chain([failure] * times, itertools.repeat(then))

    def answer(request: Request) -> Response:
        return next(turns)(request)

    return answer


def slow(seconds: float, body: str) -> Behaviour:
    """All of it, after a while."""
    return dripping([b"", body.encode()], seconds)


def dripping(pieces: list[bytes], seconds: float) -> Behaviour:
    """The pieces, with a pause after each but the last."""

    async def drip() -> AsyncIterator[bytes]:
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(seconds)
            yield piece

    return lambda request: StreamingResponse(drip(), headers={"content-type": HTML})


def truncated(body: str, sent: int) -> Behaviour:
    """Content-Length speaks of the whole body, the connection ends after `sent` bytes."""
    raw = body.encode()

    async def part() -> AsyncIterator[bytes]:
        yield raw[:sent]

    return lambda request: StreamingResponse(part(), headers={"content-type": HTML, "content-length": str(len(raw))})


def flipping(body: str) -> Behaviour:
    """The same bytes under another ETag and Last-Modified each time; never 304."""
    numbers = itertools.count(1)

    def answer(request: Request) -> Response:
        number = next(numbers)
        stamp = f"Tue, 01 Jul 2025 10:{number // 60 % 60:02}:{number % 60:02} GMT"
        return Response(body, headers={"content-type": HTML, "etag": f'W/"{number}-gzip"', "last-modified": stamp})

    return answer


def gzipped(raw: bytes, *, cut: int | None = None, encoding: str = "gzip") -> Behaviour:
    """`raw` compressed, `cut` short if asked; `encoding` is what the header claims."""
    packed = gzip.compress(raw)[:cut]
    return lambda request: Response(packed, headers={"content-type": HTML, "content-encoding": encoding})


def gzip_bomb(megabytes: int) -> Behaviour:
    """Zeros that pack a thousand to one."""
    return gzipped(bytes(megabytes * 1_000_000))


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived; `path` with its query, header names in lower case."""

    path: str
    headers: dict[str, str]


class DocSite:
    def __init__(self) -> None:
        self.pages: dict[str, str | Behaviour] = {}
        self.requests: list[Seen] = []
        self.fallback: Behaviour = status(404, "<h1>Not found</h1>")
        self.most_at_once = 0
        self._at_once = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", 0))
        # Accepted connections inherit it; without it every answer waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._answer, interface="asgi3", lifespan="off", ws="none", log_config=None, access_log=False
        )
        self._server = uvicorn.Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        return self  # the socket listens already: whoever connects before the server is up is served then

    async def __aexit__(self, *exc: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        await self._serving

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def count(self, path: str) -> int:
        return sum(seen.path == path for seen in self.requests)

    def paths(self) -> list[str]:
        """Of all requests, in order."""
        return [seen.path for seen in self.requests]

    def clear(self) -> None:
        """As new: for tests that share one server."""
        self.pages.clear()
        self.requests.clear()
        self.most_at_once = 0

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        query = f"?{request.url.query}" if request.url.query else ""
        path = scope["raw_path"].decode("ascii")
        self.requests.append(Seen(path + query, dict(request.headers)))
        found = self.pages.get(path + query, self.pages.get(path, self.fallback))
        behaviour = page(found) if isinstance(found, str) else found
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await behaviour(request)(scope, receive, send)
        finally:
            self._at_once -= 1
