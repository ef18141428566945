"""A Messages API on a local port, scripted: what Anthropic's SDK talks to in tests.

    async with MessagesApi() as api:
        api.call("get_toc", {"query": "ports"}, say="Looking.")     # one reply a line, in the order of the requests
        api.call("read", {"sections": [1]})
        api.say("Open ", cited("port 22", (0, 1, 1)), ".")          # cites search result 0, blocks 1 to 1
        model = AnthropicModel(api_key="k", base_url=api.url)
        ...
    api.requests[0].body["messages"], api.requests[0].headers["authorization"]

Replies are queued by `say`, `call` and `send` (any blocks: `text`, `cited`, `tool`, `thinking`), `fail` (an HTTP
error) and `raw` (anything). `always` takes a function Request -> Answer | Failure that answers when the queue is empty.
How a reply comes is said by keywords: stop="max_tokens", usage={…}, delay=0.2 (seconds before the first
byte), breaks="drop" | "hang" | "error" | "end" | "garbage" after=N events (or after the last).

The endpoint itself can be less than the real one: `rejects` holds what gives HTTP 400 ("citations",
"cache_control"), `ignores` what it does without ("citations", "cache_control", "stream", "usage", "tools"). `key`
is the only key taken, `models` the only models known. Requests that the real API would refuse are refused
(tests/fakes/messages_rules.py). The tiny conversations by which an adapter finds out what an endpoint can do are
answered by the endpoint itself and kept in `probes`, apart from `requests`; only a failure that is due meets them too.

Leaving the block fails the test where replies are left over, or where more was asked than scripted.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.fakes.messages_rules import Json, PromptCache, search_results, violation

Break = Literal["drop", "hang", "error", "end", "garbage"]
Cite = tuple[int, int, int]
"""Search result, first block, last block: as Cited counts them."""

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
PROBING_TOOL = "look"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def cited(words: str, *cites: Cite | Json) -> Json:
    """Text with citations; a dict stands for itself."""
    return {"type": "text", "text": words, "citations": list(cites)}


def tool(name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None) -> Json:
    """A call. A string stands for the JSON as the model wrote it, be it broken."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def thinking(signature: str = "signed") -> Json:
    return {"type": "thinking", "thinking": "", "signature": signature}


@dataclass(frozen=True)
class Answer:
    blocks: tuple[Json, ...]
    stop: str | None = None
    usage: Mapping[str, int] | None = None
    delay: float = 0.0
    """Seconds before it begins."""
    pace: float = 0.0
    """Seconds between two events."""
    breaks: Break | None = None
    after: int = 4


@dataclass(frozen=True)
class Failure:
    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    body: bytes
    content_type: str


@dataclass(frozen=True)
class Request:
    body: Json
    headers: Mapping[str, str]
    path: str

    @property
    def search_results(self) -> list[Json]:
        return search_results(self.body)

    @property
    def last(self) -> list[Json]:
        """The blocks of the last message."""
        content: list[Json] = self.body["messages"][-1]["content"]
        return content


Scripted = Answer | Failure | Raw


