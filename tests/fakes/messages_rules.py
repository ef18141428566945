"""What the real Messages API checks of a request and how its prompt cache counts, as far as it is known
(platform.claude.com: "Search results", "Handle tool calls", "Prompt caching", API errors)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

BREAKPOINTS = 4


def violation(body: Json) -> str | None:
    """The first rule that the request breaks, worded much as the API words it; None if it breaks none."""
    return next(_violations(body), None)


def search_results(body: Json) -> list[Json]:
    """All search results of a request in the order in which the API counts them."""
    found: list[Json] = []
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            if block.get("type") == "search_result":
                found.append(block)
            elif block.get("type") == "tool_result":
                found += [inner for inner in _blocks(block.get("content", "")) if inner.get("type") == "search_result"]
    return found


LEAST_CACHED_TOKENS = 1_024
"""Shorter prompts are not cached, marked or not; of some models the least is four times that."""


class PromptCache:
    """Counts tokens, four characters each. What was marked in an earlier request is read from the cache."""

    def __init__(self, *, reported: bool) -> None:
        self._reported = reported
        self._known: set[str] = set()

    def usage(self, body: Json, answer: list[Json]) -> dict[str, int]:
        total, output = len(json.dumps(body)) // 4, 1 + len(json.dumps(answer)) // 4
        if not self._reported:
            return {"input_tokens": total, "output_tokens": output}
        marked = [prefix for prefix in _prefixes(body) if len(prefix) // 4 >= LEAST_CACHED_TOKENS]
        read = max((len(prefix) // 4 for prefix in marked if prefix in self._known), default=0)
        written = len(marked[-1]) // 4 - read if marked else 0
        self._known.update(marked)
        return {
            "input_tokens": max(1, total - read - written),
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }


def _prefixes(body: Json) -> list[str]:
    """The prompt up to each cache breakpoint, shortest first, as a text that two equal prefixes share."""
    seen: list[Any] = []
    found: list[str] = []
    for block in _prompt(body):
        marked, plain = _without_marks(block)
        seen.append(plain)
        if marked:
            found.append(json.dumps(seen, sort_keys=True))
    return found


def _violations(body: Json) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: must be greater than or equal to 1"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        wanted = ("user", "assistant")[index % 2]
        if message.get("role") != wanted:
            yield f"messages.{index}: roles must alternate between user and assistant"
        yield from _content(message, f"messages.{index}.content")
    if messages[-1]["role"] != "user":
        yield "messages: the conversation must end with a user message (no prefill)"
    yield from _pairs(messages)
    yield from _tools(body)
    system = body.get("system", "-")
    if isinstance(system, str) and not system.strip():
        yield "system: text must be non-empty"
    for block in [] if isinstance(system, str) else system:
        yield from _text(block, "system")
    settings = {json.dumps(result.get("citations", {"enabled": False})) for result in search_results(body)}
    if len(settings) > 1:
        yield "messages: citations must be enabled for all search results or for none"
    if json.dumps(body).count('"cache_control"') > BREAKPOINTS:
        yield f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided"


def _content(message: Json, where: str) -> Iterator[str]:
    content = message.get("content")
    if not content or (isinstance(content, str) and not content.strip()):
        yield f"{where}: all messages must have non-empty content"
        return
    for index, block in enumerate(_blocks(content)):
        here = f"{where}.{index}"
        kind, user = block.get("type"), message["role"] == "user"
        allowed = (
            ("text", "tool_result", "search_result") if user else ("text", "tool_use", "thinking", "redacted_thinking")
        )
        if kind not in allowed:
            yield f"{here}: Input tag {kind!r} is not allowed here"
        elif kind == "text":
            yield from _text(block, here)
        elif kind == "search_result":
            yield from _search_result(block, here)
        elif kind == "tool_result":
            yield from _tool_result(block, here)
        elif kind == "tool_use" and not isinstance(block.get("input"), dict):
            yield f"{here}.tool_use.input: Input should be a valid dictionary"
        elif kind == "thinking" and not block.get("signature"):
            yield f"{here}.thinking.signature: Field required"


def _text(block: Json, where: str) -> Iterator[str]:
    if block.get("type") != "text" or not isinstance(block.get("text"), str) or not block["text"].strip():
        yield f"{where}: text content blocks must contain non-whitespace text"


def _tool_result(block: Json, where: str) -> Iterator[str]:
    content = _blocks(block.get("content", "-"))
    kinds = {inner.get("type") for inner in content}
    if "search_result" in kinds and len(kinds) > 1:
        yield f"{where}.content: search_result blocks may not be mixed with others in a tool_result"
    for index, inner in enumerate(content):
        check = _search_result if inner.get("type") == "search_result" else _text
        yield from check(inner, f"{where}.content.{index}")


def _search_result(block: Json, where: str) -> Iterator[str]:
    for field in ("source", "title"):
        if not isinstance(block.get(field), str) or not block[field]:
            yield f"{where}.{field}: Field required"
    if not isinstance(block.get("content"), list) or not block["content"]:
        yield f"{where}.content: at least one text block is required"
    for index, inner in enumerate(_blocks(block.get("content", []))):
        yield from _text(inner, f"{where}.content.{index}")
    if unknown := set(block) - {"type", "source", "title", "content", "citations", "cache_control"}:
        yield f"{where}: Extra inputs are not permitted: {sorted(unknown)}"


def _pairs(messages: list[Json]) -> Iterator[str]:
    """Every call is answered at the start of the next message, and nothing else is."""
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        calls = [block["id"] for block in _blocks(message["content"]) if block["type"] == "tool_use"]
        answer = _blocks(messages[index + 1]["content"]) if index + 1 < len(messages) else []
        answered = [block["tool_use_id"] for block in answer[: len(calls)] if block["type"] == "tool_result"]
        if sorted(calls) != sorted(answered):
            yield f"messages.{index}: tool_use ids were found without tool_result blocks immediately after: {calls}"
    used = [b["id"] for m in messages for b in _blocks(m["content"]) if b["type"] == "tool_use"]
    given = [b["tool_use_id"] for m in messages for b in _blocks(m["content"]) if b["type"] == "tool_result"]
    if len(set(used)) < len(used):
        yield "messages: tool_use ids must be unique"
    if sorted(given) != sorted(used):
        yield f"messages: unexpected tool_use_id found in tool_result blocks: {sorted(set(given) - set(used))}"


def _tools(body: Json) -> Iterator[str]:
    tools, choice = body.get("tools", []), body.get("tool_choice")
    for index, tool in enumerate(tools):
        if not tool.get("name") or tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{index}: name and an input_schema of type object are required"
    if choice is not None and (not tools or choice.get("type") not in ("auto", "any", "tool", "none")):
        yield "tool_choice: may only be specified while providing tools"
    if '"tool_use"' in json.dumps(body["messages"]) and not tools:
        yield "tools: must be given while messages hold tool_use blocks"


def _prompt(body: Json) -> Iterator[Any]:
    """Everything that the cache counts, in its order: tools, system, messages block by block."""
    yield from body.get("tools", [])
    yield from _blocks(body.get("system", ""))
    yield {"tool_choice": body.get("tool_choice")}  # another one is another prompt from here on
    for message in body["messages"]:
        yield from ({"role": message["role"], **block} for block in _blocks(message["content"]))


def _without_marks(block: Any) -> tuple[bool, Any]:
    plain = {name: value for name, value in block.items() if name != "cache_control"}
    return "cache_control" in block, plain


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
