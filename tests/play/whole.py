"""The whole bot on the fake Slack: a folder of HTML indexed, its listeners and answer workers, as its commands run them."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo

from pydantic import SecretStr
from rich.console import Console

from bot.gaps.digest import HOUR
from bot.slack.inbound.app import CITE_SHORTCUT, SHORTCUT
from bot.web.sign_in import SIGNED_IN_PATH
from deploy.commands.documents.index import index_sites
from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.roles import Role, run_roles
from deploy.settings.gaps import Day, GapsSettings, OwnerSettings
from deploy.settings.known_sites import known_sites
from deploy.settings.process import HttpSettings
from deploy.settings.root import Settings
from deploy.settings.web import WebSettings
from deploy.wiring.bot_roles import (
    answer_role,
    gap_roles,
    open_answering,
    open_listening,
    open_workspaces,
    slack_delivery,
    staleness_roles,
)
from deploy.wiring.bot_store import open_bot_store, open_gaps
from deploy.wiring.events import open_events
from deploy.wiring.ingest_roles import Watching, indexer_role, open_indexing
from deploy.wiring.permalinks import finder, open_permalinks
from deploy.wiring.stores import open_stores
from deploy.wiring.web import open_web
from ingest.errors import IndexMismatch
from ingest.model import Site
from tests.play.page import PEOPLE, Play

DAY_ZONES = ("UTC", "Etc/GMT-9")
"""In one of them it is the time of day at which digests are sent, at any moment."""
SHORTCUTS = {SHORTCUT: "Answer from docs", CITE_SHORTCUT: "Cite a section"}


def site_name(docs: Path) -> str:
    """What the site of these docs is called: after the folder, or the one above where that says nothing."""
    names = [re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") for name in reversed(docs.resolve().parts)]
    return next(
        (name for name in names if name not in ("", "html", "build", "dist", "site", "public", "_build", "out")), "docs"
    )


def play_on(docs: Path, port: int) -> Play:
    """A workspace with a page that serves these docs too. Not yet entered."""
    return Play(port=port, docs=docs, shortcuts=SHORTCUTS)


def settings_on(slack: Play, settings: Settings, pages: str) -> Settings:
    """These settings with the workspace's address and tokens, and the address of `pages` of sections. The first person manages
    all channels, and a group of both is whom "Ask a person" pings. #platform hears of gaps. Whoever opens a page is signed in
    as the first person, who operates ritbot, too."""
    people = [slack.person(name) for name in PEOPLE]
    connected = {
        "bot_token": SecretStr(slack.bot_token),
        "app_token": SecretStr(slack.app_token),
        "api_url": slack.base_url,
        "mode": "socket",
        "proxy": None,
        "person": slack.group("docs-team", *people),
        "managers": (people[0].id,),
        "client_id": slack.client_id,
        "client_secret": SecretStr(slack.client_secret),
    }
    slack.sign_in.redirect_urls, slack.sign_in.browser = {f"{pages}{SIGNED_IN_PATH}"}, people[0].user
    zone = next(name for name in DAY_ZONES if datetime.now(ZoneInfo(name)).hour >= HOUR)
    today = get_args(Day)[datetime.now(ZoneInfo(zone)).weekday()]
    owner = OwnerSettings(pattern="", name="Writers", channel=slack.channel("platform").id)
    changed = {
        "slack": settings.slack.model_copy(update=connected),
        "web": WebSettings(public_url=pages, access="slack", operators=(people[0].id,)),
        # Nobody waits here for the end of a day's edits, nor of a week of questions.
        "stale": settings.stale.model_copy(update={"wait_minutes": 0, "time_zone": zone}),
        "gaps": GapsSettings(owners=(owner,), digest=today),
    }
    return settings.model_copy(update=changed)


async def index_docs(slack: Play, settings: Settings, docs: Path, console: Console) -> None:
    """Bring the index in step with the folder. Raises IngestError."""
    site = Site(site_name(docs), str(docs.resolve()), base_url=slack.docs_url)  # noqa: ASYNC240  # a path, no file
    try:
        await index_sites(settings, [site], console, accept=True)
    except IndexMismatch:  # left behind by an older ritbot
        await index_sites(settings, [site], console, accept=True, rebuild=True)


@asynccontextmanager
async def playing(docs: Path, plain: Settings) -> AsyncIterator[Play]:
    """All of it, running, at any port."""
    health = Health()
    async with play_on(docs, 0) as slack, serving(health.app, HttpSettings(port=0)) as pages:
        settings = settings_on(slack, plain, pages)
        await index_docs(slack, settings, docs, Console(file=io.StringIO()))
        async with open_bot(settings, health) as roles:
            stop = asyncio.Event()
            running = asyncio.create_task(run_roles(roles, stop, health))
            try:
                yield slack
            finally:
                stop.set()
                await running


@asynccontextmanager
async def open_bot(settings: Settings, health: Health) -> AsyncIterator[list[Role]]:
    """What runs, not yet running: the folder is watched, too, so that what is edited there is told. `health` serves the
    pages of sections. Raises IngestError, BotError."""
    known = known_sites(settings, settings.index.folder)
    async with (
        open_stores(settings, "make play") as stores,
        open_events(settings) as events,
        open_bot_store(settings) as store,
        open_gaps(settings) as gaps,
        open_workspaces(settings, store) as workspaces,
        open_permalinks(settings, stores.trees, finder(stores.index.words, known.languages())) as permalinks,
        open_web(settings, permalinks, stores.trees, events) as pages,
        open_indexing(stores, events, known.sites) as indexing,
        open_listening(settings, events, store, gaps, workspaces, stores.trees, permalinks, known) as listening,
        open_answering(
            stores, events, store, delivery := slack_delivery(settings, store, workspaces), known
        ) as service,
    ):
        sites = list(known.sites.values())
        watching = Watching(
            settings, sites, trees=stores.trees, events=events, parser=stores.parser, clock=stores.clock
        )
        health.ready({}, pages)
        told = staleness_roles(stores, events, store, delivery, every=1.0)
        told += gap_roles(stores, events, store, gaps, service, workspaces, every=1.0, wait=timedelta())
        yield [*listening.roles, answer_role(service), *watching.roles(), indexer_role(indexing), *told]
