"""The tools of one question, within a budget. What a model gets wrong comes back to it as a tool error; each call
counts, so that every question ends.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from navigator.agent.prompts import budget_note
from navigator.agent.run import AnswerRun
from navigator.agent.session import ReadingSession
from navigator.answer import Step
from navigator.ports import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn


class ToolError(Exception):
    """What the model is told instead of a result."""


class Toolbox(ABC):
    """A strategy's tools. `reads` are those of them that give text; with `one_kind` a turn may use one of them only."""

    tools: ClassVar[tuple[Tool, ...]]
    reads: ClassVar[frozenset[str]]
    one_kind: ClassVar[bool] = False

    def __init__(self, reading: ReadingSession, budget: int, context_share: float) -> None:
        self.reading = reading
        self._budget = budget
        self._context_share = context_share

    @abstractmethod
    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        """Do one call of one of `tools`: the step, completed, and the result. Raises ToolError, IngestError."""

    @property
    def has_read(self) -> bool:
        """Whether a call that gives text went through, even if what it asked for was there no longer."""
        return any(step.tool in self.reads and step.error is None for step in self.reading.steps)

    @property
    def exhausted(self) -> bool:
        return len(self.reading.steps) >= self._budget

    def note(self, context: float) -> str:
        """Told before each turn: what is left."""
        return budget_note(self._budget - len(self.reading.steps), context, self._context_share)

    async def run(self, turn: ModelTurn, way: AnswerRun) -> ToolTurn:
        """Answer all calls of one turn."""
        kinds = {call.name for call in turn.calls}.intersection(tool.name for tool in self.tools)
        mixed = self.one_kind and len(kinds) > 1
        results = [await self._run(call, turn.text, mixed, way) for call in turn.calls]
        return ToolTurn(tuple(results), self.note(way.context_share))

    async def _run(self, call: ToolCall, reasoning: str, mixed: bool, way: AnswerRun) -> ToolResult:
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
        way.step(replace(step, seconds=time.monotonic() - started))
        return result


def words(arguments: Mapping[str, Any], name: str, tool: str) -> str:
    """An argument that is a text. Raises ToolError."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f'{tool} takes {{"{name}": "what to look for"}}.')
    return value


def numbers(arguments: Mapping[str, Any], name: str, tool: str) -> list[int]:
    """An argument that lists numbers, each once. Models also write one number, or numbers as strings. Raises
    ToolError."""
    given = arguments.get(name)
    values: Sequence[Any] = given if isinstance(given, list) else [given]
    try:
        found = [int(str(value).strip()) for value in values]
    except ValueError:
        found = []
    if not found:
        raise ToolError(f'{tool} takes {{"{name}": [numbers that you were shown]}}.')
    return list(dict.fromkeys(found))


def listed(found: Sequence[int]) -> str:
    return ", ".join(map(str, found))
