"""What became of an answer's sources, told where it was given: a note in its thread, and marks in the answer itself.

The thread is read first. An answer that people took away needs no note; and a note that is there already, from a process
that died before it could say so, is not posted again.
"""

from __future__ import annotations

from functools import partial

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryFailed
from bot.model import Exchange
from bot.slack.outbound.client import JsonObject, SlackRefused, call
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.outbound.thread_message import EVENT
from bot.slack.render.answer_message import messages
from bot.slack.render.change_note import change_note
from ingest.ports import Clock

log = structlog.get_logger()

CHANGED_EVENT = "ritbot_changed"
"""What a note says of itself in its metadata."""
ANSWER_TAKEN_AWAY = "the answer was deleted"
THREAD_TAKEN_AWAY = "the question was deleted"
MAX_MESSAGES_READ = 200
"""Of the thread, from the answer on."""


class ChangeMessage:
    """Of one answer. `person`, `public_url`: as for the answer itself. Raises DeliveryFailed."""

    def __init__(
        self,
        client: AsyncWebClient,
        rates: RateLimiter,
        exchange: Exchange,
        clock: Clock,
        *,
        person: bool,
        public_url: str = "",
    ) -> None:
        self._client = client
        self._rates = rates
        self._exchange = exchange
        self._question = exchange.question
        self._root = exchange.question.thread or exchange.question.ts
        self._clock = clock
        self._person = person
        self._public_url = public_url

    async def tell(self, *, post: bool) -> str:
        """Mark the sources in the answer, and `post` the note; its ts, "" where there is none."""
        said = await self._said()
        if self._exchange.posted is None or self._exchange.posted.ts not in {str(message["ts"]) for message in said}:
            raise DeliveryFailed(ANSWER_TAKEN_AWAY, passing=False)
        await self._mark()
        if there := next((str(message["ts"]) for message in said if message.get("metadata") == self._of_itself), ""):
            return there
        return await self._post() if post else ""

    async def _said(self) -> list[JsonObject]:
        posted = self._exchange.posted
        await self._rates.turn("conversations.replies", self._question.team)
        replies = await call(
            self._client.conversations_replies,
            limited=partial(self._rates.hold, "conversations.replies", self._question.team, self._question.channel),
            channel=self._question.channel,
            ts=self._root,
            oldest=posted.ts if posted else self._root,
            inclusive=True,
            include_all_metadata=True,
            limit=MAX_MESSAGES_READ,
        )
        return list(replies.get("messages", []))

    async def _mark(self) -> None:
        """Whichever messages hold rows of sources are made anew. Where Slack lets nobody change them, they stay."""
        exchange, posted = self._exchange, self._exchange.posted
        if exchange.answer is None or posted is None or posted.refused:
            return
        make = partial(
            messages,
            exchange.answer,
            question_id=self._question.id,
            now=self._clock.now(),
            person=self._person,
            retry=exchange.answer.outcome == "failed",
            public_url=self._public_url,
        )
        plain, marked = make(), make(changed=[source.number for source in exchange.changed])
        rows = make(changed=[source.number for source in exchange.answer.sources])
        there = (posted.ts, *posted.further)
        if len(there) != len(marked):
            return
        for ts, was, now, could in zip(there, plain, marked, rows, strict=True):
            if could == was:
                continue
            try:
                await self._rates.turn("chat.update", self._question.team)
                made: JsonObject = {"text": now.text, "blocks": list(now.blocks), "metadata": self._of_an_answer}
                await call(self._client.chat_update, channel=self._question.channel, ts=ts, **made)
            except SlackRefused as error:
                if error.passing:
                    raise
                log.info("answer_not_marked", code=error.code)

    async def _post(self) -> str:
        note = change_note(self._exchange)
        await self._rates.turn("chat.postMessage", self._question.team, self._question.channel)
        said = await call(
            self._client.chat_postMessage,
            again=False,
            limited=partial(self._rates.hold, "chat.postMessage", self._question.team, self._question.channel),
            channel=self._question.channel,
            thread_ts=self._root,
            text=note.text,
            blocks=list(note.blocks),
            unfurl_links=False,
            unfurl_media=False,
            metadata=self._of_itself,
        )
        ts = str(said["ts"])
        if "message" in said and not said["message"].get("thread_ts"):
            # where the thread is gone Slack posts to the whole channel (measure-sh/measure#3997)
            await call(self._client.chat_delete, channel=self._question.channel, ts=ts)
            raise DeliveryFailed(THREAD_TAKEN_AWAY, passing=False)
        return ts

    @property
    def _of_an_answer(self) -> JsonObject:
        return {"event_type": EVENT, "event_payload": {"question": self._question.id}}

    @property
    def _of_itself(self) -> JsonObject:
        return {"event_type": CHANGED_EVENT, "event_payload": {"question": self._question.id}}
