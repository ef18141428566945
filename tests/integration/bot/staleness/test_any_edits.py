"""Whatever is done to the documentation, and however its events come: every answer whose words went is found, none whose words
stand is called stale, and each is told once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import ChannelSettings, Exchange
from bot.staleness.judging import STALENESS_GROUP, Judge, Staleness
from bot.staleness.notes import ChangeNotes, NotePolicy
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from deploy.wiring.stores import SystemClock
from ingest.events.announce import tell_nodes
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import NODES
from navigator.answer import Answer, CitedSource
from navigator.retrieval.passages import passage
from tests.fakes.edited_docs import EDITS, MEMORY, Edit, EditedSite, edited_site, words_of
from tests.fakes.exchanges import SetClock, answered
from tests.waiting import eventually

WAIT = timedelta(minutes=15)


@dataclass
class Told:
    """An event log that keeps what it is told, for whoever delivers it; and a delivery that counts the notes posted."""

    events: list[tuple[str, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    async def append(self, _: str, key: str, value: bytes) -> None:
        self.events.append((key, value))

    async def tell_changed(self, exchange: Exchange, *, post: bool) -> str:
        self.notes += [exchange.question.id] * post
        return f"{len(self.notes)}.0" if post else ""


async def cited(site: EditedSite) -> list[tuple[Exchange, str]]:
    """An answer for each section, which quotes its second sentence."""
    found = []
    located = await site.trees.nodes([node.id for node in await site.nodes()])
    for number, each in enumerate(located.values(), 1):
        words = words_of(each.node.text)[1]
        read = passage(each, number, ("Docs",))
        citation = replace(read.cite(1), quote=words)
        told = answered(number)
        answer: Answer = replace(
            told.answer, sources=(CitedSource(1, (citation,)),), trace=replace(told.answer.trace, passages=(read,))
        )
        found.append((replace(told, answer=answer), words))
    return found


async def answers_after(edits: list[Edit], deliveries: list[int], folder: Path) -> None:
    """`deliveries`: after each edit, from how far back events are delivered (again); -1: not yet."""
    told, clock = Told(), SetClock()
    log: Any = told
    async with (
        edited_site(folder, tell_nodes(log)) as site,
        SqliteEventLog(folder / "events", SystemClock()) as events,
        SqliteBotStore(folder / "bot", KeySeal([]), clock) as store,
    ):
        kept = await cited(site)
        told.events.clear()
        for exchange, _ in kept:
            await store.keep(exchange, None)
        service = Staleness(events, store, Judge(site.trees), clock, wait=WAIT)
        running = asyncio.create_task(service.run())

        async def deliver(back: int) -> None:
            for key, value in told.events[max(0, len(told.events) - back) :]:
                await events.append(NODES, key, value)

        async def settled() -> bool:
            return not await events.lag(NODES, STALENESS_GROUP)

        for number, edit in enumerate(edits):
            before = len(told.events)
            await site.edit(number, edit)
            if deliveries[number] >= 0:
                await deliver(len(told.events) - before + deliveries[number])
        await deliver(len(told.events))  # at least once, and in the end all of them
        await eventually(settled)
        service.stop()
        await running

        stands = await site.living()
        lost = set()
        for exchange, words in kept:
            after = await store.exchange(exchange.question.id)
            assert after
            stale = any(source.stale for source in after.exchange.changed)
            assert stale == (not stands.get(words)), (words, after.exchange.changed)
            lost |= {exchange.question.id} if stale else set()
        clock.time += WAIT + WAIT
        delivery: Any = told

        async def channel(team: str, channel: str) -> ChannelSettings:
            return ChannelSettings(team, channel)

        senders = [
            ChangeNotes(store, delivery, clock, settings_of=channel, policy=NotePolicy(per_day=0)) for _ in range(2)
        ]
        await asyncio.gather(*(sender.look() for sender in senders))
        assert sorted(told.notes) == sorted(lost)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(EDITS, st.integers(-1, 6)), min_size=1, max_size=6))
def test_every_stale_answer_is_found_and_no_other_and_told_once(edits: list[tuple[Edit, int]]) -> None:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        asyncio.run(answers_after([edit for edit, _ in edits], [back for _, back in edits], Path(folder)))
