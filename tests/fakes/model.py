"""A Model that follows a script: a list of turns, each a list of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from navigator.ports import ModelEvent, TextDelta, Tool, ToolCall, ToolCallEvent, Turn, TurnEnd


class ScriptedModel:
    """Plays one scripted turn after the other; remembers what it was asked. A script entry that is an
    exception is raised. After the script's end it repeats the last turn."""

    def __init__(
        self, *script: list[ModelEvent] | Exception, cites: bool = True, context_window: int = 200_000
    ) -> None:
        self.script = list(script)
        self.cites = cites
        self.context_window = context_window
        self.name = "scripted"
        self.asked: list[tuple[str, tuple[Turn, ...], bool]] = []

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        self.asked.append((system, tuple(turns), must_answer))
        step = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(step, Exception):
            raise step
        for event in step:
            yield event
        if not any(isinstance(event, TurnEnd) for event in step):
            calls = any(isinstance(event, ToolCallEvent) for event in step)
            yield TurnEnd("calls" if calls else "end")


def toc(query: str, call_id: str = "t") -> list[ModelEvent]:
    return [TextDelta("Looking."), ToolCallEvent(ToolCall(call_id, "get_toc", {"query": query}))]


def read(*sections: Any, call_id: str = "r") -> list[ModelEvent]:
    return [TextDelta("Reading."), ToolCallEvent(ToolCall(call_id, "read", {"sections": list(sections)}))]
