"""`ritbot slack`: Slack's listeners in a process of their own; `ritbot slack init`: how to set the app up in Slack, and
whether what has been set so far is right."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from bot.events import QUESTIONS_TOPIC
from deploy.commands.command_line import Config, Folder, console, run, settings_of
from deploy.commands.display import show_findings
from deploy.commands.upkeep.slack_check import slack_findings
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import Role, run_roles, stopped_by_signals
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.settings.slack import CALLED
from deploy.wiring.bot_roles import answering_checks, open_listening, open_workspaces
from deploy.wiring.bot_store import open_bot_store, open_gaps
from deploy.wiring.events import open_events
from deploy.wiring.gauges import event_gauges
from deploy.wiring.permalinks import open_finder, open_permalinks
from deploy.wiring.stores import open_trees

MANIFEST = Path(__file__).resolve().parents[2] / "slack" / "manifest.yaml"

CREATE = "Open https://api.slack.com/apps, press Create New App, then From a manifest, and choose your workspace."
PASTE = f"Paste what {MANIFEST if MANIFEST.is_file() else 'deploy/slack/manifest.yaml'} holds, and press Create."
TOKEN = (
    "Press Install App, Install to Workspace, and agree.",
    "Under OAuth & Permissions copy the Bot User OAuth Token (xoxb-…) to RITBOT_SLACK__BOT_TOKEN.",
)
SOCKET = (
    "Under Basic Information, App-Level Tokens, press Generate Token and Scopes, add connections:write, and copy the token "
    "(xapp-…) to RITBOT_SLACK__APP_TOKEN."
)
HTTP = (
    "In what you paste, take away each “#http ”, put your own address, and set socket_mode_enabled to false. At that "
    f"address {CALLED} must reach ritbot."
)
SECRET = "Under Basic Information copy the Signing Secret to RITBOT_SLACK__SIGNING_SECRET."
SEVERAL = (
    "Under Basic Information copy the Client ID to slack.client_id and the Client Secret to RITBOT_SLACK__CLIENT_SECRET.",
    "Make a key for tokens: openssl rand -base64 32 | tr '+/' '-_', and set it as RITBOT_BOT__KEYS.",
)
LAST = (
    "Run ritbot slack init again: it says whether all is well. Then run ritbot serve, and write @ritbot in a channel."
)


command = typer.Typer(add_completion=False, rich_markup_mode="markdown", invoke_without_command=True)


@command.callback()
def _listen(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    if context.invoked_subcommand is None:
        run(listen(settings_of(config, folder, server=True), console))


@command.command("init")
def _init(context: typer.Context, config: Config = None, folder: Folder = None) -> None:
    """Say how to set the app up in Slack, and try the tokens that are set."""
    raise typer.Exit(
        run(init(settings_of(config, folder, above=context.parent.params if context.parent else None), console))
    )


async def listen(settings: Settings, console: Console) -> None:
    """Slack's listeners until SIGINT or SIGTERM. Raises IngestError, BotError, SettingsError."""
    settings.slack.check(signs_in=settings.web.signs_in)
    health = Health()
    known = known_sites(settings, settings.index.folder)
    async with (
        serving(health.app, settings.http) as address,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_gaps(settings) as gaps,
        open_trees(settings) as trees,  # after the log, which makes the folder where nothing was indexed yet
        open_workspaces(settings, store) as workspaces,
        open_finder(settings, known.languages()) as find,
        open_permalinks(settings, trees, find) as permalinks,
        open_listening(settings, events, store, gaps, workspaces, trees, permalinks, known) as listening,
    ):
        checks = {**answering_checks(events, store, workspaces), **listening.checks}
        health.ready(checks, listening.routes, event_gauges(events, [QUESTIONS_TOPIC]))
        with stopped_by_signals() as stop:
            console.print(f"Listening to Slack. Health at {address}/readyz. Ctrl-C ends.", soft_wrap=True)
            await run_roles(listening.roles or [_until(stop)], stop, health)
    console.print("Stopped.")


def _until(stop: asyncio.Event) -> Role:
    """Where Slack calls over HTTP there is nothing to do but to be there."""
    return Role("slack", stop.wait)


def steps(settings: Settings) -> list[str]:
    """What is to be done, in order."""
    if settings.slack.mode == "socket":
        return [CREATE, PASTE, *TOKEN, SOCKET, LAST]
    return [CREATE, PASTE, HTTP, SECRET, *(SEVERAL if settings.slack.several else TOKEN), LAST]


async def init(settings: Settings, console: Console) -> int:
    """Print the steps, then try what is set; 0 if there is no fault."""
    console.print(Text("Set ritbot up in Slack", style="bold"))
    for number, step in enumerate(steps(settings), 1):
        console.print(Text(f"{number:>3}. {step}"), soft_wrap=True)
    console.print()
    if not settings.slack.wanted:
        console.print("Nothing of it is set yet.")
        return 0
    return 1 if await show_findings(slack_findings(settings), console) else 0
