"""What the program tells people to run is there: every command that a message of its own names, with its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.exceptions import TyperException

from tests.unit.deploy.test_manual import commands_in, parse

ROOT = Path(__file__).resolve().parents[3]
COMMAND = re.compile(r"`(ritbot [^`]+)`|(?:[Rr]un|one|back|be|by|list|meant|which|why): (ritbot [^;.,]+)")
"""In backticks, or after the words with which advice ends: "Run: ritbot index NAME"."""
NOT_THERE = "No such (command|option)"


def texts(source: str) -> Iterator[str]:
    """The strings of a module, with NAME for what is put into them."""
    tree = ast.parse(source)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "NAME" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def advice(source: str) -> Iterator[str]:
    return (ticked or named for text in texts(source) for ticked, named in COMMAND.findall(text))


def is_there(line: str) -> bool:
    """Whether it names a command and options that exist; what stands for a name may be missing or too much."""
    (arguments,) = commands_in(line)
    try:
        parse(arguments)
    except TyperException as error:
        return not re.search(NOT_THERE, str(error))
    return True


def all_advice() -> list[str]:
    modules = [path for layer in ("ingest", "navigator", "bot", "deploy") for path in (ROOT / layer).rglob("*.py")]
    return sorted({line for path in modules for line in advice(path.read_text(encoding="utf-8"))})


@pytest.mark.parametrize("line", all_advice())
def test_every_command_that_the_program_names_exists(line: str) -> None:
    assert is_there(line)


def test_advice_is_found_wherever_it_stands() -> None:
    source = 'a = "run `ritbot dance`, or"\nb = f"Run: ritbot index {name} --fast. Then"\n'
    assert list(advice(source)) == ["ritbot dance", "ritbot index NAME --fast"]
    assert not any(map(is_there, advice(source)))
    assert {"ritbot reembed", "ritbot reconcile --repair", "ritbot index NAME --accept-removals"} <= set(all_advice())
