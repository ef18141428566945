"""Once a week whoever owns a part of the documentation hears of its gaps: one digest for each channel, whoever sends it and dies.

Who sends claims it first, by a counter that all processes share, and leaves it to the next for a while; the next looks in the
channel before it posts.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

import structlog

from bot.errors import DeliveryFailed
from bot.gaps.gap import UNSOLVED
from bot.gaps.report import GapOwner, GapReport, MayQuote, gap_reports
from bot.ports import BotStore, Gaps
from ingest.ports import Clock
from ingest.rounds import Rounds

log = structlog.get_logger()

SENDING = timedelta(minutes=30)
"""So long a digest is left to whoever began to send it; sending itself is given up after half of that."""
LATE = timedelta(days=2)
"""So long after its hour a digest is still sent."""
KEPT = timedelta(days=14)
"""So long it is known that a digest was sent."""
HOUR = 9
"""Of the day, in the zone of the policy, from which on digests are sent."""


@dataclass(frozen=True, slots=True)
class DigestTime:
    """`weekday`: 0 is Monday; None: there are no digests."""

    weekday: int | None = 0
    zone: tzinfo = UTC

    def last(self, now: datetime) -> datetime | None:
        """When the last digest was due."""
        if self.weekday is None:
            return None
        at = now.astimezone(self.zone).replace(hour=HOUR, minute=0, second=0, microsecond=0)
        at -= timedelta(days=(at.weekday() - self.weekday) % 7)
        return (at if at.astimezone(UTC) <= now else at - timedelta(weeks=1)).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Digest:
    """What one channel is told. `name`: the same whoever sends it. `since`: when it was due."""

    name: str
    channel: str
    team: str
    since: datetime
    reports: tuple[GapReport, ...]


SendDigest = Callable[[Digest], Awaitable[None]]
"""Posts it, unless it is there. Raises DeliveryFailed."""


class Digests(Rounds):
    """`may_quote`: made for each time that is looked. `every`: seconds between two looks at what is due."""

    def __init__(
        self,
        store: BotStore,
        gaps: Gaps,
        send: SendDigest,
        clock: Clock,
        *,
        owners: Sequence[GapOwner],
        may_quote: Callable[[], MayQuote],
        time: DigestTime,
        every: float = 300.0,
    ) -> None:
        super().__init__(every, "digests_not_sent")
        self._store = store
        self._gaps = gaps
        self._send = send
        self._clock = clock
        self._owners = owners
        self._may_quote = may_quote
        self._time = time

    async def look(self) -> None:
        """All that are due now. Raises StoreUnavailable."""
        since = self._time.last(now := self._clock.now())
        channels = dict.fromkeys((owner.channel, owner.team) for owner in self._owners if owner.channel)
        if since is None or now - since > LATE:
            return
        names = {place: f"digest:{place[0]}:{since:%Y-%m-%d}" for place in channels}
        due = [place for place, name in names.items() if not await self._store.counted(f"{name}:sent", now)]
        if not due:
            return
        told: defaultdict[tuple[str, str], list[GapReport]] = defaultdict(list)
        for report in await gap_reports(self._store, self._gaps, self._owners, may_quote=self._may_quote()):
            if report.owner and report.gap.state in UNSOLVED:
                told[report.owner.channel, report.owner.team].append(report)
        for place in due:
            week = since - timedelta(weeks=1)
            reports = sorted(told[place], key=lambda each: (-each.asked_since(week), -each.count, each.gap.id))
            if any(report.asked_since(week) for report in reports):
                await self._claim_and_send(Digest(names[place], *place, since, tuple(reports)))

    async def _claim_and_send(self, digest: Digest) -> None:
        now = self._clock.now()
        if await self._store.add(f"{digest.name}:sending", 1, now + SENDING) > 1:
            return
        try:
            async with asyncio.timeout(SENDING.total_seconds() / 2):
                await self._send(digest)
        except (DeliveryFailed, TimeoutError) as error:
            log.warning("digest_not_sent", channel=digest.channel, reason=str(error) or "timeout")
            return  # the next try is when SENDING is over
        await self._store.add(f"{digest.name}:sent", 1, now + KEPT)
        log.info("digest_sent", channel=digest.channel, gaps=len(digest.reports))
