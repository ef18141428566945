"""Asking a model about every content that has no note yet: what is left to ask, and the asking.

What is answered is kept at once under its content.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog

from ingest.indexing.reindex import as_noted, live_pages
from ingest.model import Node
from ingest.notes import InducedOutline, NoteEntry, Notes, SectionSummary, Spent
from ingest.ports import TreeStore
from navigator.answer import Usage
from navigator.batch.runner import Progress, Show, run_batch, unseen
from navigator.enrichment.note_prompts import NotePrompt
from navigator.models.complete import Written, complete
from navigator.models.prices import Prices
from navigator.ports import Model

log = structlog.get_logger()

MAX_USELESS_REPLIES = 3
"""After which a content is not asked about again."""

PromptsOf = Callable[[Sequence[Node]], Iterable[NotePrompt]]
"""The questions about the sections of a page."""


async def unwritten(
    trees: TreeStore, notes: Notes, prompts_of: PromptsOf, site: str | None = None
) -> AsyncIterator[NotePrompt]:
    """The questions that were not answered yet in their form, nor tried too often, each content once. They are about
    pages as they are once split: who splits them may be another process, and take its time."""
    seen: set[str] = set()
    async for _, page in live_pages(trees, site):
        fresh = {q.hash: q for q in prompts_of((await as_noted(page, notes)).nodes) if q.hash not in seen}
        seen |= fresh.keys()
        for kind in dict.fromkeys(q.kind for q in fresh.values()):
            known = await notes.of(kind, fresh)
            for question in fresh.values():
                entry = known.get(question.hash)
                if entry is None or entry.form != question.form or 0 < entry.failures < MAX_USELESS_REPLIES:
                    yield question


@dataclass(slots=True)
class EnrichmentPlan:
    """What is left to ask, with about what it takes: tokens, and US dollars, None where prices are unknown."""

    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


async def plan_notes(questions: AsyncIterator[NotePrompt], prices: Prices | None) -> EnrichmentPlan:
    plan = EnrichmentPlan()
    async for question in questions:
        cost = prices.cost(Usage(question.input, question.output)) if prices else None
        plan.questions += 1
        plan.input_tokens += question.input
        plan.output_tokens += question.output
        plan.cost = None if plan.cost is None or cost is None else plan.cost + cost
    return plan


class NoteWriter:
    """Asks for notes, `workers` side by side, and keeps what comes. A reply of no use is counted and never kept. Outcomes are
    "kept" and "useless"; `used` and `useless_reason`, the last, are this run's."""

    def __init__(self, model: Model, notes: Notes, *, workers: int = 4, show: Show = unseen) -> None:
        self._model = model
        self._notes = notes
        self._workers = workers
        self._show = show
        self.progress = Progress()
        self.used = Usage()
        self.useless_reason = ""

    async def run(self, prompts: AsyncIterator[NotePrompt]) -> Progress:
        """Raises store errors."""
        return await run_batch(prompts, self._ask, self.progress, workers=self._workers, show=self._show)

    async def _ask(self, prompt: NotePrompt) -> None:
        written = await complete(self._model, prompt.system, prompt.prompt)
        spent = spent_by(written.usage)
        self.used += written.usage
        found = self._note(prompt, written)
        await self._notes.add(NoteEntry(prompt.kind, prompt.hash, prompt.form, found, int(found is None), spent))
        self.progress.outcomes["kept" if found else "useless"] += 1

    def _note(self, prompt: NotePrompt, written: Written) -> SectionSummary | InducedOutline | None:
        try:
            if written.ended != "end":
                raise ValueError("a reply that was cut off" if written.ended == "max_tokens" else "a refusal")
            return prompt.read(written.text)
        except ValueError as error:
            self.useless_reason = str(error)
            log.info("reply_of_no_use", kind=prompt.kind, hash=prompt.hash[:12], reason=str(error))
            return None


def spent_by(usage: Usage) -> Spent:
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return Spent(1, read, usage.output_tokens, usage.cost or 0.0, int(usage.cost is None))
