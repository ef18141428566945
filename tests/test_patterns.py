"""No pattern backtracks: every regular expression of the project is tried on strings made against it, and four times the
string may take about four times as long. Pages, questions, models and users write what patterns read.

The strings are made from the pattern itself: what each of its repetitions repeats, many times over, after what stands before
it and before something that ends the match.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("ingest", "navigator", "bot", "deploy")
WAYS = frozenset("search match fullmatch split findall finditer sub subn".split())
LENGTH = 3_000
"""Characters; the longer string has four times as many."""
UNNOTICED_SECONDS = 0.008
"""Below this nobody measures growth. A pattern that tries every start and runs to the end from each takes ten times as long."""
MOST_GROWTH = 8.0
"""Linear is 4, quadratic 16."""
ANYWAY = (
    " ",
    "a",
    "1",
    "-",
    "_",
    ".",
    "\n",
    "\\",
    "<",
    "<!--",
    "[",
    "]",
    "(",
    "`",
    "*",
    "<a ",
    "&",
    "http://",
    "]( ",
    "Ü",
)
ENDS = ("", "\x00", "!", "\n\n")


def sources() -> list[str]:
    """Modules that use regular expressions, as paths."""
    found = (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py")))
    return [str(path.relative_to(ROOT)) for path in found if re.search(r"^import re$", path.read_text("utf-8"), re.M)]


class Used(NamedTuple):
    """A pattern and how it is tried: at every start (finditer), or at one (match, fullmatch)."""

    pattern: re.Pattern[Any]
    way: str


def patterns(source: str) -> Iterator[Used]:
    """Those that the module holds, and those that it writes where they are used."""
    module = importlib.import_module(source.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
    ways = methods()
    for name, value in vars(module).items():
        way = _way(ways.get(name, set()))
        yield from (Used(pattern, way) for pattern in _held(value))
    for node in ast.walk(ast.parse((ROOT / source).read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            called, first = node.func, node.args[0]
            of_re = isinstance(called.value, ast.Name) and called.value.id == "re" and called.attr in WAYS
            if of_re and isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
                yield Used(re.compile(first.value), _way({called.attr}))


@cache
def methods() -> dict[str, set[str]]:
    """For every name of the project, in whatever module: the methods called on it."""
    found: dict[str, set[str]] = {}
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            for name, method in re.findall(r"\b(\w+)(?:\[[^\]\n]*\])?\.(\w+)", path.read_text("utf-8")):
                found.setdefault(name, set()).add(method)
    return found


def _way(called: set[str]) -> str:
    tried = called & WAYS
    return min(tried) if len(tried) == 1 and tried <= {"match", "fullmatch"} else "finditer"


def _held(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _held(inner)
    elif isinstance(value, tuple | list | set | frozenset):
        for inner in value:
            yield from _held(inner)


def sample(tokens: Any) -> str:
    """A string that a parsed pattern matches, as short as it comes."""
    return "".join(_sample_of(operator, argument) for operator, argument in tokens)


def _sample_of(operator: Any, argument: Any) -> str:
    match str(operator):
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return _member(tuple(argument))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return sample(argument[2]) * max(argument[0], 1)
        case "SUBPATTERN":
            return sample(argument[3])
        case "ATOMIC_GROUP":
            return sample(argument)
        case "BRANCH":
            return sample(argument[1][0])
        case _:
            return ""


@cache
def _member(members: Any) -> str:
    inside = re.compile("[" + "".join(_written(*member) for member in members) + "]")
    return next((char for char in "a 1-.\n<éÜ漢😀Z\t\x00☃" if inside.match(char)), _first(members))


def _written(operator: Any, argument: Any) -> str:
    match str(operator):
        case "NEGATE":
            return "^"
        case "LITERAL":
            return re.escape(chr(argument))
        case "RANGE":
            return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        case _:
            return {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}.get(
                str(argument).removeprefix("CATEGORY_"),
                {"NOT_DIGIT": r"\D", "NOT_SPACE": r"\S"}.get(str(argument).removeprefix("CATEGORY_"), r"\W"),
            )


def _first(members: Any) -> str:
    for operator, argument in members:
        if str(operator) in ("LITERAL", "RANGE"):
            return chr(argument if str(operator) == "LITERAL" else argument[0])
    return "a"


def pumps(tokens: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """For each repetition without a bound: what stands before it, and what it repeats."""
    for operator, argument in tokens:
        match str(operator):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if argument[1] == constants.MAXREPEAT:
                    yield before, sample(argument[2])
                yield from pumps(argument[2], before)
            case "SUBPATTERN":
                yield from pumps(argument[3], before)
            case "ATOMIC_GROUP":
                yield from pumps(argument, before)
            case "ASSERT" | "ASSERT_NOT":
                yield from pumps(argument[1], before)
            case "BRANCH":
                for branch in argument[1]:
                    yield from pumps(branch, before)
        before += _sample_of(operator, argument)


def attacks(pattern: re.Pattern[Any]) -> set[tuple[str, str, str]]:
    """What stands before, is repeated, and ends the string."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tokens = parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    found = set(pumps(tokens))
    whole = sample(tokens)
    inside = {pump for _, pump in found}
    found |= {("", pump) for pump in inside | {whole, whole[:-1], whole[: len(whole) // 2], *ANYWAY}}
    found |= {("", one + other) for one in inside for other in inside if one != other and len(inside) < 6}
    found |= {(before + pump, pump) for before, pump in set(found) if before}
    return {(before, pump, end) for before, pump in found if pump for end in ENDS}


def grows(used: Used, attack: tuple[str, str, str]) -> bool:
    """Whether the cost grows faster than the string; looked at again before that is said."""
    before, pump, end = attack
    short, long = (before + pump * (length // len(pump) + 1) + end for length in (LENGTH, 4 * LENGTH))
    for tries in (1, 3):
        much = _seconds(used, long, tries)
        if much <= UNNOTICED_SECONDS or much <= MOST_GROWTH * _seconds(used, short, tries):
            return False
    return True


def _seconds(used: Used, text: str, tries: int) -> float:
    subject: Any = text if isinstance(used.pattern.pattern, str) else text.encode("latin-1", "replace")
    find: Callable[[Any], Any] = getattr(used.pattern, used.way)
    best = float("inf")
    for _ in range(tries):
        start = time.process_time()
        found = find(subject)
        if used.way == "finditer":
            for _ in found:
                pass
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.timeout(60)
@pytest.mark.parametrize("source", sources())
def test_no_pattern_of_a_module_backtracks(source: str) -> None:
    slow = {
        f"{used.pattern.pattern!r} ({used.way}) on {attack!r}"
        for used in dict.fromkeys(patterns(source))
        for attack in sorted(attacks(used.pattern))
        if grows(used, attack)
    }
    assert sorted(slow) == []


@pytest.mark.parametrize("pattern", [r"\s+$", r"<!--.*-->", r"\[.*?\]\(", r"x\s*,?\s*y"])
def test_a_pattern_that_backtracks_is_found(pattern: str) -> None:
    used = Used(re.compile(pattern, re.S), "finditer")
    assert any(grows(used, attack) for attack in sorted(attacks(used.pattern)))
