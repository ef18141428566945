"""The watch states of one site during a watch cycle, written through to the TreeStore after each look.

States are written whole and the last writer wins. That may cost a look too many or too few when two watch
at once, never a page: what is compared is always the record. Only what others write here meanwhile is
carried over: what someone asked for, and what the indexer has begun.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from ingest.ports import Clock, TreeStore, WatchState
from ingest.watch import schedule
from ingest.watch.schedule import Pace


class WatchStates:
    """`whole` is the state of the site itself; its `error` says why pages could not be listed, its `sent` how they
    were listed last."""

    def __init__(self, site: str, trees: TreeStore, clock: Clock, pace: Pace, chance: random.Random) -> None:
        self._site = site
        self._trees = trees
        self._clock = clock
        self.pace = pace
        self._chance = chance
        self._states: dict[str, WatchState] = {}
        self.whole = WatchState(schedule.site_key(site), site)

    async def read_whole(self) -> None:
        self.whole = await self._trees.watched(self.whole.key) or self.whole

    async def read_all(self) -> None:
        self._states = {state.key: state async for state in self._trees.watching(self._site)}
        self._states.pop(self.whole.key, None)

    async def read_due(self, until: datetime) -> list[WatchState]:
        """The pages that are due, and nothing else is read."""
        self._states = {state.key: state async for state in self._trees.due(self._site, until)}
        self._states.pop(self.whole.key, None)
        return list(self._states.values())

    async def look_up(self, key: str) -> WatchState:
        """Of a page that may be none of those that were read."""
        if key not in self._states:
            self._states[key] = await self._trees.watched(key) or WatchState(key, self._site)
        return self._states[key]

    def __iter__(self) -> Iterator[WatchState]:
        return iter(self._states.values())

    def now(self) -> datetime:
        return self._clock.now()

    def of(self, key: str) -> WatchState:
        return self._states.get(key) or WatchState(key, self._site)

    def asked(self) -> list[str]:
        """Keys of the pages that someone asked for by name and that were not looked at since."""
        nobody = WatchState(self.whole.key, self._site)
        return [state.key for state in self if schedule.is_asked(state, nobody, self.now())]

    async def kept(self, state: WatchState) -> None:
        await self._remember(schedule.kept(state, *self._when))

    async def announced(self, state: WatchState, sent: str) -> None:
        await self._remember(schedule.announced(state, sent, *self._when))

    async def missed(self, state: WatchState) -> WatchState:
        return await self._remember(schedule.missed(state, *self._when))

    async def failed(self, state: WatchState, error: str, retry_after: float | None = None) -> None:
        await self._remember(schedule.failed(state, error, retry_after, *self._when))

    async def held(self, state: WatchState, reason: str, to: str | None) -> None:
        await self._remember(schedule.held(state, reason, to, *self._when))

    async def turned(self, state: WatchState, reason: str, to: str | None) -> None:
        await self._remember(schedule.turned(state, reason, to, *self._when))

    async def left(self, state: WatchState, reason: str, *, counts: bool = True) -> None:
        """`counts`: against the guard, for the pages that would go within its window."""
        how = schedule.left if counts else schedule.removal_accepted
        await self._remember(how(state, reason, *self._when))

    async def rested(self, state: WatchState) -> None:
        await self._remember(schedule.rested(state, *self._when))

    async def waits(self, key: str, *, ask: bool) -> None:
        """The page is looked at again when the site is listed; `ask`: though no listing may name it."""
        state = self.of(key)
        asked_at = self._clock.now() if ask else state.asked_at
        await self._trees.watch(replace(state, due_at=self.whole.due_at, asked_at=asked_at))

    async def listed(self, began: datetime, seconds: float, problem: str | None, *, soon: bool) -> None:
        """The cycle that began then is over, and has looked at the site as a whole."""
        await self._remember(schedule.after_listing(self.whole, began, seconds, problem, self.pace, soon=soon))

    async def passed(self, began: datetime) -> None:
        """The cycle that began then is over, and has looked at pages that were due."""
        await self._remember(replace(self.whole, fetched_at=began))

    @property
    def _when(self) -> tuple[datetime, Pace, float]:
        return self._clock.now(), self.pace, self._chance.random()

    async def _remember(self, state: WatchState) -> WatchState:
        there = await self._trees.watched(state.key)
        if there:
            state = replace(state, asked_at=there.asked_at, begun=there.begun, begun_seq=there.begun_seq)
        await self._trees.watch(state)
        if state.key != self.whole.key:
            self._states[state.key] = state
        return state
