"""The pages that show sections to whoever kept a link to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.routing import BaseRoute

from bot.permalinks.cited_in import cited_in
from bot.permalinks.lookup import Permalinks
from bot.ports import BotStore
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.app import NodeWeb
from deploy.settings.root import Settings
from deploy.settings.site import secret_text
from deploy.wiring.bot_store import open_bot_store
from deploy.wiring.stores import SystemClock


@asynccontextmanager
async def open_web(settings: Settings, permalinks: Permalinks) -> AsyncIterator[Sequence[BaseRoute]]:
    """Raises IngestError, BotError, SettingsError."""
    settings.web.check(settings.slack)
    public_url, signs_in = settings.web.public_url or "", settings.web.signs_in
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_bot_store(settings, left_sealed=not signs_in))
        access = await _slack_access(stack, settings, store) if signs_in else _access(settings)
        yield NodeWeb(permalinks, access, SystemClock(), public_url, cited_in(store)).routes()


def _access(settings: Settings) -> WebAccess:
    web = settings.web
    return OpenAccess() if web.access == "open" else ProxyAccess(web.user_header, web.trusted_proxies)


async def _slack_access(stack: AsyncExitStack, settings: Settings, store: BotStore) -> WebAccess:
    from bot.slack.inbound.intake import AccessPolicy
    from bot.slack.inbound.sign_in import SlackSignIn
    from bot.slack.outbound.client import quiet_client
    from bot.web.sign_in import SlackAccess
    from deploy.wiring.bot_roles import open_workspaces  # its libraries take a moment to import

    slack, clock = settings.slack, SystemClock()
    secret, proxy = secret_text(slack.client_secret) or "", secret_text(slack.proxy)
    signing_in = SlackSignIn(
        await stack.enter_async_context(open_workspaces(settings, store)),
        quiet_client("", slack.api_url, proxy),
        AccessPolicy(slack.shared_channels, slack.guests),
        clock,
        client_id=slack.client_id or "",
        client_secret=secret,
        proxy=proxy,
    )
    return SlackAccess(signing_in, clock, public_url=settings.web.public_url or "", secret=secret)
