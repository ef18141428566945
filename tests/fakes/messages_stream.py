"""A message of the Messages API as the real one streams it (platform.claude.com, "Streaming messages")."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.fakes.messages_rules import Json


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
