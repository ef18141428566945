"""One answer in a Slack thread: a status while ritbot looks, a stream while it writes, one message in the end.

A message is begun once and changed after that: streamed while the answer grows, and at the end replaced by the finished
answer with its links, source rows and buttons. Where a stream cannot be had, or breaks, nothing is shown until the end.
A worker that goes on where another one died finds what was posted, in our log or else in the thread itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryFailed
from bot.model import Exchange, Posted
from bot.slack.app_sharing import AppSharing
from bot.slack.outbound.client import JsonObject, SlackRefused, call
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.render.answer_message import Message, messages, notice, plain_fallback
from bot.slack.render.blocks import shortened
from bot.slack.render.sanitize import Stream, plain_line
from bot.slack.render.trace_modal import offered
from ingest.errors import StoreUnavailable
from ingest.ports import Clock
from navigator.answer import Answer, Passage, Step

log = structlog.get_logger()

EVENT, BEGUN = "ritbot_answer", "ritbot_begun"
"""What a message of ours says of itself in its metadata: it answers a question, or a stream that did not come to that."""
OURS_TO_MEND = frozenset("invalid_blocks invalid_blocks_format msg_blocks_too_long msg_too_long no_text".split())
"""What Slack says of a message that is not to its liking: then it is said more simply."""
GONE = "message_not_found"
"""Slack's word for a message that someone deleted: only then is the whole answer said anew."""
MAX_STREAMED_CHARACTERS = 12_000
"""Characters that a message holds (facts: cumulative for a payload); an answer that grows longer is shown at its end."""
REFRESH_SECONDS = 90.0
"""Seconds; Slack takes a status away after about two minutes."""
ADORNING_SECONDS = 5.0
"""So long a call that only adorns may take: a status, a piece of a stream. Nobody waits longer for it."""

MAX_STATUS_CHARACTERS = 50
"""Of a status or loading message (assistant.threads.setStatus)."""
BUSY = "is looking for an answer …"
"""Behind the bot's name, where a client does not show what goes on."""
STARTED = "Looking into the documentation …"


