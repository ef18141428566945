"""`ritbot backup`: what cannot be made again, as one file. What it holds is also what `ritbot restore` puts back."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console

from bot.ports import BotStore, Editions, Gaps
from bot.store.backup import bot_sections, edition_section, gap_section
from deploy.commands.command_line import Config, Folder, errors, fail, needs_index, run, settings_of
from deploy.settings.known_sites import known_sites, site_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store, open_editions, open_gaps
from deploy.wiring.stores import SystemClock, open_notes, open_trees
from ingest.backup.archive import BackupSection, Sections, write
from ingest.backup.trees import note_section, tree_sections
from ingest.counted import counted
from ingest.model import Site
from ingest.notes import Notes
from ingest.ports import TreeStore

STANDARD = Path("-")
"""Standard output, or input."""


def command(
    file: Annotated[Path, typer.Argument(help="Where to write it; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if file != STANDARD and file.exists() and not force:
        fail(f"{file} is there already: name another file, or replace it with --force.")
    if file == STANDARD and sys.stdout.isatty():
        fail("A backup is no text for a terminal: name a file, or send it on with a pipe.")
    needs_index(settings)
    raise typer.Exit(run(backup(settings, file, errors)))


async def backup(settings: Settings, path: Path, console: Console) -> int:
    """Write the file, whole or not at all, in the place of one that is there. Works beside whatever runs. Raises
    IngestError, SettingsError, OSError."""
    async with (
        open_trees(settings) as trees,
        open_notes(settings) as notes,
        open_bot_store(settings, left_sealed=True) as bot,
        open_editions(settings) as editions,
        open_gaps(settings) as gaps,
    ):
        sections = sections_of(settings, trees, notes, bot, editions, gaps)
        with _to(path) as file, console.status("Writing …"):
            counts = await write(file, sections, version=version("ritbot"), now=SystemClock().now())
    console.print(f"Backup of {contents(counts)}: {'standard output' if path == STANDARD else path}", soft_wrap=True)
    return 0


def sections_of(
    settings: Settings, trees: TreeStore, notes: Notes, bot: BotStore, editions: Editions, gaps: Gaps
) -> Sections:
    """All that a backup holds, in the order in which it is put back."""
    folder = settings.index.folder
    known = known_sites(settings, folder)

    async def rows() -> AsyncIterator[bytes]:
        for row in known.rows():
            yield json.dumps(row).encode()

    async def remember(site: Site) -> None:
        now = known_sites(settings, folder)
        if site.name not in now.sites:
            now.with_site(site).save()

    return [
        BackupSection("sites", rows(), lambda line: site_of(json.loads(line)), remember),
        *tree_sections(trees, known.sites),
        note_section(notes),
        *bot_sections(bot),
        edition_section(editions),
        gap_section(gaps),
    ]


def contents(counts: Counter[str]) -> str:
    """What a backup holds, by the names of its sections."""
    names = {"records": "page", "watch": "watch state", "exchanges": "question", "editions": "kept text"}
    told = [counted(count, names.get(name, name.removesuffix("s"))) for name, count in counts.items() if count]
    return ", ".join(told) or "nothing"


@contextmanager
def _to(path: Path) -> Iterator[BinaryIO]:
    """A new file, for the owner's eyes only, that takes its place once it is whole and on disk."""
    if path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.absolute().parent)
    unfinished = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(path.absolute().parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """So that the name is on disk too."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
