"""Texts of sections, for whoever keeps some."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.model import Edition
from ingest.model import Block, node_hash
from navigator.answer import Passage
from tests.fakes.exchanges import NOON

NODE = "d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e"
PATH = ("Pump documentation", "Install Pump", "Choose a port")


def texts(*said: str) -> tuple[Block, ...]:
    return tuple(Block("text", text) for text in said)


def section(
    blocks: Sequence[Block] = texts("Pump listens on port 7070."),
    *,
    node: str = NODE,
    path: tuple[str, ...] = PATH,
    page: str = "https://docs.example.com/install",
    checked_at: datetime = NOON,
) -> Passage:
    return Passage(
        number=0,
        node_id=node,
        node_hash=node_hash(path[-1], blocks),
        page_key=page,
        page_url=page,
        link=f"{page}#port",
        path=path,
        blocks=tuple(blocks),
        checked_at=checked_at,
    )


def edition(
    blocks: Sequence[Block] = texts("Pump listens on port 7070."),
    *,
    kept_at: datetime = NOON,
    linked: bool = False,
    node: str = NODE,
    path: tuple[str, ...] = PATH,
    checked_at: datetime = NOON,
) -> Edition:
    return Edition(section(blocks, node=node, path=path, checked_at=checked_at), "docs", kept_at, linked)
