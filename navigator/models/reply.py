"""The wire form of Anthropic's Messages API: a streamed reply to ModelEvents. Pure.

Lenient with what endpoints leave out (usage, block starts, event names, ids), strict with what may be
cited: a citation of anything but a block of the request is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import structlog

from navigator.answer import Usage
from navigator.models.messages import Json, Source, Verbatim
from navigator.ports import Called, Cited, Ended, ModelEvent, Said, ToolCall

log = structlog.get_logger()

CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded"})
REASONING = frozenset({"thinking", "redacted_thinking"})
NOT_AN_OBJECT = "_invalid"
"""Arguments that are no JSON object arrive as {NOT_AN_OBJECT: what was written}: a tool error, not a crash."""

_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Reply:
    """One reply. Give every event to `feed`, then call `close`; both give the ModelEvents that are due.

    A block's citations are given behind its text, in whichever order they come; calls when all is there.
    """

    def __init__(self, sources: Sequence[Source] = ()) -> None:
        self._sources = sources
        self._blocks: dict[int, Json] = {}
        self._written: dict[int, str] = {}
        self._usage: Json = {}
        self._stop: str | None = None
        self.begun = False
        """Whether anything came that belongs to a reply."""
        self.complete = False
        """Whether the reply came to its end: message_stop, or a reason for stopping."""

    @property
    def reports_caching(self) -> bool:
        return "cache_read_input_tokens" in self._usage

    def feed(self, event: Json) -> Iterator[ModelEvent]:
        index = event["index"] if isinstance(event.get("index"), int) else 0
        match event.get("type"):
            case "message_start":
                self._count(_object(_object(event.get("message")).get("usage")))
            case "content_block_start":
                yield from self._start(index, _object(event.get("content_block")))
            case "content_block_delta":
                yield from self._grow(index, _object(event.get("delta")))
            case "content_block_stop":
                yield from self._cite(self._blocks.get(index, {}))
            case "message_delta":
                self._stop = _object(event.get("delta")).get("stop_reason") or self._stop
                self._count(_object(event.get("usage")))
                self.complete = self.complete or self._stop is not None
            case "message_stop":
                self.complete = True
            case _:
                return
        self.begun = True

    def close(self) -> Iterator[ModelEvent]:
        """Calls, then Ended. A call that the end of the reply cut in two is dropped."""
        blocks = [self._whole(index) for index in sorted(self._blocks)]
        for block in blocks:
            yield from self._cite(block)
        used = [block for block in blocks if block["type"] == "tool_use"]
        if self._stop in CUT_SHORT:
            used = [block for block in used if NOT_AN_OBJECT not in block["input"]]
        elif self._stop == "refusal":
            used = []
        for block in used:
            yield Called(ToolCall(block["id"], block["name"], block["input"]))
        usage = self._total()
        context = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        reason = self._reason(bool(used))
        yield Ended(reason, usage, context, _verbatim(blocks) if reason in ("calls", "end") else None)

    def _whole(self, index: int) -> Json:
        block = self._blocks[index]
        if block["type"] != "tool_use":
            return block
        written = self._written.get(index, "")
        return {
            "type": "tool_use",
            "id": block.get("id") or f"call_{index}",
            "name": str(block.get("name") or ""),
            "input": _arguments(written, block.get("input")),
        }

    def _start(self, index: int, block: Json) -> Iterator[ModelEvent]:
        self._blocks[index] = {"type": "", **block}
        if block.get("type") == "text":
            self._blocks[index] = {"type": "text", "text": "", "citations": list(block.get("citations") or [])}
            yield from self._grow(index, {"type": "text_delta", "text": block.get("text")})

    def _grow(self, index: int, delta: Json) -> Iterator[ModelEvent]:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        kind = delta.get("type")
        if kind in _GROWS:
            field = _GROWS[kind]
            piece = str(delta.get(field) or "")
            block[field] = (block.get(field) or "") + piece
            if kind == "text_delta" and piece:
                yield Said(piece)
        elif kind == "citations_delta":
            block.setdefault("citations", []).append(_object(delta.get("citation")))
        elif kind == "input_json_delta":
            self._written[index] = self._written.get(index, "") + str(delta.get("partial_json") or "")

    def _cite(self, block: Json) -> Iterator[ModelEvent]:
        for citation in block.pop("citations", []):
            cited = self._located(citation)
            if cited is None:
                log.warning("citation_dropped", kind=citation.get("type"), index=citation.get("search_result_index"))
            else:
                yield cited

    def _located(self, citation: Json) -> Cited | None:
        """`end_block_index` is exclusive; `search_result_index` counts over the whole request."""
        index, first, end = (
            citation.get(name) for name in ("search_result_index", "start_block_index", "end_block_index")
        )
        if citation.get("type") != "search_result_location":
            return None
        if not (isinstance(index, int) and isinstance(first, int) and isinstance(end, int)):
            return None
        if not 0 <= index < len(self._sources) or not 0 <= first < end <= len(self._sources[index].blocks):
            return None
        source = self._sources[index]
        return Cited(
            source.passage, source.blocks[first], source.blocks[end - 1], str(citation.get("cited_text") or "")
        )

    def _count(self, usage: Json) -> None:
        """The counts are cumulative: the last one told is the one that counts."""
        self._usage |= {name: value for name, value in usage.items() if isinstance(value, int)}

    def _total(self) -> Usage:
        return Usage(
            self._usage.get("input_tokens", 0),
            self._usage.get("output_tokens", 0),
            self._usage.get("cache_read_input_tokens", 0),
            self._usage.get("cache_creation_input_tokens", 0),
        )

    def _reason(self, calls: bool) -> Literal["end", "calls", "max_tokens", "refusal"]:
        """What came counts for more than what the endpoint calls it."""
        if self._stop in CUT_SHORT:
            return "max_tokens"
        if self._stop == "refusal":
            return "refusal"
        return "calls" if calls else "end"


def replayed(message: Json) -> Iterator[Json]:
    """A reply that came in one piece, as the events in which it would have been streamed."""
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(message.get("content") or []):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": message}
    yield {"type": "message_stop"}


def _verbatim(blocks: Sequence[Json]) -> Verbatim | None:
    """The whole message where it holds reasoning that must be given back, else nothing: text and calls suffice."""
    reasoning = [block for block in blocks if block["type"] in REASONING]
    spoken = [block for block in blocks if block["type"] == "tool_use" or block.get("text", "").strip()]
    if not reasoning or not spoken:
        return None
    return Verbatim(tuple(block for block in blocks if block in reasoning or block in spoken))


def _arguments(written: str, given: Any) -> Json:
    """`written` is the JSON as it was streamed, `given` what stood in the block's start."""
    if not written.strip():
        return given if isinstance(given, dict) else {}
    try:
        value = json.loads(written)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {NOT_AN_OBJECT: written}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
