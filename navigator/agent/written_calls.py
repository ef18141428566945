"""Calls of tools that a model wrote into its text, as models do whose endpoint does not take them out. Pure.

<tool_call>{"name": "read", "arguments": {"sections": [3]}}</tool_call>
<function_calls><invoke name="read"><parameter name="sections">[3]</parameter></invoke></function_calls>
{"name": "read", "arguments": {"sections": [3]}}      # alone, fenced, or at the end
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navigator.agent.arguments import tool_named
from navigator.citations.markup import CALL_TAG, without_calls
from navigator.ports import NOT_AN_OBJECT, ToolCall

MAX_BRACES = 50
"""Opening braces at which a call is looked for."""
MAX_WRITTEN_CHARACTERS = 20_000
"""Of a longer text the end is looked at for calls."""

_PART = re.compile(
    r"<(?P<end>/)?(?:antml:)?(?P<kind>invoke|parameter)(?:\s{1,5}name=[\"'](?P<name>[^\"'<>]{1,100})[\"'][^<>]{0,50})?>"
)
_FUNCTION = re.compile(r"<function=([\w.:-]{1,100})>")
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "input", "args", "action_input")


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """`said`: the text without them. `tried`: a call was meant, be it one that cannot be read."""

    said: str
    calls: tuple[ToolCall, ...] = ()
    tried: bool = False


def written_calls(text: str, names: Sequence[str]) -> WrittenCalls:
    """Calls of these tools in a text without reasoning. JSON in an answer is a call only where the text ends with it."""
    end = text[-MAX_WRITTEN_CHARACTERS:]
    tag = CALL_TAG.search(end)
    if tag is not None:
        begin = tag.start()
        found = [*_invoked(end[begin:]), *_objects(end, begin, names), *_functions(end[begin:])]
    else:
        found, begin = _ending(end, names)
    known = [(name, arguments) for written, arguments in found if (name := tool_named(written, names)) in names]
    calls = tuple(ToolCall(f"written_{n}", name, arguments) for n, (name, arguments) in enumerate(known, start=1))
    said = without_calls(text) if tag is not None else text[: len(text) - len(end) + begin]
    return WrittenCalls(said.strip().removesuffix("```json").removesuffix("```").strip(), calls, bool(tag or calls))


_Found = tuple[str, Mapping[str, Any]]


def _invoked(text: str) -> list[_Found]:
    found: list[tuple[str, dict[str, Any]]] = []
    parameter, begin = "", 0
    for part in _PART.finditer(text):
        if part["kind"] == "invoke" and part["name"]:
            found.append((part["name"], {}))
        elif part["kind"] == "parameter" and not part["end"]:
            parameter, begin = part["name"] or "", part.end()
        elif part["kind"] == "parameter" and found:
            found[-1][1][parameter] = text[begin : part.start()].strip()
    return list(found)


def _functions(text: str) -> list[_Found]:
    found: list[_Found] = []
    for match in list(_FUNCTION.finditer(text))[:MAX_BRACES]:
        body = text[match.end() :].lstrip()
        found.append((match[1], _object_at(body, 0)[0] if body.startswith("{") else {NOT_AN_OBJECT: ""}))
    return found


def _objects(text: str, begin: int, names: Sequence[str]) -> list[_Found]:
    """Every object from there on that is a call."""
    found: list[_Found] = []
    for _ in range(MAX_BRACES):
        begin = text.find("{", begin)
        if begin < 0:
            break
        value, end = _object_at(text, begin)
        call = _call(value, names)
        found += [call] if call else []
        begin = end if call else begin + 1
    return found


def _ending(text: str, names: Sequence[str]) -> tuple[list[_Found], int]:
    """Calls in JSON behind which nothing more is said, and where the first begins."""
    begin = -1
    for _ in range(MAX_BRACES):
        begin = text.find("{", begin + 1)
        if begin < 0:
            break
        found = _objects(text, begin, names)
        value, _ = _object_at(text, begin)
        if found and _call(value, names) and text.rstrip("`\n ]").endswith("}"):
            return found, len(text[:begin].rstrip("[ \n"))
    return [], len(text)


def _object_at(text: str, begin: int) -> tuple[Mapping[str, Any], int]:
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, begin)
    except (ValueError, RecursionError):
        return {}, begin
    return (value, end) if isinstance(value, dict) else ({}, end)


def _call(value: Mapping[str, Any], names: Sequence[str]) -> _Found | None:
    name = next((value[key] for key in _NAMES if key in value), None)
    if isinstance(name, dict):  # {"function": {"name": …, "arguments": …}}
        return _call(name, names) if name != value else None
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    if not isinstance(name, str) or given is None or tool_named(name, names) not in names:
        return None
    return name, given if isinstance(given, dict) else {NOT_AN_OBJECT: given if isinstance(given, str) else str(given)}
