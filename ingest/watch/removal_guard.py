"""The pages that would leave a site, weighed together: all of them go, or none does until someone accepts it. A site that
is half broken must not take the index with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import structlog

from ingest.events.announce import Announcer, moved_to
from ingest.ports import TreeStore, WatchState
from ingest.text.likeness import brief
from ingest.urls import page_key
from ingest.watch.watch_states import WatchStates

log = structlog.get_logger()

NOT_IN_FOLDER = "no longer in the folder"
NOT_OF_SITE = "no longer part of the site"


@dataclass(frozen=True, slots=True)
class Guard:
    """Nothing goes if more than `share` of a site's live pages, and more than `pages`, would go."""

    share: float = 0.10
    pages: int = 5

    def holds(self, going: int, live: int) -> bool:
        return going > self.pages and going > self.share * live

    def stops(self, turned: int, live: int) -> bool:
        """Whether so many pages answer with something else that nothing of the site is believed."""
        return turned > self.share * live


class Job(NamedTuple):
    """What is to be done about a page, apart from all other pages: `do` announces it and then writes down that it did."""

    state: WatchState
    do: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Loss:
    """A live page that would go for `reason`; `to` is the URL of the live page that it leads to now, if it does."""

    state: WatchState
    reason: str
    to: str | None = None


class Removals:
    """Collects losses during a watch cycle. What left within the guard's window counts too, so that a site cannot vanish
    in small steps; what was accepted does not. `accept`: all go, however many."""

    def __init__(
        self,
        site: str,
        trees: TreeStore,
        states: WatchStates,
        announcer: Announcer,
        guard: Guard,
        live: Collection[str],
        *,
        accept: bool = False,
    ) -> None:
        self._site = site
        self._trees = trees
        self._states = states
        self._announcer = announcer
        self._guard = guard
        self._live = live
        self._accept = accept
        self._losses: dict[str, Loss] = {}
        self._missing: dict[str, WatchState] = {}
        self.gone: list[tuple[str, str]] = []
        """Pages that were announced as gone, each with the reason."""
        self.held: list[tuple[str, str]] = []
        """Pages that would go, each with the reason, but are held back."""

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
        return missing or (loss.state if loss else self._states.of(key))

    async def weigh(self) -> list[Job]:
        """The pages that go, or none, and then they are held back. What was held back earlier and was not looked at since
        counts, but does not go: it may be there again."""
        states = self._states
        for state in [state for state in states if state.going and state.key not in self._live]:
            await states.kept(state)  # it went by another way meanwhile
        held = {s.key: s for s in states if s.going and s.turned is None and s.key in self._live}
        held = {key: state for key, state in held.items() if key not in self._losses}
        going = {*self._losses, *held}
        now = states.now()
        since = now - timedelta(seconds=states.pace.window)
        left = {s.key for s in states if s.left_at and since <= s.left_at <= now} - going
        losses = [*self._losses.values(), *map(held_loss, held.values())]
        if not self._accept and self._guard.holds(len(going) + len(left), len({*self._live, *left})):
            for loss in self._losses.values():
                await states.held(loss.state, loss.reason, loss.to)
            self.held = sorted((loss.state.key, loss.reason) for loss in losses)
            log.warning("removals_held_back", site=self._site, pages=len(going), live=len(self._live))
            return []
        self.held = sorted((state.key, state.going or "") for state in held.values())
        leaving = sorted(self._losses.values(), key=lambda loss: loss.state.key)
        return [Job(loss.state, partial(self._let_go, loss)) for loss in leaving]

    async def _let_go(self, loss: Loss) -> None:
        await announce_loss(self._announcer, self._trees, self._site, loss)
        await self._states.left(loss.state, loss.reason, counts=not self._accept)
        self.gone.append((loss.state.key, loss.reason))


def held_loss(state: WatchState) -> Loss:
    """The loss that the guard held back in an earlier cycle."""
    return Loss(state, state.going or "", state.going_to)


async def announce_loss(announcer: Announcer, trees: TreeStore, site: str, loss: Loss) -> None:
    """A page that leads to a live one is only looked at again: the indexer then follows it there. So is one that says
    something else, which is accepted. Of one that goes, a copy lives on under its ids."""
    key = loss.state.key
    if loss.to:
        await announcer.changed(site, key, seen=loss.state.turned if loss.to == key else moved_to(page_key(loss.to)))
        return
    copies = await trees.aliases(key)
    stored = await trees.get(key) if copies else None
    seen = brief(stored.record.page.likeness) if stored and stored.record.page else None
    for copy in copies:
        await announcer.changed(site, copy, moved_from=key, seen=seen)
    await announcer.removed(site, key, loss.reason)
