"""`ritbot reconcile`: compare the search index with the pages, and mend it; questions are answered meanwhile."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from deploy.commands.command_line import Config, Folder, OneSite, console, needs_index, run, settings_of
from deploy.commands.display import page_bar
from deploy.serving.local_answers import answering_meanwhile
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.stores import Stores, open_stores
from ingest.counted import counted, verb
from ingest.indexing.projection import Projection
from ingest.indexing.reconcile import Reconciler, Report, SiteReport

ORPHAN_RECHECK_SECONDS = 10.0
"""Seconds between two looks at what seems an orphan, where indexers may be at work: longer than one takes from writing a
page's chunks to writing its record."""
NUMBERS = ("pages", "chunks", "missing", "orphans", "repaired")
"""That are shown of a site."""
MAX_DANGLING_SHOWN = 5
"""Of a long list of pages so many are shown."""


def command(
    site: OneSite = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what differs; else it is only shown.")] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    needs_index(settings)
    raise typer.Exit(run(reconcile(settings, site, console, repair=repair)))


async def reconcile(settings: Settings, site: str | None, console: Console, *, repair: bool) -> int:
    """0 where all is in step, or was brought in step; 1 where something differs. Raises IngestError, and SettingsError for
    a site of which nothing is known."""
    known = known_sites(settings, settings.index.folder)
    console.print("Loading the embedding model …", style="dim")
    async with open_stores(settings, "ritbot reconcile") as stores, answering_meanwhile(stores, known.languages()):
        report = await compare(stores, console, site, repair=repair)
    if not report:
        known.need(site)
    show_report(report, console, repair=repair)
    return 0 if all(found.in_step for found in report.values()) else 1


async def compare(stores: Stores, console: Console, site: str | None = None, *, repair: bool) -> Report:
    """One run with a bar that shows how far it is."""
    settings = stores.settings
    total = 0
    async for _ in stores.trees.scan(site):
        total += 1
    with page_bar(console) as bar:
        task = bar.add_task("comparing", total=total, detail="")

        def progress(done: int, report: Report) -> None:
            detail = (
                f"{counted(_sum(report, 'missing'), 'chunk')} missing, {counted(_sum(report, 'orphans'), 'orphan')}"
            )
            bar.update(task, completed=done, detail=detail)

        return await Reconciler(
            stores.trees,
            stores.index,
            Projection(stores.index, stores.embedder, stores.sizes),
            {name: known.language for name, known in known_sites(settings, settings.index.folder).sites.items()},
            repair=repair,
            grace=ORPHAN_RECHECK_SECONDS if settings.stores.kind == "cluster" else 0.0,
            progress=progress,
        ).run(site)


def show_report(report: Report, console: Console, *, repair: bool) -> None:
    """A row a site, and what the operator should know or do."""
    table = Table(Column("site", overflow="fold"), *(Column(name, no_wrap=True) for name in NUMBERS))
    for name, found in sorted(report.items()):
        numbers = (found.pages, found.chunks, found.missing, found.orphans, found.filled + found.swept)
        table.add_row(Text(name), *map(str, numbers))
    if report:
        console.print(table)
    for name, found in sorted(report.items()):
        for note in _notes(name, found, repair):
            console.print(Text(note, style="yellow"), soft_wrap=True)
    console.print(_verdict(report, repair), soft_wrap=True)


def _notes(name: str, found: SiteReport, repair: bool) -> list[str]:
    notes = []
    if not found.known:
        notes.append(
            f"{name} is no site of the settings any more: its chunks cannot be made again. If it is not wanted, run: "
            f"ritbot sites remove {name}"
        )
    if found.other_make:
        notes.append(
            f"{name}: {counted(found.other_make, 'page')} {verb(found.other_make, 'was', 'were')} indexed with other settings or by another ritbot; what is "
            "missing there is not repaired here. Run: ritbot reembed, and after an upgrade: ritbot reindex"
        )
    if found.dangling:
        more = (
            f" and {len(found.dangling) - MAX_DANGLING_SHOWN} more" if len(found.dangling) > MAX_DANGLING_SHOWN else ""
        )
        pages = ", ".join(sorted(found.dangling)[:MAX_DANGLING_SHOWN])
        notes.append(f"{name}: these stand for a page that is not there: {pages}{more}. Run: ritbot index {name}")
    if found.waiting:
        notes.append(
            f"{name}: {counted(found.waiting, 'page')} changed and {verb(found.waiting, 'is', 'are')} not indexed yet. An indexer will do it."
        )
    if repair and found.orphans > found.swept:
        notes.append(
            f"{name}: the chunks stay, since no page is known at all. Put a backup back: ritbot restore FILE; or "
            "remove the search index"
        )
    return notes


def _verdict(report: Report, repair: bool) -> str:
    missing, orphans = _sum(report, "missing"), _sum(report, "orphans")
    filled, swept = _sum(report, "filled"), _sum(report, "swept")
    if filled or swept:
        done = f"Repaired: {counted(filled, 'chunk')} written ({_sum(report, 'embedded')} embedded), {swept} removed."
        left = missing + orphans - filled - swept
        return f"{done} {counted(left, 'difference')} {verb(left, 'is', 'are')} left." if left else done
    if all(found.in_step for found in report.values()):
        return "Everything is in step; nothing was changed."
    hint = "" if repair or not missing + orphans else " Run: ritbot reconcile --repair"
    return f"Not in step: {counted(missing, 'chunk')} missing, {counted(orphans, 'orphan')}.{hint}"


def _sum(report: Report, field: str) -> int:
    return sum(getattr(found, field) for found in report.values())
