"""What a backup holds of the bot's stores: questions with their answers, channel settings, installations, texts of sections,
gaps.

Tokens stay as the store keeps them where it was opened with LeftSealed: whoever restores needs the same key to use them.
Counters are of hours and days, and are left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

from bot import codec
from bot.gaps.gap import Gap
from bot.model import ChannelSettings, Edition, Exchange, Installation
from bot.ports import BotStore, Editions, Gaps
from ingest.backup.archive import BackupSection, Sections
from ingest.errors import Conflict


def bot_sections(store: BotStore) -> Sections:
    """What stands in the store already is left as it is."""

    async def exchanges() -> AsyncIterator[bytes]:
        async for exchange in store.exchanges():
            yield codec.dump_exchange(exchange)

    async def channels() -> AsyncIterator[bytes]:
        async for settings in store.channels():
            yield codec.dump_channel(settings)

    async def installations() -> AsyncIterator[bytes]:
        async for installation in store.installations():
            yield codec.dump_installation(installation)

    async def keep(exchange: Exchange) -> None:
        with suppress(Conflict):
            await store.keep(exchange, None)

    async def set_channel(settings: ChannelSettings) -> None:
        if await store.channel(settings.team, settings.channel) is None:
            await store.set_channel(settings)

    async def install(installation: Installation) -> None:
        if await store.installation(installation.enterprise, installation.team) is None:
            await store.install(installation)

    return [
        BackupSection("exchanges", exchanges(), codec.load_exchange, keep),
        BackupSection("channels", channels(), codec.load_channel, set_channel),
        BackupSection("installations", installations(), codec.load_installation, install),
    ]


def edition_section(editions: Editions) -> BackupSection[Edition]:
    async def lines() -> AsyncIterator[bytes]:
        async for edition in editions.all():
            yield codec.dump_edition(edition)

    async def keep(edition: Edition) -> None:
        await editions.keep([edition])

    return BackupSection("editions", lines(), codec.load_edition, keep)


def gap_section(gaps: Gaps) -> BackupSection[Gap]:
    """What stands in the store already is left as it is."""

    async def lines() -> AsyncIterator[bytes]:
        async for gap in gaps.all():
            yield codec.dump_gap(gap)

    async def keep(gap: Gap) -> None:
        with suppress(Conflict):
            await gaps.keep(gap, None)

    return BackupSection("gaps", lines(), codec.load_gap, keep)
