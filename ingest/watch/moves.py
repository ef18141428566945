"""Pages that came to new addresses: which of them are old pages that moved, and in what order to say so.

A page that moved is announced at its new address first, with the address that it had: it is live there, with
its ids and vectors, before the old one leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from ingest.events.announce import Announcer
from ingest.indexing.page_reader import PageReading
from ingest.model import RecordState
from ingest.ports import WatchState
from ingest.text.likeness import Likeness, brief
from ingest.watch.removal_guard import Guard, Job, Removals
from ingest.watch.watch_states import WatchStates


@dataclass(frozen=True, slots=True)
class Move:
    """A page that leads to the page `target` (a key), and what that one gives. `was`: its record's state."""

    state: WatchState
    was: RecordState | None
    target: str
    found: PageReading


@dataclass(frozen=True, slots=True)
class New:
    """A page that is not live yet; `duplicates` are the live pages with the same content, `sent` names what was seen, `title`
    and `says` what it shows."""

    state: WatchState
    sent: str
    duplicates: tuple[str, ...] = ()
    says: Likeness | None = None
    title: str = ""


def new_page(state: WatchState, reading: PageReading, duplicates: Sequence[str]) -> New:
    """What a look at a page that is not live, or changed, gave."""
    seen = reading.page.hash if reading.page else f"{reading.kind}: {reading.reason}"
    says, title = (reading.likeness, reading.page.title) if reading.page else (None, "")
    return New(state, seen, tuple(duplicates), says, title)


class MoveMatcher:
    """Collects what a watch cycle saw of moves and new pages. `known`: keys that have a record, `live`: those that are live."""

    def __init__(
        self,
        site: str,
        states: WatchStates,
        announcer: Announcer,
        removals: Removals,
        guard: Guard,
        known: Collection[str],
        live: Collection[str],
    ) -> None:
        self._site = site
        self._states = states
        self._announcer = announcer
        self._removals = removals
        self._guard = guard
        self._known = known
        self._live = live
        self._moves: defaultdict[str, list[Move]] = defaultdict(list)
        self._new: list[New] = []
        self._said: set[str] = set()

    def moved(self, move: Move) -> None:
        self._moves[move.target].append(move)

    def came(self, new: New) -> None:
        self._new.append(new)

    def moves(self) -> list[Job]:
        """Announce the pages that moved. Before new pages are announced, which may be where one moved to, and before
        losses are weighed: a page that moved is none."""
        jobs: list[Job] = []
        for target, moves in sorted(self._moves.items()):
            moves.sort(key=lambda move: move.state.key)
            jobs += self._leading_to(target, moves) if moves[0].found.page else self._leading_nowhere(moves)
        return jobs

    def arrivals(self) -> list[Job]:
        """Announce the new pages."""
        waiting = sorted(self._new, key=lambda new: new.state.key)
        return [Job(new.state, partial(self.announce, new)) for new in waiting]

    def _leading_nowhere(self, moves: list[Move]) -> list[Job]:
        jobs: list[Job] = []
        for move in moves:
            found = move.found
            if move.was == "live":
                reason = f"redirects to {move.target}, where nothing is ({found.reason or found.kind})"
                self._removals.lose(move.state, reason)
            elif move.was in ("alias", "skipped"):
                jobs.append(self._look_again(move))
            else:
                jobs.append(Job(move.state, partial(self._states.kept, move.state)))
        return jobs

    def _leading_to(self, target: str, moves: list[Move]) -> list[Job]:
        """Of the live pages that lead to one place, one hands over to it if nothing was there; the others are losses. So
        are all of them where so many lead there that it must be a login or an error page."""
        jobs: list[Job] = []
        leaving = [move for move in moves if move.was == "live"]
        if leaving and target not in self._live and len(leaving) <= max(self._guard.pages, 1):
            first = leaving.pop(0).state
            jobs.append(Job(first, partial(self._hand_over, first, target, moves[0].found.likeness)))
        elif not leaving and target not in self._known and target not in self._said:
            jobs.append(Job(moves[0].state, partial(self._say, target, moves[0].found.likeness)))
        for move in leaving:
            self._removals.lose(move.state, f"redirects to {target}", to=target)
        return [*jobs, *(self._look_again(move) for move in moves if move.was != "live")]

    async def announce(self, new: New) -> None:
        """Now. Of a page that went and has the same content it is the new address."""
        key = new.state.key
        moved = next((key for key in new.duplicates if key in self._removals), None)
        if moved and key not in self._said:
            await self._hand_over(self._removals.found_again(moved), key, new.says)
        elif key not in self._said:
            await self._say(key, new.says)
        await self._states.announced(new.state, new.sent)

    async def _hand_over(self, old: WatchState, target: str, says: Likeness | None) -> None:
        await self._say(target, says, moved_from=old.key)
        await self._states.announced(old, f"moved: {target}")

    def _look_again(self, move: Move) -> Job:
        async def look_again() -> None:
            await self._say(move.state.key, None)
            await self._states.announced(move.state, f"moved: {move.target}")

        return Job(move.state, look_again)

    async def _say(self, key: str, says: Likeness | None, moved_from: str | None = None) -> None:
        self._said.add(key)
        await self._announcer.changed(self._site, key, moved_from, seen=says and brief(says))
