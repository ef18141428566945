"""The pages in a browser: sections, for whoever kept a link to them; and what ritbot does, for its operators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from starlette.routing import BaseRoute

from bot.gaps.report import EXAMPLES, MAX_QUESTIONS_SHOWN, GapReport, gap_reports
from bot.permalinks.cited_in import cited_in
from bot.permalinks.lookup import Permalinks
from bot.ports import BotStore, Gaps
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.app import NodeWeb
from bot.web.operating import Operated, OperatorWeb, SiteStatus
from deploy.settings.known_sites import known_sites
from deploy.settings.root import Settings
from deploy.settings.site import secret_text
from deploy.wiring.bot_store import gap_owners, open_bot_store, open_gaps
from deploy.wiring.events import GROUPS, events_waiting, handled_topics, open_events
from deploy.wiring.stores import SystemClock
from ingest.events.dead_letters import KeptLetter, dead_letters
from ingest.model import Site
from ingest.ports import EventLog, TreeStore
from ingest.watch.report import watch_report
from ingest.watch.site_tally import SiteTally

MAX_LETTERS_SHOWN = 100
"""Dead letters on the page of events, the newest."""


@asynccontextmanager
async def open_web(
    settings: Settings, permalinks: Permalinks, trees: TreeStore, events: EventLog | None = None
) -> AsyncIterator[Sequence[BaseRoute]]:
    """`events` None: the log is opened here, where operators look at it. Raises IngestError, BotError, SettingsError."""
    settings.web.check(settings.slack)
    public_url, signs_in = settings.web.public_url or "", settings.web.signs_in
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_bot_store(settings, left_sealed=not signs_in))
        access = await _slack_access(stack, settings, store) if signs_in else _access(settings)
        routes = [*NodeWeb(permalinks, access, SystemClock(), public_url, cited_in(store)).routes()]
        if settings.web.operators:
            if events is None:
                events = await stack.enter_async_context(open_events(settings))
            gaps = await stack.enter_async_context(open_gaps(settings))
            operated = _operated(settings, trees, events, store, gaps)
            routes += OperatorWeb(store, access, SystemClock(), operated, settings.web.operators).routes()
        yield routes


def _operated(settings: Settings, trees: TreeStore, events: EventLog, store: BotStore, gaps: Gaps) -> Operated:
    async def status(site: Site) -> SiteStatus:
        tally = SiteTally(None)
        async for state in trees.scan(site.name):
            tally.add(state)
        return SiteStatus(site, tally, await watch_report(trees, site.name))

    async def sites() -> Sequence[SiteStatus]:
        known = known_sites(settings, settings.index.folder).sites
        return [await status(known[name]) for name in sorted(known)]

    async def letters() -> Sequence[KeptLetter]:
        found = [kept for topic in GROUPS async for kept in dead_letters(events, topic) if kept.waits]
        return sorted(found, key=lambda kept: kept.since, reverse=True)[:MAX_LETTERS_SHOWN]

    async def reports(only: str | None) -> Sequence[GapReport]:
        examples = MAX_QUESTIONS_SHOWN if only else EXAMPLES
        return await gap_reports(store, gaps, gap_owners(settings), only=only or None, examples=examples)

    return Operated(sites, partial(events_waiting, events, handled_topics(settings)), letters, reports)


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
