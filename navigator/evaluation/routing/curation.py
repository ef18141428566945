"""Curating examples to train a router with (RDR2 section 3.3 and appendix A.1), from questions alone.

For each question the k best chunks are retrieved and the subtree of each of their pages is derived; a model is asked for
the actions of one turn. Lines that do not count are left out and counted; a reply without one line that counts makes no
example. Every reply is kept at once, so that a run which ends anywhere is begun again and goes on: nothing is asked twice
of one model but what was under way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import structlog

from ingest.concurrency import for_each
from ingest.model import Scope, sha256
from navigator.errors import ModelError
from navigator.evaluation.ledger import Ledger
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.routing.curated import CuratedFolder, RouterReply
from navigator.ports import Model
from navigator.strategies.build import StrategyDeps
from navigator.strategies.rdr2.examples import Example
from navigator.strategies.rdr2.pages import Anchored, anchored
from navigator.strategies.rdr2.router import Look, Router, page_prompt

log = structlog.get_logger()

FAULTS = 3
"""Calls in a row that fail after their retries, after which a run ends."""


@dataclass(slots=True)
class Progress:
    """Of the questions `done`; pages that were `asked` about in this run, those answered in an earlier one (`known`), calls
    that `failed`, with the last reason. `ended`: why before all was done, "" if it was."""

    questions: int
    done: int = 0
    asked: int = 0
    known: int = 0
    failed: int = 0
    failed_reason: str = ""
    ended: str = ""


class Curation:
    """One run into one folder, which is open. `show` is told of all progress."""

    def __init__(
        self,
        deps: StrategyDeps,
        model: Model,
        folder: CuratedFolder,
        ledger: Ledger,
        *,
        scope: Scope | None = None,
        workers: int = 4,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._ground = deps
        self._router = Router(model)
        self._folder = folder
        self._scope = scope or Scope()
        self._workers = workers
        self._show = show
        self._faults = 0
        self.ledger = ledger
        self.progress = Progress(0)

    async def run(self, questions: Sequence[EvalQuestion]) -> Progress:
        """Until all are asked, the ceiling is reached, or the model fails again and again. Raises IngestError, OSError."""
        self.progress = Progress(len(questions))
        await for_each(self._until_ended(questions), self._curate, self._workers)
        return self.progress

    async def _until_ended(self, questions: Sequence[EvalQuestion]) -> AsyncIterator[EvalQuestion]:
        for question in questions:
            if self.progress.ended:
                return
            yield question

    async def _curate(self, question: EvalQuestion) -> None:
        on = self._ground
        found = await anchored(on.retriever, on.trees, on.parts, question.question, self._scope, on.bounds.chunks)
        for page in found.pages:
            await self._ask(question, page)
        if not self.progress.ended:
            self.progress.done += 1
        self._show(self.progress)

    async def _ask(self, question: EvalQuestion, page: Anchored) -> None:
        """The actions of one turn on one page."""
        progress, subtree = self.progress, page.begin(structure=True)
        prompt = page_prompt(question.question, subtree.render())
        key = sha256(self._router.model.name, self._router.system, prompt)
        if self._folder.has(key):
            progress.known += 1
            return
        tab = None if progress.ended else self.ledger.begin()
        if tab is None:
            progress.ended = progress.ended or self.ledger.refusal
            return
        try:
            look = await self._router.look(question.question, subtree)
            tab.spend(look.usage)
            self._faults = 0
            progress.asked += 1
            self._folder.keep(RouterReply(key, look.routed.collapsed, self._example(question, page, prompt, look)))
        except ModelError as error:
            self._fail(str(error))
        finally:
            tab.close()
        self._show(progress)

    def _example(self, question: EvalQuestion, page: Anchored, prompt: str, look: Look) -> Example:
        choices = look.subtree.choices()
        return Example(
            question_id=question.id,
            question=question.question,
            page=page.key,
            system=self._router.system,
            prompt=prompt,
            actions=look.routed.written(choices),
            visible=tuple(sorted(choices.visible)),
            folded=tuple(sorted(choices.folded)),
            invalid_lines=len(look.routed.invalid_lines),
        )

    def _fail(self, reason: str) -> None:
        self.progress.failed += 1
        self.progress.failed_reason = reason
        self._faults += 1
        log.warning("model_failed", failures=self._faults, reason=reason)
        if self._faults >= FAULTS:
            self.progress.ended = reason