class MessagesApi:
    def __init__(
        self,
        *,
        rejects: Sequence[str] = (),
        ignores: Sequence[str] = (),
        key: str | None = None,
        models: Sequence[str] | None = None,
        path: str = "",
    ) -> None:
        self._rejects = frozenset(rejects)
        self._ignores = frozenset(ignores)
        self._key = key
        self._models = models
        self._path = path
        self._script: deque[Scripted] = deque()
        self._always: Callable[[Request], Scripted] | None = None
        self._cache = PromptCache(reported="cache_control" not in self._ignores)
        self._calls = 0
        self._unscripted = 0
        self._closing = asyncio.Event()
        self.requests: list[Request] = []
        self.probes: list[Request] = []
        self.refused: list[str] = []
        """What the API's rules said to requests that they forbid."""
        self.disconnected = asyncio.Event()
        """Set when a client hung up in the middle of a reply."""

    # -- the script

    def send(self, *blocks: Json, **how: Any) -> None:
        self._script.append(Answer(blocks, **how))

    def say(self, *parts: str | Json, cite: Cite | None = None, **how: Any) -> None:
        blocks = [text(part) if isinstance(part, str) else part for part in parts]
        if cite is not None:
            blocks[-1] = cited(blocks[-1]["text"], cite)
        self.send(*blocks, **how)

    def call(self, name: str, arguments: Mapping[str, Any] | str, *, say: str = "", **how: Any) -> None:
        self.send(*([text(say)] if say else []), tool(name, arguments), **how)

    def fail(self, status: int, message: str = "", *, retry_after: str | float | None = None, times: int = 1) -> None:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        self._script.extend([Failure(status, message, headers)] * times)

    def raw(self, body: str | bytes, content_type: str = "text/event-stream") -> None:
        self._script.append(Raw(body.encode() if isinstance(body, str) else body, content_type))

    def always(self, answer: Callable[[Request], Scripted]) -> None:
        self._always = answer

    # -- the server

    async def __aenter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        routes = [Route(f"{self._path}/v1/messages", self._post, methods=["POST"])]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, log_level=60, lifespan="off")
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        await self._server.startup(sockets=[self._socket])
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._closing.set()
        for listener in self._server.servers:
            listener.close()
        state = self._server.server_state
        for connection in list(state.connections):
            connection.shutdown()
        for task in list(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)
        if kind is None:
            assert not self._unscripted, f"{self._unscripted} requests came after the end of the script"
            assert not self._script, f"the script has {len(self._script)} replies left over"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}{self._path}"

    async def _post(self, http: HttpRequest) -> Response:
        request = Request(await http.json(), dict(http.headers), http.url.path)
        if refusal := self._refusal(request):
            return _error(refusal)
        probing = [each["name"] for each in request.body.get("tools", [])] == [PROBING_TOOL]
        (self.probes if probing else self.requests).append(request)
        if rejected := self._rejected(request):
            return _error(rejected)
        misbehaves = bool(self._script) and not isinstance(self._script[0], Answer)
        scripted = self._probed(request) if probing and not misbehaves else self._next(request)
        if isinstance(scripted, Failure):
            return _error(scripted)
        if isinstance(scripted, Raw):
            return Response(scripted.body, media_type=scripted.content_type)
        await asyncio.sleep(scripted.delay)
        message = self._message(scripted, request)
        if "stream" in self._ignores or not request.body.get("stream"):
            return JSONResponse(message)
        return StreamingResponse(self._streamed(scripted, message), media_type="text/event-stream")

    def _refusal(self, request: Request) -> Failure | None:
        """What the endpoint says before it looks into the script."""
        given = {request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer ")}
        if self._key is not None and self._key not in given:
            return Failure(401, "invalid x-api-key")
        if self._models is not None and request.body["model"] not in self._models:
            return Failure(404, f"model: {request.body['model']}")
        if broken := violation(request.body):
            self.refused.append(broken)
            return Failure(400, broken)
        return None

    def _rejected(self, request: Request) -> Failure | None:
        if "citations" in self._rejects and request.search_results:
            return Failure(400, "messages: Input tag 'search_result' found using 'type' does not match")
        if "cache_control" in self._rejects and "cache_control" in json.dumps(request.body):
            return Failure(400, "cache_control: Extra inputs are not permitted")
        return None

    def _next(self, request: Request) -> Scripted:
        if self._script:
            return self._script.popleft()
        if self._always is not None:
            return self._always(request)
        self._unscripted += 1
        return Failure(400, "the script is over")

    def _probed(self, request: Request) -> Scripted:
        """As a good model answers the tiny conversations."""
        if request.search_results:
            return Answer((cited("Heliotrope.", (0, 0, 0)),))
        if len(request.body["messages"]) > 1 or "tools" in self._ignores:
            return Answer((text("Heliotrope [1]."),))
        return Answer((tool(PROBING_TOOL, {"query": "lamp"}),))

    # -- a reply

    def _message(self, answer: Answer, request: Request) -> Json:
        blocks = [self._block(block, request) for block in answer.blocks]
        calls = any(block["type"] == "tool_use" for block in blocks)
        message = {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": request.body["model"],
            "content": blocks,
            "stop_reason": answer.stop or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
        }
        if "usage" not in self._ignores:
            message["usage"] = dict(answer.usage or self._cache.usage(request.body, blocks))
        return message

    def _block(self, block: Json, request: Request) -> Json:
        if block["type"] == "tool_use":
            self._calls += 1
            return {**block, "id": block["id"] or f"toolu_{self._calls}"}
        if block["type"] == "text" and "citations" in block:
            cites = [] if "citations" in self._ignores else block["citations"]
            return {**block, "citations": [citation(cite, request.search_results) for cite in cites]}
        return block

    async def _streamed(self, answer: Answer, message: Json) -> AsyncIterator[bytes]:
        """Every event in two pieces, cut anywhere."""
        try:
            whole = list(events(message))
            for event in whole if answer.breaks is None else whole[: answer.after]:
                await asyncio.sleep(answer.pace)
                piece = sse(event)
                yield piece[: len(piece) // 2]
                yield piece[len(piece) // 2 :]
            if answer.breaks is not None:
                async for piece in self._broken(answer.breaks):
                    yield piece
        except asyncio.CancelledError:
            self.disconnected.set()
            raise

    async def _broken(self, how: Break) -> AsyncIterator[bytes]:
        if how == "error":
            yield sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        elif how == "garbage":
            yield b"event: content_block_delta\ndata: {no json\n\n"
        elif how == "hang":
            while not self._closing.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), 0.05)
                yield sse({"type": "ping"})
        elif how == "drop":
            raise ConnectionAbortedError("as scripted")


def _error(failure: Failure) -> JSONResponse:
    kind = KINDS.get(failure.status, "api_error")
    body = {"type": "error", "error": {"type": kind, "message": failure.message or kind}}
    return JSONResponse(body, failure.status, headers={"request-id": "req_1", **failure.headers})


# --- a message as the real API streams it (platform.claude.com, "Streaming messages")


def events(message: Json) -> Iterator[Json]:
    usage = message.get("usage")
    start = {**message, "content": [], "stop_reason": None}
    if usage is not None:
        start["usage"] = {**usage, "output_tokens": 1}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from ({"index": index, **event} for event in _block_events(block))
    end: Json = {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}}
    if usage is not None:
        end["usage"] = {"output_tokens": usage["output_tokens"]}
    yield end
    yield {"type": "message_stop"}


