"""What the watcher of a site has to say to its operator, and the operator's leave to let pages go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ingest.events.announce import Announcer, to_log
from ingest.ports import Clock, EventLog, TreeStore, WatchState
from ingest.watch.removal_guard import announce_loss, held_loss
from ingest.watch.schedule import site_key

MAX_ASTRAY_SHARE = 0.10
"""Of a site's pages; if more fail or are missing, someone should look."""
MAX_ASTRAY_DAYS = 3.0
"""So long a page may fail or be missing before someone should look."""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """`problem`: why pages could not be listed or believed, in the last watch cycle (`looked_at`). `held`: pages that would go,
    or answer with something else, but for the guard, `failing`: pages that gave no answer, each with the reason; `missing`:
    pages not found, but not gone yet. `since`: the first of both, of those that are still so."""

    site: str
    pages: int
    looked_at: datetime | None
    problem: str | None
    held: tuple[tuple[str, str], ...]
    failing: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    since: datetime | None = None

    @property
    def astray(self) -> int:
        """Pages that give no answer, or are not found."""
        return len(self.failing) + len(self.missing)

    @property
    def alerts(self) -> bool:
        """Whether someone should look."""
        return bool(self.problem or self.held or self.astray > MAX_ASTRAY_SHARE * self.pages or self._is_old)

    @property
    def _is_old(self) -> bool:
        days = timedelta(days=MAX_ASTRAY_DAYS)
        return bool(self.since and self.looked_at and self.looked_at - self.since > days)


async def watch_report(trees: TreeStore, site: str) -> WatchReport:
    """From the watch states, of which only those are kept that there is something to say of; works beside a running watcher."""
    pages, whole = 0, None
    told: list[WatchState] = []
    async for state in trees.watching(site):
        if state.key == site_key(site):
            whole = state
            continue
        pages += 1
        if state.misses or state.failures or state.going:
            told.append(state)
    missing = [state for state in told if state.misses and not state.going and not state.failures]
    failing = [state for state in told if state.failures]
    began = [when for state in (*failing, *missing) if (when := state.failing_since or state.missed_since)]
    return WatchReport(
        site,
        pages=pages,
        looked_at=whole.fetched_at if whole else None,
        problem=whole.error if whole else None,
        held=tuple((state.key, state.going) for state in told if state.going),
        failing=tuple((state.key, state.error or "") for state in failing),
        missing=tuple(state.key for state in missing),
        since=min(began, default=None),
    )


async def accept(trees: TreeStore, log: EventLog, clock: Clock, site: str) -> list[str]:
    """Let the pages go that the guard holds back, and announce it; their keys. They do not count against the guard
    later. Works beside a running watcher."""
    announcer = Announcer(trees, to_log(log), clock)
    held = [state async for state in trees.watching(site) if state.going]
    for state in held:
        await announce_loss(announcer, trees, site, held_loss(state))
        await trees.watch(replace(state, going=None, going_to=None, turned=None))
    return [state.key for state in held]
