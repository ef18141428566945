"""The loop that a model goes round with tools (RIT-RAG sections 3 and 4): call, look at what came back, call again, answer.

The toolbox of a question sets the bounds. What a model gets wrong comes back to it as a tool error, and each call counts,
so that every question ends in an Answer; none before something was read.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from navigator.agent.arguments import ToolError, arguments_object, tool_named
from navigator.agent.prompts import ANSWER_IN_WORDS, CALL_AS_CALL, budget_note
from navigator.agent.run import AnswerRun, ReadingSession
from navigator.agent.written_calls import written_calls
from navigator.answer import Answer, Step
from navigator.batch.ledger import AnswerCeilingReached
from navigator.citations.markup import without_reasoning
from navigator.ports import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn, UserTurn

MAX_NUDGES = 2
"""How often a model that answers before it has read is sent back."""


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """`system`: the system prompt. `read_first`: what a model is told that answers before it has read anything.
    `context_share`: from which share of its context on it must answer."""

    system: str
    read_first: str
    context_share: float


async def walk(run: AnswerRun, toolbox: Toolbox, config: LoopConfig) -> Answer:
    """From the turns that `run` begins with to the answer. Raises ModelError, IngestError."""
    nudges, told_again, over, steps = 0, False, False, len(run.session.steps)
    while True:
        has_text = bool(run.session.passages)
        if toolbox.exhausted and not has_text:
            return run.not_found()
        must_answer = has_text and (over or toolbox.exhausted or run.context_share >= config.context_share)
        try:
            reply = await run.ask_model(config.system, toolbox.tools, must_answer=must_answer)
        except AnswerCeilingReached:
            if must_answer or not has_text:
                return run.over_ceiling()
            over = True
            continue
        reason = reply.ended.reason
        said = without_reasoning(reply.draft.said)
        turn = ModelTurn(said, reply.calls, reply.ended.echo)
        tried = False
        if not reply.calls and reason == "end":
            written = written_calls(said, [tool.name for tool in toolbox.tools])
            tried = written.tried
            if written.calls:
                turn = ModelTurn(written.said, written.calls)
        if turn.calls and not must_answer and reason != "max_tokens":  # a turn cut short: its calls may be half
            run.turns += [turn, await toolbox.answer_calls(turn, run)]
        elif tried and not told_again:
            told_again = True
            told = ANSWER_IN_WORDS if must_answer else CALL_AS_CALL
            run.turns += [ModelTurn(said or "…", echo=reply.ended.echo), UserTurn(told)]
        elif toolbox.has_read or reason == "refusal":
            return run.answer(reply)
        elif nudges == MAX_NUDGES or run.reasoned_away(reply):
            return run.unread(reply, called=len(run.session.steps) > steps)
        else:
            nudges += 1
            # Endpoints refuse a turn without a word, also one that is only given back.
            run.turns += [ModelTurn(said or "…", echo=reply.ended.echo), UserTurn(config.read_first)]


class Toolbox(ABC):
    """A strategy's tools. `reads` are those of them that give text; with `one_kind` a turn may use one of them only."""

    tools: tuple[Tool, ...]
    reads: ClassVar[frozenset[str]]
    one_kind: ClassVar[bool] = False

    def __init__(self, session: ReadingSession, budget: int, context_share: float) -> None:
        self.session = session
        self._budget = budget
        self._context_share = context_share

    @abstractmethod
    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        """Do one call of one of `tools`: the step, completed, and the result. Raises ToolError, IngestError."""

    @property
    def has_read(self) -> bool:
        """Whether a call that gives text went through, even if what it asked for was there no longer."""
        return any(step.tool in self.reads and step.error is None for step in self.session.steps)

    @property
    def exhausted(self) -> bool:
        return len(self.session.steps) >= self._budget

    def note(self, context: float) -> str:
        """Told before each turn: what is left."""
        return budget_note(self._budget - len(self.session.steps), context, self._context_share)

    async def answer_calls(self, turn: ModelTurn, run: AnswerRun) -> ToolTurn:
        """Answer all calls of one turn, under the names of `tools` that they mean."""
        names = [tool.name for tool in self.tools]
        calls = [
            replace(call, name=tool_named(call.name, names), arguments=arguments_object(call.arguments))
            for call in turn.calls
        ]
        kinds = {call.name for call in calls}.intersection(names)
        mixed = self.one_kind and len(kinds) > 1
        results = [await self._run(call, turn.text, mixed, run) for call in calls]
        return ToolTurn(tuple(results), self.note(run.context_share))

    async def _run(self, call: ToolCall, reasoning: str, mixed: bool, run: AnswerRun) -> ToolResult:
        started = time.monotonic()
        step = Step(call.name, reasoning.strip())
        try:
            if self.exhausted:
                raise ToolError("No tool calls are left. Answer from what you have read.")
            names = [tool.name for tool in self.tools]
            if call.name not in names:
                raise ToolError(f"There is no tool {call.name!r}; there is {' and '.join(names)}.")
            if mixed:
                raise ToolError(f"One kind of tool a turn: call {' or '.join(names)}, then look at what it gives.")
            step, result = await self._call(call, step)
        except ToolError as error:
            step = replace(step, error=str(error))
            result = ToolResult(call.id, str(error), error=True)
        run.step(replace(step, seconds=time.monotonic() - started))
        return result


def numbers_listed(found: Sequence[int]) -> str:
    return ", ".join(map(str, found))
