"""Events about pages: numbered in the watch state first, then sent. A number that was reserved and never sent
does no harm: numbers may have gaps. And events about their sections, told from the record that was written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from ingest.events.codec import dump_event, dump_nodes
from ingest.events.topics import NODES, PAGES
from ingest.model import EventKind, NodesEvent, PageEvent, PageRecord, sha256
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
    seen: str | None = None,
) -> PageEvent:
    """An event about the page at `url`, with the page's next number."""
    key = page_key(url)
    seq = await trees.reserve(key, site)
    return PageEvent(key, site, seq, kind, url, clock.now(), moved_from, reason, seen)


def moved_to(key: str) -> str:
    """What was seen of a page that leads to another."""
    return f"moved: {key}"


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

    async def changed(self, site: str, url: str, moved_from: str | None = None, seen: str | None = None) -> None:
        await self._send(await next_event(self._trees, self._clock, site, url, moved_from=moved_from, seen=seen))

    async def removed(self, site: str, key: str, reason: str) -> None:
        await self._send(await next_event(self._trees, self._clock, site, key, "removed", reason=reason))


MAX_CHANGES_AN_EVENT = 500
"""Changes of one record in docs.nodes; with MAX_PARTS ids each they are at most 430,000 bytes (topics.MAX_RECORD_BYTES)."""

Tell = Callable[[PageRecord], Awaitable[None]]
"""Makes known what a record says of sections that changed. What is told twice is the same event twice."""


async def told_nobody(record: PageRecord) -> None:
    """Where there is no log."""


def tell_nodes(log: EventLog) -> Tell:
    """To docs.nodes. Raises log errors."""

    async def tell(record: PageRecord) -> None:
        for event in nodes_events(record):
            await log.append(NODES, event.key, dump_nodes(event))

    return tell


def nodes_events(record: PageRecord) -> Iterator[NodesEvent]:
    """None where nothing changed for sections that were known, several where much did."""
    for start in range(0, len(record.node_changes), MAX_CHANGES_AN_EVENT):
        changes = record.node_changes[start : start + MAX_CHANGES_AN_EVENT]
        said = (part for change in changes for part in (change.node, change.kind, "|", *change.parts, "|"))
        made_by = sha256(record.key, str(record.seq), record.state, record.target or "", *said)
        yield NodesEvent(
            made_by, record.key, record.site, record.seq, record.state, record.changed_at, changes, record.target
        )
