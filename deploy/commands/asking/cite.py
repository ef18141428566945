"""`ritbot cite`: find sections by their words, each with the link that stays."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from bot.terminal.console import print_json
from deploy.commands.command_line import (
    AsJson,
    Config,
    Folder,
    SiteNames,
    Version,
    console,
    needs_index,
    run,
    settings_of,
)
from deploy.serving.section_source import CitedSection, find_sections
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from ingest.model import Scope


def command(
    words: Annotated[list[str], typer.Argument(help="Words that stand in the section, or in its title.")],
    site: SiteNames = None,
    version: Version = None,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    scope = known_sites(settings, settings.index.folder).scope(site or (), version)
    needs_index(settings)
    raise typer.Exit(run(cite(settings, " ".join(words), scope, console, as_json=as_json)))


async def cite(settings: Settings, words: str, scope: Scope, console: Console, *, as_json: bool = False) -> int:
    """Print the sections, best first; 1 where there is none. Raises IngestError, SettingsError."""
    found = await find_sections(settings, words, scope)
    if as_json:
        print_json([section.row() for section in found])
    else:
        for section in found:
            _print(console, section)
        if not found:
            console.print("No section says this. Try words that stand in it, or in its title.")
    return 0 if found else 1


def _print(console: Console, section: CitedSection) -> None:
    console.print(Text(" › ".join(section.path), style="bold"), soft_wrap=True)
    console.print(Text(section.permalink or section.link, style="blue"), soft_wrap=True)
    if section.text:
        console.print(Text(section.text, style="dim"))
    console.print()
