"""`ritbot restore`: a backup is put back into an empty store, and the search index made anew from it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.text import Text

from deploy.commands.command_line import Config, Folder, console, run, settings_of
from deploy.commands.documents.reconcile import compare, show_report
from deploy.commands.upkeep.backup import STANDARD, contents, sections_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store, open_editions, open_gaps
from deploy.wiring.stores import open_stores
from ingest.backup.archive import check, lines, put_back
from ingest.backup.trees import RecordStates, others
from ingest.counted import counted


def command(
    file: Annotated[Path, typer.Argument(help="The backup; - is standard input.")],
    force: Annotated[bool, typer.Option("--force", help="Put it in the place of the pages that are there.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    raise typer.Exit(run(restore(settings_of(config, folder), file, console, force=force)))


async def restore(settings: Settings, path: Path, console: Console, *, force: bool) -> int:
    """Put a backup back and bring the search index in step with it; 1 where the index differs afterwards, 2 where the
    store is not empty and is not to be replaced. May be interrupted and done again. Raises IngestError,
    SettingsError, OSError."""
    with _from(path) as file:
        for _ in lines(file):  # a file that is damaged makes no data folder
            pass
        console.print("Loading the embedding model …", style="dim")
        async with (
            open_stores(settings, "ritbot restore") as stores,
            open_bot_store(settings, left_sealed=True) as bot,
            open_editions(settings) as editions,
            open_gaps(settings) as gaps,
        ):
            sections = sections_of(settings, stores.trees, stores.notes, bot, editions, gaps)
            with console.status("Checking the backup …"):
                ours = RecordStates()
                counts = check(file, sections, ours)
                there = await others(ours, stores.trees)
            if there:
                for site, pages in sorted(there.items()):
                    console.print(Text(f"There is already {site}: {counted(pages, 'page')} not of this backup."))
                if not force:
                    console.print("Nothing was changed. To put the backup in their place, run it again with --force.")
                    return 2
                for site in there:
                    await stores.trees.forget(site)
                console.print("Removed.")
            with console.status("Putting back …"):
                await put_back(file, sections)
            console.print(f"Put back: {contents(counts)}.")
            report = await compare(stores, console, repair=True)
        show_report(report, console, repair=True)
        return 0 if all(found.in_step for found in report.values()) else 1


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
