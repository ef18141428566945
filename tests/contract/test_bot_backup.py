"""The bot's store in a backup, from one adapter to another."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from bot.model import ChannelSettings
from bot.ports import BotStore
from bot.store.backup import bot_sections
from bot.store.sealing import KeySeal, LeftSealed, Seal
from bot.store.sqlite import SqliteBotStore
from ingest.backup.archive import check, put_back, write
from ingest.errors import BackupUnusable
from tests.contract.conftest import KEY, OpenBotStore
from tests.fakes.exchanges import NOON, TOKEN, SetClock, answered, installation, waiting

_T = TypeVar("_T")
SETTINGS = ChannelSettings("T1", "C1", ("docs",), mode="off", changed_by="U1", changed_at=NOON)


async def all_of(iterator: AsyncIterator[_T]) -> list[_T]:
    return [each async for each in iterator]


def other(folder: Path, seal: Seal) -> SqliteBotStore:
    return SqliteBotStore(folder / "other.sqlite", seal, SetClock())


async def backup_of(store: BotStore) -> io.BytesIO:
    file = io.BytesIO()
    await write(file, bot_sections(store), version="1", now=NOON)
    return file


async def test_all_comes_back_and_tokens_stay_sealed_on_the_way(open_bot_store: OpenBotStore, tmp_path: Path) -> None:
    exchanges = [answered(1), waiting(2, text="é 🦊"), answered(3, user="U2")]
    async with other(tmp_path, KeySeal([KEY])) as source:
        for exchange in exchanges:
            await source.keep(exchange, None)
        await source.set_channel(SETTINGS)
        await source.install(installation())
    async with other(tmp_path, LeftSealed()) as source:
        file = await backup_of(source)
        assert TOKEN not in str([line async for line in bot_sections(source)[2].lines])
    async with open_bot_store(seal=LeftSealed()) as target:
        counts = check(file, bot_sections(target))
        assert counts == Counter(exchanges=3, channels=1, installations=1)
        await put_back(file, bot_sections(target))
    async with open_bot_store() as target:
        assert await all_of(target.exchanges()) == exchanges
        assert await all_of(target.channels()) == [SETTINGS]
        assert await all_of(target.installations()) == [installation()]


async def test_what_is_there_already_is_left_as_it_is(open_bot_store: OpenBotStore, tmp_path: Path) -> None:
    async with other(tmp_path, LeftSealed()) as source, open_bot_store(seal=LeftSealed()) as target:
        for store, mode, scopes, exchange in (
            (source, "mention", (), waiting()),
            (target, "questions", ("commands",), answered()),
        ):
            await store.keep(exchange, None)
            await store.set_channel(replace(SETTINGS, mode=mode))
            await store.install(installation(scopes=scopes))
        file = await backup_of(source)
        for _ in range(2):
            await put_back(file, bot_sections(target))
        assert await all_of(target.exchanges()) == [answered()]
        assert await target.channel("T1", "C1") == replace(SETTINGS, mode="questions")
        assert await target.installation("", "T1") == installation(scopes=("commands",))


@pytest.mark.parametrize("section", ["exchanges", "channels", "installations"])
async def test_a_line_that_cannot_be_read_is_told_before_anything_is_put_back(section: str, tmp_path: Path) -> None:
    async def lines() -> AsyncIterator[bytes]:
        yield b'{"team":3}'

    async with other(tmp_path, LeftSealed()) as store:
        file = io.BytesIO()
        (spoilt,) = [replace(each, lines=lines()) for each in bot_sections(store) if each.name == section]
        await write(file, [spoilt], version="1", now=NOON)
        with pytest.raises(BackupUnusable, match=f"line 1 of '{section}'"):
            check(file, bot_sections(store))
