"""Putting every question to every contender, so that nothing is asked twice.

Questions go in order, each to all contenders before the next, so that a run which ends early has asked all of them
nearly the same. What is answered is kept at once, and judged then. A model that cannot be reached, or is asked too much, leaves
the question for the next run; a request that it rejects for what it holds is a failed answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.model import Scope, sha256
from navigator.agent.run import AnswerRun, RunQuestion
from navigator.answer import Answer
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress, Show, rejects_the_sender, run_batch, unseen
from navigator.errors import ModelError, ModelRejected
from navigator.evaluation.folder import RunFolder
from navigator.evaluation.judging.blind import Verdicts
from navigator.evaluation.judging.judges import Examination
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.readers import ScriptedReader
from navigator.evaluation.results import Contender, Result, dump_contender
from navigator.ports import Model
from navigator.strategies.strategy import Strategy

ANSWERED = "answered"
"""The outcome of an item whose answer came in this run, whether or not it was judged."""

Player = Callable[[EvalQuestion], Model]
"""The model that answers a question, or the reader in its place, which may know the question's gold."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`made_from` names all else that its answers depend on: model, index, settings. `told_gold`: so do they on the
    question's gold."""

    contender: Contender
    strategy: Strategy
    player: Player
    made_from: str
    told_gold: bool = False

    def fingerprint(self, question: EvalQuestion) -> str:
        """What an answer is an answer to; one with another fingerprint is of no use any more."""
        gold = [str(gold) for gold in question.gold] if self.told_gold else []
        return sha256(question.question, dump_contender(self.contender), self.made_from, *gold)[:16]


class EvalRun:
    """One run over one folder, which is open. `examination` None: nobody judges. `ledger`: of the models that answer and judge.
    `outdated` answers were there, but are of another index, model or wording, and are asked again. `judge_failed`: why the
    judge did, the last time."""

    def __init__(
        self,
        questions: Sequence[EvalQuestion],
        candidates: Sequence[Candidate],
        folder: RunFolder,
        *,
        scope: Scope | None = None,
        examination: Examination | None = None,
        ledger: Ledger | None = None,
        workers: int = 4,
    ) -> None:
        self.questions = tuple(questions)
        self.contenders = tuple(candidate.contender for candidate in candidates)
        self._pairs = [(question, candidate) for question in questions for candidate in candidates]
        self._folder = folder
        self._scope = scope or Scope()
        self.examination = examination
        self._workers = workers
        self.ledger = ledger or Ledger()
        self.progress = Progress(len(self._pairs))
        self.outdated = 0
        self.judge_failed = ""
        self.people: Verdicts = {}
        """What people said of answers: it counts for more than what a model did."""
        for question, candidate in self._pairs:
            if self._result(question, candidate):
                self.progress.known += 1
            elif folder.has(candidate.contender.label, question.id):
                self.outdated += 1

    def results(self) -> list[Result]:
        """All there is by now, with what is thought of it."""
        judge = self.examination
        found = [(question, self._result(question, candidate)) for question, candidate in self._pairs]
        seen = [judge.recall(question, result) if judge else result for question, result in found if result]
        return [
            replace(result, verdict=self.people.get((result.question_id, result.contender), result.verdict))
            for result in seen
        ]

    def unanswered(self) -> list[tuple[EvalQuestion, Candidate]]:
        return [pair for pair in self._pairs if not self._result(*pair)]

    def unjudged(self) -> list[EvalQuestion]:
        """The question of each answer of which an opinion is missing."""
        return [question for question, candidate in self._pairs if not self._judged(question, candidate)]

    @property
    def complete(self) -> bool:
        return not self.unanswered() and not self.unjudged()

    async def run(self, show: Show = unseen) -> Progress:
        """Until all is done, or the run ends. Raises store errors, and OSError."""
        return await run_batch(self._left(), self._do, self.progress, workers=self._workers, show=show)

    def _left(self) -> Iterator[tuple[EvalQuestion, Candidate]]:
        for question, candidate in self._pairs:
            if not self._result(question, candidate) or not self._judged(question, candidate):
                yield question, candidate

    def _result(self, question: EvalQuestion, candidate: Candidate) -> Result | None:
        return self._folder.result(candidate.contender.label, question.id, candidate.fingerprint(question))

    def _judged(self, question: EvalQuestion, candidate: Candidate) -> bool:
        """Whether there is no opinion to be had of its answer."""
        judge, result = self.examination, self._result(question, candidate)
        return judge is None or result is None or judge.complete(question, result)

    async def _do(self, pair: tuple[EvalQuestion, Candidate]) -> None:
        question, candidate = pair
        async with self.ledger.work():
            result = self._result(question, candidate) or await self._ask(question, candidate)
            if self.examination:
                await self._examine(self.examination, question, result)

    async def _examine(self, judge: Examination, question: EvalQuestion, result: Result) -> None:
        try:
            await judge.examine(question, result)
        except ModelError as error:
            self.judge_failed = str(error)
            error.args = (f"The judge: {error}",)  # what ends a run says whose fault it was
            raise

    async def _ask(self, question: EvalQuestion, candidate: Candidate) -> Result:
        model = candidate.player(question)
        way = AnswerRun(RunQuestion(question.question, self._scope), model)
        if isinstance(model, ScriptedReader):
            model.follow(way.session)
        try:
            answer = await candidate.strategy.answer(way)
        except ModelRejected as error:
            if rejects_the_sender(error):
                raise
            answer = way.end("failed", str(error))
        result = Result(
            question.id,
            candidate.contender.label,
            replace(
                answer,
                text="" if candidate.contender.reader and answer.outcome == "answered" else answer.text,
                strategy=candidate.contender.strategy,
                model=model.name,
            ),
        )
        return self._keep(result, candidate.fingerprint(question))

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
        self.progress.outcomes[ANSWERED] += 1
        return result
