"""`ritbot web`: the permalinks of sections, in a process of their own. Any number of them may run."""

from __future__ import annotations

import asyncio

from rich.console import Console

from bot.permalinks.permalink import PREFIX, Permalink
from deploy.commands.command_line import Config, Folder, console, no_index, run, settings_of
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import Role, run_roles, stopped_by_signals
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.wiring.permalinks import open_finder, open_permalinks
from deploy.wiring.stores import open_trees
from deploy.wiring.web import open_web
from ingest.errors import SiteUnusable

NOWHERE = Permalink("0")
"""No section has this id; whoever looks for it learns whether the stores answer."""


def command(config: Config = None, folder: Folder = None) -> None:
    run(web(settings_of(config, folder, server=True), console))


async def web(settings: Settings, console: Console) -> None:
    """Until SIGINT or SIGTERM. Works beside a process that holds the data folder. Raises IngestError, BotError,
    SettingsError."""
    if no_index(settings):
        raise SiteUnusable(f"There is no index at {settings.index.folder}. Run: ritbot index FOLDER or URL.")
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_trees(settings) as trees,
        open_finder(settings, known.languages()) as find,
        open_permalinks(settings, trees, find) as permalinks,
        open_web(settings, permalinks, trees) as routes,
    ):
        health.ready({"sections": lambda: permalinks.standing(NOWHERE)}, routes)
        with stopped_by_signals() as stop:
            shown = settings.web.public_url or address
            console.print(
                f"Showing sections at {shown.rstrip('/')}{PREFIX}ID. Health at {address}/readyz. Ctrl-C ends.",
                soft_wrap=True,
            )
            await run_roles([_until(stop)], stop, health)
    console.print("Stopped.")


def _until(stop: asyncio.Event) -> Role:
    """There is nothing to do but to be there."""
    return Role("web", stop.wait)
