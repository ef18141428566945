"""Whether Slack takes what the settings say: the tokens, their scopes, the workspaces that installed the app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime

from bot.errors import BotError, SlackClosed
from bot.slack.app_sharing import is_shared
from bot.slack.inbound.socket_mode import try_app_token
from bot.slack.outbound.client import SlackRefused, quiet_client
from bot.slack.workspaces import identify, sound
from deploy.commands.display import Finding
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.settings.site import secret_text
from deploy.wiring.bot_store import has_bot_store, open_bot_store
from ingest.errors import IngestError


async def slack_findings(settings: Settings) -> AsyncIterator[Finding]:
    """Nothing where Slack is not set up. Each token that is set is tried; nothing is posted."""
    slack = settings.slack
    if not slack.wanted:
        return
    try:
        slack.check(signs_in=settings.web.signs_in)
        settings.web.check(slack)
    except SettingsError as error:
        yield Finding(False, "Slack: not everything is set", str(error))
    if slack.bot_token is not None:
        yield await _workspace(settings, slack.bot_token.get_secret_value())
    elif slack.several:
        async for finding in _installed(settings):
            yield finding
    if slack.mode == "socket" and slack.app_token is not None:
        yield await _socket(settings, slack.app_token.get_secret_value())
    async for finding in _alone(settings):
        yield finding


async def _workspace(settings: Settings, token: str) -> Finding:
    try:
        known = await sound(quiet_client(token, settings.slack.api_url, secret_text(settings.slack.proxy)))
    except SlackClosed as error:
        return Finding(False, "Slack: the bot token cannot be used", str(error))
    how = "Socket Mode" if settings.slack.mode == "socket" else "HTTP"
    return Finding(True, f"Slack: {known.team_name}, as @{known.name} ({how}); no scope is missing")


async def _socket(settings: Settings, token: str) -> Finding:
    try:
        await try_app_token(quiet_client("", settings.slack.api_url, secret_text(settings.slack.proxy)), token)
    except (SlackClosed, SlackRefused) as error:
        return Finding(False, "Slack: the app token cannot be used", str(error))
    return Finding(True, "Slack: the app token opens a connection")


async def _alone(settings: Settings) -> AsyncIterator[Finding]:
    """Whether another ritbot with a store of its own listens for the app; nothing where it does not, or nobody can say."""
    if not has_bot_store(settings):
        return
    with suppress(BotError, IngestError):
        async with open_bot_store(settings) as store:
            if await is_shared(store, datetime.now(UTC)):
                yield Finding(
                    False,
                    "Slack: another ritbot answers for the same app, and does not share this one's data",
                    "Stop one of the two, or make an app for each: some questions are answered twice, and neither knows of"
                    " the other's answers.",
                )


async def _installed(settings: Settings) -> AsyncIterator[Finding]:
    """Those of the workspaces whose token cannot be used, and how many there are."""
    count = 0
    try:
        async with open_bot_store(settings) as store:
            async for installation in store.installations():
                count += 1
                where = installation.team or installation.enterprise
                if problem := await _problem(settings, installation.bot_token):
                    yield Finding(False, f"Slack: {where}: {problem}", "Install the app there again.")
    except (BotError, IngestError) as error:
        yield Finding(False, "Slack: the workspaces that installed the app cannot be read", str(error))
        return
    yield Finding(True if count else None, f"Slack: {count} workspaces have installed the app (HTTP)")


async def _problem(settings: Settings, token: str) -> str:
    """What is wrong with an installation's token, "" for nothing."""
    try:
        missing = (
            await identify(quiet_client(token, settings.slack.api_url, secret_text(settings.slack.proxy)))
        ).missing
    except SlackRefused as error:
        return str(error)
    return f"the token lacks {', '.join(missing)}" if missing else ""
