"""`ritbot watch`: keep the index in step with the sites until stopped. Watcher and indexer in one process, joined by
the event log in the data folder; with Kafka the watcher alone, and `ritbot indexer` does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from deploy.commands.command_line import Config, Folder, Target, console, named_sites, run, settings_of
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.local_answers import open_local_answers
from deploy.serving.roles import run_roles, stopped_by_signals
from deploy.settings.known_sites import remember
from deploy.settings.root import Settings
from deploy.wiring.events import open_events
from deploy.wiring.gauges import event_gauges, site_gauges
from deploy.wiring.ingest_roles import DEFAULT_PACE, Watching, indexer_role, indexing_checks, open_indexing, told
from deploy.wiring.navigation import open_navigator
from deploy.wiring.stores import SystemClock, open_stores, open_trees
from ingest.counted import counted
from ingest.events.topics import PAGES
from ingest.indexing.parse_process import ParseProcess
from ingest.model import Site
from ingest.watch.report import accept
from ingest.watch.schedule import Pace


def command(
    target: Target = None,
    accept: Annotated[str | None, typer.Option(help="Let the pages of this site go that are held back.")] = None,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder, server=True)
    if accept is not None:
        raise typer.Exit(run(let_go(settings, accept, console)))
    run(watch(settings, named_sites(settings, target), console))


async def watch(settings: Settings, sites: Sequence[Site], console: Console, pace: Pace = DEFAULT_PACE) -> None:
    """Until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, SettingsError."""
    health = Health()
    async with serving(health.app, settings.http) as address:
        known = remember(settings, sites)
        hello = f"Watching {', '.join(site.name for site in sites)}. Health at {address}/readyz. Ctrl-C ends."
        if settings.events.kind == "kafka":
            await _watch_alone(settings, sites, pace, health, console, hello)
        else:
            await _watch_and_index(settings, sites, pace, known.languages(), health, console, hello)


async def _watch_alone(
    settings: Settings, sites: Sequence[Site], pace: Pace, health: Health, console: Console, hello: str
) -> None:
    clock = SystemClock()
    async with open_trees(settings) as trees, open_events(settings) as events, ParseProcess() as parser:
        watching = Watching(settings, sites, trees=trees, events=events, parser=parser, clock=clock, pace=pace)
        gauges = {**event_gauges(events, [PAGES]), **site_gauges(trees, [site.name for site in sites])}
        health.ready(indexing_checks(trees, events), watching.routes(), gauges)
        with stopped_by_signals() as stop:
            console.print(hello, soft_wrap=True)
            await run_roles(watching.roles(), stop, health)
    console.print("Stopped.")


async def _watch_and_index(
    settings: Settings,
    sites: Sequence[Site],
    pace: Pace,
    languages: Sequence[str],
    health: Health,
    console: Console,
    hello: str,
) -> None:
    by_name = {site.name: site for site in sites}
    async with (
        open_stores(settings, "ritbot watch") as stores,
        open_events(settings) as events,
        open_indexing(stores, events, by_name) as service,
        open_navigator(stores, languages) as navigator,
        open_local_answers(stores, navigator) as local,
    ):
        watching = Watching(
            settings, sites, trees=stores.trees, events=events, parser=stores.parser, clock=stores.clock, pace=pace
        )
        gauges = {**event_gauges(events, [PAGES]), **site_gauges(stores.trees, by_name)}
        health.ready(indexing_checks(stores.trees, events, stores), watching.routes(), gauges)
        with stopped_by_signals() as stop:
            console.print(hello, soft_wrap=True)
            await run_roles([*watching.roles(), indexer_role(service), *local], stop, health)
    console.print(told(service.totals))


async def let_go(settings: Settings, site: str, console: Console) -> int:
    """Let the pages go that the guard holds back; the running watcher, or the next, removes them."""
    async with open_trees(settings) as trees, open_events(settings) as events:
        keys = await accept(trees, events, SystemClock(), site)
    for key in keys:
        console.print(f"Goes: {key}", soft_wrap=True)
    console.print(f"{counted(len(keys), 'page')} of {site} may go." if keys else f"Nothing of {site} is held back.")
    return 0
