"""About how many tokens a model reads, before it has read them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from navigator.answer import Passage
from navigator.models.given_text import given_text
from navigator.ports import ModelTurn, Tool, ToolTurn, Turn, UserTurn

CHARACTERS_PER_TOKEN = 4
"""Of prose, on average."""
BYTES_PER_TOKEN = 3
"""Fewer than texts have that a model reads: what is reckoned with it is rather too much. It holds for prose, code, and scripts
without spaces."""


def tokens_in(text: str) -> int:
    """At most, as far as can be said without the model."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def texts_given(system: str, turns: Sequence[Turn], tools: Sequence[Tool]) -> Iterator[str]:
    """All that a model is given to read in one turn."""
    yield system
    for tool in tools:
        yield tool.name + tool.description + json.dumps(tool.schema)
    for turn in turns:
        match turn:
            case UserTurn(text, passages):
                yield text
                yield from _texts_of(passages)
            case ModelTurn(text, calls):
                yield text
                yield from (json.dumps(call.arguments) for call in calls)
            case ToolTurn(results, note):
                yield note
                for result in results:
                    yield result.text
                    yield from _texts_of(result.passages)


def _texts_of(passages: Iterable[Passage]) -> Iterator[str]:
    for passage in passages:
        yield " › ".join(passage.path)
        yield from map(given_text, passage.blocks)
