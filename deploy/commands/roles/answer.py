"""`ritbot answer`: the answer workers, in a process of their own. Any number of them share the questions."""

from __future__ import annotations

from rich.console import Console

from deploy.commands.command_line import Config, Folder, console, run, settings_of
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import run_roles, stopped_by_signals
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.bot_roles import (
    answer_role,
    answering_checks,
    gap_roles,
    open_answering,
    open_workspaces,
    retention_role,
    slack_delivery,
    staleness_roles,
)
from deploy.wiring.bot_store import open_bot_store, open_editions, open_gaps
from deploy.wiring.events import ASKED_TOPICS, open_events
from deploy.wiring.gauges import event_gauges
from deploy.wiring.stores import open_stores


def command(config: Config = None, folder: Folder = None) -> None:
    run(answer(settings_of(config, folder, server=True), console))


async def answer(settings: Settings, console: Console) -> None:
    """The answer workers until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, BotError,
    SettingsError."""
    settings.slack.check(listens=False, signs_in=settings.web.signs_in)
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_stores(settings, "ritbot answer") as stores,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_editions(settings) as editions,
        open_gaps(settings) as gaps,
        open_workspaces(settings, store) as workspaces,
        open_answering(
            stores, events, store, delivery := slack_delivery(settings, store, workspaces), known
        ) as service,
    ):
        checks = {**answering_checks(events, store, workspaces), "search index": stores.index.count}
        health.ready(checks, gauges=event_gauges(events, ASKED_TOPICS))
        with stopped_by_signals() as stop:
            console.print(f"Answering questions. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            roles = [answer_role(service), *staleness_roles(stores, events, store, delivery)]
            roles += [
                *gap_roles(stores, events, store, gaps, service, workspaces),
                retention_role(settings, store, editions, gaps),
            ]
            await run_roles(roles, stop, health)
    console.print("Stopped.")
