"""Socket Mode as a role: connected to Slack until stopped, and connected anew whenever the connection is not what it seems.

The library reconnects by itself, and sometimes only believes that it does: a closed session that it goes on using, a
connection over which nothing comes. So the connection is looked at from outside, and one that is dead, or silent for
too long, is replaced as a whole. What was sent meanwhile Slack sends again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from typing import Any

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackClosed
from bot.slack.app_sharing import AppSharing
from bot.slack.outbound.client import SlackRefused, call
from ingest.concurrency import set_within
from ingest.errors import StoreUnavailable

log = structlog.get_logger()

MAX_CLOSING_SECONDS = 5.0
"""Seconds that requests in hand, and the closing itself, may take."""


class Socket:
    """`sharing` hears of the app's connections. Seconds: `ping`: between two pings; `dead`: so long without a connection before it is replaced; `silent`: so long
    without any message, not even Slack's own; `look`: between two looks."""

    def __init__(
        self,
        app: AsyncApp,
        app_token: str,
        *,
        sharing: AppSharing | None = None,
        proxy: str | None = None,
        ping: float = 10.0,
        dead: float = 30.0,
        silent: float = 1_800.0,
        look: float = 1.0,
    ) -> None:
        self._app = app
        self._app_token = app_token
        self._sharing = sharing
        self._proxy = proxy
        self._ping = ping
        self._dead = dead
        self._silent = silent
        self._look = look
        self._stop = asyncio.Event()
        self._handler: _Handler | None = None

    def stop(self) -> None:
        """`run` answers the requests in hand, closes the connection and ends."""
        self._stop.set()

    async def run(self) -> None:
        """Until `stop`. Raises SlackClosed where Slack does not take the token."""
        while not self._stop.is_set():
            await self._try_token()
            self._handler = _Handler(self._app, self._app_token, self._proxy, self._ping, self._sharing)
            connecting = asyncio.create_task(self._handler.client.connect_to_new_endpoint())
            try:
                await self._until_dead(self._handler)
            finally:
                connecting.cancel()
                await self._close(self._handler)
                await asyncio.gather(connecting, return_exceptions=True)

    async def check(self) -> None:
        """Raises SlackClosed while there is no connection."""
        if self._handler is None or not await self._handler.client.is_connected():
            raise SlackClosed("there is no connection to Slack (Socket Mode)")

    async def _try_token(self) -> None:
        """The library would try a wrong token for ever."""
        try:
            await try_app_token(self._app.client, self._app_token)
        except SlackRefused as error:
            log.warning("slack_unreachable", reason=str(error))

    async def _until_dead(self, handler: _Handler) -> None:
        alive = time.monotonic()
        while not self._stop.is_set():
            await set_within(self._stop, self._look)
            if self._sharing is not None:
                with suppress(StoreUnavailable):
                    await self._sharing.present()
            now = time.monotonic()
            if await handler.client.is_connected():
                alive = now
            if now - alive > self._dead or now - handler.heard > self._silent:
                log.warning("socket_replaced", without=round(now - alive, 1), silent=round(now - handler.heard, 1))
                return

    async def _close(self, handler: _Handler) -> None:
        await handler.drained(MAX_CLOSING_SECONDS)
        with suppress(TimeoutError, Exception):  # it is thrown away, whatever it says
            async with asyncio.timeout(MAX_CLOSING_SECONDS):
                await handler.client.close()  # type: ignore[no-untyped-call]
        await handler.client.aiohttp_client_session.close()


async def try_app_token(client: AsyncWebClient, token: str) -> None:
    """Raises SlackClosed where Slack does not take the token, SlackRefused where Slack does not answer."""
    try:
        await call(client.apps_connections_open, app_token=token)
    except SlackRefused as error:
        if error.passing:
            raise
        raise SlackClosed(
            f"Slack does not take the app token ({error.code}): slack.app_token must begin with xapp- and have the scope"
            " connections:write; copy it again from Basic Information, App-Level Tokens"
        ) from error


class _Handler(AsyncSocketModeHandler):
    """Bolt's handler that knows what it has in hand, and when it last heard anything."""

    def __init__(
        self, app: AsyncApp, app_token: str, proxy: str | None, ping: float, sharing: AppSharing | None
    ) -> None:
        super().__init__(app, app_token, logger=logging.getLogger("slack_bolt"), proxy=proxy, ping_interval=ping)
        self.heard = time.monotonic()
        self._sharing = sharing
        self._in_hand: set[asyncio.Task[None] | None] = set()
        self.client.on_message_listeners.append(self._hears)

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        task = asyncio.current_task()
        self._in_hand.add(task)
        try:
            await super().handle(client, req)
        finally:
            self._in_hand.discard(task)

    async def drained(self, seconds: float) -> None:
        """Wait until what is in hand was answered."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._in_hand:  # noqa: ASYNC110 (tasks of the library's, which nobody else can wait for)
                    await asyncio.sleep(0.02)

    async def _hears(self, message: Any) -> None:
        """A message of the websocket, as aiohttp has it."""
        self.heard = time.monotonic()
        if self._sharing is not None and isinstance(message.data, str) and '"hello"' in message.data[:200]:
            connections = json.loads(message.data).get("num_connections")
            with suppress(StoreUnavailable):
                await self._sharing.connected(int(connections or 1))
