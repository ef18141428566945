"""`ritbot indexer`: bring the stores in step with what the watcher announces on Kafka. Any number of them share the
pages."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from deploy.commands.command_line import Config, Folder, console, fail, run, settings_of
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import run_roles, stopped_by_signals
from deploy.settings.known_sites import known_sites
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.events import open_events
from deploy.wiring.gauges import event_gauges
from deploy.wiring.ingest_roles import indexer_role, indexing_checks, open_indexing, told
from deploy.wiring.stores import open_stores
from ingest.events.topics import PAGES
from ingest.model import Site


def command(config: Config = None, folder: Folder = None) -> None:
    settings = settings_of(config, folder, server=True)
    sites = known_sites(settings, settings.index.folder).sites
    run(index_events(settings, sites or fail("There is no site yet. Add it to the settings."), console))


async def index_events(settings: Settings, sites: Mapping[str, Site], console: Console) -> None:
    """Until SIGINT or SIGTERM; what is in hand then is finished. `sites`: all whose events may come; events of others
    go to the dead letters. Raises IngestError, SettingsError."""
    if settings.events.kind != "kafka":
        raise SettingsError(
            'events.kind: an indexer of its own needs "kafka" here, and stores.kind = "cluster"; '
            "without them, `ritbot watch` is watcher and indexer in one"
        )
    health = Health()
    async with (
        serving(health.app, settings.http) as address,
        open_stores(settings, "ritbot indexer") as stores,
        open_events(settings) as events,
        open_indexing(stores, events, sites) as service,
    ):
        health.ready(indexing_checks(stores.trees, events, stores), gauges=event_gauges(events, [PAGES]))
        with stopped_by_signals() as stop:
            console.print(f"Indexing {', '.join(sites)}. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles([indexer_role(service)], stop, health)
    console.print(told(service.totals))