class ThreadMessage:
    """One answer in a thread. Implements bot.ports.AnswerMessage."""

    def __init__(
        self,
        client: AsyncWebClient,
        rates: RateLimiter,
        exchange: Exchange,
        keep: Callable[[Posted], Awaitable[None]],
        clock: Clock,
        *,
        person: bool,
        sharing: AppSharing | None = None,
        public_url: str = "",
        refresh: float = REFRESH_SECONDS,
    ) -> None:
        self._client = client
        self._rates = rates
        self._question = exchange.question
        self._posted = exchange.posted
        self._resumed = exchange.attempts > 1 or exchange.answer is not None
        self._keep_posted = keep
        self._clock = clock
        self._person = person
        self._sharing = sharing
        self._public_url = public_url
        self._root = self._question.thread or self._question.ts
        self._stream: Stream | None = None
        self._fed = 0
        self._written = ""
        self._may_stream = exchange.posted is None
        self._lost_sight = False
        self._passages: tuple[Passage, ...] = ()
        self._sign = ""
        self._refresh = refresh
        self._refreshing: asyncio.Task[None] | None = None
        self._in_session = False

    async def begin(self) -> None:
        if self._resumed and self._posted is None and (found := await self._found()):
            await self._keep(found)
            self._may_stream = False
        await asyncio.gather(self._begin_session(), self._status(STARTED))
        self._refreshing = asyncio.create_task(self._stay())

    async def leave(self) -> None:
        """A status that nobody takes back would stay for two minutes, Slack's own Stop button for an hour."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with suppress(asyncio.CancelledError):
                await self._refreshing
        if self._sign:
            await self._status("")
        if self._in_session:
            await self._session("active")

    async def stepped(self, step: Step, passages: Sequence[Passage]) -> None:
        self._passages = tuple(passages)
        if self._stream is None:
            await self._status(status_text(step, self._passages))

    async def wrote(self, text: str) -> None:
        if not self._may_stream:
            return
        if self._stream is None:
            self._stream = Stream(self._passages)
        fed, self._fed = self._fed, len(text)
        for piece in (*self._stream.feed(text[fed:]), *self._stream.finish()):  # paragraphs come whole
            if self._stream.sent > MAX_STREAMED_CHARACTERS or not await self._append(piece):
                self._may_stream = False
                return
        self._written = text

    async def answer(self, answer: Answer) -> None:
        try:
            await self._show(answer, self._made(answer))
        except SlackRefused as error:
            if error.code not in OURS_TO_MEND:
                raise
            log.error("message_refused", code=error.code, reason=str(error))
            await self._show(answer, [plain_fallback(answer)])
        if self._question.kind == "mention":  # it came as two events
            await self._only_once()

    async def _only_once(self) -> None:
        """Of two answers to the question, the second of which is by a ritbot with a store of its own, the later goes: whoever
        is ready last finds the other."""
        mine = {self._posted.ts, *self._posted.further} if self._posted else set()
        if not mine or not self._rates.free("conversations.replies", self._question.team):
            return
        try:
            others = {str(message["ts"]) for message in await self._answers()} - mine
            if not others:
                return
            for ts in mine if min(others) < min(mine) else others:
                await self._delete(ts)
        except SlackRefused as error:
            log.info("second_answer_not_seen", reason=str(error))
        else:
            if self._sharing is not None:
                with suppress(StoreUnavailable):
                    await self._sharing.answered_twice(self._question.id)

    async def plainly(self, text: str, *, retry: bool) -> None:
        message = notice(text, question_id=self._question.id, retry=retry)
        if self._posted is not None and self._posted.streaming:
            began, self._posted = self._posted, None
            await self._stop(began)
        if self._posted is None or await self._update(self._posted.ts, message):
            await self._post(message, main=True)
        self._sign = ""

    async def withdraw(self) -> None:
        if self._posted is not None:
            with suppress(SlackRefused):
                if self._posted.streaming:
                    await self._stop(self._posted)
                await self._delete(self._posted.ts)

    async def _delete(self, ts: str) -> None:
        await call(self._client.chat_delete, channel=self._question.channel, ts=ts)

    def _made(self, answer: Answer, shown: str = "") -> Sequence[Message]:
        return messages(
            answer,
            question_id=self._question.id,
            now=self._clock.now(),
            person=self._person,
            retry=answer.outcome == "failed",
            shown=shown,
            public_url=self._public_url,
        )

    async def _show(self, answer: Answer, made: Sequence[Message]) -> None:
        """The first message in place of what is there, the others behind it. Where Slack does not let it take that place,
        what is there stays, and only what it lacks follows."""
        first, following = made[0], made[1:]
        if self._posted is None and self._lost_sight and (found := await self._found()):
            await self._keep(found)  # a stream that was begun after all
        streamed = self._posted is not None and self._posted.streaming
        if self._posted is not None and streamed:  # Slack changes no message whose stream is open
            await self._stop(self._posted)
            await self._keep(replace(self._posted, streaming=False))
        if self._posted is not None and (refused := await self._update(self._posted.ts, first)):
            if refused == GONE:
                self._posted = None
            else:
                await self._keep(replace(self._posted, refused=refused))
                there = await self._standing(self._posted.ts)
                if there != first.text and (there is not None or streamed):
                    following = self._made(answer, f"{self._written}\n\n{there or ''}")
        if self._posted is None:
            await self._post(first, main=True)
        for position, message in enumerate(following):  # some were posted by a worker that died here
            further = self._posted.further if self._posted else ()
            if position < len(further):
                await self._update(further[position], message)
            else:
                await self._post(message, main=False)
        self._sign = ""  # a post takes the status away

    async def _post(self, message: Message, *, main: bool) -> None:
        await self._rates.turn("chat.postMessage", self._question.team, self._question.channel)
        arguments: JsonObject = {
            "channel": self._question.channel,
            "thread_ts": self._root,
            "text": message.text,
            "blocks": list(message.blocks) or None,
            "unfurl_links": False,
            "unfurl_media": False,
            "metadata": self._of_itself(EVENT),
        }
        try:
            limited = self._held("chat.postMessage")
            said = await call(self._client.chat_postMessage, again=False, limited=limited, **arguments)
            ts = str(said["ts"])
            if "message" in said and not said["message"].get("thread_ts"):
                # where the thread is gone Slack posts to the whole channel (measure-sh/measure#3997)
                await self._delete(ts)
                raise DeliveryFailed("the question was deleted before its answer came", passing=False)
        except SlackRefused as error:
            known = (self._posted.ts, *self._posted.further) if self._posted else ()
            found = await self._found(known) if error.unsure else None
            if found is None:
                raise
            ts = found.ts
        if main or self._posted is None:
            await self._keep(Posted(self._question.channel, ts))
        else:
            await self._keep(replace(self._posted, further=(*self._posted.further, ts)))

    async def _update(self, ts: str, message: Message) -> str:
        """ "", or Slack's word for why that message cannot be changed any more."""
        await self._rates.turn("chat.update", self._question.team)
        try:
            await call(
                self._client.chat_update,
                limited=self._held("chat.update"),
                channel=self._question.channel,
                ts=ts,
                text=message.text,
                blocks=list(message.blocks),
                metadata=self._of_itself(EVENT),
            )
        except SlackRefused as error:
            if error.passing or error.code in OURS_TO_MEND:
                raise
            log.warning("message_not_updated", code=error.code)
            return error.code
        return ""

    async def _standing(self, ts: str) -> str | None:
        """The `text` of our message as it stands in the thread; None where that cannot be read."""
        try:
            replies = await call(
                self._client.conversations_replies,
                channel=self._question.channel,
                ts=self._root,
                oldest=ts,
                latest=ts,
                inclusive=True,
            )
        except SlackRefused as error:
            log.info("thread_not_read", reason=str(error))
            return None
        return next((str(m.get("text") or "") for m in replies.get("messages", []) if m["ts"] == ts), None)

    async def _append(self, piece: str) -> bool:
        """Show a piece in the stream, which is begun with the first; False where that cannot be had."""
        question = self._question
        try:
            if self._posted is None:
                if not self._rates.free("chat.startStream", question.team):
                    return False
                begun = await call(
                    self._client.chat_startStream,
                    again=False,
                    tries=1,
                    within=ADORNING_SECONDS,
                    limited=self._held("chat.startStream"),
                    channel=question.channel,
                    thread_ts=self._root,
                    recipient_team_id=question.asker_team if question.asker_team[:1] == "T" else question.team,
                    recipient_user_id=question.user,
                    markdown_text=piece,
                )
                self._sign = ""  # so does a stream
                await self._keep(Posted(question.channel, str(begun["ts"]), streaming=True))
            elif self._rates.free("chat.appendStream", question.team):
                arguments: JsonObject = {"channel": question.channel, "ts": self._posted.ts, "markdown_text": piece}
                adorning: JsonObject = {
                    "tries": 1,
                    "within": ADORNING_SECONDS,
                    "limited": self._held("chat.appendStream"),
                }
                await call(self._client.chat_appendStream, again=False, **adorning, **arguments)
            else:
                return False
        except SlackRefused as error:
            log.info("stream_ended", reason=str(error))
            if self._posted is None and error.unsure:
                self._lost_sight = True
                if found := await self._found():
                    await self._keep(found)
            return False
        return True

    def _held(self, method: str) -> Callable[[float], None]:
        """What one answer hears of Slack's rates is known to all."""
        return partial(self._rates.hold, method, self._question.team, self._question.channel)

    async def _stop(self, posted: Posted) -> None:
        """A stream that has expired, or that Slack closed, needs no stopping."""
        try:
            metadata = self._of_itself(BEGUN)
            await self._rates.turn("chat.stopStream", self._question.team)
            await call(
                self._client.chat_stopStream,
                limited=self._held("chat.stopStream"),
                channel=posted.channel,
                ts=posted.ts,
                metadata=metadata,
            )
        except SlackRefused as error:
            if error.passing:
                raise
            log.info("stream_was_over", reason=str(error))

    async def _status(self, text: str) -> None:
        """Shown or not: the answer comes all the same."""
        if not self._rates.free("assistant.threads.setStatus", self._question.team):
            return
        try:
            await call(
                self._client.assistant_threads_setStatus,
                tries=1,
                within=ADORNING_SECONDS,
                limited=self._held("assistant.threads.setStatus"),
                channel_id=self._question.channel,
                thread_ts=self._root,
                status=BUSY if text else "",
                loading_messages=[text] if text else None,
            )
            self._sign = text
        except SlackRefused as error:
            log.debug("status_not_shown", reason=str(error))

    async def _stay(self) -> None:
        """Show the status again before Slack takes it away."""
        while True:
            await asyncio.sleep(self._refresh)
            if self._sign:
                await self._status(self._sign)

    async def _begin_session(self) -> None:
        """While a session is "processing" Slack shows its Stop button (docs.slack.dev, "Agent sessions"). The call that
        ends it is taken in advance, or the button would stay."""
        method, team = "agents.sessions.setStatus", self._question.team
        if self._rates.free(method, team) and self._rates.free(method, team):
            self._in_session = True
            await self._session("processing")

    async def _session(self, status: str) -> None:
        """What ends one is tried again, or the button would stay."""
        adorning: JsonObject = {
            "tries": 1 if status == "processing" else 3,
            "within": ADORNING_SECONDS,
            "limited": self._held("agents.sessions.setStatus"),
        }
        where: JsonObject = {"channel_id": self._question.channel, "thread_ts": self._root}
        try:
            await call(self._client.agents_sessions_setStatus, **adorning, **where, status=status)
        except SlackRefused as error:
            log.debug("session_not_shown", reason=str(error))

    async def _keep(self, posted: Posted) -> None:
        self._posted = posted
        await self._keep_posted(posted)

    def _of_itself(self, kind: str) -> JsonObject:
        return {"event_type": kind, "event_payload": {"question": self._question.id}}

    async def _found(self, known: Sequence[str] = ()) -> Posted | None:
        """A message of ours for this question that our log does not know: Slack took it, and we never heard. One that
        was posted or finished says which question it is of; a stream that is open cannot, and says nothing of itself."""
        try:
            said = [message for message in await self._said() if message["ts"] not in known]
            if answers := [message for message in said if _question_of(message) == self._question.id]:
                return Posted(self._question.channel, str(answers[0]["ts"]))
            me = (await call(self._client.auth_test))["user_id"]
            begun = [m for m in said if m.get("user") == me and not m.get("metadata")]
            return Posted(self._question.channel, str(begun[-1]["ts"]), streaming=True) if begun else None
        except SlackRefused as error:
            log.info("thread_not_read", reason=str(error))
            return None

    async def _answers(self) -> list[JsonObject]:
        return [message for message in await self._said() if _question_of(message) == self._question.id]

    async def _said(self) -> list[JsonObject]:
        """What was said in the thread since the question."""
        replies = await call(
            self._client.conversations_replies,
            channel=self._question.channel,
            ts=self._root,
            oldest=self._question.ts,
            include_all_metadata=True,
            limit=200,
        )
        return [message for message in replies.get("messages", []) if str(message["ts"]) > self._question.ts]


def _question_of(message: JsonObject) -> str:
    metadata = message.get("metadata") or {}
    return str((metadata.get("event_payload") or {}).get("question")) if metadata.get("event_type") == EVENT else ""


def status_text(step: Step, passages: Sequence[Passage]) -> str:
    """What a tool call led to: "Looking through 12 sections …", "Reading Scaling › Autoscaling"."""
    if step.error is not None:
        return "Trying another way …"
    if step.shown is not None:
        count = offered(step)
        return f"Looking through {count} section{'' if count == 1 else 's'} …" if count else "Trying other words …"
    read = [passage for passage in passages if passage.number in step.numbers]
    if not read and step.query:
        return "Trying other words …"
    if not read:
        return "Looking for the right section …"
    more = f" and {len(read) - 1} more" if len(read) > 1 else ""
    return f"{_reading(read[0].path, MAX_STATUS_CHARACTERS - len(more))}{more}"


def _reading(path: Sequence[str], most: int) -> str:
    """The section under its page or parent; a long parent gives way, then the section's own end."""
    *above, own = [plain_line(title) for title in path[-2:]] or ["a section"]
    whole = f"Reading {' › '.join([*above, own])}"
    return whole if len(whole) <= most else shortened(f"Reading {own}", most)
