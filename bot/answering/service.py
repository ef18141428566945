"""The answer service: takes questions from bot.questions and answers each once, in order in its conversation.

A record is acknowledged when its answer is shown and kept. A question that comes twice is answered once; one whose
worker died is taken over by another when the lease ends, and goes on in the same message. Whatever goes wrong, people
get one plain message that says so. What cannot be shown is tried again for a bounded time, then the thread goes on.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from bot.answering.history import remembered
from bot.answering.lease import HeldElsewhere, Lease, LeaseTimings, claim
from bot.answering.progress import ProgressRelay
from bot.answering.quota import Quota, spend
from bot.errors import DeliveryFailed, LeaseLost
from bot.events import ANSWERS, QUESTIONS, dump_ending, ending, load_question
from bot.model import ChannelSettings, Exchange, ExchangeState, Posted, Question
from bot.ports import AnswerMessage, BotStore, Delivery
from ingest.errors import INSTALLATION, StoreUnavailable, Undecodable
from ingest.events.workers import PATIENCE, RetryPolicy, Workers
from ingest.ports import Clock, Consumer, EventLog, Record
from navigator.agent.run import Listener
from navigator.answer import Answer
from navigator.question.rewrite import Earlier

log = structlog.get_logger()

GROUP = "answer"
STOPPED = "Stopped."
TOO_LONG = "This took too long, so I gave up. Please try again."
ENDED_OFTEN = "I was interrupted several times while answering this. Please try again, or ask a person."
UNSHOWN = "I have an answer, but it could not be shown here. Please try again, or ask whoever runs me: it is kept."
BROKEN = "Something went wrong on my side while I was answering this."


class Ask(Protocol):
    """Answers as a channel's settings say. Never raises for what a model, a store or a question does wrong."""

    def __call__(
        self, question: Question, settings: ChannelSettings, earlier: Sequence[Earlier], listener: Listener
    ) -> Awaitable[Answer]: ...


@dataclass(frozen=True, slots=True)
class AnsweringLimits:
    """`parallel`: questions answered at once; `longest`: seconds for one answer. Seconds, too, in which an answer cannot
    be shown: after `insist` it is found out whether it is this answer alone (`_show_again`), after `outage` it is given
    up even where nothing can be shown."""

    parallel: int = 8
    longest: float = 180.0
    insist: float = 600.0
    outage: float = 6 * 3_600.0
    limits: Quota = Quota()
    terms: LeaseTimings = LeaseTimings()
    patience: RetryPolicy = PATIENCE


