"""`ritbot sites`: what is indexed of each site, and how fresh it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from bot.freshness import ago
from deploy.commands.command_line import Config, Folder, console, run, settings_of
from deploy.commands.display import say
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.stores import Stores, open_stores, open_trees
from ingest.counted import counted
from ingest.model import Site
from ingest.watch.report import WatchReport, watch_report
from ingest.watch.site_tally import PageKind, SiteTally, not_found, pages_of

MAX_FAILING_SHOWN = 20
"""Failing pages that are shown of a site, where its pages are not asked for."""

Pages = Annotated[PageKind | None, typer.Option("--pages", help="List the pages of this kind, each with the reason.")]


class Sites(TyperGroup):
    """What follows is a command, or a site's name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])


command = typer.Typer(
    cls=Sites,
    add_completion=False,
    rich_markup_mode="markdown",
    invoke_without_command=True,
    subcommand_metavar="[NAME | remove NAME]",
)


@command.callback()
def _list(context: typer.Context, pages: Pages = None, config: Config = None, folder: Folder = None) -> None:
    if context.invoked_subcommand is None:
        raise typer.Exit(run(list_sites(settings_of(config, folder), console, pages=pages)))


@command.command(hidden=True)
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The site's name.")],
    pages: Pages = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    """List one site, and its pages of a kind."""
    above = context.parent.params if context.parent else {}
    settings = settings_of(config, folder, above=above)
    raise typer.Exit(run(list_sites(settings, console, name, pages=pages or above.get("pages"))))


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
        removed = await take_out(stores, name)
        if name not in known.sites and not removed:
            console.print(f"There is no site called {name}. Known: {', '.join(sorted(known.sites)) or 'none'}.")
            return 1
    known.without(name).ended(name).save()
    console.print(f"Removed {name}: {counted(removed, 'page')}.")
    if name in {site.name for site in settings.sites}:
        console.print("It still stands in the settings file: take it out there too, or the next run indexes it again.")
    return 0


async def take_out(stores: Stores, name: str) -> int:
    """Remove a site's pages, chunks and watch states; how many pages there were."""
    removed = 0
    async for state in stores.trees.scan(name):
        await stores.index.delete(await stores.index.ids_of(state.key))
        removed += 1
    await stores.trees.forget(name)
    return removed


async def list_sites(
    settings: Settings, console: Console, name: str | None = None, *, pages: PageKind | None = None
) -> int:
    """What is indexed of each site, or of one, and what is wrong with its pages, or its `pages` of a kind; 1 where there is
    no site. Raises IngestError, SettingsError."""
    known = known_sites(settings, settings.index.folder)
    known.need(name)
    if not known.sites:
        console.print("There is no site yet. Name one: ritbot index FOLDER or URL.")
        return 1
    tallies: defaultdict[str, SiteTally] = defaultdict(lambda: SiteTally(pages))
    reports: dict[str, WatchReport] = {}
    names = [name] if name else sorted(known.sites)
    if settings.stores.kind == "cluster" or settings.index.folder.exists():
        async with open_trees(settings) as trees:
            async for state in trees.scan(name):
                tallies[state.site].add(state)
            reports = {each: await watch_report(trees, each) for each in names}
    for each in names:
        report = reports.get(each)
        tally = tallies[each]
        _show_site(known.sites[each], tally, report, console)
        if report and report.problem:
            say(console, f"  {report.problem}", "yellow")
        found = pages_of(pages or "failing", tally, report)
        if pages is None and report:
            found += sorted(not_found(report).items())
        _show_pages(found, console, None if pages else MAX_FAILING_SHOWN)
    return 0


def _show_site(site: Site, tally: SiteTally, report: WatchReport | None, console: Console) -> None:
    counts = {
        "skipped": len(tally.skipped),
        "failing": len(report.failing) if report else 0,
        "missing": len(pages_of("missing", tally, report)),
    }
    checked = ago(tally.checked_at, datetime.now(UTC)) if tally.checked_at else "never"
    told = [counted(tally.pages, "page"), counted(tally.sections, "section")]
    told += [f"{count:,} {kind}" for kind, count in counts.items() if count]
    console.print(Text.assemble((site.name, "bold"), f"  {site.start}"))
    console.print(Text(f"  {', '.join(told)}; checked {checked}"))


def _show_pages(pages: Sequence[tuple[str, str]], console: Console, most: int | None) -> None:
    if not pages and most is None:
        say(console, "  none")
    for key, reason in pages[:most]:
        say(console, f"  {key}  ({reason})", "yellow")
    if most is not None and len(pages) > most:
        say(console, f"  and {len(pages) - most:,} more: --pages failing and --pages missing list all", "yellow")
