"""Turns and passages for tests of models."""

from __future__ import annotations

from datetime import UTC, datetime

from ingest.model import Block
from navigator.answer import Passage
from navigator.ports import ModelTurn, ToolCall, ToolResult, ToolTurn, Turn, UserTurn

READ_AT = datetime(2026, 1, 1, tzinfo=UTC)


def passage(number: int, *blocks: str | Block, path: tuple[str, ...] = ("Manual", "Section")) -> Passage:
    """A read node; strings are paragraphs."""
    url = f"https://docs.example.test/page-{number}"
    made = tuple(block if isinstance(block, Block) else Block("text", block) for block in blocks)
    return Passage(number, f"node-{number}", "hash", url, url, f"{url}#s", path, made, READ_AT)


def read_turns(*reads: tuple[Passage, ...], question: str = "What is it?", note: str = "[Left: 5.]") -> list[Turn]:
    """A question, then one Read for each group of passages."""
    turns: list[Turn] = [UserTurn(question)]
    for number, passages in enumerate(reads):
        call = ToolCall(f"toolu_r{number}", "read", {"sections": [each.number for each in passages]})
        turns += [ModelTurn("Reading.", (call,)), ToolTurn((ToolResult(call.id, passages=passages),), note)]
    return turns
