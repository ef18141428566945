"""Passages to take extracts from."""

from __future__ import annotations

from datetime import UTC, datetime

from ingest.model import Block
from navigator.answer import Passage


def text(words: str) -> Block:
    return Block("text", words)


def code(words: str, language: str | None = None) -> Block:
    return Block("code", words, language)


def terms_block(*lines: str) -> Block:
    """Lines with their indentation as marks."""
    bare = [line.lstrip() for line in lines]
    return Block("terms", "\n".join(bare), marks=tuple(line[: len(line) - len(line.lstrip())] for line in lines))


def list_block(*lines: str) -> Block:
    marks = [f"{n}. " for n in range(1, len(lines) + 1)]
    return Block("list", "\n".join(lines), marks=tuple(marks))


def passage(*blocks: Block, path: tuple[str, ...] = ("Pumps", "Section"), number: int = 1) -> Passage:
    return Passage(number, f"n{number}", "h", "k", "u", "l", path, blocks, datetime(2026, 1, 1, tzinfo=UTC))
