"""The Model port: one turn of a conversation with tools, streamed, in words of no vendor.

A conversation is a list of turns: UserTurn, ModelTurn, ToolTurn, ToolTurn answering the calls of the
ModelTurn before it. Passages that were read travel as passages, not as text, so that an adapter can
hand them to its endpoint in the form that gives citations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from navigator.answer import Passage, Usage
from navigator.retrieval.forest import Forest


@dataclass(frozen=True, slots=True)
class Tool:
    """`schema` is a JSON Schema of the arguments object."""

    name: str
    description: str
    schema: Mapping[str, Any]


NOT_AN_OBJECT = "_invalid"
"""Arguments that are no JSON object arrive as {NOT_AN_OBJECT: what was written}."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UserTurn:
    """`passages` stand in front of the text: what the model is given to read without asking for it. `forest`: what was found
    for the question before anything was asked; the text shows it."""

    text: str
    passages: tuple[Passage, ...] = ()
    forest: Forest | None = None


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model said and asked for, as it is given back to it in the next turn. `echo` is what its
    `TurnEnd` carried."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    echo: object = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call: `text` for the model; `forest` is the same in its own form; `passages`
    are citable. An error is a plain sentence in `text`."""

    call_id: str
    text: str = ""
    forest: Forest | None = None
    passages: tuple[Passage, ...] = ()
    error: bool = False


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """All results for the calls of one ModelTurn, and a note from the loop (budget, context use)."""

    results: tuple[ToolResult, ...]
    note: str = ""


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text. Citations that follow it belong to the text since the last CitedText's end."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """The piece of text being said rests on blocks first..last (inclusive) of the passage at `index`
    among all passages of the conversation, in the order in which they were read."""

    index: int
    first: int
    last: int
    quote: str


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """A complete tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The last event of a turn. `context_tokens` is how much of the model's context the request took.
    `echo` is opaque: what the adapter wants back in the ModelTurn (the model's own signed reasoning)."""

    reason: Literal["end", "calls", "max_tokens", "refusal"]
    usage: Usage = Usage()
    context_tokens: int = 0
    echo: object = None


ModelEvent = TextDelta | CitationDelta | ToolCallEvent | TurnEnd


class Model(Protocol):
    """`cites`: the endpoint gives citations by itself. `context_window` in tokens."""

    @property
    def name(self) -> str: ...

    @property
    def cites(self) -> bool: ...

    @property
    def context_window(self) -> int: ...

    def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        """Stream one turn. `must_answer`: tools may no longer be called.
        Raises ModelError (navigator.errors); text already streamed stays valid."""
        ...
