"""The map of the code that the manual shows: a line for every module, made of the modules' own docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("deploy", "bot", "navigator", "ingest")
MAX_MAP_LINE_CHARACTERS = 120
SENTENCE = re.compile(r"(.+?)(?:[.!?](?= |$)|$)")


def rooms(root: Path = ROOT) -> Mapping[str, list[Path]]:
    """The modules of every folder of the product, both sorted; a package's `__init__` is first."""
    found: dict[str, list[Path]] = {}
    for path in sorted(path for layer in LAYERS for path in (root / layer).rglob("*.py")):
        found.setdefault(path.parent.relative_to(root).as_posix(), []).append(path)
    return {room: found[room] for layer in LAYERS for room in found if room.partition("/")[0] == layer}


def line(module: Path) -> str:
    """What lives in a module: its docstring's first sentence; of one longer than a line, what stands before the colon or
    semicolon."""
    text = " ".join(
        (ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or "").partition("\n\n")[0].split()
    )
    sentence = SENTENCE.match(text)
    said = sentence[1] if sentence else ""
    return said if len(said) <= MAX_MAP_LINE_CHARACTERS else re.split(r"(?<!`)[:;] ", said)[0]


def map_sections() -> Iterator[str]:
    """A section for each folder, an entry for each module."""
    for room, modules in rooms().items():
        yield f"## {room}\n"
        for module in modules:
            yield f"{line(module)}.\n" if module.name == "__init__.py" else f"- `{module.name}`: {line(module)}"
        yield ""
