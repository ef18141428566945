"""A model that only writes: one turn without tools, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from navigator.answer import Usage
from navigator.ports import Ended, Model, Said, UserTurn


@dataclass(frozen=True, slots=True)
class Written:
    """The text of one turn, and why it ended: "max_tokens" was cut off, a "refusal" is no answer."""

    text: str
    usage: Usage = Usage()
    ended: Literal["end", "calls", "max_tokens", "refusal"] = "end"


async def write(model: Model, system: str, prompt: str) -> Written:
    """Raises ModelError."""
    said, last = "", Ended("end")
    async for event in model.turn(system, [UserTurn(prompt)], ()):
        match event:
            case Said(text):
                said += text
            case Ended():
                last = event
    return Written(said, last.usage, last.reason)
