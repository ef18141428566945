"""`ritbot slack` and `ritbot answer`: the two roles that talk to people, each in a process of its own."""

from __future__ import annotations

import asyncio

from rich.console import Console

from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import Role, run_roles, stopped_by_signals
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.bot_roles import answer_role, checks, open_answering, open_listening, retention_role
from deploy.wiring.bot_store import open_bot_store
from deploy.wiring.events import open_events
from deploy.wiring.stores import open_stores, open_trees


async def listen(settings: Settings, console: Console) -> None:
    """Slack's listeners until SIGINT or SIGTERM. Raises IngestError, BotError, SettingsError."""
    settings.slack.check()
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_trees(settings) as trees,  # after the log, which makes the folder where nothing was indexed yet
        open_listening(settings, events, store, trees, known) as listening,
    ):
        health.ready({**checks(settings, events, store), **listening.checks}, listening.routes)
        with stopped_by_signals() as stop:
            console.print(f"Listening to Slack. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles(listening.roles or [_until(stop)], stop, health)
    console.print("Stopped.")


async def answer(settings: Settings, console: Console) -> None:
    """The answer workers until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, BotError,
    SettingsError."""
    settings.slack.check(listens=False)
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_stores(settings, "ritbot answer") as stores,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_answering(stores, events, store, known) as service,
    ):
        health.ready(checks(settings, events, store) | {"search index": stores.index.count})
        with stopped_by_signals() as stop:
            console.print(f"Answering questions. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles([answer_role(service), retention_role(settings, store)], stop, health)
    console.print("Stopped.")


def _until(stop: asyncio.Event) -> Role:
    """Where Slack calls over HTTP there is nothing to do but to be there."""
    return Role("slack", stop.wait)