class AnswerService:
    """Any number of services may share the topic. `settings_of`: a channel's settings, with their defaults."""

    def __init__(
        self,
        events: EventLog,
        store: BotStore,
        voice: Delivery,
        ask: Ask,
        clock: Clock,
        *,
        settings_of: Callable[[str, str], Awaitable[ChannelSettings]],
        bounds: AnsweringLimits | None = None,
        group: str = GROUP,
    ) -> None:
        self._bounds = bounds or AnsweringLimits()
        self._events = events
        self._store = store
        self._voice = voice
        self._ask = ask
        self._clock = clock
        self._settings_of = settings_of
        self._workers = Workers(
            events, QUESTIONS, group, self._settle, parallel=self._bounds.parallel, patience=self._bounds.patience
        )

    def stop(self) -> None:
        """`run` takes no more questions, lets those in hand finish within the grace, and ends."""
        self._workers.stop()

    async def run(self) -> None:
        """Until `stop`. Raises RecordTooLarge where the log holds what cannot be read, and errors of the installation
        (ingest.errors.INSTALLATION): the question in hand is left to another process."""
        await self._workers.run()

    async def _settle(self, consumer: Consumer, record: Record) -> None:
        """Bring the record to an end: acknowledged, dead, or given back."""
        try:
            question = load_question(record.value)
        except Undecodable as error:
            log.error("question_undecodable", partition=record.partition, offset=record.offset, reason=str(error))
            await consumer.dead(record, str(error))
            return
        ended = False
        with structlog.contextvars.bound_contextvars(question=question.id):
            try:
                if await self._attend(consumer, record, question):
                    ended = await consumer.acknowledge(record)
            finally:
                if not ended:
                    consumer.give_back(record)

    async def _attend(self, consumer: Consumer, record: Record, question: Question) -> bool:
        """Answer, or wait for whoever answers; True when the question is over, False when it is not ours."""
        outages = 0
        while consumer.holds(record) and not (self._workers.stopping and outages):
            try:
                lease = await claim(self._store, self._clock, self._bounds.terms, question, uuid.uuid4().hex)
                if lease is None:
                    return True
                if isinstance(lease, Lease):
                    await self._hold(lease, question)
                    return True
                if self._workers.stopping:
                    return False
                await self._workers.wait(self._until(lease))
            except LeaseLost:
                log.warning("question_taken_over")
            except (StoreUnavailable, DeliveryFailed) as error:
                outages += 1
                what = "store_unavailable" if isinstance(error, StoreUnavailable) else "voice_unavailable"
                log.warning(what, outages=outages, reason=str(error))
                await self._workers.pause(outages)
        return False

    def _until(self, held: HeldElsewhere) -> float:
        """Seconds to wait before looking again: whoever holds it may be done long before the lease ends."""
        return min(max((held.until - self._clock.now()).total_seconds(), 0.05), self._bounds.terms.look)

    async def _hold(self, lease: Lease, question: Question) -> None:
        """With the lease in hand. Raises LeaseLost, StoreUnavailable, DeliveryFailed: then the question is not over, and
        whoever comes next may have it at once."""
        try:
            await self._answer(lease, question)
        except (StoreUnavailable, DeliveryFailed, *INSTALLATION) as error:
            unshown = self._clock.now() if isinstance(error, DeliveryFailed) else None

            def given_back(exchange: Exchange) -> Exchange:
                since = exchange.unshown_since or unshown
                return replace(exchange, state="waiting", owner="", attempts=exchange.attempts - 1, unshown_since=since)

            with suppress(LeaseLost, StoreUnavailable):
                await lease.change(given_back)
            raise

    async def _answer(self, lease: Lease, question: Question) -> None:
        async with lease.watched():
            settings = await self._settings_of(question.team, question.channel)
            try:
                async with self._voice.speak(lease.exchange, self._keeper(lease)) as speech:
                    await self._speak(lease, question, settings, speech)
            except DeliveryFailed as error:
                if error.passing and not self._unshown_for(self._bounds.outage, lease.exchange):
                    raise
                log.error("answer_not_shown", reason=str(error))
                await self._end(lease, "failed", lease.exchange.answer)

    def _keeper(self, lease: Lease) -> Callable[[Posted], Awaitable[None]]:
        async def keep(posted: Posted) -> None:
            await lease.change(lambda exchange: replace(exchange, posted=posted))

        return keep

    async def _speak(self, lease: Lease, question: Question, settings: ChannelSettings, speech: AnswerMessage) -> None:
        if lease.exchange.answer is not None:  # an earlier worker had the answer and could not show it
            await self._show_again(lease.exchange, lease.exchange.answer, speech)
            return await self._end(lease, "done", lease.exchange.answer)
        if lease.exchange.attempts > self._bounds.patience.attempts:
            await speech.plainly(ENDED_OFTEN, retry=True)
            return await self._end(lease, "refused", None)
        silent = settings.quiet and question.kind == "message"
        if lease.exchange.attempts == 1 and (
            refusal := await self._bounds.limits.refusal(self._store, question, self._clock.now())
        ):
            log.info("question_refused")
            if not silent:
                await speech.plainly(refusal, retry=False)
            return await self._end(lease, "refused", None)
        answer = await self._answered(lease, question, settings, speech, silent=silent)
        if isinstance(answer, str):
            if not silent or answer == STOPPED:
                await speech.plainly(answer, retry=answer != STOPPED)
            return await self._end(lease, "stopped" if answer == STOPPED else "refused", None)
        await spend(self._store, answer.trace.usage, self._clock.now())
        kept = answer
        await lease.change(lambda exchange: replace(exchange, answer=kept, standalone=kept.understood or question.text))
        if not silent or answer.outcome == "answered":
            await speech.answer(answer)
        return await self._end(lease, "done", answer)

    async def _show_again(self, exchange: Exchange, answer: Answer, speech: AnswerMessage) -> None:
        """After a while plain words go first. Where those are taken and the answer is not, it never will be; where they
        are not taken either, there is an outage, and it waits. Raises DeliveryFailed."""
        if not self._unshown_for(self._bounds.insist, exchange):
            return await speech.answer(answer)
        await speech.plainly(UNSHOWN, retry=True)
        try:
            await speech.answer(answer)
        except DeliveryFailed as error:
            raise DeliveryFailed(str(error), passing=False) from error

    def _unshown_for(self, seconds: float, exchange: Exchange) -> bool:
        since = exchange.unshown_since
        return since is not None and (self._clock.now() - since).total_seconds() >= seconds

    async def _answered(
        self, lease: Lease, question: Question, settings: ChannelSettings, speech: AnswerMessage, *, silent: bool
    ) -> Answer | str:
        """The answer, or the plain reason why there is none. Raises LeaseLost, StoreUnavailable."""
        earlier = await remembered(self._store, self._voice, question)
        async with ProgressRelay(None if silent else speech) as teller:
            asking = asyncio.ensure_future(self._ask(question, settings, earlier, teller))
            signals = [asyncio.create_task(lease.stopped.wait()), asyncio.create_task(lease.lost.wait())]
            try:
                await asyncio.wait(
                    {asking, *signals}, timeout=self._bounds.longest, return_when=asyncio.FIRST_COMPLETED
                )
                if lease.lost.is_set():
                    raise LeaseLost(question.id)
                if asking.done():
                    return asking.result()
                return STOPPED if lease.stopped.is_set() else TOO_LONG
            except (LeaseLost, StoreUnavailable, *INSTALLATION):
                raise
            except Exception as error:  # a defect of ours: whoever asked must hear of it all the same
                log.exception("answer_failed", reason=repr(error))
                return BROKEN
            finally:
                for task in (asking, *signals):
                    task.cancel()
                await asyncio.gather(asking, *signals, return_exceptions=True)

    async def _end(self, lease: Lease, state: ExchangeState, answer: Answer | None) -> None:
        """The answer event first: where the process dies in between, it is sent again."""

        def ended(exchange: Exchange) -> Exchange:
            return replace(exchange, state=state, answer=answer, owner="", lease_until=None, ended_at=self._clock.now())

        over = ended(lease.exchange)
        await self._events.append(ANSWERS, over.question.id, dump_ending(ending(over)))
        await lease.change(ended)
        log.info("question_over", state=state, outcome=answer.outcome if answer else None)
