"""Proposing questions: from material to a question in the file, or to the check that refused it.

A proposal takes up to five turns: propose; guess from titles alone, and a judge's verdict where something was guessed;
answer from the gold sections alone, and a judge's verdict. The cheap checks come in between.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from ingest.concurrency import for_each
from navigator.answer import Usage
from navigator.errors import ModelError
from navigator.evaluation.judging.judge import verdict
from navigator.evaluation.judging.opinions import Judges
from navigator.evaluation.ledger import Ledger, Tab
from navigator.evaluation.proposing import turns
from navigator.evaluation.proposing.checks import Check, Proposal, Unfit, checked
from navigator.evaluation.proposing.material import Material
from navigator.evaluation.proposing.near_duplicates import KnownQuestions, Sense
from navigator.evaluation.proposing.question_file import QuestionsFile
from navigator.evaluation.questions import EvalQuestion
from navigator.models.complete import Written, complete
from navigator.ports import Model

log = structlog.get_logger()

FAULTS = 3
"""Calls in a row that fail after their retries, after which a run ends."""
TRIES = 4
"""Proposals for each question that is wanted, at most: a model that cannot do it is not paid for ever."""
CEILING = "the ceiling is reached"
UNPRICED = "a ceiling in dollars, and tokens whose price is not known"
TOO_MANY = "too many proposals are refused"


class Unkept:
    """A judge's opinions about proposals, which are asked for once and kept nowhere."""

    def opinion(self, key: str) -> tuple[Mapping[str, Any], Usage] | None:
        return None

    def keep_opinion(self, key: str, said: Mapping[str, Any], usage: Usage) -> None:
        return None


@dataclass(slots=True)
class Progress:
    """Of this run. `accepted` by kind, `refused` by check, each in questions; `failed`: proposals that a fault of the
    endpoint cut short. `ended`: why before all that was wanted was found, "" if it was or if there is no more material."""

    proposed: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[Check] = field(default_factory=Counter)
    failed: int = 0
    failed_reason: str = ""
    used: Usage = Usage()
    ended: str = ""


class Proposing:
    """Fills a file up to `count` proposed questions, `workers` proposals side by side."""

    def __init__(
        self,
        model: Model,
        known: KnownQuestions,
        ledger: Ledger,
        file: QuestionsFile,
        *,
        count: int,
        examples: Sequence[EvalQuestion] = (),
        workers: int = 4,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._model = model
        self._judges = Judges(model, Unkept())
        self._known = known
        self._ledger = ledger
        self._file = file
        self._examples = examples
        self._workers = workers
        self._show = show
        self._wanted = max(0, count - sum(question.synthetic for question in file.questions))
        self._begun = 0
        self._settled = asyncio.Condition()
        self._faults = 0
        self.progress = Progress()

    async def run(self, materials: AsyncIterator[Material]) -> Progress:
        """Until the file has as many as wanted, there is no more material, the ceiling is reached, or the model fails
        again and again. Raises store errors and OSError."""
        there = [question.question for question in (*self._examples, *self._file.questions)]
        for sense in await self._known.senses(there):
            self._known.add(sense)
        await for_each(self._until_enough(materials), self._propose, self._workers)
        self.progress.used = self._ledger.used
        return self.progress

    async def _until_enough(self, materials: AsyncIterator[Material]) -> AsyncIterator[Material]:
        """What was not asked about before, while more is wanted than what is under way could give."""
        async for material in materials:
            if self._file.asked(material):
                continue
            async with self._settled:
                await self._settled.wait_for(self._may_begin)
                if self._missing <= 0 or self.progress.ended:
                    return
                if self.progress.proposed + self._begun >= TRIES * self._wanted:
                    self.progress.ended = TOO_MANY
                    return
                self._begun += 1
            yield material

    def _may_begin(self) -> bool:
        """The first proposal goes alone: then it is known that the model answers, and what a proposal costs."""
        return not self._begun or (self.progress.proposed > 0 and self._begun < self._missing)

    @property
    def _missing(self) -> int:
        return self._wanted - self.progress.accepted.total()

    async def _propose(self, material: Material) -> None:
        progress = self.progress
        tab = self._ledger.begin()
        try:
            if tab is None:
                progress.ended = progress.ended or (UNPRICED if self._ledger.unpriced else CEILING)
                return
            await self._decide(material, tab)
        except ModelError as error:
            self._fail(str(error))
        finally:
            if tab is not None:
                tab.close()
            async with self._settled:
                self._begun -= 1
                self._settled.notify_all()
            progress.used = self._ledger.used
            self._show(progress)

    async def _decide(self, material: Material, tab: Tab) -> None:
        """Into the file, or to the refused. Raises ModelError, and then neither."""
        try:
            proposal, sense = await self._tried(material, tab)
            if self._known.has(sense):  # another worker may have found it meanwhile
                raise Unfit("twice", "the question is there already")
        except Unfit as unfit:
            self._file.refuse(material, unfit.check)
            self.progress.refused[unfit.check] += 1
            log.info("proposal_refused", check=unfit.check, kind=material.kind, material=material.key)
        else:
            self._file.accept(proposal.question, material)
            self._known.add(sense)
            self.progress.accepted[proposal.question.kind] += 1
        self._faults = 0
        self.progress.proposed += 1

    async def _tried(self, material: Material, tab: Tab) -> tuple[Proposal, Sense]:
        """The proposal after all checks. Raises Unfit, ModelError."""
        written = await self._said(turns.propose(material.sections, self._examples), tab)
        if written.ended != "end":
            raise Unfit("form", "a refusal" if written.ended == "refusal" else "a reply that was cut off")
        proposal = checked(turns.read(written.text), material.sections)
        question = proposal.question
        (sense,) = await self._known.senses([question.question])
        if self._known.has(sense):
            raise Unfit("twice", "the question is there already")
        guessed = await self._said(turns.guess(proposal.sections, question.question), tab)
        if await self._right(question, guessed, tab):
            raise Unfit("titles", "it is answered without reading")
        answered = await self._said(turns.answer(proposal.sections, question.question), tab)
        if not await self._right(question, answered, tab):
            raise Unfit("gold", "its sections do not give its answer")
        return proposal, sense

    async def _said(self, turn: turns.Turn, tab: Tab) -> Written:
        written = await complete(self._model, turn.system, turn.prompt)
        tab.spend(written.usage)
        return written

    async def _right(self, question: EvalQuestion, written: Written, tab: Tab) -> bool:
        """Whether what was said is an answer, and says what was proposed. No answer needs no judge."""
        if written.ended == "refusal" or not turns.knows(written.text):
            return False
        opinion = await self._judges.ask(verdict(question, written.text), tab.spend)
        return opinion is not None and opinion.found[0]

    def _fail(self, reason: str) -> None:
        progress = self.progress
        progress.failed += 1
        progress.failed_reason = reason
        self._faults += 1
        log.warning("model_failed", failures=self._faults, reason=reason)
        if self._faults >= FAULTS:
            progress.ended = progress.ended or reason
