"""Retention: what is too old goes, hour after hour."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

from bot.answering.retention import Retention
from bot.gaps.gap import Gap
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_editions import SqliteEditions
from bot.store.sqlite_gaps import SqliteGaps
from ingest.errors import StoreUnavailable
from tests.fakes.editions import NODE, edition
from tests.fakes.exchanges import NOON, SetClock, waiting

DAY = timedelta(days=1)
SOON = 20.0


class Expiring(SqliteBotStore):
    """Says when it has been asked; fails as often as it is told."""

    failures = 0

    def __init__(self, folder: Path, clock: SetClock) -> None:
        super().__init__(folder / "bot.sqlite", KeySeal([]), clock)
        self.befores: asyncio.Queue[datetime] = asyncio.Queue()

    async def expire(self, before: datetime) -> int:
        await self.befores.put(before)
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        return await super().expire(before)

    async def rounds(self, before: datetime) -> None:
        """Until a round with this time has ended: the next one has begun."""
        while await self.befores.get() != before:
            pass
        await self.befores.get()


async def test_what_is_older_than_the_days_kept_goes_at_once_and_round_after_round(tmp_path: Path) -> None:
    clock = SetClock(NOON + 90 * DAY)
    async with (
        Expiring(tmp_path, clock) as store,
        SqliteEditions(tmp_path / "texts") as texts,
        SqliteGaps(tmp_path / "gaps") as gaps,
        asyncio.timeout(SOON),
    ):
        for number in (-1, 0, 1):
            await store.keep(waiting(number), None)
        await gaps.keep(Gap("g", NOON), None)
        await texts.keep([edition(kept_at=NOON - DAY), edition((), kept_at=NOON - DAY, linked=True)])
        retention = Retention(store, texts, gaps, clock, keep=90 * DAY, every=0.01)
        running = asyncio.create_task(retention.run())
        await store.rounds(NOON)
        assert await store.exchange(waiting(-1).question.id) is None
        assert await store.exchange(waiting(0).question.id)
        assert await gaps.gap("g") is None
        assert [text.linked for text in await texts.of(NODE)] == [True]
        clock.time += DAY
        await store.rounds(NOON + DAY)
        assert await store.exchange(waiting(1).question.id) is None
        retention.stop()
        await running


async def test_a_store_that_is_away_is_asked_again_in_the_next_round(tmp_path: Path) -> None:
    clock = SetClock(NOON + 2 * DAY)
    async with (
        Expiring(tmp_path, clock) as store,
        SqliteEditions(tmp_path / "texts") as texts,
        SqliteGaps(tmp_path / "gaps") as gaps,
        asyncio.timeout(SOON),
    ):
        store.failures = 2
        await store.keep(waiting(), None)
        retention = Retention(store, texts, gaps, clock, keep=DAY, every=0.01)
        running = asyncio.create_task(retention.run())
        for _ in range(4):
            await store.befores.get()
        assert await store.exchange(waiting().question.id) is None
        retention.stop()
        await running


async def test_it_stops_at_once_though_the_next_round_is_far(tmp_path: Path) -> None:
    async with (
        Expiring(tmp_path, SetClock()) as store,
        SqliteEditions(tmp_path / "texts") as texts,
        SqliteGaps(tmp_path / "gaps") as gaps,
        asyncio.timeout(SOON),
    ):
        retention = Retention(store, texts, gaps, SetClock(), keep=DAY)
        running = asyncio.create_task(retention.run())
        await store.befores.get()
        retention.stop()
        await running
        assert store.befores.empty()


async def test_stopped_before_it_began_it_does_nothing(tmp_path: Path) -> None:
    async with (
        Expiring(tmp_path, SetClock()) as store,
        SqliteEditions(tmp_path / "texts") as texts,
        SqliteGaps(tmp_path / "gaps") as gaps,
        asyncio.timeout(SOON),
    ):
        retention = Retention(store, texts, gaps, SetClock(), keep=DAY)
        retention.stop()
        await retention.run()
        assert store.befores.empty()
