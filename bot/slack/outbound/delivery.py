"""How answers reach people in Slack. Implements bot.ports.Delivery: in the thread, or, for `/ask`, to the asker alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Exchange, Posted, Question
from bot.ports import AnswerMessage
from bot.slack.app_sharing import AppSharing
from bot.slack.message_text import forwarded_words, own_words
from bot.slack.outbound.change_message import ChangeMessage
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.outbound.ephemeral_message import EphemeralMessage
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.outbound.thread_message import ThreadMessage
from ingest.ports import Clock

log = structlog.get_logger()

ClientOf = Callable[[str, str], Awaitable[AsyncWebClient]]
"""(enterprise, team) -> a client with the token of that installation. Raises DeliveryFailed where there is none."""
MAX_THREAD_MESSAGES = 50
"""Of a thread into which ritbot is called its first message and so many of the newest are read."""
THREAD_PAGE_MESSAGES = 1_000
"""Messages that Slack gives at once, the oldest first."""


class SlackDelivery:
    """`person`: whether "Ask a person" is offered. `sharing` hears of answers that were given twice. `proxy`: as for all of
    Slack. `public_url`: where permalinks lead, "" for none."""

    def __init__(
        self,
        client_of: ClientOf,
        rates: RateLimiter,
        clock: Clock,
        *,
        person: bool = False,
        sharing: AppSharing | None = None,
        proxy: str | None = None,
        public_url: str = "",
    ) -> None:
        self._client_of = client_of
        self._rates = rates
        self._clock = clock
        self._person = person
        self._sharing = sharing
        self._proxy = proxy
        self._public_url = public_url

    @asynccontextmanager
    async def open(self, exchange: Exchange, keep: Callable[[Posted], Awaitable[None]]) -> AsyncIterator[AnswerMessage]:
        question = exchange.question
        if question.response_url:
            yield EphemeralMessage(
                exchange, keep, self._clock, person=self._person, proxy=self._proxy, public_url=self._public_url
            )
            return
        client = await self._client_of(question.enterprise, question.team)
        message = ThreadMessage(
            client,
            self._rates,
            exchange,
            keep,
            self._clock,
            person=self._person,
            sharing=self._sharing,
            public_url=self._public_url,
        )
        try:
            await message.begin()
            yield message
        finally:
            await message.leave()

    async def tell_changed(self, exchange: Exchange, *, post: bool) -> str:
        question = exchange.question
        client = await self._client_of(question.enterprise, question.team)
        message = ChangeMessage(
            client, self._rates, exchange, self._clock, person=self._person, public_url=self._public_url
        )
        return await message.tell(post=post)

    async def thread_before(self, question: Question) -> Sequence[str]:
        client = await self._client_of(question.enterprise, question.team)
        try:
            await self._rates.turn("conversations.replies", question.team)
            thread = await call(
                client.conversations_replies, channel=question.channel, ts=question.thread, limit=THREAD_PAGE_MESSAGES
            )
        except SlackRefused as error:
            log.info("thread_not_read", reason=str(error))
            return ()
        said = [message for message in thread.get("messages", []) if str(message.get("ts", "")) < question.ts]
        texts = [text for message in said if (text := own_words(message) or forwarded_words(message))]
        return [*texts[:1], *texts[1:][-MAX_THREAD_MESSAGES:]]
