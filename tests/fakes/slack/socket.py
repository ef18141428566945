"""Socket Mode: websockets that an app opened with apps.connections.open, and what travels over them.

Each payload goes to one connection, in turn. A first delivery carries retry_attempt 0 already (facts: dropping by the
header's presence drops everything). Pings are answered, unless `deaf`; a `mute` socket is connected and delivers nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from dataclasses import dataclass
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from tests.fakes.slack.delivery import Attempt, Delivery, NotCarried, last_failure
from tests.fakes.slack.state import Json

MOST = 10
"""Connections of an app."""


@dataclass(eq=False)
class Connection:
    id: str
    socket: web.WebSocketResponse
    request: web.Request
    pings: int = 0

    def abort(self) -> None:
        """Cut the TCP connection: no close frame, no goodbye."""
        transport = self.request.transport
        if transport is not None:
            transport.abort()

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Slack asks the app to connect anew: warning, refresh_requested, link_disabled."""
        await self.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "fake"}})


class SocketMode:
    def __init__(self, app_id: str) -> None:
        self.connections: list[Connection] = []
        self.opened = 0
        """Connections so far."""
        self.mute = False
        self.deaf = False
        self._app_id = app_id
        self._tickets: set[str] = set()
        self._waiting: dict[str, tuple[Attempt, asyncio.Future[None]]] = {}
        self._arrived = asyncio.Event()

    def ticket(self) -> str:
        """Good for one connection."""
        ticket = uuid.uuid4().hex
        self._tickets.add(ticket)
        return ticket

    async def connected(self, many: int = 1) -> None:
        """Wait until that many connections are open."""
        while len(self.connections) < many:
            arrived = self._arrived
            await arrived.wait()

    async def link(self, request: web.Request) -> web.StreamResponse:
        """The endpoint of the websocket."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404, text="no such ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        self.opened += 1
        connection = Connection(f"connection-{self.opened}", socket, request)
        if len(self.connections) >= MOST:
            await connection.disconnect("too_many_websockets")
            await socket.close()
            return socket
        await self._hello(connection)
        try:
            await self._listen(connection)
        finally:
            self.connections.remove(connection)
        return socket

    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        until = time.monotonic() + within
        connection = await self._next(until)
        attempt.envelope_id, attempt.to = str(uuid.uuid4()), connection.id
        acked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[attempt.envelope_id] = attempt, acked
        attempt.sent_at = time.monotonic()
        try:
            await connection.socket.send_json(self._envelope(delivery, attempt))
        except ConnectionError:
            raise NotCarried("connection_failed") from None
        try:
            await asyncio.wait_for(acked, until - time.monotonic())
        except TimeoutError:
            raise NotCarried("timeout") from None

    async def close(self) -> None:
        for connection in list(self.connections):
            await connection.socket.close(code=WSCloseCode.GOING_AWAY)

    async def _hello(self, connection: Connection) -> None:
        self.connections.append(connection)
        self._arrived.set()
        self._arrived = asyncio.Event()
        await connection.socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self.connections),
                "connection_info": {"app_id": self._app_id},
                "debug_info": {"host": "fake", "build_number": 1, "approximate_connection_time": 18060},
            }
        )

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is WSMsgType.PING:
                connection.pings += 1
                if not self.deaf:
                    await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledge(json.loads(message.data))

    def _acknowledge(self, answer: Any) -> None:
        attempt, acked = self._waiting.get(answer.get("envelope_id", ""), (None, None))
        if attempt is None or acked is None or attempt.seconds is not None:
            return
        attempt.seconds = time.monotonic() - attempt.sent_at
        attempt.answer = answer.get("payload")
        if not acked.done():
            acked.set_result(None)

    async def _next(self, until: float) -> Connection:
        """The connection whose turn it is; waits for one."""
        while self.mute or not self.connections:
            left = until - time.monotonic()
            if left <= 0:
                raise NotCarried("timeout" if self.connections else "connection_failed")
            try:
                await asyncio.wait_for(self._arrived.wait(), min(left, 0.05))
            except TimeoutError:
                continue
        connection = self.connections.pop(0)
        self.connections.append(connection)
        return connection

    def _envelope(self, delivery: Delivery, attempt: Attempt) -> Json:
        envelope: Json = {
            "envelope_id": attempt.envelope_id,
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt.number, "retry_reason": last_failure(delivery)}
        return envelope
