"""Proposing questions: from material to a question in the file, or to the check that refused it; and what that will take.

A proposal takes up to five turns: propose; guess from titles alone, and a judge's verdict where something was guessed;
answer from the gold sections alone, and a judge's verdict. The cheap checks come in between.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from ingest.ports import Embedder, Vector
from navigator.answer import Usage
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress, Show, run_batch, unseen
from navigator.evaluation.judging.judges import Judges
from navigator.evaluation.judging.rubrics import verdict_inquiry
from navigator.evaluation.proposing import turns
from navigator.evaluation.proposing.checks import REFUSALS, Proposal, Unfit, checked_proposal
from navigator.evaluation.proposing.material import KIND_SHARES, Material
from navigator.evaluation.proposing.question_file import QuestionsFile
from navigator.evaluation.questions import EvalQuestion
from navigator.models.complete import Written, complete
from navigator.models.prices import Prices
from navigator.models.tokens import tokens_in
from navigator.ports import Model

log = structlog.get_logger()

MAX_PROPOSALS_PER_QUESTION = 4
"""Of those that are wanted: a model that cannot do it is not paid for ever."""
TOO_MANY = "too many proposals are refused"
MIN_SAME_COSINE = 0.9
"""Above it two questions are taken for one."""
_COMPARED_WORDS = re.compile(r"\w+")

PROPOSALS_PER_QUESTION = 1.5
"""What the plan reckons with for each question that is accepted: one in three is refused."""
ANSWERED_GUESSES = 0.5
"""Of the guesses from titles, so many name an answer, which is then judged."""
_TYPICAL_QUESTION, _TYPICAL_ANSWER = "?" * 120, "." * 300
"""As long as they usually are."""
_PROPOSAL_TOKENS, _REPLY_TOKENS, _VERDICT_TOKENS = 400, 100, 60
"""Of a proposal, of an answer and of a verdict."""


@dataclass(frozen=True, slots=True)
class Sense:
    """A question as it is compared."""

    words: tuple[str, ...]
    vector: Vector


class KnownQuestions:
    """The questions that there are."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._senses: list[Sense] = []

    async def senses(self, questions: Sequence[str]) -> list[Sense]:
        """Raises what the embedder raises."""
        vectors = await self._embedder.embed(questions) if questions else ()
        return [
            Sense(tuple(_COMPARED_WORDS.findall(question.casefold())), _unit(vector))
            for question, vector in zip(questions, vectors, strict=True)
        ]

    def has(self, sense: Sense) -> bool:
        return any(
            known.words == sense.words or _cosine(known.vector, sense.vector) > MIN_SAME_COSINE
            for known in self._senses
        )

    def add(self, sense: Sense) -> None:
        self._senses.append(sense)


def _cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(_cosine(vector, vector)) or 1.0
    return [x / length for x in vector]


class Unkept:
    """A judge's opinions about proposals, which are asked for once and kept nowhere."""

    def opinion(self, key: str) -> tuple[Mapping[str, Any], Usage] | None:
        return None

    def keep_opinion(self, key: str, said: Mapping[str, Any], usage: Usage) -> None:
        return None


