"""Everything goes wrong at once, then nothing does: what the stores hold in the end, and what they should.

Rounds: the site changes, processes are killed and frozen, events come twice, late, and in other partitions, servers are
stopped and started again on the same data. What is chosen hangs on the seed alone; what the machine makes of it does not.

Watchers mend much of what an indexer might do wrong. So at last, without a watcher, all events are sent once more
in any order: to stores that have them they must mean nothing.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ingest.errors import IngestError
from ingest.events.codec import dump_event, load_dead, load_event
from ingest.events.topics import PAGES, dead_topic
from ingest.indexing.service import INDEXER_GROUP
from ingest.model import PageEvent
from ingest.ports import EventLog
from tests.chaos.changing_site import ChangingSite
from tests.chaos.fleet import Fleet, Heard
from tests.waiting import eventually

QUIET_CYCLES = 5
"""So many cycles in a row that find all as it should be: more than the longest pause between two looks at a page."""
_QUIET = {"same", "moved"}
"""Verdicts that may be given for ever: an address that leads to a page without content is followed each time."""
_RESTS_WITHIN = 600.0
"""On a busy machine too."""
_GLANCE = 0.2

Fault = Callable[[random.Random], Awaitable[str]]
"""Stops a server for a while, or spoils its answers; what it was, in a word."""


@dataclass(slots=True)
class Report:
    """`counts`: rounds, changes, kills and so on, by name. `wrong`: sentences on what is not as it should be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Storm:
    """`faults` of the servers by name, none for a column without servers. `report` grows as it goes on."""

    def __init__(
        self, site: ChangingSite, events: EventLog, heard: Heard, chance: random.Random, faults: dict[str, Fault]
    ) -> None:
        self._site = site
        self._events = events
        self._heard = heard
        self._chance = chance
        self._faults = faults
        self._poison: set[str] = set()
        """Keys of records that are no events; those of them that are in the log for certain."""
        self._poisoned: set[str] = set()
        self.report = Report()

    async def rage(self, fleet: Fleet, rounds: float, seconds: float) -> None:
        """So many rounds, or as many as fit."""
        until = time.monotonic() + seconds
        while self.report.counts["rounds"] < rounds and time.monotonic() < until:
            await self._round(fleet)
            self.report.counts["rounds"] += 1

    async def calm(self, fleet: Fleet) -> None:
        """The site is well again: wait until nothing is left to do, then stop."""
        self._site.recover()
        try:
            async with asyncio.timeout(_RESTS_WITHIN):
                await self._rest()
        except TimeoutError:
            last = dict(self._heard.cycles[-1]) if self._heard.cycles else "none"
            self.report.wrong.append(f"never comes to rest: lag {await self._lag()}, last cycle {last}")
        await fleet.stop()
        self.report.wrong += fleet.fallen

    async def echo(self, fleet: Fleet) -> None:
        """All events again in any order, in their own partitions and in others, while an indexer is killed."""
        events = await self._good()
        self._chance.shuffle(events)
        for number, event in enumerate(events):
            await self._again("echoes", event, f"{event.key}?echo" if number % 2 else event.key)
        victims = self._chance.sample(fleet.members, 1)
        await asyncio.gather(*(self._strike(fleet, victim, 1.0, 0.1) for victim in victims))
        try:
            await eventually(self._all_committed, within=_RESTS_WITHIN)
        except TimeoutError:
            self.report.wrong.append(f"{await self._lag()} records are not committed")
        await fleet.stop()
        self.report.wrong += fleet.fallen

    async def account(self) -> None:
        """No event is lost: the stores have every one, and only what was spoilt on purpose is among the dead letters."""
        good = {(event.key, event.seq) for event in await self._good()}
        dead = [load_dead(record.value) async for record in self._events.read(dead_topic(PAGES))]
        self.report.counts["events"] = len(good)
        self.report.counts["dead letters"] = len(dead)
        wrong = self.report.wrong
        wrong += [f"event {seq} of {key} is lost" for key, seq in sorted(good - self._heard.handled)]
        wrong += [f"dead letter of {d.record.key}: {d.reason}" for d in dead if d.record.key not in self._poison]
        spared = self._poisoned - {letter.record.key for letter in dead}
        wrong += [f"{key}, which is no event, is not among the dead letters" for key in sorted(spared)]

    # --- a round

    async def _round(self, fleet: Fleet) -> None:
        chance = self._chance
        pauses = [chance.uniform(0.0, 0.5) for _ in range(chance.randint(3, 10))]
        harm: list[Awaitable[None]] = [self._write(pauses), self._meddle(chance.random(), chance.random())]
        for victim in chance.sample(fleet.members, chance.randint(1, len(fleet.members))):
            harm.append(self._strike(fleet, victim, chance.random(), chance.uniform(0.0, 1.5)))
        for _, fault in sorted(self._faults.items()):
            if chance.random() < 0.35:
                harm.append(self._break(fault, random.Random(chance.random())))
        await asyncio.gather(*harm)

    async def _write(self, pauses: list[float]) -> None:
        """Change the site now and then, so that there is always work that can be interrupted."""
        for pause in pauses:
            self._site.change()
            self.report.counts["changes"] += 1
            await asyncio.sleep(pause)

    async def _strike(self, fleet: Fleet, victim: str, how: float, after: float) -> None:
        """Once it is at work, so that a kill costs it something."""
        with suppress(TimeoutError):
            await fleet.at_work(victim)
        await asyncio.sleep(after)
        if how < 0.2:
            await fleet.freeze(victim, 2.5)
            self.report.counts["freezes"] += 1
            return
        await fleet.kill(victim)
        await fleet.start(victim)
        self.report.counts["kills"] += 1

    async def _break(self, fault: Fault, chance: random.Random) -> None:
        self.report.counts[await fault(chance)] += 1

    async def _meddle(self, how: float, which: float) -> None:
        """Append again what is in the log already: as it was, after newer events, and in another partition."""
        number = self.report.counts["rounds"]
        try:
            events = await self._good()
            if events:
                newest, older = events[-1], events[int(which * len(events))]
                await self._again("duplicates", newest, newest.key)
                await self._again("reorders", older, older.key)
                await self._again("other partitions", older, f"{older.key}?{number}")
            if how < 0.1:
                key = f"poison {number}"
                self._poison.add(key)
                await self._events.append(PAGES, key, b"no event")
                self._poisoned.add(key)
        except IngestError:
            self.report.counts["refused by the log"] += 1

    async def _again(self, what: str, event: PageEvent, key: str) -> None:
        await self._events.append(PAGES, key, dump_event(event))
        self.report.counts[what] += 1

    # --- rest

    async def _rest(self) -> None:
        """Cycles that say nothing new, and nothing left to do before and after them."""
        cycles = self._heard.cycles
        while True:
            begun, sent = len(cycles), len(await self._good())
            while len(cycles) < begun + QUIET_CYCLES:  # noqa: ASYNC110 - they are cycles of other processes
                await asyncio.sleep(_GLANCE)
            quiet = not any(cycle.keys() - _QUIET for cycle in cycles[begun:])
            if quiet and await self._all_committed() and len(await self._good()) == sent:
                return

    async def _good(self) -> list[PageEvent]:
        """What the log holds, but for what is no event."""
        records = [record async for record in self._events.read(PAGES)]
        return [load_event(record.value) for record in records if record.key not in self._poison]

    async def _all_committed(self) -> bool:
        return await self._lag() == 0

    async def _lag(self) -> int:
        return await self._events.lag(PAGES, INDEXER_GROUP)
