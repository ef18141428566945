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
from functools import partial
from typing import Protocol

import structlog

from bot.answering.difference import difference
from bot.answering.history import remembered
from bot.answering.lease import Lease, LeaseTimings, claim
from bot.answering.progress import ProgressRelay
from bot.answering.quota import Quota, spend
from bot.errors import DeliveryFailed, LeaseLost
from bot.events import ANSWERS_TOPIC, QUESTIONS_TOPIC, dump_ending, ending, load_question, outcome
from bot.model import ChannelSettings, Exchange, ExchangeState, Posted, Question
from bot.ports import AnswerMessage, BotStore, Delivery
from ingest.errors import INSTALLATION, StoreUnavailable, Undecodable
from ingest.events.workers import WORKER_POLICY, WorkerPolicy, Workers
from ingest.ports import Clock, Consumer, EventLog, Record
from navigator.agent.run import Listener
from navigator.answer import Answer
from navigator.question.rewrite import Earlier

log = structlog.get_logger()

KeepCited = Callable[[Exchange], Awaitable[None]]
"""Keeps the texts that an answer cites."""

ANSWER_GROUP = "answer"
STOPPED = "Stopped."
TOO_LONG = "This took too long, so I gave up. Please try again."
ENDED_OFTEN = "I was interrupted several times while answering this. Please try again, or ask a person."
UNSHOWN = "I have an answer, but it could not be shown here. Please try again, or ask whoever runs me: it is kept."
BROKEN = "Something went wrong on my side while I was answering this."


class Ask(Protocol):
    """Answers as a channel's settings say. Never raises for what a model, a store or a question does wrong."""

    def __call__(
        self, question: Question, settings: ChannelSettings, earlier: Sequence[Earlier], listener: Listener | None
    ) -> Awaitable[Answer]: ...


