"""How often handling a page was begun, across crashes.

A page can kill the process that handles it (the system's own memory limit does not ask first); the event then comes
again to the next process, and the next. Counting before each attempt is what ends that.
"""

from __future__ import annotations

from dataclasses import replace

from ingest.model import PageEvent
from ingest.ports import TreeStore, WatchState


class Attempts:
    """Kept in the page's watch state."""

    def __init__(self, trees: TreeStore) -> None:
        self._trees = trees

    async def begin(self, event: PageEvent) -> int:
        """An attempt begins; how many were begun before and came to no end. An event that the record has handled is not
        counted: it costs nothing."""
        stored = await self._trees.get(event.key)
        if stored and event.seq <= stored.record.seq:
            return 0
        state = await self._state(event)
        before = state.begun if state.begun_seq == event.seq else 0
        await self._trees.watch(replace(state, begun=before + 1, begun_seq=event.seq))
        return before

    async def end(self, event: PageEvent) -> None:
        """The event came to an end that left no mark in the record, or was given back unharmed."""
        state = await self._state(event)
        if state.begun and state.begun_seq == event.seq:
            await self._trees.watch(replace(state, begun=0))

    async def _state(self, event: PageEvent) -> WatchState:
        return await self._trees.watched(event.key) or WatchState(event.key, event.site)
