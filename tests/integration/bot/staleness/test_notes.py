"""When a note is sent, and by whom: quiet hours, a limit a day, processes that die, Slack that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.errors import DeliveryFailed
from bot.model import ChangedSource, ChangeNote, ChannelSettings, Exchange
from bot.staleness.notes import MAX_ATTEMPTS, SENDING, ChangeNotes, NotePolicy
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from tests.fakes.exchanges import NOON, SetClock, answered
from tests.fakes.office import FakeDelivery

STALE = ChangedSource(1, "stale", ("n1",), NOON, "Once a year.", "Twice a year.")
HOUR = timedelta(hours=1)
ALWAYS = NotePolicy()


class Desk:
    """A store whose answers are stale, and whoever sends their notes."""

    def __init__(self, store: SqliteBotStore, clock: SetClock, policy: NotePolicy) -> None:
        self.store = store
        self.clock = clock
        self.policy = policy
        self.delivery = FakeDelivery()

    def worker(self) -> ChangeNotes:
        async def settings_of(team: str, channel: str) -> ChannelSettings:
            return ChannelSettings(team, channel)

        return ChangeNotes(self.store, self.delivery, self.clock, settings_of=settings_of, policy=self.policy)

    async def stale(self, number: int = 1) -> None:
        await self.store.keep(replace(answered(number), changed=(STALE,), note=ChangeNote(self.clock.now())), None)

    async def exchange(self, number: int = 1) -> Exchange:
        kept = await self.store.exchange(answered(number).question.id)
        assert kept is not None
        return kept.exchange

    def posted(self) -> int:
        return sum(len(notes) for _, notes in self.delivery.told.values())


@asynccontextmanager
async def desk(folder: Path, policy: NotePolicy = ALWAYS) -> AsyncIterator[Desk]:
    clock = SetClock()
    async with SqliteBotStore(folder / "bot.sqlite", KeySeal(()), clock) as store:
        yield Desk(store, clock, policy)


async def test_a_note_is_sent_once_and_is_due_no_more(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.stale()
        await asyncio.gather(*(here.worker().look() for _ in range(5)))
        await here.worker().look()
        assert (await here.exchange()).note == ChangeNote(ts="note")
        assert list(here.delivery.told.values()) == [([[1]], [["Twice a year."]])]


async def test_while_slack_does_not_answer_it_waits_and_in_the_end_is_given_up(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.stale()
        here.delivery.failing = [DeliveryFailed("down", passing=True)]
        await here.worker().look()
        assert (await here.exchange()).note == ChangeNote(NOON + SENDING, attempts=1)
        here.clock.time += SENDING
        await here.worker().look()
        assert here.posted() == 1
        await here.stale(2)
        here.delivery.failing = [DeliveryFailed("down", passing=True)] * MAX_ATTEMPTS
        for _ in range(MAX_ATTEMPTS):
            await here.worker().look()
            here.clock.time += SENDING
        assert (await here.exchange(2)).note == ChangeNote(unsent="down")


async def test_what_slack_refuses_for_good_is_not_tried_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.stale()
        here.delivery.failing = [DeliveryFailed("Slack refused: is_archived", passing=False)]
        await here.worker().look()
        assert (await here.exchange()).note == ChangeNote(unsent="Slack refused: is_archived")


async def test_whoever_died_over_a_note_leaves_it_to_the_next(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.stale()
        here.delivery.failing = [asyncio.CancelledError()]  # type: ignore[list-item]
        with pytest.raises(asyncio.CancelledError):
            await here.worker().look()
        await here.worker().look()
        assert here.posted() == 0
        here.clock.time += SENDING
        await here.worker().look()
        assert here.posted() == 1


class JudgedMeanwhile(FakeDelivery):
    """While it tells for the first time, another source of the answer is found to be stale."""

    def __init__(self, store: SqliteBotStore) -> None:
        super().__init__()
        self._store = store

    async def tell_changed(self, exchange: Exchange, *, post: bool) -> str:
        kept = None if self.told else await self._store.exchange(exchange.question.id)
        if kept:
            more = (STALE, replace(STALE, number=2))
            await self._store.keep(replace(kept.exchange, changed=more), kept.revision)
        return await super().tell_changed(exchange, post=post)


async def test_what_changed_while_the_note_was_sent_is_marked_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.stale()
        here.delivery = JudgedMeanwhile(here.store)
        await here.worker().look()
        assert list(here.delivery.told.values()) == [([[1], [1, 2]], [["Twice a year."]])]
        assert (await here.exchange()).note == ChangeNote(ts="note")


async def test_so_many_notes_a_day_and_the_others_the_day_after(tmp_path: Path) -> None:
    async with desk(tmp_path, NotePolicy(per_day=2)) as here:
        for number in (1, 2, 3):
            await here.stale(number)
        await here.worker().look()
        assert here.posted() == 2
        assert (await here.exchange(3)).note == ChangeNote(datetime(2026, 5, 2, tzinfo=UTC))
        here.clock.time += 12 * HOUR
        await here.worker().look()
        assert here.posted() == 3


async def test_in_quiet_hours_nothing_is_posted(tmp_path: Path) -> None:
    async with desk(tmp_path, NotePolicy(quiet=(11, 15))) as here:
        await here.stale()
        await here.worker().look()
        assert here.posted() == 0
        here.clock.time += 3 * HOUR
        await here.worker().look()
        assert here.posted() == 1


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("quiet", "zone", "hour", "until"),
    [
        ((0, 0), UTC, 3, None),
        ((7, 7), UTC, 7, None),
        ((22, 7), UTC, 21, None),
        ((22, 7), UTC, 22, datetime(2026, 5, 2, 7, tzinfo=UTC)),
        ((22, 7), UTC, 6, datetime(2026, 5, 1, 7, tzinfo=UTC)),
        ((22, 7), UTC, 7, None),
        ((9, 12), UTC, 11, datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ((22, 7), BERLIN, 20, datetime(2026, 5, 2, 5, tzinfo=UTC)),
        ((22, 7), BERLIN, 5, None),
    ],
)
def test_quiet_hours_are_of_the_clock_on_the_wall(
    quiet: tuple[int, int], zone: ZoneInfo, hour: int, until: datetime | None
) -> None:
    now = datetime(2026, 5, 1, hour, 30, 5, tzinfo=UTC)
    found = NotePolicy(quiet=quiet, zone=zone).quiet_until(now)
    assert found == until
