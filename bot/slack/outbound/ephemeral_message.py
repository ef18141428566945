"""A private answer: what `/ask` gives, through the address that came with the command, to its asker alone.

Slack takes five messages through it within half an hour. An answer that comes to a button of a private message (Retry)
takes the place of that message; what a command was acknowledged with stays where it is. Nobody can look what came through
the address: a message that Slack may have taken without saying so counts as taken, and what was taken is not sent again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.model import Exchange, Posted
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render.answer_message import Message, messages, notice, plain_fallback
from ingest.ports import Clock
from navigator.answer import Answer, Passage, Step

log = structlog.get_logger()

_UNSURE_STATUSES = (408, 504)
"""Of HTTP: whoever stood between did not wait for Slack, which may have taken the message."""
MAX_MESSAGES = 4
"""Messages for one answer; one use of the address was its sign of life."""


class EphemeralMessage:
    """Implements bot.ports.AnswerMessage. `proxy`: as for all of Slack."""

    def __init__(
        self,
        exchange: Exchange,
        keep: Callable[[Posted], Awaitable[None]],
        clock: Clock,
        *,
        person: bool,
        proxy: str | None = None,
        public_url: str = "",
    ) -> None:
        self._question = question = exchange.question
        self._posted = exchange.posted or Posted(question.channel, "")
        self._keep = keep
        self._again = question.attempt > 1
        self._clock = clock
        self._person = person
        self._public_url = public_url
        self._webhook = AsyncWebhookClient(question.response_url, proxy=proxy, retry_handlers=[])

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        """Each change would use up the address."""

    async def wrote(self, text: str) -> None:
        """Each change would use up the address."""

    async def answer(self, answer: Answer) -> None:
        made = messages(
            answer,
            question_id=self._question.id,
            now=self._clock.now(),
            person=self._person,
            retry=answer.outcome == "failed",
            private=True,
            most=MAX_MESSAGES,
            public_url=self._public_url,
        )
        try:
            for position, message in enumerate(made[:MAX_MESSAGES]):
                if position >= self._posted.sent:
                    await self._say(message, replace=position == 0 and self._again)
        except SlackRefused as error:
            if error.passing:
                raise
            await self._say(plain_fallback(answer), replace=self._again)

    async def plainly(self, text: str, *, retry: bool) -> None:
        await self._say(notice(text, question_id=self._question.id, retry=retry), replace=self._again)

    async def withdraw(self) -> None:
        """Nobody can delete a command."""

    async def _say(self, message: Message, *, replace: bool) -> None:
        body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": replace, "text": message.text}
        if message.blocks:
            body["blocks"] = list(message.blocks)
        try:
            await self._send(body)
        except SlackRefused as error:
            if not error.unsure:
                raise
            log.warning("private_message_unsure", reason=str(error))
        self._posted = dataclasses.replace(self._posted, sent=self._posted.sent + 1)
        await self._keep(self._posted)

    async def _send(self, body: dict[str, Any]) -> None:
        answered = await call(self._webhook.send_dict, again=False, body=body)
        if (status := answered["status_code"]) != 200:
            code = str(answered["body"]).strip() or f"status {status}"
            raise SlackRefused(code, "", passing=status == 429 or status >= 500, unsure=status in _UNSURE_STATUSES)
