"""The whole bot as one process runs it, on a small indexed site and a fake Slack: listeners, event log, answer workers.

async with bot(tmp_path, slack) as ritbot:
    question = await ada.mention(general, "How do I prime a pump?")
    await ritbot.answered(question)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from bot.answering.service import ANSWER_GROUP, AnswerService
from bot.events import QUESTIONS_TOPIC
from bot.model import Exchange
from bot.ports import BotStore, Gaps
from bot.slack.inbound.http_mode import EVENTS_PATH
from bot.store.sealing import KeySeal, Seal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_gaps import SqliteGaps
from deploy.serving.http import serving
from deploy.serving.roles import SlackRoles
from deploy.settings.bot import AnswersSettings
from deploy.settings.index import IndexSettings
from deploy.settings.known_sites import KnownSites
from deploy.settings.model import ModelSettings
from deploy.settings.process import HttpSettings
from deploy.settings.root import Settings
from deploy.settings.slack import SlackSettings
from deploy.wiring.bot_roles import (
    answer_role,
    gap_roles,
    open_answering,
    open_listening,
    open_workspaces,
    slack_delivery,
    staleness_roles,
)
from deploy.wiring.permalinks import finder, open_permalinks
from deploy.wiring.stores import Stores, SystemClock
from ingest.errors import StoreUnavailable
from ingest.events.announce import tell_nodes
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import EventLog
from tests.fakes.messages_api import MessagesApi
from tests.fakes.notes import MemoryNotes
from tests.fakes.site import IndexedSite, ParseHere, html, indexed_site
from tests.fakes.slack import Channel, FakeSlack, Message
from tests.waiting import WITHIN_SECONDS, eventually

PUMPS = "https://docs.example.test/pumps.html"
PAGES = {
    PUMPS: html(
        "Pumps",
        "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>Fill the pump with water first.</p><pre>pump --prime</pre>"
        "<h2 id='seal'>Seals</h2><p>Grease the seal twice a year.</p>",
    ),
    "https://docs.example.test/valves.html": html("Valves", "<p>Valves open and shut.</p>"),
}


class Log:
    """The event log, whose appends fail while it is `down`."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self.down = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._events, name)

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        if self.down:
            raise StoreUnavailable("the log is down")
        await self._events.append(topic, key, value)


@dataclass
class Bot:
    """The parts that tests look at."""

    slack: FakeSlack
    site: IndexedSite
    store: BotStore
    events: Log
    listening: SlackRoles
    answering: AnswerService | None
    gaps: Gaps

    async def exchanges(self) -> list[Exchange]:
        return [exchange async for exchange in self.store.exchanges()]

    async def until(self, condition: Callable[[list[Exchange]], object], patience: float = WITHIN_SECONDS) -> None:
        """Wait until it holds of all exchanges."""

        async def holds() -> bool:
            return bool(condition(await self.exchanges()))

        await eventually(holds, patience)

    async def over(self, count: int, patience: float = WITHIN_SECONDS) -> list[Exchange]:
        """All exchanges, once so many are over."""
        await self.until(lambda exchanges: sum(exchange.over for exchange in exchanges) >= count, patience)
        return await self.exchanges()

    async def idle(self) -> None:
        """Wait until every question in the log has been dealt with."""

        async def none_waits() -> bool:
            return await self.events.lag(QUESTIONS_TOPIC, ANSWER_GROUP) == 0

        await eventually(none_waits)

    async def settings_kept(self, channel: Channel) -> None:
        """Wait until the channel has settings of its own."""
        await eventually(lambda: self.store.channel(channel.team, channel.id))

    async def answered(self, question: Message, channel: Channel, count: int = 1) -> list[Message]:
        """What ritbot said in the thread of the question, once it has said so many messages that are finished."""

        def said() -> list[Message]:
            return [
                message
                for message in self.slack.thread(channel, question)
                if message.user == self.slack.installed_in(channel).bot_user and not message.streaming
            ]

        await self.slack.until(lambda: len(said()) >= count and all(message.blocks for message in said()))
        await self.over(1)
        return said()


OpenColumn = Callable[[], AbstractAsyncContextManager[tuple[EventLog, BotStore]]]
SLACK = SlackSettings.model_fields


