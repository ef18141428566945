"""Calls of tools that a model wrote into its text, as models do whose endpoint does not take them out. Pure.

<tool_call>{"name": "read", "arguments": {"sections": [3]}}</tool_call>
<function_calls><invoke name="read"><parameter name="sections">[3]</parameter></invoke></function_calls>
<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"sections": [3]}<|tool_call_end|>
{"name": "read", "arguments": {"sections": [3]}}      # alone, fenced, or at the end
read(sections=[3])      # the same

Every family of models has its own template. They agree in this: a tag begins it, unless nothing else is said; a tool's
name stands before its arguments, which are an object, a call as in Python, or tags.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navigator.agent.arguments import tool_named
from navigator.citations.markup import CALL_TAG, without_calls
from navigator.ports import NOT_AN_OBJECT, ToolCall

MAX_CALLS = 20
MAX_BRACES = 50
"""Opening braces at which a call is looked for."""
MAX_WRITTEN_CHARACTERS = 20_000
"""Of a longer text the end is looked at for calls."""

_WORD = re.compile(r"[\w.]{1,100}")
_TAG = re.compile(
    r"<(?P<end>/)?(?:｜\w{1,20}｜|\w{1,20}:)?(?P<name>\w{1,60})(?:(?:=|\s[^<>]{0,60}?\bname=[\"']?)(?P<of>\w{1,60}))?[^<>]{0,200}>"
)
_BEFORE_ARGUMENTS = re.compile(
    r"(?:[\s\"'`|｜>]{1,20}|</?[^<>{}()]{1,80}>|json\b|\[ARGS\]|:\d{1,3}|\bAction Input:|\b(?:arguments|parameters|input)\b[\"':]{0,3}|:){0,20}"
)
_BEHIND_CALL = re.compile(r"[\s\])`}|]{0,20}(?:Observation:?\s{0,3}|</\w{1,60}>\s{0,20})?")
_LINE = re.compile(
    r"^(?:```[a-z_]{0,12}\n|>>>|Action:[ \t]{0,3}|\[|<|print\(){0,3}(?=[\w.]{1,100}[(\n>])", re.MULTILINE
)
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
        found = _objects(end, begin, names) or _by_name(end, begin, names)
    else:
        found, begin = _ending(end, names)
        if not found:
            found, begin = _bare(end, names)
    calls = tuple(
        ToolCall(f"written_{n}", tool_named(written, names), arguments)
        for n, (written, arguments) in enumerate(found, start=1)
    )
    said = without_calls(text) if tag is not None else text[: len(text) - len(end) + begin]
    return WrittenCalls(said.strip().removesuffix("```json").removesuffix("```").strip(), calls, bool(tag or calls))


_Found = tuple[str, Mapping[str, Any]]


def _by_name(text: str, begin: int, names: Sequence[str]) -> list[_Found]:
    """Every name of a tool from there on that arguments follow."""
    found: list[_Found] = []
    for word in _WORD.finditer(text, begin):
        name = word[0].removesuffix(".call")
        if word.start() < begin or tool_named(name, names) not in names:
            continue
        arguments, begin = _arguments_at(text, word.end())
        if arguments is not None:
            found.append((name, arguments))
        if len(found) == MAX_CALLS:
            break
    return found


def _bare(text: str, names: Sequence[str]) -> tuple[list[_Found], int]:
    """A call as in Python, or one of "Action: … Action Input: …", that the text ends with, and where it begins."""
    for line in list(_LINE.finditer(text))[-MAX_CALLS:]:
        word = _WORD.match(text, line.end())
        if word and tool_named(word[0], names) in names:
            arguments, end = _arguments_at(text, word.end())
            if arguments is not None and _BEHIND_CALL.fullmatch(text, end):
                return [(word[0], arguments)], line.start()
    return [], len(text)


def _arguments_at(text: str, begin: int) -> tuple[Mapping[str, Any] | None, int]:
    """The arguments that stand there, and where they end; None where there are none."""
    if text.startswith("(", begin):
        return _python(text, begin)
    tagged, end = _tagged(text, begin + len(text[begin:]) - len(text[begin:].lstrip("\"'> \n")))
    if tagged:
        return tagged, end
    brace = _BEFORE_ARGUMENTS.match(text, begin)
    at = brace.end() if brace else begin
    if not text.startswith("{", at):
        return None, begin
    value, end = _object_at(text, at)
    if end > at:
        return value, end
    last = text.find("\n", at) if "\n" in text[at:] and "}" in text[at : text.find("\n", at)] else len(text)
    end = text.rfind("}", at, last) + 1
    return ({NOT_AN_OBJECT: text[at:end]}, end) if end else (None, begin)


def _python(text: str, begin: int) -> tuple[Mapping[str, Any] | None, int]:
    """(sections=[3]), or the one argument alone."""
    end = begin
    for _ in range(MAX_BRACES):
        end = text.find(")", end) + 1
        if not end:
            break
        try:
            call = ast.parse(f"f{text[begin:end]}", mode="eval").body
            if isinstance(call, ast.Call):
                given = {each.arg or "": ast.literal_eval(each.value) for each in call.keywords}
                return given or {"": ast.literal_eval(call.args[0])} if call.args else given, end
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None, begin


def _tagged(text: str, begin: int) -> tuple[Mapping[str, Any], int]:
    """<parameter name="sections">[3]</parameter>, <parameter=sections>, <sections>, <arg_key>sections</arg_key> and
    <arg_value>, <arguments>{…}</arguments>: pairs of tags with nothing but words between them."""
    given: dict[str, Any] = {}
    opened, key = None, ""
    for tag in _TAG.finditer(text, begin):
        if text[(opened.end() if opened else begin) : tag.start()].strip() and not (opened and tag["end"]):
            break
        if not tag["end"]:
            if opened:
                break
            opened = tag
        elif opened is None or opened["name"] != tag["name"]:
            break
        else:
            content = text[opened.end() : tag.start()].strip()
            if tag["name"].endswith("arg_key"):
                key = content
            else:
                given[NOT_AN_OBJECT if tag["name"] in _ARGUMENTS else opened["of"] or key or tag["name"]] = content
            opened, begin = None, tag.end()
    return given, begin


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
    if given is None and "name" not in value:  # {"tool": "read", "sections": [3]}
        given = {key: each for key, each in value.items() if key not in _NAMES} or None
    if not isinstance(name, str) or given is None or tool_named(name, names) not in names:
        return None
    return name, given if isinstance(given, dict) else {NOT_AN_OBJECT: given if isinstance(given, str) else str(given)}
