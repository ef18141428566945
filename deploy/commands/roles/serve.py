"""`ritbot serve`: everything in one process, whether the index is in files or on servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from rich.console import Console
from rich.text import Text
from starlette.routing import BaseRoute

from bot.permalinks.permalink import PREFIX
from deploy.commands.command_line import Config, Folder, Target, console, named_sites, run, settings_of
from deploy.commands.documents.index import indexing
from deploy.serving.docs_hook import HOOK_PATH
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.local_answers import open_local_answers
from deploy.serving.local_socket import NAME
from deploy.serving.roles import SlackRoles, run_roles, stopped_by_signals
from deploy.settings.known_sites import KnownSites, remember
from deploy.settings.root import Settings
from deploy.settings.slack import CALLED as SLACK
from deploy.wiring.events import handled_topics, open_events
from deploy.wiring.gauges import event_gauges, site_gauges
from deploy.wiring.ingest_roles import Watching, indexer_role, indexing_checks, open_indexing, told
from deploy.wiring.navigation import open_navigator
from deploy.wiring.stores import Stores, open_stores
from ingest.model import Site
from ingest.ports import EventLog


def command(target: Target = None, config: Config = None, folder: Folder = None) -> None:
    settings = settings_of(config, folder, server=True)
    run(serve(settings, named_sites(settings, target), console))


async def serve(settings: Settings, sites: Sequence[Site], console: Console) -> None:
    """Until SIGINT or SIGTERM; what is in hand then is finished. Raises IngestError, BotError, SettingsError."""
    health = Health()
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serving(health.app, settings.http))
        stores = await stack.enter_async_context(open_stores(settings, "ritbot serve"))
        known = remember(settings, sites)
        indexed = dict(known.sites)  # grows by what is added
        events = await stack.enter_async_context(open_events(settings))
        service = await stack.enter_async_context(open_indexing(stores, events, indexed))
        navigator = await stack.enter_async_context(open_navigator(stores, known.languages()))
        watching = Watching(
            settings, sites, trees=stores.trees, events=events, parser=stores.parser, clock=stores.clock
        )

        def added(site: Site) -> None:
            indexed[site.name] = site
            watching.add(site)

        local = await stack.enter_async_context(open_local_answers(stores, navigator, indexing(stores, added)))
        talking = await stack.enter_async_context(_talking(stores, events, known))
        shown = await _web_routes(stack, stores, events, known)
        needed = {**indexing_checks(stores.trees, events, stores), **talking.checks}
        gauges = {**event_gauges(events, handled_topics(settings)), **site_gauges(stores.trees, indexed)}
        health.ready(needed, [*watching.routes(), *talking.routes, *shown], gauges)
        roles = [*watching.roles(), indexer_role(service), *local, *talking.roles]
        with stopped_by_signals() as stop:
            _say_hello(console, settings, sites, address, asks=bool(local))
            await run_roles(roles, stop, health)
    console.print(told(service.totals))


@asynccontextmanager
async def _talking(stores: Stores, events: EventLog, known: KnownSites) -> AsyncIterator[SlackRoles]:
    """Slack's listeners and the answer workers, where Slack is set up; else nothing."""
    if not stores.settings.slack.wanted:
        yield SlackRoles()
        return
    from deploy.wiring.bot_roles import open_talking  # its libraries take a moment to import

    async with open_talking(stores, events, known) as talking:
        yield talking


async def _web_routes(
    stack: AsyncExitStack, stores: Stores, events: EventLog, known: KnownSites
) -> Sequence[BaseRoute]:
    """The pages in a browser, where it is set under which address people reach them."""
    settings = stores.settings
    if settings.web.public_url is None:
        return ()
    from deploy.wiring.permalinks import finder, open_permalinks
    from deploy.wiring.web import open_web

    find = finder(stores.index.words, known.languages())
    permalinks = await stack.enter_async_context(open_permalinks(settings, stores.trees, find))
    return await stack.enter_async_context(open_web(settings, permalinks, stores.trees, events))


def _say_hello(console: Console, settings: Settings, sites: Sequence[Site], address: str, *, asks: bool) -> None:
    """Where it listens and what it watches, one line each, so that addresses can be copied."""
    console.print(Text("Serving. Ctrl-C ends.", style="bold"))
    lines = [("health", f"{address}/readyz")]
    if settings.http.hook_secret is not None:
        lines.append(("webhook", f"POST {address}{HOOK_PATH}"))
    if settings.slack.wanted:
        lines.append(("slack", "Socket Mode" if settings.slack.mode == "socket" else f"POST {address}{SLACK}"))
    if settings.web.public_url is not None:
        lines.append(("sections", f"{settings.web.public_url.rstrip('/')}{PREFIX}ID"))
    if asks:
        lines.append(("questions", f"ritbot ask, in another terminal ({settings.index.folder / NAME})"))
    lines += [("watches", f"{site.name} ({site.start})") for site in sites]
    for what, where in lines:
        console.print(Text(f"  {what:<10} {where}"), soft_wrap=True)
