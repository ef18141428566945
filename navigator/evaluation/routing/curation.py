"""Curating examples to train a router with (RDR2 section 3.3 and appendix A.1), from questions alone.

For each question the k best chunks are retrieved and the subtree of each of their pages is derived; a model is asked for
the actions of one turn. Lines that do not count are left out and counted; a reply without one line that counts makes no
example. Every reply is kept at once: nothing is asked twice of one model but what was under way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from ingest.model import Scope, sha256
from navigator.batch.runner import Progress, Show, run_batch, unseen
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.routing.curated import CuratedFolder, RouterReply
from navigator.ports import Model
from navigator.strategies.build import StrategyDeps
from navigator.strategies.rdr2.examples import Example
from navigator.strategies.rdr2.pages import Anchored, anchored
from navigator.strategies.rdr2.router import Look, Router, page_prompt

QUESTIONS_TAKEN_UP = "questions"
"""The outcome that counts questions of which every page was taken up."""


class Curation:
    """One run into one folder, which is open. Its items are pages: a question has several."""

    def __init__(
        self,
        deps: StrategyDeps,
        model: Model,
        folder: CuratedFolder,
        *,
        scope: Scope | None = None,
        workers: int = 4,
        show: Show = unseen,
    ) -> None:
        self._deps = deps
        self._router = Router(model)
        self._folder = folder
        self._scope = scope or Scope()
        self._workers = workers
        self._show = show
        self.progress = Progress()

    async def run(self, questions: Sequence[EvalQuestion]) -> Progress:
        """Raises IngestError, OSError."""
        return await run_batch(
            self._unasked(questions), self._ask, self.progress, workers=self._workers, show=self._show
        )

    async def _unasked(self, questions: Sequence[EvalQuestion]) -> AsyncIterator[tuple[EvalQuestion, Anchored]]:
        on = self._deps
        for question in questions:
            found = await anchored(on.retriever, on.trees, on.parts, question.question, self._scope, on.bounds.chunks)
            for page in found.pages:
                if self._folder.has(self._key(self._prompt(question, page))):
                    self.progress.known += 1
                else:
                    yield question, page
            self.progress.outcomes[QUESTIONS_TAKEN_UP] += 1

    async def _ask(self, item: tuple[EvalQuestion, Anchored]) -> None:
        """The actions of one turn on one page."""
        question, page = item
        prompt = self._prompt(question, page)
        look = await self._router.look(question.question, page.begin(structure=True))
        example = self._example(question, page, prompt, look)
        self._folder.keep(RouterReply(self._key(prompt), look.routed.collapsed, example))

    def _prompt(self, question: EvalQuestion, page: Anchored) -> str:
        return page_prompt(question.question, page.begin(structure=True).render())

    def _key(self, prompt: str) -> str:
        return sha256(self._router.model.name, self._router.system, prompt)

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