def settings(folder: Path, slack: FakeSlack, **changes: Any) -> Settings:
    """`changes`: sections to replace, and single settings of [slack]."""
    own = {name: changes.pop(name) for name in tuple(changes) if name in SLACK}
    sections: dict[str, Any] = {
        "index": IndexSettings(folder=folder),
        "model": ModelSettings(provider="extractive", extract_threshold=0.05),
        "slack": slack_settings(slack, **own),
        "answers": AnswersSettings(timeout=20),
    }
    return Settings(**{**sections, **changes})


def slack_settings(slack: FakeSlack, **changes: Any) -> SlackSettings:
    tokens = {"bot_token": slack.bot_token, "app_token": slack.app_token, "api_url": slack.base_url}
    return SlackSettings(**{**tokens, **changes})


def written(api: MessagesApi, *, timeout: float = 5) -> ModelSettings:
    """A model that writes its answers, behind a scripted Messages API."""
    return ModelSettings(
        provider="anthropic", api_key="key", base_url=api.url, retries=0, timeout=timeout, citations=True
    )


@asynccontextmanager
async def files(folder: Path, seal: Seal) -> AsyncIterator[tuple[EventLog, BotStore]]:
    clock = SystemClock()
    async with (
        SqliteEventLog(folder / "events.sqlite", clock) as events,
        SqliteBotStore(folder / "bot.sqlite", seal, clock) as store,
    ):
        yield events, store


@asynccontextmanager
async def bot(
    folder: Path,
    slack: FakeSlack,
    *,
    answers: bool = True,
    limits: AnswersSettings | None = None,
    pages: Mapping[str, str | int | tuple[int, str]] | None = None,
    shared: Path | None = None,
    column: OpenColumn | None = None,
    **changes: Any,
) -> AsyncIterator[Bot]:
    """`answers` False: it listens, and nobody answers. `limits`: the section [answers]. `shared`: where the event log and the bot's store are, for
    several replicas; `column` opens others. `changes`: as for `settings`."""
    chosen = settings(folder, slack, **({"answers": limits} if limits else {}), **changes)
    shared = shared or folder
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240
    async with AsyncExitStack() as stack:
        log, store = await stack.enter_async_context(
            column() if column else files(shared, KeySeal(chosen.bot.sealing_keys))
        )
        events = Log(log)
        site = await stack.enter_async_context(indexed_site(folder, pages or PAGES, tell=tell_nodes(events)))
        known = KnownSites(folder / "sites.json", {site.site.name: site.site}, {})
        stores = Stores(
            chosen,
            site.trees,
            site.index,
            site.embedder,
            SystemClock(),
            rebuild=False,
            notes=MemoryNotes(),
            parser=ParseHere(),
        )
        workspaces = await stack.enter_async_context(open_workspaces(chosen, store))
        permalinks = await stack.enter_async_context(
            open_permalinks(chosen, site.trees, finder(stores.index.words, ["en"]))
        )
        gaps = await stack.enter_async_context(SqliteGaps(shared / "gaps.sqlite"))
        listening = await stack.enter_async_context(
            open_listening(chosen, events, store, gaps, workspaces, site.trees, permalinks, known)
        )
        answering, roles = None, [*listening.roles]
        if answers:
            delivery = slack_delivery(chosen, store, workspaces)
            answering = await stack.enter_async_context(open_answering(stores, events, store, delivery, known))
            roles += [answer_role(answering), *staleness_roles(stores, events, store, delivery, every=0.05)]
            roles += gap_roles(stores, events, store, gaps, answering, workspaces, every=0.05, wait=timedelta(0))
        runs, stops = [role.run for role in roles], [role.stop for role in roles]
        running = [asyncio.create_task(run()) for run in runs]
        try:
            if listening.roles:
                connecting = asyncio.create_task(slack.socket.connected())
                await asyncio.wait({connecting, *running}, return_when=asyncio.FIRST_COMPLETED)
                connecting.cancel()
            yield Bot(slack, site, store, events, listening, answering, gaps)
        finally:
            for stop in stops:
                if stop:
                    stop()
            await asyncio.gather(*running)


@asynccontextmanager
async def over_http(folder: Path, slack: FakeSlack, **changes: Any) -> AsyncIterator[tuple[Bot, str]]:
    """The bot behind a server of its own, and the address of that server, which the fake calls from now on. `changes`:
    as for `bot`."""
    own = {"mode": "http", "app_token": None, "signing_secret": slack.signing_secret}
    async with (
        bot(folder, slack, **{**own, **changes}) as ritbot,
        serving(Starlette(routes=list(ritbot.listening.routes)), HttpSettings(port=0)) as address,
    ):
        slack.over_http(address + EVENTS_PATH)
        yield ritbot, address
