"""A site brought in step here and now, as `ritbot index` does it: one watch cycle in which every page is due, and each page
that it announces is handled at once, by the same hands.

No event goes through the event log: a page is written down as looked at when it has been handled, so that whoever is cut
short goes on with the pages that were not. The events are numbered like any others, and handled by compare-and-set: where
watchers and indexers run beside it, on whichever event log, whoever comes last finds the work done.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from ingest.events.announce import Announcer
from ingest.indexing.indexer import Indexer, Outcome
from ingest.indexing.page_reader import MAX_REMEMBERED_PAGES, PageReader
from ingest.model import PageEvent, Site
from ingest.notes import Notes
from ingest.ports import Clock, Fetcher, PageParser, TreeStore
from ingest.watch.cycle_summary import CycleSummary, Everything
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from ingest.watch.watch_cycle import WatchCycle

log = structlog.get_logger()

AT_ONCE = Pace(misses=1, missing_for=0.0, absent_for=0.0)
"""Who runs a crawl by hand wants to see what is there now, and does not come back in a day to look a third time."""


@dataclass(slots=True)
class CrawlSummary:
    """What a crawl did: `cycle` found, and how the pages were handled. `outcomes` by kind, `skipped` by reason; `not_found`: addresses at
    which nothing is, each with the reason and the page that links there; nodes and
    chunks of the pages that are live; `finished` is False after an interruption."""

    cycle: CycleSummary
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    not_found: list[tuple[str, str]] = field(default_factory=list)
    nodes: int = 0
    chunks: int = 0
    embedded: int = 0
    finished: bool = False


class Crawl:
    """One crawl of a site. `make_indexer` gives the Indexer that reads pages with the given reader; `notes`: how long
    sections are split; `everything`: where it goes on, and what the guard lets through. Raises SiteUnusable and store
    errors."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        fetcher: Fetcher,
        parser: PageParser,
        make_indexer: Callable[[Site, PageReader], Indexer],
        clock: Clock,
        guard: Guard,
        everything: Everything | None = None,
        notes: Notes | None = None,
        workers: int = 16,
        chance: random.Random | None = None,
        progress: Callable[[CrawlSummary], None] = lambda summary: None,
    ) -> None:
        chance = chance or random.Random()
        reader = PageReader(site, fetcher, parser, chance=chance, notes=notes, remember=MAX_REMEMBERED_PAGES)
        self._site = site
        self._indexer = make_indexer(site, reader)
        self._announcer = Announcer(trees, self._handle, clock)
        self._cycle = WatchCycle(
            site,
            trees=trees,
            fetcher=fetcher,
            reader=reader,
            announcer=self._announcer,
            clock=clock,
            pace=AT_ONCE,
            guard=guard,
            chance=chance,
            workers=workers,
            everything=everything or Everything(),
            progress=lambda: progress(self.summary),
        )
        self.summary = CrawlSummary(self._cycle.summary)

    async def run(self) -> CrawlSummary:
        await self._cycle.run()
        self.summary.finished = True
        log.info("site_crawled", site=self._site.name, embedded=self.summary.embedded, **self.summary.outcomes)
        return self.summary

    async def _handle(self, event: PageEvent) -> None:
        outcome = await self._indexer.handle(event)
        if event.kind == "changed":  # what was removed the cycle counts, with the reason
            self._count(outcome)
        for key in outcome.revisit:
            await self._announcer.changed(self._site.name, key)

    def _count(self, outcome: Outcome) -> None:
        summary = self.summary
        summary.nodes += outcome.nodes
        summary.chunks += outcome.chunks
        summary.embedded += outcome.embedded
        if outcome.left_alone:
            return  # it changed while the cycle looked: the next one weighs it
        summary.outcomes[outcome.kind] += 1
        if outcome.kind == "gone":
            origin = self._cycle.linked_from(outcome.key)
            told = f"{outcome.reason}; linked from {origin}" if origin else outcome.reason or "not found"
            summary.not_found.append((outcome.key, told))
        if outcome.kind == "skipped":
            summary.skipped[outcome.reason or "unknown"] += 1
            log.info("page_skipped", url=outcome.key, reason=outcome.reason, detail=outcome.detail)