def _block_events(block: Json) -> Iterator[Json]:
    empty: dict[str, Json] = {
        "text": {"text": ""},
        "tool_use": {"input": {}},
        "thinking": {"thinking": "", "signature": ""},
    }
    shell: Json = {name: value for name, value in block.items() if name != "citations"}
    shell |= empty.get(block["type"], {})
    deltas: list[Json] = []
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"], 9)]
        deltas += [{"type": "citations_delta", "citation": each} for each in block.get("citations", [])]
    elif block["type"] == "tool_use":
        written = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *_pieces(written, 5)]]
    elif block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": ""},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    yield {"type": "content_block_start", "content_block": shell}
    for delta in deltas:
        yield {"type": "content_block_delta", "delta": delta}
    yield {"type": "content_block_stop"}


def citation(cite: tuple[int, int, int] | Json, results: list[Json]) -> Json:
    if isinstance(cite, dict):
        return cite
    index, first, last = cite
    unknown: Json = {"source": "?", "title": "?", "content": []}
    known = results[index] if index < len(results) else unknown
    return {
        "type": "search_result_location",
        "cited_text": "".join(block["text"] for block in known["content"][first : last + 1]),
        "source": known["source"],
        "title": known["title"],
        "search_result_index": index,
        "start_block_index": first,
        "end_block_index": last + 1,
    }


def _pieces(words: str, size: int) -> list[str]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def sse(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
