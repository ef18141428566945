"""What a model writes when it calls a tool, read generously: the tool's name, and the arguments. Pure.

Models write lists as strings, numbers with a title behind them, JSON within JSON, names with a prefix. What can mean one
thing only is taken as that; anything else is a ToolError, which tells the model how the tool is called.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from navigator.ports import NOT_AN_OBJECT

MAX_WRITTEN_CHARACTERS = 20_000
"""Of arguments that are no JSON object: longer ones are not looked at."""
MAX_NUMBERS = 200
"""Of one argument."""
MAX_NESTING = 4
MAX_RANGE = 20
"""Numbers that "3-20" may stand for."""

_FENCED = re.compile(r"`{3,}+[a-z]{0,10}+\s(.*?)`{3}", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(?=\s{0,20}[}\]])")
_NAME_WORD = re.compile(r"[A-Z]{0,1}[a-z0-9]{1,40}|[A-Z]{1,40}")
_LEADING = re.compile(
    r"[^\w\-]{0,3}(?:-\s{1,3})?(?:sections?|nodes?|ids?|no|number|chapter|passage|toc|[ns])?[\s.:#_\[(-]{0,3}(\d{1,9})(?![\d.]\d|\w)",
    re.IGNORECASE,
)
"""A number before a title, whatever stands between them."""
_BETWEEN_TITLED = re.compile(r"[\n,;|/](?=\W{0,5}(?:section |node )?\d{1,9}[\])]?\s?(?:[:.)–—›-]|$))", re.IGNORECASE)
_BESIDE_NUMBERS = re.compile(r"\b(?:and|sections?|nodes?|no)\b|[\s,;&#§|/.*\[\]()<>'\"]", re.IGNORECASE)
_RANGE = re.compile(r"\s?\[?#?(\d{1,9})\s?(?:[-–—]|to|\.{2,3})\s?#?(\d{1,9})\]?\s?")
_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)")

_WRAPPERS = frozenset({"arguments", "args", "input", "parameters", "params", "kwargs", "properties", "raw", "__raw"})
_IDS = (
    *("id", "number", "section", "sections", "section_id", "node", "node_id", "passage", "passage_id", "index"),
    *("ids", "numbers", "items", "values", "value"),
)
_NAMES = frozenset(("sections", "passage", "query", "name", "under"))
"""What tools call their arguments."""
_OTHER_NAMES = {
    "sections": (
        "section",
        "section_ids",
        "section_id",
        "section_numbers",
        "ids",
        "id",
        "numbers",
        "number",
        "nodes",
        "node_ids",
        "node",
        "items",
        "values",
        "list",
    ),
    "passage": ("passages", "passage_id", "id", "number", "section"),
    "query": ("q", "queries", "search", "search_query", "text", "question", "keywords"),
    "name": ("entity", "names", "query"),
}


class ToolError(Exception):
    """What the model is told instead of a result."""


def tool_named(written: str, names: Sequence[str]) -> str:
    """The tool that is meant: Read, functions.read, mcp__docs__read and read_sections are `read`. What is none, or could
    be several, comes back as it was written."""
    if written in names:
        return written
    last = re.split(r"__|[./:]", written[:200])[-1]
    words = [word.lower() for word in _NAME_WORD.findall(last)]
    meant = [name for name in names if "".join(words) == name.replace("_", "") or name in words]
    return meant[0] if len(meant) == 1 else written


def arguments_object(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments themselves: out of a string, a fence, or a wrapper, such as the tool's name. A value without a name is
    under ""."""
    found: Any = arguments
    for _ in range(MAX_NESTING):
        if not isinstance(found, Mapping) or len(found) != 1:
            break
        (key, value), *_ = found.items()
        wraps = key in _WRAPPERS and isinstance(value, str | Mapping)
        if key != NOT_AN_OBJECT and not wraps and not (isinstance(value, Mapping) and not _NAMES.isdisjoint(value)):
            break
        parsed = _parsed(value)
        if parsed is None and key != NOT_AN_OBJECT:  # no JSON: a value
            break
        found = parsed
    return found if isinstance(found, Mapping) else {} if found is None else {"": found}


def text_argument(arguments: Mapping[str, Any], name: str, tool: str) -> str:
    """An argument that is a text. Raises ToolError."""
    value = _argument(arguments, name)
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, list | tuple):
        value = " ".join(each for each in value[:MAX_NUMBERS] if isinstance(each, str))
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f'{tool} takes {{"{name}": "what to look for"}}.')
    return value


def number_arguments(arguments: Mapping[str, Any], name: str, tool: str) -> list[int]:
    """An argument that lists numbers, each once. Raises ToolError where there is none."""
    found = _numbers(_argument(arguments, name), MAX_NESTING)
    if not found:
        raise ToolError(f'{tool} takes {{"{name}": [numbers that you were shown]}}.')
    return list(dict.fromkeys(found))[:MAX_NUMBERS]


def _argument(arguments: Mapping[str, Any], name: str) -> Any:
    """By its name, by another that is usual for it, without a name, or alone under any."""
    given = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)[:100]).lower().strip(" []"): value
        for key, value in arguments.items()
    }
    alone = next(iter(given.values())) if len(given) == 1 else None
    return next((given[key] for key in (name, *_OTHER_NAMES.get(name, ()), "") if key in given), alone)


def _parsed(value: Any) -> Any:
    """What a string says as JSON, or nearly so; None where it says nothing."""
    for _ in range(MAX_NESTING):
        if not isinstance(value, str):
            break
        value = _loaded(value)
    return None if isinstance(value, str) else value


def _loaded(written: str) -> Any:
    if len(written) > MAX_WRITTEN_CHARACTERS:
        return None
    text = written.strip()
    if fenced := _FENCED.match(text):
        text = fenced[1].strip()
    text = _TRAILING_COMMA.sub("", text)
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:  # as Python writes it
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _numbers(value: Any, depth: int) -> list[int]:
    """All numbers that a value names, in order."""
    if isinstance(value, bool) or not depth:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, float):
        return [int(value)] if value.is_integer() else []
    if isinstance(value, str):
        return _numbers_in_text(value[:MAX_WRITTEN_CHARACTERS], depth)
    if isinstance(value, Mapping):
        listed = list(value.values()) if all(str(key).isdecimal() for key in value) else None
        return _numbers(next((value[key] for key in _IDS if key in value), listed), depth - 1)
    if isinstance(value, list | tuple):
        return [number for each in value[:MAX_NUMBERS] for number in _numbers(each, depth - 1)]
    return []


def _numbers_in_text(text: str, depth: int) -> list[int]:
    if ranged := _RANGE.fullmatch(text):
        first, last = int(ranged[1]), int(ranged[2])
        return [*range(first, last + 1)] if first <= last < first + MAX_RANGE else []
    if _BESIDE_NUMBERS.sub("", text.replace("\n-", "\n").removeprefix("-")).isdecimal() and "." not in text.strip(" ."):
        return [int(number) for number in _NUMBER.findall(text)]
    parsed = _parsed(text)
    if parsed is not None:
        return _numbers(parsed, depth - 1)
    pieces = _BETWEEN_TITLED.split(text)
    if len(pieces) > 1:
        return (
            [number for piece in pieces[:MAX_NUMBERS] for number in _numbers_in_text(piece, depth - 1)] if depth else []
        )
    leading = _LEADING.match(text)
    return [int(leading[1])] if leading else []
