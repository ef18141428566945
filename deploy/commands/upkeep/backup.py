"""`ritbot backup` and `ritbot restore`: what cannot be made again, as one file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.text import Text

from bot.ports import BotStore
from bot.store.backup import bot_sections
from deploy.commands.upkeep.reconcile import compare
from deploy.commands.upkeep.reconcile import show as show_report
from deploy.settings.known_sites import known_sites, site_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store
from deploy.wiring.stores import SystemClock, open_notes, open_stores, open_trees
from ingest.backup.archive import BackupSection, check, lines, put_back, write
from ingest.backup.trees import note_section, others, tree_sections
from ingest.notes import Notes
from ingest.ports import TreeStore

STANDARD = Path("-")
"""Standard output, or input."""


async def backup(settings: Settings, path: Path, console: Console) -> int:
    """Write the file, whole or not at all, in the place of one that is there. Works beside whatever runs. Raises
    IngestError, SettingsError, OSError."""
    async with (
        open_trees(settings) as trees,
        open_notes(settings) as notes,
        open_bot_store(settings, left_sealed=True) as bot,
    ):
        sections = _sections(settings, trees, notes, bot)
        with _to(path) as file, console.status("Writing …"):
            counts = await write(file, sections, version=version("ritbot"), now=SystemClock().now())
    console.print(f"Backup of {_counted(counts)}: {'standard output' if path == STANDARD else path}", soft_wrap=True)
    return 0


async def restore(settings: Settings, path: Path, console: Console, *, force: bool) -> int:
    """Put a backup back and bring the search index in step with it; 1 where the index differs afterwards, 2 where the
    store is not empty and is not to be replaced. May be interrupted and done again. Raises IngestError,
    SettingsError, OSError."""
    with _from(path) as file:
        for _ in lines(file):  # a file that is damaged makes no data folder
            pass
        console.print("[dim]Loading the embedding model …[/dim]")
        async with (
            open_stores(settings, "ritbot restore") as stores,
            open_bot_store(settings, left_sealed=True) as bot,
        ):
            sections = _sections(settings, stores.trees, stores.notes, bot)
            with console.status("Checking the backup …"):
                counts = check(file, sections)
                there = await others(file, stores.trees)
            if there:
                for site, pages in sorted(there.items()):
                    console.print(Text(f"There is already {site}: {pages} pages that are not of this backup."))
                if not force:
                    console.print("Nothing was changed. To put the backup in their place, run it again with --force.")
                    return 2
                for site in there:
                    await stores.trees.forget(site)
                console.print("Removed.")
            with console.status("Putting back …"):
                await put_back(file, sections)
            console.print(f"Put back: {_counted(counts)}.")
            report = await compare(stores, console, repair=True)
        show_report(report, console, repair=True)
        return 0 if all(found.in_step for found in report.values()) else 1


def _sections(settings: Settings, trees: TreeStore, notes: Notes, bot: BotStore) -> list[BackupSection]:
    """All that a backup holds, in the order in which it is put back."""
    folder = settings.index.folder
    known = known_sites(settings, folder)

    async def rows() -> AsyncIterator[Mapping[str, Any]]:
        for row in known.rows():
            yield row

    async def remember(row: Mapping[str, Any]) -> None:
        now, site = known_sites(settings, folder), site_of(row)
        if site.name not in now.sites:
            now.with_site(site).save()

    return [
        BackupSection("sites", rows(), site_of, remember),
        *tree_sections(trees, known.sites),
        note_section(notes),
        *bot_sections(bot),
    ]


def _counted(counts: Counter[str]) -> str:
    names = {"records": "pages", "watch": "watch states", "exchanges": "questions"}
    said = [(count, names.get(name, name)) for name, count in counts.items() if count]
    return ", ".join(f"{count} {name.removesuffix('s') if count == 1 else name}" for count, name in said) or "nothing"


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


@contextmanager
def _from(path: Path) -> Iterator[BinaryIO]:
    """The file; what comes from a pipe is kept in a temporary one, since it is read more than once."""
    if path != STANDARD:
        with path.open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        yield kept
