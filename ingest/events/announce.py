"""Events about pages: numbered in the watch state first, then sent. A number that was reserved and never sent
does no harm: numbers may have gaps."""

from __future__ import annotations

from ingest.events.codec import dump_event
from ingest.events.topics import PAGES
from ingest.model import EventKind, PageEvent
from ingest.ports import Clock, EventLog, TreeStore
from ingest.urls import page_key


async def next_event(
    trees: TreeStore,
    clock: Clock,
    site: str,
    url: str,
    kind: EventKind = "changed",
    *,
    moved_from: str | None = None,
    reason: str | None = None,
) -> PageEvent:
    """An event about the page at `url`, with the page's next number."""
    key = page_key(url)
    seq = await trees.reserve(key, site)
    return PageEvent(key, site, seq, kind, url, clock.now(), moved_from, reason)


class Announcer:
    """Sends what happened to pages to docs.pages. Raises store and log errors; announce again then."""

    def __init__(self, trees: TreeStore, log: EventLog, clock: Clock) -> None:
        self._trees = trees
        self._log = log
        self._clock = clock

    async def changed(self, site: str, url: str, moved_from: str | None = None) -> None:
        await self._send(await next_event(self._trees, self._clock, site, url, moved_from=moved_from))

    async def removed(self, site: str, key: str, reason: str) -> None:
        await self._send(await next_event(self._trees, self._clock, site, key, "removed", reason=reason))

    async def _send(self, event: PageEvent) -> None:
        await self._log.append(PAGES, event.key, dump_event(event))
