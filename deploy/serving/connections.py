"""What one caller may take of the HTTP server: a time for a request's head, a time for its body, and a place among a
bounded number of connections.

Whoever connects and sends nothing, or a byte at a time, is let go when the time is up, and gives its place to a newcomer
before that where places run out: a health check is answered while somebody holds hundreds of connections open. A server
without such limits fails at the process's limit of files, and then nothing else of the process can open one either.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

log = structlog.get_logger()

MAX_CONNECTIONS = 100
"""Open at once, those that wait for their next request included. Well under 256, the fewest files that a system allows
a process by default."""
MAX_HEAD_SECONDS = 10.0
"""From the first moment of a connection, or the first byte after a finished answer, to the end of the request's head."""
MAX_BODY_SECONDS = 30.0
"""From the end of the head to the end of the body: 3 MB, the most that is taken, at 100 kB a second."""


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 connection, within these limits."""

    max_connections = MAX_CONNECTIONS
    max_head_seconds = MAX_HEAD_SECONDS
    max_body_seconds = MAX_BODY_SECONDS
    _waits_for: Any = None
    """The part of a request that is under way, as h11 calls the client's state."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            log.warning("connection_refused", reason=f"more than {self.max_connections} at once")
            self._slowest().transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._let_be()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        log.warning("connection_refused", reason="what came is no HTTP")
        super().send_400_response(msg)

    def _slowest(self) -> LimitedProtocol:
        """Who has to go: of those that have sent no whole request, the one whose time ends first; else this newcomer."""
        waiting = [
            (other._deadline.when(), id(other), other)
            for other in self.connections
            if isinstance(other, LimitedProtocol) and other._deadline is not None
        ]
        return min(waiting)[2] if waiting else self

    def _watch(self) -> None:
        """Each part of a request has its time, which more bytes of that part do not prolong. What an idle connection
        may take between two requests is uvicorn's `timeout_keep_alive`."""
        state = self.conn.their_state
        if state is self._waits_for:
            return
        self._let_be()
        self._waits_for = state
        seconds = {h11.IDLE: self.max_head_seconds, h11.SEND_BODY: self.max_body_seconds}.get(state)
        if seconds is not None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self._too_slow)

    def _let_be(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        part = "head" if self._waits_for is h11.IDLE else "body"
        log.warning("connection_refused", reason=f"the {part} of a request took too long")
        self.transport.abort()


def without_those_who_left(app: ASGIApp) -> ASGIApp:
    """The application, for which a client that leaves in the middle of its request is no error."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except ClientDisconnect:
            log.info("client_left", path=scope.get("path", ""))

    return answer
