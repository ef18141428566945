"""The bot's part of the composition root."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.answering.retention import Retention
from bot.gaps.report import GapOwner
from bot.ports import BotStore, Editions, Gaps
from bot.store.sealing import KeySeal, LeftSealed
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_editions import SqliteEditions
from bot.store.sqlite_gaps import SqliteGaps
from deploy.settings.root import Settings
from deploy.wiring.stores import SystemClock

SQLITE_FILE = "bot.sqlite"
EDITIONS_FILE = "editions.sqlite"
GAPS_FILE = "gaps.sqlite"


def has_bot_store(settings: Settings) -> bool:
    """Whether there is one; a cluster's is made when it is needed."""
    return settings.stores.kind == "cluster" or (settings.index.folder / SQLITE_FILE).exists()


@asynccontextmanager
async def open_bot_store(settings: Settings, *, left_sealed: bool = False) -> AsyncIterator[BotStore]:
    """The column that the settings choose. Embedded: a file of its own in the data folder, which may be opened beside
    the process that holds the folder. `left_sealed`: tokens are taken and given as they are kept, which needs no key.
    Raises IngestError, BotError."""
    seal = LeftSealed() if left_sealed else KeySeal(settings.bot.sealing_keys)
    if settings.stores.kind == "cluster":
        from deploy.wiring.cluster_stores import open_cluster_bot_store  # its client takes a moment to import

        async with open_cluster_bot_store(settings, seal, SystemClock()) as cluster:
            yield cluster
        return
    folder = settings.index.folder
    folder.mkdir(parents=True, exist_ok=True)
    async with SqliteBotStore(folder / SQLITE_FILE, seal, SystemClock()) as sqlite:
        yield sqlite


@asynccontextmanager
async def open_editions(settings: Settings) -> AsyncIterator[Editions]:
    """As open_bot_store, a file or an index of its own. Raises IngestError."""
    if settings.stores.kind == "cluster":
        from deploy.wiring.cluster_stores import open_cluster_editions

        async with open_cluster_editions(settings) as cluster:
            yield cluster
        return
    settings.index.folder.mkdir(parents=True, exist_ok=True)
    async with SqliteEditions(settings.index.folder / EDITIONS_FILE) as sqlite:
        yield sqlite


@asynccontextmanager
async def open_gaps(settings: Settings) -> AsyncIterator[Gaps]:
    """As open_editions. Raises IngestError."""
    if settings.stores.kind == "cluster":
        from deploy.wiring.cluster_stores import open_cluster_gaps

        async with open_cluster_gaps(settings) as cluster:
            yield cluster
        return
    settings.index.folder.mkdir(parents=True, exist_ok=True)
    async with SqliteGaps(settings.index.folder / GAPS_FILE) as sqlite:
        yield sqlite


def gap_owners(settings: Settings) -> tuple[GapOwner, ...]:
    """As the settings name them, the first that fits counts."""
    return tuple(GapOwner(**owner.model_dump()) for owner in settings.gaps.owners)


def retention(settings: Settings, store: BotStore, editions: Editions, gaps: Gaps) -> Retention:
    return Retention(store, editions, gaps, SystemClock(), settings.bot.keep)
