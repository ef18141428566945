"""Asking a model about every content that has no note yet: what is left to ask, and the asking.

What is answered is kept at once under its content, so that a run which ends anywhere, by a ceiling, an interruption or a
kill, is begun again and goes on: nothing is asked twice but what was under way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from ingest.concurrency import for_each
from ingest.indexing.reindex import as_noted, live_pages
from ingest.model import Node
from ingest.notes import InducedOutline, NoteEntry, Notes, SectionSummary, Spent
from ingest.ports import TreeStore
from navigator.enrichment.budget import Budget, price, spent_by
from navigator.enrichment.question import NotePrompt
from navigator.errors import ModelError
from navigator.models.complete import Written, complete
from navigator.models.prices import Prices
from navigator.ports import Model

log = structlog.get_logger()

TRIES = 3
"""Replies of no use after which a content is not asked about again."""
FAULTS = 3
"""Calls in a row that fail after their retries, after which a run ends."""
CEILING = "the ceiling is reached"

Asks = Callable[[Sequence[Node]], Iterable[NotePrompt]]
"""The questions about the sections of a page."""


async def left(trees: TreeStore, notes: Notes, asks: Asks, site: str | None = None) -> AsyncIterator[NotePrompt]:
    """The questions that were not answered yet in their form, nor tried too often, each content once. They are about
    pages as they are once split: who splits them may be another process, and take its time."""
    seen: set[str] = set()
    async for _, page in live_pages(trees, site):
        fresh = {q.hash: q for q in asks((await as_noted(page, notes)).nodes) if q.hash not in seen}
        seen |= fresh.keys()
        for kind in dict.fromkeys(q.kind for q in fresh.values()):
            known = await notes.of(kind, fresh)
            for question in fresh.values():
                entry = known.get(question.hash)
                if entry is None or entry.form != question.form or 0 < entry.failures < TRIES:
                    yield question


@dataclass(slots=True)
class EnrichmentPlan:
    """What is left to ask, with about what it takes: tokens, and US dollars, None where prices are unknown."""

    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


async def planned(questions: AsyncIterator[NotePrompt], prices: Prices | None) -> EnrichmentPlan:
    plan = EnrichmentPlan()
    async for question in questions:
        cost = price(prices, question.input, question.output)
        plan.questions += 1
        plan.input_tokens += question.input
        plan.output_tokens += question.output
        plan.cost = None if plan.cost is None or cost is None else plan.cost + cost
    return plan


@dataclass(slots=True)
class Progress:
    """`kept` notes, replies `of no use`, calls that `failed`, each with the last reason; `ended`: why before all was
    asked, "" if it was. `spent` is this run's."""

    kept: int = 0
    useless: int = 0
    failed: int = 0
    spent: Spent = field(default_factory=Spent)
    useless_reason: str = ""
    failed_reason: str = ""
    ended: str = ""

    @property
    def done(self) -> int:
        return self.kept + self.useless + self.failed


class Asking:
    """Asks within a budget, `workers` questions side by side. A reply of no use is counted and never kept."""

    def __init__(
        self,
        model: Model,
        notes: Notes,
        budget: Budget,
        *,
        workers: int = 4,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._model = model
        self._notes = notes
        self._budget = budget
        self._workers = workers
        self._show = show
        self._faults = 0
        self.progress = Progress()

    async def run(self, questions: AsyncIterator[NotePrompt]) -> Progress:
        """Until all are asked, the ceiling is reached, or the model fails again and again. Raises store errors."""
        await for_each(self._until_ended(questions), self._ask, self._workers)
        return self.progress

    async def _until_ended(self, questions: AsyncIterator[NotePrompt]) -> AsyncIterator[NotePrompt]:
        async for question in questions:
            if self.progress.ended:
                return
            yield question

    async def _ask(self, question: NotePrompt) -> None:
        progress = self.progress
        if progress.ended:
            return
        if not await self._budget.begin(question):
            progress.ended = progress.ended or CEILING
            return
        spent = Spent()
        try:
            written = await complete(self._model, question.system, question.prompt)
            spent = spent_by(written.usage)
            await self._keep(question, written, spent)
        except ModelError as error:
            self._fail(str(error))
        finally:
            await self._budget.settle(question, spent)
        progress.spent += spent
        self._show(progress)

    async def _keep(self, question: NotePrompt, written: Written, spent: Spent) -> None:
        self._faults = 0
        found: SectionSummary | InducedOutline | None = None
        try:
            if written.ended != "end":
                raise ValueError("a reply that was cut off" if written.ended == "max_tokens" else "a refusal")
            found = question.read(written.text)
            self.progress.kept += 1
        except ValueError as error:
            self.progress.useless += 1
            self.progress.useless_reason = str(error)
            log.info("reply_of_no_use", kind=question.kind, hash=question.hash[:12], reason=str(error))
        failures = int(found is None)
        await self._notes.add(NoteEntry(question.kind, question.hash, question.form, found, failures, spent))

    def _fail(self, reason: str) -> None:
        self.progress.failed += 1
        self.progress.failed_reason = reason
        self._faults += 1
        log.warning("model_failed", failures=self._faults, reason=reason)
        if self._faults >= FAULTS:
            self.progress.ended = reason
