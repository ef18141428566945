"""Events about pages: numbered in the watch state first, then sent. A number that was reserved and never sent
does no harm: numbers may have gaps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

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


Send = Callable[[PageEvent], Awaitable[None]]


def to_log(log: EventLog) -> Send:
    """To docs.pages. Raises log errors."""

    async def send(event: PageEvent) -> None:
        await log.append(PAGES, event.key, dump_event(event))

    return send


class Announcer:
    """Sends what happened to pages. Raises store errors and those of `send`; announce again then."""

    def __init__(self, trees: TreeStore, send: Send, clock: Clock) -> None:
        self._trees = trees
        self._send = send
        self._clock = clock

    async def changed(self, site: str, url: str, moved_from: str | None = None) -> None:
        await self._send(await next_event(self._trees, self._clock, site, url, moved_from=moved_from))

    async def removed(self, site: str, key: str, reason: str) -> None:
        await self._send(await next_event(self._trees, self._clock, site, key, "removed", reason=reason))
