"""The contributors' page is true: its folders are those that there are, and its rows lead to what they promise."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from bot.slack.render import actions
from deploy.commands.cli import COMMANDS
from deploy.manual.code_map import MAX_MAP_LINE_CHARACTERS, ROOT, line, map_sections, rooms
from deploy.settings.messages import fields
from deploy.settings.root import Settings
from deploy.wiring.events import GROUPS
from ingest.model import TrailSource
from navigator.strategies.build import FOR_PEOPLE

PAGE = (ROOT / "deploy/manual/contributing.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?:an? (?P<what>[\w ]+)|`(?P<folder>[\w/]+)/`) \| (?P<rest>.+) \|$", re.MULTILINE)
FOLDERS = [found["folder"] for found in ROW.finditer(PAGE) if found["folder"]]
TOUCHED = {
    found["what"]: re.findall(r"`([\w/.-]+[/.]\w*)`", found["rest"]) for found in ROW.finditer(PAGE) if found["what"]
}
MODULES = [module for modules in rooms().values() for module in modules]


def named(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def files(what: str) -> dict[str, str]:
    """The texts of the files of a row, by their path; folders left out."""
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in TOUCHED[what] if (ROOT / path).is_file()}


def test_the_folders_are_those_that_hold_modules() -> None:
    there = [room for room, modules in rooms().items() if any(module.name != "__init__.py" for module in modules)]
    assert sorted(FOLDERS) == sorted([*there, "tests"])


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_a_module_says_in_a_line_what_lives_there(module: Path) -> None:
    assert 15 <= len(line(module)) <= MAX_MAP_LINE_CHARACTERS


@pytest.mark.parametrize("room", [room for room in rooms() if room != "deploy/manual"])
def test_a_package_says_in_two_lines_what_lives_there_and_what_may_enter(room: str) -> None:
    said = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert len([text for text in said.splitlines() if text.strip()]) >= 2


def test_the_map_has_every_module_once() -> None:
    room, found = "", []
    for row in "\n".join(map_sections()).splitlines():
        if row.startswith("## "):
            room = row.removeprefix("## ")
        elif entry := re.match(r"- `(\w+\.py)`: ", row):
            found.append(f"{room}/{entry[1]}")
    assert sorted(found) == sorted(named(module) for module in MODULES if module.name != "__init__.py")


def test_every_path_that_a_row_names_is_there() -> None:
    assert TOUCHED.keys() == {
        "strategy",
        "setting",
        "store",
        "Slack button",
        "source of trees",
        "command",
        "topic of events",
    }
    assert [path for paths in TOUCHED.values() for path in paths if not (ROOT / path).exists()] == []
    assert all(len(paths) > 1 for paths in TOUCHED.values())


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_every_strategy_is_in_each_file_of_its_row(name: str) -> None:
    assert len(files("strategy")) == 4
    assert [
        path for path, text in files("strategy").items() if not re.search(rf"\b{name}\b", text, re.IGNORECASE)
    ] == []


def test_every_table_of_settings_is_in_its_row() -> None:
    texts = files("setting")
    tables = {path[0] for path, _ in fields(Settings)} - {"sites"}
    assert [table for table in tables if f"    {table}: " not in texts["deploy/settings/root.py"]] == []
    assert [
        table for table in tables if f"<!-- settings: {table} -->" not in texts["deploy/manual/settings-reference.md"]
    ] == []
    homes = (ROOT / "deploy/settings").glob("*.py")
    assert sum("(SettingsTable):" in home.read_text(encoding="utf-8") for home in homes) >= 6


@pytest.mark.parametrize("column", ["embedded", "cluster"])
def test_every_adapter_of_a_store_is_opened_in_a_file_of_its_row(column: str) -> None:
    wired = "".join(text for path, text in files("store").items() if path.startswith("deploy/wiring/"))
    adapters = {"embedded": ("trees", "chunks", "notes"), "cluster": ("trees", "chunks", "notes", "vectors", "words")}
    for name in adapters[column]:
        assert (ROOT / f"ingest/stores/{column}/{name}.py").is_file()
        assert f"from ingest.stores.{column}.{name} import" in wired


def test_every_button_is_in_each_file_of_its_row() -> None:
    buttons = [name for name, value in vars(actions).items() if isinstance(value, str) and value.startswith("ritbot_")]
    buttons = [name for name in buttons if not name.endswith("_VIEW")]
    texts = files("Slack button")
    assert len(buttons) >= 5
    assert [name for name in buttons if f"actions.{name}" not in texts["bot/slack/inbound/app.py"]] == []
    handlers = re.findall(r"pressed\(actions\.\w+, interactions\.(\w+)\)", texts["bot/slack/inbound/app.py"])
    others = {"HOME_SETTINGS", "CITE", "GAP"}  # what `/ritbot settings` opens, `/cite` found, a digest of gaps offers
    assert len(handlers) == len(set(buttons) - others)
    assert [name for name in handlers if f"def {name}(" not in texts["bot/slack/inbound/interactions.py"]] == []


@pytest.mark.parametrize("source", [name for name in get_args(TrailSource) if name != "none"])
def test_every_source_of_trees_is_in_each_file_of_its_row(source: str) -> None:
    assert len(files("source of trees")) == 3
    assert [path for path, text in files("source of trees").items() if f'"{source}"' not in text] == []


def test_every_command_has_its_module_and_every_module_of_a_room_its_command() -> None:
    modules = {module for module, _ in COMMANDS.values()}
    assert [name for name in modules if not (ROOT / f"deploy/commands/{name.replace('.', '/')}.py").is_file()] == []
    declaring = {
        ".".join(path.relative_to(ROOT / "deploy/commands").with_suffix("").parts)
        for path in (ROOT / "deploy/commands").rglob("*.py")
        if re.search(r"^(def )?command\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert declaring == modules


def test_every_topic_whose_records_may_fail_is_in_its_row() -> None:
    texts = "".join(files("topic of events").values())
    assert len(GROUPS) == 4
    assert [topic for topic in GROUPS if f'"{topic}"' not in texts] == []
