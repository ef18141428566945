"""A model that only writes: one turn without tools, what it said, and the JSON that it was asked for out of that. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from navigator.answer import Usage
from navigator.citations.markup import without_reasoning
from navigator.ports import Model, TextDelta, TurnEnd, UserTurn

MAX_REPLY_CHARACTERS = 100_000
"""Of a longer reply the beginning is looked at for JSON."""
MAX_BRACES = 50
"""Opening braces that are tried."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of one turn without reasoning, and why it ended: "max_tokens" was cut off, a "refusal" is no answer."""

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
    return Written(without_reasoning(said), last.usage, last.reason)


def object_in(reply: str) -> Mapping[str, Any]:
    """The first JSON object of a reply, be it fenced, or with prose around it. Raises ValueError where there is none."""
    text, start = reply[:MAX_REPLY_CHARACTERS], -1
    for _ in range(MAX_BRACES):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise ValueError("the reply holds no JSON object")
