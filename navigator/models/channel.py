"""The connection to a Messages API endpoint: a request out, the events of its reply in.

Everything that goes wrong on the way becomes a ModelError here. Nothing but the arguments counts: the
SDK's own look at the environment (keys, address, headers, tracing) is switched off, and so are its
retries, which know neither what was said already nor how long a pause is too long.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any, Self
from urllib.parse import urlsplit

import anthropic
import httpx2
from anthropic.types import RawMessageStreamEvent

from navigator.models.faults import VENDOR, Faults, RequestRefused
from navigator.models.messages import Json
from navigator.models.reply import replayed

OFFICIAL = "https://api.anthropic.com"
CONNECT_TIMEOUT = 10.0
LAST_BYTES = 0.5
"""Seconds for the end of a response whose last event is there."""

Stream = anthropic.AsyncStream[RawMessageStreamEvent]


class Channel:
    """`timeout`: seconds without anything new; pings are nothing new. `proxy` and `ca_file` (PEM) as in HTTP
    clients; with `trust_env` the environment's proxies count. `transport` replaces the network."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str | None,
        model: str,
        timeout: float,
        proxy: str | None,
        ca_file: str | None,
        trust_env: bool,
        transport: httpx2.AsyncBaseTransport | None,
    ) -> None:
        self._key = (api_key or "").strip()
        self._base_url = base_url or OFFICIAL
        self._model = model
        self._timeout = timeout
        self._ca_file = ca_file
        self._options: dict[str, Any] = {"trust_env": trust_env}
        self._options |= {"proxy": proxy} if proxy else {}
        self._options |= {"transport": transport} if transport else {}
        self._open: anthropic.AsyncAnthropic | None = None
        self.faults = Faults(urlsplit(self._base_url).netloc.rpartition("@")[2] or self._base_url, model)
        self.official = base_url is None
        self.streams = True
        """Whether the last reply came as a stream."""

    async def __aenter__(self) -> Self:
        try:
            verify = ssl.create_default_context(cafile=self._ca_file) if self._ca_file else True
            timeout = httpx2.Timeout(self._timeout, connect=min(self._timeout, CONNECT_TIMEOUT))
            http = anthropic.DefaultAsyncHttpxClient(timeout=timeout, verify=verify, **self._options)
            self._open = anthropic.AsyncAnthropic(
                api_key=self._key, base_url=self._base_url, http_client=http, max_retries=0, open_telemetry=False
            )
        except (OSError, ValueError, httpx2.InvalidURL) as error:
            raise RequestRefused(f"The connection to {self.faults.host} cannot be set up: {error}.", 0) from error
        self._open._custom_headers = {}  # else those of ANTHROPIC_CUSTOM_HEADERS
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._open is not None:
            await self._open.close()
            self._open = None

    async def send(self, body: Json) -> AsyncGenerator[Json, None]:
        """The events of one reply as they come; an endpoint that answers in one piece is read the same way."""
        if self._open is None:
            raise RuntimeError("open the model with `async with` first")
        begun = False
        try:
            stream = await self._open.messages.create(
                model=self._model, **body, stream=True, extra_headers=self._headers
            )
            self.streams = "json" not in stream.response.headers.get("content-type", "")
            events = self._streamed(stream) if self.streams else self._in_one_piece(stream)
            async with stream, aclosing(events):
                async for event in events:
                    if event.get("type") == "error":
                        raise self.faults.by_event(event)
                    begun = True
                    yield event
                    if event.get("type") == "message_stop":
                        break
                with suppress(*VENDOR):  # read to its end, the connection can be used again
                    async with asyncio.timeout(LAST_BYTES):
                        await anext(events, None)
        except VENDOR as error:
            fault = self.faults.by_exception(error)
            raise (self.faults.broke_off() if begun and isinstance(fault, RequestRefused) else fault) from error

    @property
    def _headers(self) -> dict[str, Any]:
        """The SDK sends the key as a bearer token; other endpoints may look for it under its older name."""
        if not self._key:
            return {"Authorization": anthropic.Omit()}
        return {} if self.official else {"x-api-key": self._key}

    async def _streamed(self, stream: Stream) -> AsyncGenerator[Json, None]:
        events = stream.raw_events(stream.response)
        while (event := await self._next(events)) is not None:
            yield event

    async def _next(self, events: AsyncIterator[Any]) -> Json | None:
        async with asyncio.timeout(self._timeout):
            async for event in events:
                if event.data.strip() in ("", "[DONE]"):
                    continue
                data = json.loads(event.data)
                if not isinstance(data, dict):
                    raise self.faults.not_the_api()
                if data.get("type") != "ping":
                    return data
        return None

    async def _in_one_piece(self, stream: Stream) -> AsyncGenerator[Json, None]:
        async with asyncio.timeout(self._timeout):
            message = json.loads(await stream.response.aread())
        if isinstance(message, dict) and message.get("type") == "error":
            yield message
        elif isinstance(message, dict) and isinstance(message.get("content"), list):
            for event in replayed(message):
                yield event
        else:
            raise self.faults.not_the_api()