class Proposing:
    """Fills a file up to `count` proposed questions, `workers` proposals side by side. `ledger`: the model's. Outcomes are the kinds of questions that
    were accepted, and the checks that refused one."""

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        known: KnownQuestions,
        file: QuestionsFile,
        *,
        count: int,
        examples: Sequence[EvalQuestion] = (),
        workers: int = 4,
        show: Show = unseen,
    ) -> None:
        self._model = model
        self._judges = Judges(model, Unkept())
        self._ledger = ledger
        self._known = known
        self._file = file
        self._examples = examples
        self._workers = workers
        self._show = show
        self._wanted = max(0, count - sum(question.synthetic for question in file.questions))
        self._under_way = 0
        self._settled = asyncio.Event()
        self.progress = Progress(self._wanted)

    async def run(self, materials: AsyncIterator[Material]) -> Progress:
        """Until the file has as many as wanted, or there is no more material. Raises store errors and OSError."""
        there = [question.question for question in (*self._examples, *self._file.questions)]
        for sense in await self._known.senses(there):
            self._known.add(sense)
        enough = self._until_enough(materials)
        return await run_batch(enough, self._propose, self.progress, workers=self._workers, show=self._show)

    async def _until_enough(self, materials: AsyncIterator[Material]) -> AsyncIterator[Material]:
        """What was not asked about before, while more is wanted than what is under way could give."""
        progress = self.progress
        async for material in materials:
            if self._file.asked(material):
                continue
            while self._missing > 0 and self._under_way >= self._missing and not progress.ended:
                await self._settled.wait()
            if self._missing <= 0 or progress.ended:
                return
            if progress.done + self._under_way >= MAX_PROPOSALS_PER_QUESTION * self._wanted:
                progress.ended = TOO_MANY
                return
            self._under_way += 1
            yield material

    @property
    def _missing(self) -> int:
        return self._wanted - accepted(self.progress)

    async def _propose(self, material: Material) -> None:
        """Into the file, or to the refused. Raises ModelError and CeilingReached, and then neither."""
        try:
            async with self._ledger.work():
                proposal, sense = await self._tried(material)
            if self._known.has(sense):  # another worker may have found it meanwhile
                raise Unfit("twice", "the question is there already")
        except Unfit as unfit:
            self._file.refuse(material, unfit.check)
            self.progress.outcomes[unfit.check] += 1
            log.info("proposal_refused", check=unfit.check, kind=material.kind, material=material.key)
        else:
            self._file.accept(proposal.question, material)
            self._known.add(sense)
            self.progress.outcomes[proposal.question.kind] += 1
        finally:  # wakes the stream of materials: an accepted question may have been the last, a refused one leaves room
            self._under_way -= 1
            self._settled.set()
            self._settled = asyncio.Event()

    async def _tried(self, material: Material) -> tuple[Proposal, Sense]:
        """The proposal after all checks. Raises Unfit, ModelError."""
        written = await self._said(turns.proposal_turn(material.sections, self._examples))
        if written.ended != "end":
            raise Unfit("form", "a refusal" if written.ended == "refusal" else "a reply that was cut off")
        proposal = checked_proposal(turns.read_draft(written.text), material.sections)
        question = proposal.question
        (sense,) = await self._known.senses([question.question])
        if self._known.has(sense):
            raise Unfit("twice", "the question is there already")
        guessed = await self._said(turns.guess_turn(proposal.sections, question.question))
        if await self._right(question, guessed):
            raise Unfit("titles", "it is answered without reading")
        answered = await self._said(turns.answer_turn(proposal.sections, question.question))
        if not await self._right(question, answered):
            raise Unfit("gold", "its sections do not give its answer")
        return proposal, sense

    async def _said(self, turn: turns.Turn) -> Written:
        return await complete(self._model, turn.system, turn.prompt)

    async def _right(self, question: EvalQuestion, written: Written) -> bool:
        """Whether what was said is an answer, and says what was proposed. No answer needs no judge."""
        if written.ended == "refusal" or not turns.knows(written.text):
            return False
        opinion = await self._judges.ask(verdict_inquiry(question, written.text))
        return opinion is not None and opinion.found[0]


def accepted(progress: Progress) -> int:
    return sum(progress.outcomes[kind] for kind in KIND_SHARES)


def refused(progress: Progress) -> int:
    return sum(progress.outcomes[check] for check in REFUSALS)


@dataclass(frozen=True, slots=True)
class ProposalPlan:
    """`cost` is None where the prices are not known."""

    questions: int
    proposals: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


def plan_proposals(
    questions: int, materials: Sequence[Material], examples: Sequence[EvalQuestion], prices: Prices | None
) -> ProposalPlan:
    """For so many questions, from material such as this, of which there is some."""
    calls = [call for material in materials for call in _calls(material, examples)]
    proposals = math.ceil(questions * PROPOSALS_PER_QUESTION)
    times = proposals / len(materials)

    def total(each: Sequence[float]) -> int:
        return round(times * sum(each))

    costs = [prices.cost(usage) if prices else None for _, usage in calls]
    known = [share * cost for (share, _), cost in zip(calls, costs, strict=True) if cost is not None]
    return ProposalPlan(
        questions,
        proposals,
        calls=total([share for share, _ in calls]),
        input_tokens=total([share * usage.input_tokens for share, usage in calls]),
        output_tokens=total([share * usage.output_tokens for share, usage in calls]),
        cost=times * sum(known) if len(known) == len(calls) else None,
    )


def _calls(material: Material, examples: Sequence[EvalQuestion]) -> list[tuple[float, Usage]]:
    """The calls of one proposal that is accepted, each with how often it is made."""
    judged = verdict_inquiry(EvalQuestion("", _TYPICAL_QUESTION, (_TYPICAL_ANSWER,)), _TYPICAL_ANSWER)
    asked = [
        (turns.proposal_turn(material.sections, examples), _PROPOSAL_TOKENS),
        (turns.guess_turn(material.sections, _TYPICAL_QUESTION), _REPLY_TOKENS),
        (turns.answer_turn(material.sections, _TYPICAL_QUESTION), _REPLY_TOKENS),
    ]
    once = [(1.0, Usage(tokens_in(turn.system) + tokens_in(turn.prompt), output)) for turn, output in asked]
    return [
        *once,
        (1.0 + ANSWERED_GUESSES, Usage(tokens_in(judged.system) + tokens_in(judged.prompt), _VERDICT_TOKENS)),
    ]
