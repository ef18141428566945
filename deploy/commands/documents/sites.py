"""`ritbot sites`: what is indexed of each site, and how fresh it is."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.freshness import ago
from deploy.commands.command_line import Config, Folder, console, run, settings_of
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.stores import Stores, open_stores, open_trees
from ingest.ports import PageState
from ingest.watch.report import WatchReport, watch_report

MAX_FAILING_SHOWN = 20
"""Failing pages that are shown of a site."""


command = typer.Typer(add_completion=False, rich_markup_mode="markdown", invoke_without_command=True)


@command.callback()
def _list(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    if context.invoked_subcommand is None:
        raise typer.Exit(run(list_sites(settings_of(config, folder), console)))


@command.command()
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The site's name.")],
    config: Config = None,
    folder: Folder = None,
) -> None:
    """Remove a site's pages from the index, and nothing else."""
    raise typer.Exit(
        run(
            remove_site(
                settings_of(config, folder, above=context.parent.params if context.parent else None), name, console
            )
        )
    )


async def remove_site(settings: Settings, name: str, console: Console) -> int:
    """Remove a site's pages, chunks and watch state, and forget it; 1 where there is none of that name."""
    known = known_sites(settings, settings.index.folder)
    async with open_stores(settings, "ritbot sites") as stores:
        keys = [state.key async for state in stores.trees.scan(name)]
        if name not in known.sites and not keys:
            console.print(f"There is no site called {name}. Known: {', '.join(sorted(known.sites)) or 'none'}.")
            return 1
        await take_out(stores, name)
    known.without(name).ended(name).save()
    console.print(f"Removed {name}: {len(keys)} pages.")
    if name in {site.name for site in settings.sites}:
        console.print("It still stands in the settings file: take it out there too, or the next run indexes it again.")
    return 0


async def take_out(stores: Stores, name: str) -> None:
    """A site's pages, chunks and watch states."""
    async for state in stores.trees.scan(name):
        await stores.index.delete(await stores.index.ids_of(state.key))
    await stores.trees.forget(name)


async def list_sites(settings: Settings, console: Console) -> int:
    """A row a site; 1 where there is none."""
    known = known_sites(settings, settings.index.folder)
    if not known.sites:
        console.print("There is no site yet. Name one: ritbot index FOLDER or URL.")
        return 1
    states: defaultdict[str, list[PageState]] = defaultdict(list)
    reports: list[WatchReport] = []
    if settings.stores.kind == "cluster" or settings.index.folder.exists():
        async with open_trees(settings) as trees:
            async for state in trees.scan():
                states[state.site].append(state)
            reports = [await watch_report(trees, name) for name in sorted(known.sites)]
    wrong = {report.site: len(report.failing) + len(report.missing) for report in reports}
    table = Table("site", "start", "pages", "sections", "skipped", "failing", "checked")
    for name, site in sorted(known.sites.items()):
        live = [state for state in states[name] if state.state == "live"]
        checked = ago(min(state.checked_at for state in live), datetime.now(UTC)) if live else "never"
        numbers = (
            len(live),
            sum(s.nodes for s in live),
            sum(s.state == "skipped" for s in states[name]),
            wrong.get(name, 0),
        )
        table.add_row(Text(name), Text(site.start), *map(str, numbers), checked)
    console.print(table)
    for report in reports:
        _show_failing(report, console)
    return 0


def _show_failing(report: WatchReport, console: Console) -> None:
    """Which pages of a site gave no answer, or were not found, when they were last looked at; what is known of them is
    still served."""
    if report.problem:
        console.print(Text(f"{report.site}: {report.problem}", style="yellow"), soft_wrap=True)
    found = [*report.failing, *((key, "not found, but not taken for gone yet") for key in report.missing)]
    for key, reason in found[:MAX_FAILING_SHOWN]:
        console.print(Text(f"{report.site}: {key}: {reason}", style="yellow"), soft_wrap=True)
    if len(found) > MAX_FAILING_SHOWN:
        console.print(Text(f"{report.site}: and {len(found) - MAX_FAILING_SHOWN} more", style="yellow"))
