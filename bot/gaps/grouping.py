"""Questions of which the documentation fell short find their gaps: a role that sorts what came in since it last looked.

Which questions are in a gap stands in the answer log alone, so that what expires there, or is forgotten, is gone here too
(`follow_log`). Any number may run side by side: a question has one gap by compare-and-set, and a gap is opened under the id that
its place gives it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from bot.answering.lease import changed
from bot.gaps.gap import MAX_SECTIONS, Gap, best_supported, nearest_gap, new_id, shares
from bot.gaps.lineage import lineages
from bot.model import Exchange, Need
from bot.ports import BotStore, Gaps
from ingest.errors import Conflict
from ingest.ports import Clock, Embedder, TreeStore
from ingest.rounds import Rounds

log = structlog.get_logger()

EVERY_SECONDS = 30.0
"""Between two looks at what came in."""
MAX_QUESTIONS_READ = 50
"""Of a gap, the newest, when it is found out where it is pinned: an exchange may be megabytes."""
OPENING = timedelta(hours=1)
"""So long a gap may stand without a question: whoever opened it is about to put one into it."""


class Grouping(Rounds):
    """`every`: seconds between two looks."""

    def __init__(
        self,
        store: BotStore,
        gaps: Gaps,
        trees: TreeStore,
        embedder: Embedder,
        clock: Clock,
        *,
        every: float = EVERY_SECONDS,
    ) -> None:
        super().__init__(every, "gaps_not_sorted")
        self._store = store
        self._gaps = gaps
        self._trees = trees
        self._embedder = embedder
        self._clock = clock

    async def look(self) -> None:
        """All questions that belong to no gap yet, oldest first. Raises StoreUnavailable."""
        for each in await self._store.asked_in_vain(""):
            if self._stop.is_set():
                return
            kept = await self._store.exchange(each.question)
            if kept and kept.exchange.need is None:
                await self._sort(kept.exchange)

    async def _sort(self, exchange: Exchange) -> None:
        need = Need(await self._gap_of(exchange), lacking_sections(exchange))

        def sorted_in(now: Exchange) -> Exchange | None:
            return replace(now, need=need) if now.need is None and now.shortfall else None

        if await changed(self._store, exchange.question.id, sorted_in):
            await self._pin(need.gap, exchange)
            log.info("question_grouped", question=exchange.question.id, gap=need.gap)

    async def _gap_of(self, exchange: Exchange) -> str:
        """The id of the gap that it belongs to, opened where it is the first."""
        question, sections = exchange.question.id, lacking_sections(exchange)
        vector = await self._embedder.embed_query(exchange.asked)
        while True:
            gaps = [await self._comparable(gap) async for gap in self._gaps.all()]
            if gap := nearest_gap(vector, sections, gaps):
                return gap.id
            met = shares([sections])
            pin = best_supported(met, await lineages(self._trees, met))
            gap_id = new_id(pin, question, {gap.id for gap in gaps})
            compared = (question, self._embedder.name, _rounded(vector))
            with suppress(Conflict):  # someone opened one there meanwhile: see whether it is for this question
                await self._gaps.keep(Gap(gap_id, self._clock.now(), *compared, pin, tuple(met.items())), None)
                return gap_id

    async def _comparable(self, gap: Gap) -> Gap:
        """With the vector of a question that is there, by the model that embeds now; without one where none can be read."""
        if gap.vector and gap.embedder == self._embedder.name:
            return gap
        for each in await self._store.asked_in_vain(gap.id):
            if kept := await self._store.exchange(each.question):
                vector = _rounded(await self._embedder.embed_query(kept.exchange.asked))
                compared = (each.question, self._embedder.name, vector)
                return await change_gap(self._gaps, gap.id, partial(_compared, by=compared)) or gap
        return replace(gap, vector=())

    async def _pin(self, gap_id: str, joined: Exchange) -> None:
        """Where its questions say that the answer should have stood. A question that was asked after the gap was closed opens it
        again."""
        members = (await self._store.asked_in_vain(gap_id))[-MAX_QUESTIONS_READ:]
        kept = [await self._store.exchange(each.question) for each in members]
        met = shares(each.exchange.need.sections for each in kept if each and each.exchange.need)
        there = await lineages(self._trees, met)
        pin = best_supported(met, there)
        watched = {place.node for lineage in there.values() for place in lineage if place.page == lineage[-1].page}

        def pinned(now: Gap) -> Gap:
            gap = replace(now, shares=tuple(met.items()), watched=tuple(sorted(watched)), pin=pin or now.pin)
            again = now.state == "fixed" and now.state_at and joined.question.asked_at > now.state_at
            return gap.put("open", self._clock.now()) if again else gap

        await change_gap(self._gaps, gap_id, pinned)


def lacking_sections(exchange: Exchange) -> tuple[str, ...]:
    """Where the answer should have stood: the sections that a wanting answer rests on, else the nearest, those first that were
    read, else what was read, or at least offered."""
    answer = exchange.answer
    if answer is None:
        return ()
    read = [passage.node_id for passage in answer.trace.passages]
    nearest = [passage.node_id for passage in answer.nearest]
    found = (
        [source.first.node_id for source in answer.sources]
        or [node for node in nearest if node in read]
        or read
        or nearest
        or [node for _, node, _ in answer.trace.shown]
    )
    return tuple(dict.fromkeys(found))[:MAX_SECTIONS]


async def change_gap(gaps: Gaps, gap_id: str, change: Callable[[Gap], Gap | None]) -> Gap | None:
    """By compare-and-set; the gap as it is then. None: it is not there, or `change` leaves it."""
    while kept := await gaps.gap(gap_id):
        gap = change(kept.gap)
        if gap is None:
            return None
        try:
            if gap != kept.gap:
                await gaps.keep(gap, kept.revision)
            return gap
        except Conflict:
            continue
    return None


async def follow_log(store: BotStore, gaps: Gaps, clock: Clock) -> int:
    """Nothing of a question that is gone from the answer log is left in a gap, and no gap without questions; how many went. Raises
    StoreUnavailable."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for each in await store.asked_in_vain():
        members[each.gap].add(each.question)
    went = 0
    async for gap in gaps.all():
        if not members[gap.id] and gap.opened_at < clock.now() - OPENING:
            await gaps.remove(gap.id)
            went += 1
        elif gap.question and gap.question not in members[gap.id] | members[""]:
            await change_gap(gaps, gap.id, partial(_compared, by=("", "", ())))
    return went


def _compared(gap: Gap, by: tuple[str, str, tuple[float, ...]]) -> Gap:
    return replace(gap, question=by[0], embedder=by[1], vector=by[2])


def _rounded(vector: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(float(each), 4) for each in vector)
