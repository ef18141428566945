"""A model that only writes: one turn without tools, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from navigator.answer import Usage
from navigator.ports import Model, TextDelta, TurnEnd, UserTurn


@dataclass(frozen=True, slots=True)
class Written:
    """The text of one turn, and why it ended: "max_tokens" was cut off, a "refusal" is no answer."""

    text: str
    usage: Usage = Usage()
    ended: Literal["end", "calls", "max_tokens", "refusal"] = "end"


async def complete(model: Model, system: str, prompt: str) -> Written:
    """Raises ModelError."""
    said, last = "", TurnEnd("end")
    async for event in model.turn(system, [UserTurn(prompt)], ()):
        match event:
            case TextDelta(text):
                said += text
            case TurnEnd():
                last = event
    return Written(said, last.usage, last.reason)