@dataclass(frozen=True, slots=True)
class AnsweringLimits:
    """`parallel`: questions answered at once; `timeout`: seconds for one answer. Seconds, too, in which an answer cannot
    be shown: after `insist_after` it is found out whether it is this answer alone (`_show_again`), after `give_up_after`
    it is given up even where nothing can be shown."""

    parallel: int = 8
    timeout: float = 180.0
    insist_after: float = 600.0
    give_up_after: float = 6 * 3_600.0
    quota: Quota = Quota()
    lease: LeaseTimings = LeaseTimings()
    retry: WorkerPolicy = WORKER_POLICY


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said where there is no answer, and how the question ends with it. `retry`: asking again may help. `always`:
    also where ritbot keeps quiet unless it has an answer."""

    text: str
    state: ExchangeState = "refused"
    retry: bool = True
    always: bool = False


class AnswerService:
    """Any number of services may share the topic. `settings_of`: a channel's settings, with their defaults. `keep_cited` is
    awaited before an answer counts as given."""

    def __init__(
        self,
        events: EventLog,
        store: BotStore,
        delivery: Delivery,
        ask: Ask,
        clock: Clock,
        *,
        settings_of: Callable[[str, str], Awaitable[ChannelSettings]],
        keep_cited: KeepCited | None = None,
        bounds: AnsweringLimits | None = None,
        group: str = ANSWER_GROUP,
    ) -> None:
        self._bounds = bounds or AnsweringLimits()
        self._events = events
        self._store = store
        self._delivery = delivery
        self._ask = ask
        self._clock = clock
        self._settings_of = settings_of
        self._keep_cited = keep_cited
        self._workers = Workers(
            events, QUESTIONS_TOPIC, group, self._settle, parallel=self._bounds.parallel, patience=self._bounds.retry
        )

    def stop(self) -> None:
        """`run` takes no more questions, lets those in hand finish within the grace, and ends."""
        self._workers.stop()

    async def run(self) -> None:
        """Until `stop`. Raises RecordTooLarge where the log holds what cannot be read, and errors of the installation
        (ingest.errors.INSTALLATION): the question in hand is left to another process."""
        await self._workers.run()

    async def ask_again(self, exchange: Exchange) -> Answer:
        """What the answer would be today; it is neither kept nor shown. Raises TimeoutError, errors of the installation
        (ingest.errors.INSTALLATION)."""
        question = exchange.question
        settings = await self._settings_of(question.team, question.channel)
        async with asyncio.timeout(self._bounds.timeout):
            return await self._ask(replace(question, text=exchange.asked), settings, (), None)

    async def _settle(self, consumer: Consumer, record: Record) -> None:
        """Bring the record to an end, acknowledged or dead, or leave it to whoever takes it next."""
        try:
            question = load_question(record.value)
        except Undecodable as error:
            log.error("question_undecodable", partition=record.partition, offset=record.offset, reason=str(error))
            await consumer.dead(record, str(error))
            return
        with structlog.contextvars.bound_contextvars(question=question.id):
            if await self._attend(consumer, record, question):
                await consumer.acknowledge(record)

    async def _attend(self, consumer: Consumer, record: Record, question: Question) -> bool:
        """Answer, or wait for whoever answers; True when the question is over, False when it is not ours."""
        outages = 0
        while consumer.holds(record) and not (self._workers.stopping and outages):
            try:
                lease = await claim(self._store, self._clock, self._bounds.lease, question, uuid.uuid4().hex)
                if lease is None:
                    return True
                if isinstance(lease, Lease):
                    await self._hold(lease, question)
                    return True
                if self._workers.stopping:
                    return False
                # whoever holds it may be done long before the lease ends: look again soon
                left = (lease.until - self._clock.now()).total_seconds()
                await self._workers.wait(min(max(left, 0.05), self._bounds.lease.look))
            except LeaseLost:
                log.warning("question_taken_over")
            except (StoreUnavailable, DeliveryFailed) as error:
                outages += 1
                what = "store_unavailable" if isinstance(error, StoreUnavailable) else "delivery_unavailable"
                log.warning(what, outages=outages, reason=str(error))
                await self._workers.pause(outages)
        return False

    async def _hold(self, lease: Lease, question: Question) -> None:
        """Answer with the lease in hand, and give it back where that fails. Raises LeaseLost, StoreUnavailable,
        DeliveryFailed: then the question is not over, and whoever comes next may have it at once."""
        try:
            async with lease.watched():
                try:
                    await self._answer(lease, question)
                except DeliveryFailed as error:
                    if error.passing and not self._unshown_for(self._bounds.give_up_after, lease.exchange):
                        raise
                    log.error("answer_not_shown", reason=str(error))
                    await self._end(lease, "failed", lease.exchange.answer)
        except (StoreUnavailable, DeliveryFailed, *INSTALLATION) as error:
            unshown = self._clock.now() if isinstance(error, DeliveryFailed) else None

            def given_back(exchange: Exchange) -> Exchange:
                since = exchange.unshown_since or unshown
                return replace(exchange, state="waiting", owner="", attempts=exchange.attempts - 1, unshown_since=since)

            with suppress(LeaseLost, StoreUnavailable):
                await lease.change(given_back)
            raise

    async def _answer(self, lease: Lease, question: Question) -> None:
        """The transaction of one question: what there is to say is found, kept, shown, and told to the log, in this
        order. Whoever takes over goes on after the last of these that was done."""

        async def keep(posted: Posted) -> None:
            await lease.change(lambda exchange: replace(exchange, posted=posted))

        if lease.exchange.withdrawn and lease.exchange.posted is None:
            return await self._end(lease, "stopped", None)
        settings = await self._settings_of(question.team, question.channel)
        silent = settings.quiet and question.kind == "message"
        async with self._delivery.open(lease.exchange, keep) as message:
            if (made := lease.exchange.answer) is not None:  # an earlier worker had it and could not show it
                await self._show_again(lease.exchange, made, message)
                return await self._end(lease, "done", made)
            answer = await self._refusal(lease.exchange) or await self._ask_within_time(
                lease, settings, message, silent=silent
            )
            if isinstance(answer, Answer):
                answer = await self._compared(question, answer)
                await spend(self._store, answer.trace.usage, self._clock.now())
                await lease.change(partial(_answered, answer=answer))
            if lease.exchange.withdrawn:
                await message.withdraw()
                return await self._end(lease, "stopped", None)
            if isinstance(answer, Notice):
                if answer.always or not silent:
                    await message.plainly(answer.text, retry=answer.retry)
                return await self._end(lease, answer.state, None)
            if not silent or answer.outcome == "answered":
                await message.answer(answer)
            return await self._end(lease, "done", answer)

    async def _compared(self, question: Question, answer: Answer) -> Answer:
        """With a remark on what is different, where it was asked for again because its sections changed."""
        before = await self._store.exchange(question.instead_of) if question.instead_of else None
        if before is None or before.exchange.answer is None:
            return answer
        told = [answer.note, difference(before.exchange.answer, answer)]
        return replace(answer, note=" ".join(filter(None, told)))

    async def _refusal(self, exchange: Exchange) -> Notice | None:
        """Why the question is not answered at all. A question is counted at the first attempt only."""
        if exchange.attempts > self._bounds.retry.attempts:
            return Notice(ENDED_OFTEN, always=True)
        if exchange.attempts > 1:
            return None
        refusal = await self._bounds.quota.refusal(self._store, exchange.question, self._clock.now())
        if not refusal:
            return None
        log.info("question_refused")
        return Notice(refusal, retry=False)

    async def _ask_within_time(
        self, lease: Lease, settings: ChannelSettings, message: AnswerMessage, *, silent: bool
    ) -> Answer | Notice:
        """The answer, or why there is none: stopped, too slow, broken. Raises LeaseLost, StoreUnavailable."""
        question = lease.exchange.question
        earlier = await remembered(self._store, self._delivery, question)
        async with ProgressRelay(None if silent else message) as relay:
            asking = asyncio.ensure_future(self._ask(question, settings, earlier, relay))
            signals = [asyncio.create_task(lease.stopped.wait()), asyncio.create_task(lease.lost.wait())]
            try:
                await asyncio.wait(
                    {asking, *signals}, timeout=self._bounds.timeout, return_when=asyncio.FIRST_COMPLETED
                )
                if lease.lost.is_set():
                    raise LeaseLost(question.id)
                if asking.done():
                    return asking.result()
                if lease.stopped.is_set():
                    return Notice(STOPPED, "stopped", retry=False, always=True)
                return Notice(TOO_LONG)
            except (LeaseLost, StoreUnavailable, *INSTALLATION):
                raise
            except Exception as error:  # a defect of ours: whoever asked must hear of it all the same
                log.exception("answer_failed", reason=repr(error))
                return Notice(BROKEN)
            finally:
                for task in (asking, *signals):
                    task.cancel()
                await asyncio.gather(asking, *signals, return_exceptions=True)

    async def _show_again(self, exchange: Exchange, answer: Answer, message: AnswerMessage) -> None:
        """After a while plain words go first. Where those are taken and the answer is not, it never will be; where they
        are not taken either, there is an outage, and it waits. Raises DeliveryFailed."""
        if not self._unshown_for(self._bounds.insist_after, exchange):
            return await message.answer(answer)
        await message.plainly(UNSHOWN, retry=True)
        try:
            await message.answer(answer)
        except DeliveryFailed as error:
            raise DeliveryFailed(str(error), passing=False) from error

    def _unshown_for(self, seconds: float, exchange: Exchange) -> bool:
        since = exchange.unshown_since
        return since is not None and (self._clock.now() - since).total_seconds() >= seconds

    async def _end(self, lease: Lease, state: ExchangeState, answer: Answer | None) -> None:
        """The texts that it cites and the answer event first: where the process dies in between, both are done again."""

        def ended(exchange: Exchange) -> Exchange:
            return replace(exchange, state=state, answer=answer, owner="", lease_until=None, ended_at=self._clock.now())

        over = ended(lease.exchange)
        if self._keep_cited is not None:
            await self._keep_cited(over)
        await self._events.append(ANSWERS_TOPIC, over.question.id, dump_ending(ending(over)))
        await lease.change(ended)
        log.info("question_over", outcome=outcome(over))


def _answered(exchange: Exchange, answer: Answer) -> Exchange:
    return replace(exchange, answer=answer, standalone=answer.understood or exchange.question.text)
