"""The parts around an answer service: event log, store, a delivery that remembers, and whoever is asked for answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.answering.lease import LeaseTimings
from bot.answering.quota import Quota
from bot.answering.service import AnsweringLimits, AnswerService
from bot.errors import DeliveryFailed
from bot.events import ANSWERS_TOPIC, QUESTIONS_TOPIC, dump_question, load_ending
from bot.model import ChannelSettings, Exchange, Posted, Question
from bot.ports import Delivery
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from deploy.wiring.stores import SystemClock
from ingest.events.sqlite import SqliteEventLog
from ingest.events.workers import WorkerPolicy
from ingest.ports import EventLog
from navigator.agent.run import Listener
from navigator.answer import Answer, Passage, Step
from navigator.question.rewrite import Earlier
from tests.fakes import exchanges
from tests.waiting import eventually

QUICKLY = AnsweringLimits(
    timeout=20.0,
    lease=LeaseTimings(lease=1.0, look=0.02),
    retry=WorkerPolicy(attempts=3, pause=0.01, longest=0.02, grace=5.0),
    quota=Quota(0, 0),
)
TOLD = Step("get_toc", "Looking.", "keys")


@dataclass
class Message:
    """`text` is what stands there now; `statuses` what was shown before; `writers` counts who wrote in it."""

    ts: str
    question: str
    text: str = ""
    statuses: list[str] = field(default_factory=list)
    retry: bool = False
    writers: int = 0


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
        self.told: dict[str, tuple[list[list[int]], list[list[str]]]] = {}

    def texts(self) -> list[str]:
        return [message.text for message in self.messages.values()]

    @asynccontextmanager
    async def open(
        self, exchange: Exchange, keep: Callable[[Posted], Awaitable[None]]
    ) -> AsyncIterator[FakeAnswerMessage]:
        yield FakeAnswerMessage(self, exchange.question, exchange.posted, keep)

    async def tell_changed(self, exchange: Exchange, *, post: bool) -> str:
        """`told`: by question, how often its answer was marked, and its notes."""
        if self.failing:
            raise self.failing.pop(0)
        marks, notes = self.told.setdefault(exchange.question.id, ([], []))
        marks.append([source.number for source in exchange.changed])
        if post and not notes:
            notes.append([source.after for source in exchange.changed if source.stale])
        return "note" if notes else ""

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
            delivery.messages[posted.ts].writers += 1

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        (await self._message()).statuses.append(step.tool)

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

    async def withdraw(self) -> None:
        if self._posted is not None:
            self._delivery.messages.pop(self._posted.ts, None)

    def _show(self, message: Message, text: str) -> None:
        if self._delivery.down or text in self._delivery.never:
            raise DeliveryFailed("down", passing=True)
        message.text = text
        self._delivery.said.append(text)

    async def _message(self) -> Message:
        if self._posted is None:
            self._posted = Posted(self._question.channel, f"m{len(self._delivery.messages) + 1}")
            self._delivery.messages[self._posted.ts] = Message(self._posted.ts, self._question.id, writers=1)
            await self._keep(self._posted)
        elif not self._posted.streaming:
            self._posted = replace(self._posted, streaming=True)
            await self._keep(self._posted)
        return self._delivery.messages[self._posted.ts]


class Replier:
    """Answers what it is asked, when it may; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.earlier: list[Sequence[Earlier]] = []
        self.may = asyncio.Event()
        self.may.set()
        self.holding: set[str] = set()
        self.outcome: dict[str, Any] = {}

    async def __call__(
        self, asked: Question, settings: ChannelSettings, earlier: Sequence[Earlier], listener: Listener
    ) -> Answer:
        self.asked.append(asked.text)
        self.earlier.append(earlier)
        listener.stepped(TOLD, ())
        await asyncio.sleep(0.01)
        if asked.text in self.holding:
            await self.may.wait()
        if isinstance(self.outcome.get("raises"), Exception):
            raise self.outcome["raises"]
        return replace(exchanges.answer(), question=asked.text, text=f"About {asked.text} [1]", **self.outcome)


class Office:
    """The parts around a service; `service()` runs another one."""

    def __init__(self, events: SqliteEventLog, store: SqliteBotStore) -> None:
        self.events = events
        self.store = store
        self.clock = SystemClock()
        self.delivery = FakeDelivery()
        self.replier = Replier()
        self.settings = ChannelSettings("T1", "C1")

    async def settings_of(self, team: str, channel: str) -> ChannelSettings:
        return self.settings

    def made(
        self, bounds: AnsweringLimits = QUICKLY, delivery: Delivery | None = None, events: EventLog | None = None
    ) -> AnswerService:
        """`events`: the log as another process has it open."""
        return AnswerService(
            events or self.events,
            self.store,
            delivery or self.delivery,
            self.replier,
            self.clock,
            settings_of=self.settings_of,
            bounds=bounds,
        )

    @asynccontextmanager
    async def service(
        self, bounds: AnsweringLimits = QUICKLY, delivery: Delivery | None = None, events: EventLog | None = None
    ) -> AsyncIterator[AnswerService]:
        service = self.made(bounds, delivery, events)
        running = asyncio.create_task(service.run())
        try:
            yield service
        finally:
            service.stop()
            await running

    async def ask(self, *questions: Question) -> None:
        for one in questions:
            await self.events.append(QUESTIONS_TOPIC, one.conversation, dump_question(one))

    async def over(self, *questions: Question, seconds: float = 20.0) -> list[Exchange]:
        """The exchanges, once all are over."""

        async def done() -> bool:
            kept = [await self.store.exchange(one.id) for one in questions]
            return all(one and one.exchange.over for one in kept)

        await eventually(done, seconds)
        return [kept.exchange for one in questions if (kept := await self.store.exchange(one.id))]

    async def endings(self) -> list[tuple[str, str]]:
        records = [record async for record in self.events.read(ANSWERS_TOPIC)]
        return [(ending.question, ending.outcome) for ending in map(load_ending, (r.value for r in records))]


@asynccontextmanager
async def open_office(folder: Path) -> AsyncIterator[Office]:
    clock = SystemClock()
    async with (
        SqliteEventLog(folder / "events.sqlite", clock) as events,
        SqliteBotStore(folder / "bot.sqlite", KeySeal(()), clock) as store,
    ):
        yield Office(events, store)
