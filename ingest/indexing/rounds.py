"""One round over a site: every page is looked at once, then what should go is weighed, then it goes.

Pages are handled side by side by the indexer. A page found missing (404, 410, absent from a folder) or
emptied (noindex, soft 404 …) is not removed at once: if more than a share of the site's pages would go,
nothing goes, and the summary says so. Errors and timeouts never remove anything.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from ingest.errors import Blocked, FetchFailed, IngestError
from ingest.events.announce import next_event
from ingest.indexing.indexer import Indexer, Outcome
from ingest.indexing.page_reader import missing_page
from ingest.model import EventKind, Site
from ingest.ports import Clock, Fetcher, PageState, TreeStore
from ingest.sites.discover import Frontier, discover
from ingest.sites.scope import in_scope
from ingest.urls import page_key
from ingest.watch.removal_guard import NOT_IN_FOLDER, NOT_OF_SITE, absent
from ingest.watch.removal_guard import Guard as Guard

log = structlog.get_logger()


@dataclass(slots=True)
class RoundSummary:
    """What a round did. `counts` by outcome kind; `skipped` by reason; `held_back`: pages that would have
    gone, with the reason, but the guard kept them; `finished` is False after an interruption."""

    site: str
    found: int = 0
    done: int = 0
    nodes: int = 0
    chunks: int = 0
    embedded: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)
    blocked: list[tuple[str, str]] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    held_back: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    live_before: int = 0
    finished: bool = False


Progress = Callable[[RoundSummary], None]


class Round:
    """One round. `accept` lets removals through whatever their share; `since` is when an interrupted round
    began: pages that were checked after it are not visited again. `chance` gives the random address of
    the soft-404 probe. Raises SiteUnusable and store errors."""

    def __init__(
        self,
        site: Site,
        *,
        trees: TreeStore,
        fetcher: Fetcher,
        indexer: Callable[[str | None], Indexer],
        clock: Clock,
        guard: Guard,
        workers: int = 16,
        accept: bool = False,
        since: datetime | None = None,
        chance: random.Random | None = None,
        progress: Progress = lambda summary: None,
    ) -> None:
        self._site = site
        self._trees = trees
        self._fetcher = fetcher
        self._make_indexer = indexer
        self._clock = clock
        self._guard = guard
        self._workers = workers
        self._accept = accept
        self._since = since
        self._chance = chance or random.Random()
        self._progress = progress
        self.summary = RoundSummary(site.name)
        self._visited: set[str] = set()
        self._handled_before: set[str] = set()
        self._going: dict[str, str] = {}

    async def run(self) -> RoundSummary:
        states = {state.key: state async for state in self._trees.scan(self._site.name)}
        live = [key for key, state in states.items() if state.state == "live"]
        self.summary.live_before = len(live)
        frontier = await discover(self._site, self._fetcher, known=live, handled=self._handled(states.values()))
        self.summary.warnings = frontier.warnings
        self._indexer = self._make_indexer(await missing_page(self._site, self._fetcher, self._chance))
        await self._visit_all(frontier)
        self._find_absent(frontier, states)
        await self._remove(states)
        self.summary.finished = True
        log.info("round_finished", site=self._site.name, done=self.summary.done, **self.summary.counts)
        return self.summary

    def _handled(self, states: Iterable[PageState]) -> list[str]:
        since = self._since
        self._handled_before = {s.key for s in states if since is not None and s.checked_at >= since}
        self.summary.counts["handled before"] = len(self._handled_before)
        return sorted(self._handled_before)

    # --- visiting

    async def _visit_all(self, frontier: Frontier) -> None:
        async def visit(url: str) -> tuple[str, ...]:
            links = await self._visit(url)
            self.summary.done += 1
            self.summary.found = frontier.found
            self._progress(self.summary)
            return links

        self.summary.found = frontier.found
        self._progress(self.summary)
        await frontier.visit_all(visit, self._workers)

    async def _visit(self, url: str) -> tuple[str, ...]:
        """Handle one page, and the page it moved to; the links found. What fails is noted, not raised."""
        key = page_key(url)
        if key in self._visited:
            return ()
        self._visited.add(key)
        outcome = await self._handle(url)
        if outcome is None:
            return ()
        if outcome.goes_to and in_scope(self._site, outcome.goes_to):
            return await self._follow(outcome, outcome.goes_to)
        if outcome.goes_to and outcome.hands_over:
            self._going[key] = "moved off the site"
        return outcome.links

    async def _follow(self, moved: Outcome, target: str) -> tuple[str, ...]:
        """The page that this one moved to is handled first; if there is none, this one is missing."""
        key = page_key(target)
        if key in self._visited and not moved.hands_over:
            return ()
        self._visited.add(key)
        outcome = await self._handle(target, moved_from=moved.key if moved.hands_over else None)
        if outcome is None:
            return ()
        if (
            moved.hands_over
            and outcome.kind in ("gone", "missing", "skipped", "emptied", "moved")
            and outcome.nodes == 0
        ):
            self._going[moved.key] = f"redirects to {target}, where nothing is ({outcome.reason or outcome.kind})"
        return outcome.links

    async def _handle(self, url: str, kind: EventKind = "changed", **more: str | None) -> Outcome | None:
        event = await next_event(self._trees, self._clock, self._site.name, url, kind, **more)
        try:
            outcome = await self._indexer.handle(event)
        except Blocked as error:
            self.summary.skipped["not allowed"] += 1
            self.summary.blocked.append((url, str(error)))
            return None
        except FetchFailed as error:
            self.summary.failed.append((url, str(error)))
            log.info("page_not_fetched", url=url, reason=str(error))
            return None
        except IngestError:
            raise
        except Exception as error:  # one page that breaks the code must not keep the others out
            self.summary.failed.append((url, f"internal error, please report: {type(error).__name__}: {error}"))
            log.exception("page_not_handled", url=url)
            return None
        self._count(url, outcome)
        return outcome

    def _count(self, url: str, outcome: Outcome) -> None:
        summary = self.summary
        summary.nodes += outcome.nodes
        summary.chunks += outcome.chunks
        summary.embedded += outcome.embedded
        if outcome.kind in ("missing", "emptied"):
            self._going[outcome.key] = outcome.reason or outcome.kind
            return
        if outcome.kind == "moved" and outcome.goes_to and outcome.hands_over:
            return
        summary.counts[outcome.kind] += 1
        if outcome.kind == "skipped":
            summary.skipped[outcome.reason or "unknown"] += 1
            log.info("page_skipped", url=url, reason=outcome.reason, detail=outcome.detail)

    # --- removing

    def _find_absent(self, frontier: Frontier, states: dict[str, PageState]) -> None:
        seen = self._visited | self._handled_before
        for key, state in states.items():
            if state.state == "live" and key not in seen and not in_scope(self._site, key):
                self._going.setdefault(key, NOT_OF_SITE)
        for key in absent(frontier.source, frontier.complete, states.values(), seen):
            self._going.setdefault(key, NOT_IN_FOLDER)

    async def _remove(self, states: dict[str, PageState]) -> None:
        heirs = {key: [k for k in await self._trees.aliases(key) if k not in self._going] for key in self._going}
        lost = {k for k in self._going if not heirs[k] and (k not in states or states[k].state == "live")}
        if self._guard.holds(len(lost), self.summary.live_before) and not self._accept:
            self.summary.held_back = sorted((key, self._going[key]) for key in lost)
            log.info("removals_held_back", site=self._site.name, pages=len(lost), live=self.summary.live_before)
            return
        for key, reason in sorted(self._going.items()):
            for heir in heirs[key]:  # a copy lives on under the ids of the page that goes
                await self._handle(heir, moved_from=key)
            await self._handle(key, "removed", reason=reason)
            self.summary.gone.append((key, reason))
            self._progress(self.summary)
