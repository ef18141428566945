"""How Sphinx builds ritbot's manual: Markdown in, HTML out, without network.

Unchanged sources give unchanged HTML: no date, no version control and no path of this machine goes in.
The page of all settings is filled from the settings themselves, and the map of the code from the modules, so that they are
always true.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from deploy.manual.code_map import map_sections
from deploy.settings import root
from deploy.settings.root import Described, describe

project = "ritbot"
project_copyright = "the ritbot authors"
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
smartquotes = False  # a quote in a setting and the dashes of --option are meant as they stand

html_theme = "furo"
html_title = "ritbot"
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None

REFERENCE = "settings-reference"
CODE_MAP = "code-map"
MAP_PLACE = "<!-- code map -->"
PLACE = re.compile(r"^<!-- settings: (\S+) -->$", re.MULTILINE)
PLATFORM_FOLDER = "the platform's data folder"
IN_WORDS = {
    PLATFORM_FOLDER: f"by default {PLATFORM_FOLDER}",
    "not set": "it is not set by default",
    "must be set": "it must be set",
    "empty": "it is empty by default",
}
"""Defaults that are no values to write in the file."""


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill_settings)
    app.connect("source-read", fill_code_map)
    return {"parallel_read_safe": True}


def fill_settings(app: Any, page: str, source: list[str]) -> None:
    """Put every setting in its place. Raises ValueError where the page has no place for a section, or too many."""
    if page != REFERENCE:
        return
    app.env.note_dependency(root.__file__)
    sections = {name: list(rows) for name, rows in groupby(described(), key=table_of)}
    places = PLACE.findall(source[0])
    if sorted(places) != sorted(sections):
        raise ValueError(f"{REFERENCE}.md has places for {sorted(places)}; there are settings for {sorted(sections)}")
    source[0] = PLACE.sub(lambda place: "\n".join(entry(row) for row in sections[place[1]]), source[0])


def fill_code_map(_: Any, page: str, source: list[str]) -> None:
    """Put the map of the code in its place; the Makefile builds the manual again when a module changes."""
    if page == CODE_MAP:
        source[0] = source[0].replace(MAP_PLACE, "\n".join(map_sections()))


def described() -> list[Described]:
    """All settings, sections together, without what holds for one machine only."""
    rows = [row._replace(default=PLATFORM_FOLDER) if row.name == "index.folder" else row for row in describe({})]
    return sorted(rows, key=table_of)


def table_of(row: Described) -> str:
    return row.name.rpartition(".")[0]


def entry(row: Described) -> str:
    default = IN_WORDS.get(row.default, f"by default `{row.default}`")
    return f"```{{confval}} {row.name}\n{row.help}\n\nIt takes {row.takes}; {default}.\n```\n"
