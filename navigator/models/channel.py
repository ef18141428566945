"""The connection to a Messages API endpoint: a request out, the events of its reply in.

An event goes from here (`send`) through StreamedReply.feed, which says what it means, and AnthropicModel.turn, which
makes of several requests one turn, to AnswerRun.ask_model, which tells the listener.

Everything that goes wrong on the way becomes a ModelError here. Nothing but the arguments counts: the
SDK's own look at the environment (keys, address, headers, tracing) is switched off, and so are its
retries, which know neither what was said already nor how long a pause is too long.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit

import anthropic
import httpx2
from anthropic.types import RawMessageStreamEvent

from navigator.models.faults import VENDOR, Faults, RequestRefused
from navigator.models.messages import Json
from navigator.models.reply import replayed

OFFICIAL = "https://api.anthropic.com"
CONNECT_TIMEOUT_SECONDS = 10.0
LAST_BYTES_SECONDS = 0.5
"""For the end of a response whose last event is there."""

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
            timeout = httpx2.Timeout(self._timeout, connect=min(self._timeout, CONNECT_TIMEOUT_SECONDS))
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
        """The events of one reply as they come; the reply of an endpoint that does not stream as the same events."""
        if self._open is None:
            raise RuntimeError("open the model with `async with` first")
        begun = False
        try:
            stream = await self._open.messages.create(
                model=self._model, **body, stream=True, extra_headers=self._headers
            )
            async with stream:
                self.streams = "json" not in stream.response.headers.get("content-type", "")
                if not self.streams:
                    for part in await self._whole(stream):
                        yield part
                    return
                received = stream.raw_events(stream.response)
                while (event := await self._next(received)) is not None:
                    if event.get("type") == "error":
                        raise self.faults.by_event(event)
                    begun = True
                    yield event
                    if event.get("type") == "message_stop":
                        break
                with suppress(*VENDOR):  # read to its end, the connection can be used again
                    async with asyncio.timeout(LAST_BYTES_SECONDS):
                        await self._next(received)
        except VENDOR as error:
            fault = self.faults.by_exception(error)
            # What was begun was not refused: an unreadable rest is a reply that broke off, and may be asked for again.
            raise (self.faults.broke_off() if begun and isinstance(fault, RequestRefused) else fault) from error

    @property
    def _headers(self) -> dict[str, Any]:
        """The SDK sends the key as a bearer token; other endpoints may look for it under its older name."""
        if not self._key:
            return {"Authorization": anthropic.Omit()}
        return {} if self.official else {"x-api-key": self._key}

    async def _next(self, events: AsyncIterator[Any]) -> Json | None:
        """The next event that says something; None at the end. The timeout is ours: pings reset the connection's."""
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

    async def _whole(self, stream: Stream) -> list[Json]:
        async with asyncio.timeout(self._timeout):
            message = json.loads(await stream.response.aread())
        if isinstance(message, dict) and message.get("type") == "error":
            raise self.faults.by_event(message)
        if isinstance(message, dict) and isinstance(message.get("content"), list):
            return replayed(message)
        raise self.faults.not_the_api()
