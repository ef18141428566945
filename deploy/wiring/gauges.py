"""What a process reads of the log and the trees when its numbers are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from deploy.serving.metrics import DEAD_LETTERS, EVENTS_WAITING, SITE_LOOKED_AT, SITE_TROUBLE, Gauges
from deploy.wiring.events import dead_letters_waiting, events_waiting
from ingest.ports import EventLog, TreeStore, WatchState
from ingest.watch.schedule import site_key


def event_gauges(events: EventLog, topics: Iterable[str]) -> Gauges:
    """`topics`: those that somebody handles here."""
    return {
        EVENTS_WAITING: partial(events_waiting, events, topics),
        DEAD_LETTERS: partial(dead_letters_waiting, events),
    }


def site_gauges(trees: TreeStore, sites: Iterable[str]) -> Gauges:
    """`sites` may grow."""

    async def watched() -> Mapping[str, WatchState]:
        found = {site: await trees.watched(site_key(site)) for site in tuple(sites)}
        return {site: state for site, state in found.items() if state}

    async def looked_at() -> Mapping[str, float]:
        return {site: state.fetched_at.timestamp() for site, state in (await watched()).items() if state.fetched_at}

    async def trouble() -> Mapping[str, float]:
        return {site: bool(state.error) for site, state in (await watched()).items()}

    return {SITE_LOOKED_AT: looked_at, SITE_TROUBLE: trouble}
