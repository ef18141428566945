"""What is passed on of an answer that grows, and of one that is there at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from bot.answering.progress import AT_ONCE_SECONDS, ProgressRelay
from bot.ports import AnswerMessage
from navigator.answer import Passage, Step


class Shown:
    def __init__(self) -> None:
        self.said: list[str] = []

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        self.said.append(step.tool)

    async def wrote(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize(("pace", "said"), [(0.0, ["read"]), (2 * AT_ONCE_SECONDS, ["read", "One.", "One. Two."])])
async def test_an_answer_that_is_there_at_once_is_not_shown_as_it_grows(pace: float, said: list[str]) -> None:
    shown = Shown()
    async with ProgressRelay(cast(AnswerMessage, shown)) as relay:
        relay.stepped(Step("read", ""), ())
        await asyncio.sleep(0.01)
        for text in ("One.", "One. Two."):
            relay.wrote(text)
            await asyncio.sleep(pace)
    assert shown.said == said
