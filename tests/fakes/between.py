"""An HTTP server that stands between a client and another server, and lets some requests go wrong.

    with Between(node.url) as between:
        between.next("_bulk", refuse_item(2))       # the next request whose path ends so
        between.next("_refresh", answer(503), answer(429))
        between.requests                            # [("POST", "/x/_bulk", b"…"), …]

All other requests are passed on, and so are the answers.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.threaded import ThreadedServer

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]
PASSED_ON = ("content-type", "accept")
TLS = ssl.create_default_context()
"""Made once: each client would read all authorities anew, for some 30 ms of a request."""


@dataclass(frozen=True)
class Passing:
    """A request on its way; `body` is unpacked."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


Forward = Callable[[Passing], Awaitable[Response]]
Behaviour = Callable[[Passing, Forward], Awaitable[Response]]


def say(content: object, status: int = 200) -> Behaviour:
    """Nothing is passed on."""

    async def answer(_: Passing, __: Forward) -> Response:
        return JSONResponse(content, status)

    return answer


def answer(status: int, reason: str = "as the test wants it") -> Behaviour:
    """Nothing is passed on: an error as OpenSearch gives them."""
    return say({"error": {"type": "test", "reason": reason}, "status": status}, status)


def late(seconds: float) -> Behaviour:
    """It is done, but the answer takes its time."""

    async def wait(passing: Passing, forward: Forward) -> Response:
        done = await forward(passing)
        await asyncio.sleep(seconds)
        return done

    return wait


async def lost(passing: Passing, forward: Forward) -> Response:
    """It is done, but whoever stands between gave up waiting for the answer."""
    await forward(passing)
    return await answer(504)(passing, forward)


def refuse_item(position: int) -> Behaviour:
    """Of a bulk of documents to store, one is refused for now."""

    async def refuse(passing: Passing, forward: Forward) -> Response:
        lines = passing.body.splitlines(keepends=True)
        left = b"".join(lines[: 2 * position] + lines[2 * position + 2 :])
        passed = await forward(Passing(passing.method, passing.path, passing.query, passing.headers, left))
        done = json.loads(bytes(passed.body))
        error = {"type": "opensearch_rejected_execution_exception", "reason": "busy"}
        done["items"].insert(position, {"index": {"_index": "x", "_id": "y", "status": 429, "error": error}})
        return JSONResponse({**done, "errors": True})

    return refuse


class Between(ThreadedServer):
    def __init__(self, url: str) -> None:
        self._target = url
        self._planned: list[tuple[str, deque[Behaviour]]] = []
        self.requests: list[tuple[str, str, bytes]] = []

    def application(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._pass, methods=METHODS)])

    def next(self, ending: str, *behaviours: Behaviour) -> None:
        """The next requests whose path ends so behave like this, one after the other."""
        self._planned.append((ending, deque(behaviours)))

    def forget(self) -> None:
        """What was planned and what came."""
        self._planned.clear()
        self.requests.clear()

    def bodies(self, ending: str) -> list[bytes]:
        return [body for _, path, body in self.requests if path.endswith(ending)]

    async def _pass(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        passing = Passing(request.method, request.url.path, request.url.query, headers, body)
        self.requests.append((passing.method, passing.path, body))
        for ending, behaviours in self._planned:
            if behaviours and passing.path.endswith(ending):
                return await behaviours.popleft()(passing, self._forward)
        return await self._forward(passing)

    async def _forward(self, passing: Passing) -> Response:
        async with httpx.AsyncClient(trust_env=False, timeout=60, verify=TLS) as client:
            url = f"{self._target}{passing.path}?{passing.query}"
            done = await client.request(passing.method, url, content=passing.body, headers=passing.headers)
        return Response(done.content, done.status_code, media_type=done.headers.get("content-type"))
