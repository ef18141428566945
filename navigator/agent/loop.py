"""The loop that a model walks with tools (RIT-RAG sections 3 and 4): call, look at what came back, call again, answer.

The toolbox sets the bounds. No answer before something was read; everything the model gets wrong comes back to it as a
tool error; every way ends in an Answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from navigator.agent.run import AnswerRun
from navigator.agent.tools import Toolbox
from navigator.answer import Answer
from navigator.ports import ModelTurn, UserTurn

NUDGES = 2
"""How often a model that answers before it has read is sent back."""


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """`system`: the system prompt. `read_first`: what a model is told that answers before it has read anything.
    `context_share`: from which share of its context on it must answer."""

    system: str
    read_first: str
    context_share: float


async def walk(way: AnswerRun, toolbox: Toolbox, manner: LoopConfig) -> Answer:
    """From the turns that `way` begins with to the answer. Raises ModelError, IngestError."""
    nudges = 0
    while True:
        has_text = bool(way.reading.passages)
        if toolbox.exhausted and not has_text:
            return way.not_found()
        must_answer = has_text and (toolbox.exhausted or way.context_share >= manner.context_share)
        spoken = await way.speak(manner.system, toolbox.tools, must_answer=must_answer)
        reason = spoken.ended.reason
        if spoken.calls and not must_answer and reason != "max_tokens":
            turn = ModelTurn(spoken.draft.said, spoken.calls, spoken.ended.echo)
            way.turns += [turn, await toolbox.run(turn, way)]
        elif toolbox.has_read or reason == "refusal":
            return way.answer(spoken)
        elif nudges == NUDGES:
            return way.not_found()
        else:
            nudges += 1
            way.turns += [ModelTurn(spoken.draft.said or "…", echo=spoken.ended.echo), UserTurn(manner.read_first)]
