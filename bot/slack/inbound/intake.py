"""Which of the things that are said ritbot answers, and how a question gets into the log.

A question is written down before Slack is told that it arrived: what cannot be written down is not acknowledged, and
Slack sends it again. The same question twice does no harm; the answer service sees to that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from bot.answering.lease import ask_to_stop
from bot.events import QUESTIONS_TOPIC, dump_question
from bot.model import ChannelSettings, Exchange, Question
from bot.ports import BotStore
from bot.slack.inbound.addressed import agrees, asks, offers, thanks_only
from bot.slack.inbound.parse import IncomingMessage
from ingest.errors import Conflict, StoreUnavailable
from ingest.ports import EventLog

log = structlog.get_logger()

SettingsOf = Callable[[str, str], Awaitable[ChannelSettings]]
"""(team, channel) -> how ritbot behaves there, defaults filled in."""
SHUT_OUT_DAYS = 30
"""So long whoever is not let in is not told again."""
AboutAsker = Callable[[Question], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Who may come in besides the members of the workspace: people of other companies in shared channels, guests."""

    shared: bool = False
    guests: bool = False


class Intake:
    """Takes questions in. Raises StoreUnavailable where one could not be written down, or not decided on."""

    def __init__(
        self,
        events: EventLog,
        store: BotStore,
        settings_of: SettingsOf,
        doors: AccessPolicy,
        *,
        is_guest: AboutAsker,
        is_outsider: AboutAsker,
    ) -> None:
        self._events = events
        self._store = store
        self._settings_of = settings_of
        self._doors = doors
        self._is_guest = is_guest
        self._is_outsider = is_outsider

    async def hear(self, heard: IncomingMessage) -> str:
        """Something was said; what whoever said it is to be told, alone, "" for nothing. Who is not let in and asked ritbot
        itself hears of it once."""
        question = heard.question
        if passed_over := await self._passed_over(heard):
            log.debug("message_passed_over", question=question.id, reason=passed_over)
            return ""
        if closed := await self.closed(question, shared=heard.shared):
            log.debug("message_passed_over", question=question.id, reason=closed)
            asked = heard.named or question.kind == "direct"
            until = question.asked_at + timedelta(days=SHUT_OUT_DAYS)
            told = not asked or await self._store.add(f"shut:{question.team}:{question.user}", 1, until) > 1
            return "" if told else closed
        await self.take(question)
        return ""

    async def closed(self, question: Question, *, shared: bool) -> str:
        """Why the asker is not let in, or not there; "" who is."""
        if question.kind == "shortcut" and (await self._settings_of(question.team, question.channel)).mode == "off":
            return "I am turned off in this channel. You can ask me directly, or with `/ask`."
        if not self._doors.shared and (shared or await self._is_outsider(question)):
            return "I am closed to people outside this workspace and in channels that are shared with other companies."
        if not self._doors.guests and await self._is_guest(question):
            return "I am closed to guests of this workspace."
        return ""

    async def take(self, question: Question) -> None:
        """Write the question down, and put it into the log of its conversation: from now on ritbot is in the thread."""
        await self._events.append(QUESTIONS_TOPIC, question.conversation, dump_question(question))
        with suppress(Conflict, StoreUnavailable):  # it came before, or whoever answers puts it there
            await self._store.keep(Exchange(question), None)
        log.info("question_taken", question=question.id, kind=question.kind, attempt=question.attempt)

    async def withdraw(self, conversation: str, ts: str) -> None:
        """A message was deleted: what is asked in it is answered no more."""
        for exchange in await self._store.conversation(conversation):
            if exchange.question.ts == ts and await ask_to_stop(self._store, exchange.question.id, withdrawn=True):
                log.info("question_withdrawn", question=exchange.question.id)

    async def _passed_over(self, heard: IncomingMessage) -> str:
        """The reason for not answering, "" for none; what costs most to find out comes last."""
        question = heard.question
        if heard.to_others:
            return "it is addressed to someone else"
        if not question.text and not heard.named and question.kind != "direct":
            return "it says nothing"
        if thanks_only(question.text) and not await self._takes_up(question):
            return "it needs no answer"
        if question.kind != "direct":
            settings = await self._settings_of(question.team, question.channel)
            if settings.mode == "off":
                return "ritbot is off in this channel"
            if not heard.named and not await self._unasked(question, settings):
                return "nobody asked ritbot"
        return ""

    async def _takes_up(self, question: Question) -> bool:
        """Whether it says yes to what the last answer of its conversation offered."""
        if not agrees(question.text):
            return False
        last = await self._store.conversation(question.conversation, 1)
        return any(exchange.answer is not None and offers(exchange.answer.text) for exchange in last)

    async def _unasked(self, question: Question, settings: ChannelSettings) -> bool:
        """Whether a message that does not name ritbot is for it."""
        if question.thread != question.ts:
            if not settings.follow_ups:
                return False
            if asks(question.text):
                return bool(await self._store.conversation(question.conversation, 1))
            return await self._takes_up(question)
        return settings.mode == "questions" and asks(question.text)
