"""Putting every question to every contender: side by side, within a ceiling, and so that nothing is asked twice.

Questions go in order, each to all contenders before the next, so that a run which ends early has asked all of them
nearly the same. What is answered is kept at once. A model that cannot be reached, or is asked too much, leaves the
question for the next run; a request that it rejects for what it holds is a failed answer; one that it rejects for who
sends it (key, account, name of the model) ends the run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from ingest.concurrency import for_each
from ingest.model import Scope
from navigator.agent.run import AnswerRun, RunQuestion
from navigator.answer import Answer
from navigator.errors import ModelError, ModelRejected
from navigator.evaluation.candidates import Candidate
from navigator.evaluation.folder import RunFolder
from navigator.evaluation.judging.examination import Examination
from navigator.evaluation.ledger import Ledger, Tab
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.readers import ScriptedReader
from navigator.evaluation.results import Result

log = structlog.get_logger()

FAULTS = 8
"""Questions in a row that the model fails, after its retries, before a run ends."""


@dataclass(slots=True)
class Progress:
    """`total` answers are wanted; `kept` were there before, `answered` came in this run, `outdated` were there but are of
    another index, model or wording and are asked again. `left` questions failed for now, with the last reason;
    `judge_failed`: why the judge did, the last time. `ended`: why before all was done, "" if it was."""

    total: int
    kept: int = 0
    outdated: int = 0
    answered: int = 0
    left: int = 0
    left_reason: str = ""
    judge_failed: str = ""
    ended: str = ""

    @property
    def done(self) -> int:
        return self.kept + self.answered


class Run:
    """One run over one folder, which is open. `examination` None: nobody judges."""

    def __init__(
        self,
        questions: Sequence[EvalQuestion],
        entrants: Sequence[Candidate],
        folder: RunFolder,
        *,
        scope: Scope | None = None,
        examination: Examination | None = None,
        ledger: Ledger | None = None,
        workers: int = 4,
    ) -> None:
        self.questions = tuple(questions)
        self.contenders = tuple(entrant.contender for entrant in entrants)
        self._pairs = [(question, entrant) for question in questions for entrant in entrants]
        self._folder = folder
        self._scope = scope or Scope()
        self.examination = examination
        self._workers = workers
        self._faults = 0
        self.ledger = ledger or Ledger()
        self.progress = Progress(len(self._pairs))
        for question, entrant in self._pairs:
            if self._result(question, entrant):
                self.progress.kept += 1
            elif folder.has(entrant.contender.label, question.id):
                self.progress.outdated += 1

    def results(self) -> list[Result]:
        """All there is by now, with what is thought of it."""
        judge = self.examination
        found = [(question, self._result(question, entrant)) for question, entrant in self._pairs]
        return [judge.recall(question, result) if judge else result for question, result in found if result]

    def unanswered(self) -> list[tuple[EvalQuestion, Candidate]]:
        return [pair for pair in self._pairs if not self._result(*pair)]

    def unjudged(self) -> list[EvalQuestion]:
        """The question of each answer of which an opinion is missing."""
        return [question for question, entrant in self._pairs if not self._judged(question, entrant)]

    @property
    def complete(self) -> bool:
        return not self.unanswered() and not self.unjudged()

    async def run(self, show: Callable[[Progress], None] = lambda progress: None) -> Progress:
        """Until all is done, or the run ends; `show` is told of all progress. Raises store errors, and OSError."""

        async def do(pair: tuple[EvalQuestion, Candidate]) -> None:
            await self._do(*pair)
            show(self.progress)

        await for_each(self._until_ended(), do, self._workers)
        return self.progress

    async def _until_ended(self) -> AsyncIterator[tuple[EvalQuestion, Candidate]]:
        for question, entrant in self._pairs:
            if self.progress.ended:
                return
            if not self._result(question, entrant) or not self._judged(question, entrant):
                yield question, entrant

    def _result(self, question: EvalQuestion, entrant: Candidate) -> Result | None:
        return self._folder.result(entrant.contender.label, question.id, entrant.fingerprint(question))

    def _judged(self, question: EvalQuestion, entrant: Candidate) -> bool:
        """Whether there is no opinion to be had of its answer."""
        judge, result = self.examination, self._result(question, entrant)
        return judge is None or result is None or judge.complete(question, result)

    async def _do(self, question: EvalQuestion, entrant: Candidate) -> None:
        tab = self.ledger.begin()
        if tab is None:
            self.progress.ended = self.progress.ended or self.ledger.refusal
            return
        try:
            result = self._result(question, entrant) or await self._ask(question, entrant, tab)
            if result and self.examination and not self.progress.ended:
                await self._examine(self.examination, question, result, tab)
        finally:
            tab.close()

    async def _ask(self, question: EvalQuestion, entrant: Candidate, tab: Tab) -> Result | None:
        model = entrant.player(question)
        way = AnswerRun(RunQuestion(question.question, self._scope), model)
        if isinstance(model, ScriptedReader):
            model.follow(way.session)
        try:
            answer = await entrant.strategy.answer(way)
        except ModelError as error:
            if not isinstance(error, ModelRejected) or _of_the_sender(error):
                self._leave(error)
                return None
            answer = way.end("failed", str(error))
        finally:
            tab.spend(way.usage)
        self._faults = 0
        result = Result(
            question.id,
            entrant.contender.label,
            replace(
                answer,
                text="" if entrant.contender.reader and answer.outcome == "answered" else answer.text,
                strategy=entrant.contender.strategy,
                model=model.name,
            ),
        )
        return self._keep(result, entrant.fingerprint(question))

    def _keep(self, result: Result, fingerprint: str) -> Result:
        try:
            self._folder.keep(result, fingerprint)
        except ValueError:  # half a surrogate pair cannot be written
            answer = result.answer
            spent = replace(answer.trace, steps=(), shown=(), passages=())
            unreadable = "The model wrote what is no Unicode text."
            result = replace(
                result,
                answer=Answer(answer.question, unreadable, "failed", trace=spent, strategy=answer.strategy),
            )
            self._folder.keep(result, fingerprint)
        self.progress.answered += 1
        return result

    async def _examine(self, judge: Examination, question: EvalQuestion, result: Result, tab: Tab) -> None:
        try:
            await judge.examine(question, result, tab.spend)
        except ModelError as error:
            self.progress.judge_failed = str(error)
            self._fault(error, f"The judge: {error}")
        else:
            self._faults = 0

    def _leave(self, error: ModelError) -> None:
        self.progress.left += 1
        self.progress.left_reason = str(error)
        self._fault(error, str(error))

    def _fault(self, error: ModelError, reason: str) -> None:
        self._faults += 1
        log.warning("model_failed", kind=type(error).__name__, failures=self._faults, reason=reason)
        if self._faults >= FAULTS or _of_the_sender(error):
            self.progress.ended = self.progress.ended or reason


def _of_the_sender(error: ModelError) -> bool:
    """Whether every request would be rejected like this one."""
    from navigator.models.faults import RequestRefused  # the SDK behind it takes a second to import

    return isinstance(error, RequestRefused) and (
        error.status not in (400, 413, 422) or "credit balance" in error.detail.lower()
    )
