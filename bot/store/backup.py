"""What a backup holds of the bot's store: questions with their answers, channel settings, installations.

Tokens stay as the store keeps them where it was opened with LeftSealed: whoever restores needs the same key to use them.
Counters are of hours and days, and are left out.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from bot import codec
from bot.ports import BotStore
from ingest.backup.archive import BackupSection, Json
from ingest.errors import Conflict


def bot_sections(store: BotStore) -> Sequence[BackupSection]:
    """What stands in the store already is left as it is."""

    async def exchanges() -> AsyncIterator[Json]:
        async for exchange in store.exchanges():
            yield _line(codec.dump_exchange(exchange))

    async def channels() -> AsyncIterator[Json]:
        async for settings in store.channels():
            yield _line(codec.dump_channel(settings))

    async def installations() -> AsyncIterator[Json]:
        async for installation in store.installations():
            yield _line(codec.dump_installation(installation))

    async def keep(line: Json) -> None:
        try:
            await store.keep(codec.load_exchange(_bytes(line)), None)
        except Conflict:
            return

    async def set_channel(line: Json) -> None:
        settings = codec.load_channel(_bytes(line))
        if await store.channel(settings.team, settings.channel) is None:
            await store.set_channel(settings)

    async def install(line: Json) -> None:
        installation = codec.load_installation(_bytes(line))
        if await store.installation(installation.enterprise, installation.team) is None:
            await store.install(installation)

    return [
        BackupSection("exchanges", exchanges(), lambda line: codec.load_exchange(_bytes(line)), keep),
        BackupSection("channels", channels(), lambda line: codec.load_channel(_bytes(line)), set_channel),
        BackupSection("installations", installations(), lambda line: codec.load_installation(_bytes(line)), install),
    ]


def _line(data: bytes) -> Json:
    line: dict[str, Any] = json.loads(data)
    return line


def _bytes(line: Json) -> bytes:
    return json.dumps(line).encode()
