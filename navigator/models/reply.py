"""The wire form of Anthropic's Messages API: a streamed reply to ModelEvents. Pure.

Lenient with what endpoints leave out (usage, block starts, event names, ids), strict with what may be
cited: a citation of anything but a block of the request is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import structlog

from navigator.answer import Usage
from navigator.citations.markup import without_reasoning
from navigator.models.messages import Basis, Json, SearchResultSource, Verbatim
from navigator.ports import NOT_AN_OBJECT, CitationDelta, ModelEvent, TextDelta, ToolCall, ToolCallEvent, TurnEnd

log = structlog.get_logger()

CUT_SHORT_REASONS = frozenset({"max_tokens", "model_context_window_exceeded"})

_GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


@dataclass(slots=True)
class _Block:
    """A content block as it grows; `start` is what it came as."""

    kind: str = "text"
    start: Json = field(default_factory=dict)
    grown: dict[str, str] = field(default_factory=lambda: dict.fromkeys(_GROWS.values(), ""))
    citations: list[Json] = field(default_factory=list)

    def grow(self, name: str, piece: object) -> str:
        """The piece, appended to that field; nothing where it is no text."""
        text = piece if isinstance(piece, str) else ""
        self.grown[name] += text
        return text

    def call(self, number: int) -> ToolCall:
        written, given = self.grown["partial_json"], self.start.get("input")
        arguments = _arguments(written) if written.strip() else _object(given)
        return ToolCall(str(self.start.get("id") or f"call_{number}"), str(self.start.get("name") or ""), arguments)

    def wire(self, number: int) -> Json | None:
        """The block as it is given back; None where there is nothing to give."""
        if self.kind == "text":
            return {"type": "text", "text": self.grown["text"]} if self.grown["text"].strip() else None
        if self.kind == "tool_use":
            call = self.call(number)
            return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        if self.kind == "thinking":
            return {"type": "thinking", "thinking": self.grown["thinking"], "signature": self.grown["signature"]}
        return self.start if self.kind == "redacted_thinking" else None


class StreamedReply:
    """One reply to a request with these `sources`, made on this `basis`. Give every event to `feed`, then
    call `close`; both give the ModelEvents that are due.

    A block's citations are given behind its text, in whichever order they come; calls when all is there.
    """

    def __init__(self, sources: Sequence[SearchResultSource], basis: Basis) -> None:
        self._sources = sources
        self._basis = basis
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop = ""
        self.begun = False
        """Whether anything came that belongs to a reply."""
        self.complete = False
        """Whether the reply came to its end: message_stop, or a reason for stopping."""

    @property
    def reports_caching(self) -> bool:
        return "cache_read_input_tokens" in self._usage

    @property
    def said(self) -> str:
        return "".join(block.grown["text"] for _, block in sorted(self._blocks.items(), key=lambda item: item[0]))

    @property
    def only_reasoned(self) -> bool:
        """Whether the reply was cut off before it said or called anything."""
        calls = any(block.kind == "tool_use" for block in self._blocks.values())
        return self._stop == "max_tokens" and not calls and not without_reasoning(self.said).strip()

    def feed(self, event: Json) -> list[ModelEvent]:
        due: list[ModelEvent] = []
        index = event["index"] if isinstance(event.get("index"), int) else 0
        match event.get("type"):
            case "message_start":
                self._count(_object(_object(event.get("message")).get("usage")))
            case "content_block_start":
                due = self._start(index, _object(event.get("content_block")))
            case "content_block_delta":
                due = self._grow(self._blocks.setdefault(index, _Block()), _object(event.get("delta")))
            case "content_block_stop":
                due = self._cite(self._blocks.setdefault(index, _Block()))
            case "message_delta":
                self._stop = str(_object(event.get("delta")).get("stop_reason") or self._stop)
                self._count(_object(event.get("usage")))
                self.complete = self.complete or bool(self._stop)
            case "message_stop":
                self.complete = True
            case _:
                return []
        self.begun = True
        return due

    def close(self) -> list[ModelEvent]:
        """Calls, then TurnEnd. A call that the end of the reply cut in two is dropped."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        citations = [citation for block in blocks for citation in self._cite(block)]
        calls = [block.call(number) for number, block in enumerate(blocks) if block.kind == "tool_use"]
        if self._stop in CUT_SHORT_REASONS:
            calls = [call for call in calls if NOT_AN_OBJECT not in call.arguments]
        elif self._stop == "refusal":
            calls = []
        usage = self._total()
        context = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        reason = self._reason(bool(calls))
        echo = self._verbatim(blocks) if reason in ("calls", "end") else None
        return [*citations, *map(ToolCallEvent, calls), TurnEnd(reason, usage, context, echo)]

    def _start(self, index: int, start: Json) -> list[ModelEvent]:
        """Some endpoints give a block whole in its start."""
        block = self._blocks[index] = _Block(str(start.get("type")), start)
        block.citations += _objects(start.get("citations"))
        for name in ("thinking", "signature"):
            block.grow(name, start.get(name))
        text = block.grow("text", start.get("text"))
        return [TextDelta(text)] if text else []

    def _grow(self, block: _Block, delta: Json) -> list[ModelEvent]:
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            block.citations.append(_object(delta.get("citation")))
        elif kind in _GROWS:
            piece = block.grow(_GROWS[kind], delta.get(_GROWS[kind]))
            if kind == "text_delta" and piece:
                return [TextDelta(piece)]
        return []

    def _cite(self, block: _Block) -> list[ModelEvent]:
        due: list[ModelEvent] = []
        for citation in block.citations:
            cited = self._located(citation)
            if cited is None:
                log.warning("citation_dropped", kind=citation.get("type"), index=citation.get("search_result_index"))
            else:
                due.append(cited)
        block.citations.clear()
        return due

    def _located(self, citation: Json) -> CitationDelta | None:
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
        return CitationDelta(
            source.passage, source.blocks[first], source.blocks[end - 1], str(citation.get("cited_text") or "")
        )

    def _count(self, usage: Json) -> None:
        """The counts are cumulative: the last one told is the one that counts."""
        self._usage |= {name: value for name, value in usage.items() if isinstance(value, int) and value >= 0}

    def _total(self) -> Usage:
        return Usage(
            self._usage.get("input_tokens", 0),
            self._usage.get("output_tokens", 0),
            self._usage.get("cache_read_input_tokens", 0),
            self._usage.get("cache_creation_input_tokens", 0),
        )

    def _reason(self, calls: bool) -> Literal["end", "calls", "max_tokens", "refusal"]:
        """What came counts for more than what the endpoint calls it."""
        if self._stop in CUT_SHORT_REASONS:
            return "max_tokens"
        if self._stop == "refusal":
            return "refusal"
        return "calls" if calls else "end"

    def _verbatim(self, blocks: Sequence[_Block]) -> Verbatim | None:
        """The whole message where it holds reasoning that must be given back, else nothing: text and calls suffice."""
        given = [wire for number, block in enumerate(blocks) if (wire := block.wire(number))]
        reasoning = [wire for wire in given if wire["type"] in ("thinking", "redacted_thinking")]
        return Verbatim(self._basis, tuple(given)) if reasoning and len(reasoning) < len(given) else None


def replayed(message: Json) -> list[Json]:
    """A reply that came in one piece, as the events in which it would have been streamed."""
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(message.get("content") or []):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    return [*events, {"type": "message_delta", "delta": message}, {"type": "message_stop"}]


def _arguments(written: str) -> Json:
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {NOT_AN_OBJECT: written}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Json]:
    return [_object(each) for each in value] if isinstance(value, list) else []
