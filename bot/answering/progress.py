"""Between a navigator that tells at its own pace and a chat that takes its time: only the newest is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from bot.ports import AnswerMessage
from navigator.answer import Passage, Step

AT_ONCE_SECONDS = 0.05
"""An answer that is whole so soon after its first words is shown at once, and not as it grows."""


class ProgressRelay:
    """A Listener (navigator.agent.run) inside `async with`. What is new while the message is busy waits, and the newer takes
    the place of the older. On leaving, what is being shown is shown to its end. `message` None: says nothing."""

    def __init__(self, message: AnswerMessage | None) -> None:
        self._message = message
        self._step: tuple[Step, tuple[Passage, ...]] | None = None
        self._text = ""
        self._new = asyncio.Event()
        self._over = asyncio.Event()
        self._relaying: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._message is not None:
            self._relaying = asyncio.create_task(self._relay(self._message))
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._over.set()
        self._new.set()
        if self._relaying is not None:
            if kind is not None:
                self._relaying.cancel()
            with suppress(asyncio.CancelledError):
                await self._relaying

    def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        self._step = (step, tuple(passages))
        self._new.set()

    def wrote(self, text: str) -> None:
        self._text = text
        self._new.set()

    async def _relay(self, message: AnswerMessage) -> None:
        growing = False
        while not self._over.is_set():
            await self._new.wait()
            self._new.clear()
            step, self._step = self._step, None
            if step is not None and not self._over.is_set():
                await message.stepped(*step)
            if self._text and not growing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), AT_ONCE_SECONDS)
                growing = True
            text, self._text = self._text, ""
            if text and not self._over.is_set():
                await message.wrote(text)
