"""`ritbot slack` and `ritbot answer`: the two roles that talk to people, each in a process of its own."""

from __future__ import annotations

import asyncio

from rich.console import Console

from deploy.bot import open_bot_store, retention
from deploy.bot_roles import answer_role, checks, open_answering, open_listening
from deploy.complaints import SettingsError
from deploy.compose import open_stores, open_trees
from deploy.events import open_events
from deploy.health import Health
from deploy.http import serving
from deploy.known_sites import known_sites
from deploy.roles import Role, run_roles, stopped_by_signals
from deploy.settings import Settings


def missing(settings: Settings) -> str:
    """What must still be set before Slack can be connected; "" for nothing."""
    slack = settings.slack
    if slack.mode == "socket" and not (slack.bot_token and slack.app_token):
        return "slack.bot_token and slack.app_token must be set (RITBOT_SLACK__BOT_TOKEN, RITBOT_SLACK__APP_TOKEN)"
    if slack.mode == "http" and not slack.signing_secret:
        return "slack.signing_secret must be set where Slack calls over HTTP (RITBOT_SLACK__SIGNING_SECRET)"
    if slack.mode == "http" and not (slack.bot_token or (slack.client_id and slack.client_secret)):
        return (
            "slack.bot_token must be set, or slack.client_id and slack.client_secret where workspaces install the app"
        )
    return ""


async def listen(settings: Settings, console: Console) -> None:
    """Slack's listeners until SIGINT or SIGTERM. Raises IngestError, BotError, SettingsError."""
    _connected(settings)
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_trees(settings) as trees,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_listening(settings, events, store, trees, known) as listening,
    ):
        health.ready({**checks(events, store), **listening.checks}, listening.routes)
        with stopped_by_signals() as stop:
            console.print(f"Listening to Slack. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles(listening.roles or [_until(stop)], stop, health)
    console.print("Stopped.")


async def answer(settings: Settings, console: Console) -> None:
    """The answer workers until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, BotError,
    SettingsError."""
    _connected(settings)
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_stores(settings, "ritbot answer") as stores,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_answering(stores, events, store, known) as service,
    ):
        health.ready(checks(events, store) | {"search index": stores.index.count})
        keeping = retention(settings, store)
        with stopped_by_signals() as stop:
            console.print(f"Answering questions. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles([answer_role(service), Role("retention", keeping.run, keeping.stop)], stop, health)
    console.print("Stopped.")


def _until(stop: asyncio.Event) -> Role:
    """Where Slack calls over HTTP there is nothing to do but to be there."""
    return Role("slack", stop.wait)


def _connected(settings: Settings) -> None:
    if reason := missing(settings):
        raise SettingsError(reason)
