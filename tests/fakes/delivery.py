"""A delivery that remembers what people see: at most one message a question, with what was done to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from bot.errors import DeliveryFailed
from bot.model import Exchange, Posted, Question
from navigator.answer import Answer, Passage, Step


@dataclass
class Message:
    """`text` is what stands there now; `signs` what was shown before; `speakers` counts who spoke in it."""

    ts: str
    question: str
    text: str = ""
    signs: list[str] = field(default_factory=list)
    retry: bool = False
    speakers: int = 0


class FakeDelivery:
    """`failing`: errors that the next attempts to show a finished answer end with. `never`: answers that cannot be shown
    at any time. `down`: nothing can be. `said`: all that was ever shown. `thread`: what was said before."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.failing: list[DeliveryFailed] = []
        self.never: set[str] = set()
        self.down = False
        self.said: list[str] = []
        self.thread: list[str] = []
        self.threads_read = 0

    def texts(self) -> list[str]:
        return [message.text for message in self.messages.values()]

    @asynccontextmanager
    async def open(
        self, exchange: Exchange, keep: Callable[[Posted], Awaitable[None]]
    ) -> AsyncIterator[FakeAnswerMessage]:
        yield FakeAnswerMessage(self, exchange.question, exchange.posted, keep)

    async def thread_before(self, question: Question) -> Sequence[str]:
        self.threads_read += 1
        return self.thread


class FakeAnswerMessage:
    def __init__(
        self,
        delivery: FakeDelivery,
        question: Question,
        posted: Posted | None,
        keep: Callable[[Posted], Awaitable[None]],
    ) -> None:
        self._delivery = delivery
        self._question = question
        self._posted = posted
        self._keep = keep
        if posted:
            delivery.messages[posted.ts].speakers += 1

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        (await self._message()).signs.append(step.tool)

    async def wrote(self, text: str) -> None:
        (await self._message()).text = text

    async def answer(self, answer: Answer) -> None:
        message = await self._message()
        if self._delivery.failing:
            raise self._delivery.failing.pop(0)
        self._show(message, answer.text)

    async def plainly(self, text: str, *, retry: bool) -> None:
        message = await self._message()
        self._show(message, text)
        message.retry = retry

    def _show(self, message: Message, text: str) -> None:
        if self._delivery.down or text in self._delivery.never:
            raise DeliveryFailed("down", passing=True)
        message.text = text
        self._delivery.said.append(text)

    async def _message(self) -> Message:
        if self._posted is None:
            self._posted = Posted(self._question.channel, f"m{len(self._delivery.messages) + 1}")
            self._delivery.messages[self._posted.ts] = Message(self._posted.ts, self._question.id, speakers=1)
            await self._keep(self._posted)
        elif not self._posted.streaming:
            self._posted = replace(self._posted, streaming=True)
            await self._keep(self._posted)
        return self._delivery.messages[self._posted.ts]
