"""The pages that would leave a site, weighed together: all of them go, or none does until someone accepts it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

import structlog

from ingest.events.announce import Announcer
from ingest.ports import TreeStore, WatchState
from ingest.watch.removal_guard import Guard
from ingest.watch.watch_states import WatchStates

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Loss:
    """A live page that would go for `reason`; `to` is the URL of the live page that it leads to now, if it does."""

    state: WatchState
    reason: str
    to: str | None = None


class Removals:
    """Collects losses during a tick. What left within the guard's window counts too, so that a site cannot vanish
    in small steps; what was accepted does not."""

    def __init__(
        self,
        site: str,
        trees: TreeStore,
        ledger: WatchStates,
        announcer: Announcer,
        guard: Guard,
        live: Collection[str],
    ) -> None:
        self._site = site
        self._trees = trees
        self._ledger = ledger
        self._announcer = announcer
        self._guard = guard
        self._live = live
        self._losses: dict[str, Loss] = {}
        self._missing: dict[str, WatchState] = {}

    def miss(self, state: WatchState) -> None:
        """Nothing is there, for now; it is not lost yet."""
        self._missing[state.key] = state

    def __contains__(self, key: str) -> bool:
        """Whether nothing was found where this page was."""
        return key in self._losses or key in self._missing

    def lose(self, state: WatchState, reason: str, to: str | None = None) -> None:
        self._losses[state.key] = Loss(state, reason, to)

    def found_again(self, key: str) -> WatchState:
        """The page did not go: it moved."""
        missing, loss = self._missing.pop(key, None), self._losses.pop(key, None)
        return missing or (loss.state if loss else self._ledger.of(key))

    async def weigh(self) -> tuple[int, int]:
        """Let the pages go or hold them back; how many went, and how many are held."""
        for state in [state for state in self._ledger if state.going and state.key not in self._live]:
            await self._ledger.kept(state)  # it went by another way meanwhile
        held = {s.key: s for s in self._ledger if s.going and s.key in self._live and s.key not in self._losses}
        going = {*self._losses, *held}
        if not going:
            return 0, 0
        since = self._ledger.now() - timedelta(seconds=self._ledger.pace.window)
        left = {s.key for s in self._ledger if s.left_at and s.left_at >= since} - going
        if self._guard.holds(len(going) + len(left), len({*self._live, *left})):
            for loss in self._losses.values():
                await self._ledger.held(loss.state, loss.reason, loss.to)
            log.warning("removals_held_back", site=self._site, pages=len(going), live=len(self._live))
            return 0, len(going)
        silent = {key for key, state in held.items() if state.failures}  # these have not answered since
        losses = [*self._losses.values(), *(_loss(held[key]) for key in held.keys() - silent)]
        for loss in sorted(losses, key=lambda loss: loss.state.key):
            await announce_loss(self._announcer, self._trees, self._site, loss)
            await self._ledger.left(loss.state, loss.reason)
        return len(losses), len(silent)


def _loss(state: WatchState) -> Loss:
    return Loss(state, state.going or "", state.going_to)


async def announce_loss(announcer: Announcer, trees: TreeStore, site: str, loss: Loss) -> None:
    """A page that leads to a live one is only looked at again: the indexer then follows it there. Of one that goes, a
    copy lives on under its ids."""
    key = loss.state.key
    if loss.to:
        await announcer.changed(site, key)
        return
    for copy in await trees.aliases(key):
        await announcer.changed(site, copy, moved_from=key)
    await announcer.removed(site, key, loss.reason)
