"""What people do with an answer: judge it, see how it was found, ask a person, try again, share it, stop it.

Each method takes the payload that Slack sent and a client of that workspace. What cannot be done comes back as a sentence
for whoever pressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.answering.lease import ask_to_stop, changed
from bot.model import Exchange, Feedback, Question, first_attempt
from bot.ports import BotStore
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.parse import person_of, workspace
from bot.slack.message_text import Payload
from bot.slack.outbound.client import JsonObject, SlackRefused, call
from bot.slack.render import actions
from bot.slack.render.answer_message import Message, escalation, mention_of, messages
from bot.slack.render.trace_modal import escalation_modal, reason_modal, trace_modal
from ingest.ports import Clock

log = structlog.get_logger()

ANSWER_GONE = "I no longer have this answer: it is older than what I keep."
ANSWER_UNKNOWN = (
    "I do not know this answer, though it is not old: it was forgotten, or two of me answer here that do not know of each"
    " other. Please tell whoever runs me."
)
ASKED_ALREADY = "A person has been asked already; see above in the thread."
SHARED_ALREADY = "This answer has been shared already."
TRIED_ALREADY = "I have tried this again already; see below in the thread."
WORD = "ritbot_word"
"""What a message that somebody's press led to says of itself in its metadata."""
CLOCKS_APART_SECONDS = 60.0
"""How far our clock and Slack's may be apart."""
DAY_SECONDS = 86_400.0
UNSURE = "Slack did not tell me whether it took this: please look whether it is there."
NOT_HERE = "I could not post here: invite me to the channel first."


class Interactions:
    """`person`: the id of the user group that is pinged for help, "" for none. `public_url`: where permalinks lead, "" for
    none."""

    def __init__(
        self, store: BotStore, intake: Intake, clock: Clock, *, person: str = "", public_url: str = ""
    ) -> None:
        self._store = store
        self._intake = intake
        self._clock = clock
        self._person = person
        self._public_url = public_url

    async def judge(self, body: Payload, client: AsyncWebClient) -> str:
        """Thumbs up or down: kept at once, then asked why."""
        value = _value(body)
        verdict, question_id = actions.feedback_of(value)
        exchange = await self._exchange(question_id)
        if exchange is None:
            return self._gone(body)
        if closed := await self._closed(exchange, body):
            return closed
        given = Feedback(person_of(body), verdict, self._clock.now())
        if await changed(self._store, question_id, lambda exchange: _with_feedback(exchange, given)) is None:
            return self._gone(body)
        log.info("feedback_given", question=question_id, verdict=verdict)
        try:
            await call(client.views_open, again=False, trigger_id=body["trigger_id"], view=reason_modal(value))
        except SlackRefused as error:  # the verdict counts all the same
            log.info("reason_not_asked", question=question_id, reason=str(error))
        return ""

    async def explain(self, body: Payload, client: AsyncWebClient) -> None:
        """The reason for a verdict."""
        view = body["view"]
        verdict, question_id = actions.feedback_of(str(view["private_metadata"]))
        chosen = (view["state"]["values"].get(actions.REASON_CHOICE) or {}).get(actions.REASON_CHOICE) or {}
        reasons = [str(option["value"]) for option in chosen.get("selected_options") or ()]
        if reason := "\n".join(filter(None, ["; ".join(reasons), _words(body)])):
            given = Feedback(person_of(body), verdict, self._clock.now(), reason)
            await changed(self._store, question_id, lambda exchange: _with_feedback(exchange, given))

    async def show_trace(self, body: Payload, client: AsyncWebClient) -> str:
        exchange = await self._exchange(_value(body))
        if exchange is None or exchange.answer is None:
            return self._gone(body)
        if closed := await self._closed(exchange, body):
            return closed
        view = trace_modal(exchange.answer, exchange.question.id)
        await call(client.views_open, again=False, trigger_id=body["trigger_id"], view=view)
        return ""

    async def show_details(self, body: Payload, client: AsyncWebClient) -> str:
        """Unfold the trace's modal, or fold it."""
        wanted, _, question_id = _value(body).partition(":")
        exchange = await self._exchange(question_id)
        if exchange is None or exchange.answer is None:
            return ANSWER_GONE
        if closed := await self._closed(exchange, body):
            return closed
        view = trace_modal(exchange.answer, question_id, details=wanted == actions.MORE)
        await call(client.views_update, view_id=body["view"]["id"], view=view)
        return ""

    async def ask_person(self, body: Payload, client: AsyncWebClient) -> str:
        """Ask first whether a person shall be asked, and what that person should know."""
        exchange = await self._exchange(_value(body))
        if exchange is None:
            return self._gone(body)
        if closed := await self._closed(exchange, body):
            return closed
        if await self._store.counted(_counter("person", exchange), self._clock.now()):
            return ASKED_ALREADY
        metadata = actions.escalation_value(exchange.question.id, dict(body))
        view = escalation_modal(metadata, whom=mention_of(self._person), in_thread=bool(exchange.question.thread))
        await call(client.views_open, again=False, trigger_id=body["trigger_id"], view=view)
        return ""

    async def escalate(self, question_id: str, body: Payload, client: AsyncWebClient) -> str:
        """Ping the user group in the thread, once for an answer, with what was asked, answered and read. `body`: of the modal,
        and of the button that opened it."""
        exchange = await self._exchange(question_id)
        if exchange is None:
            return ANSWER_GONE
        if closed := await self._closed(exchange, body):
            return closed
        message = escalation(exchange, whom=mention_of(self._person), asked_by=person_of(body), comment=_words(body))
        sorry = await self._once("person", exchange, client, [message], ASKED_ALREADY)
        if not sorry:
            await changed(self._store, question_id, lambda exchange: replace(exchange, handed_over=True))
        return sorry

    async def retry(self, body: Payload, client: AsyncWebClient) -> str:
        """The same question once more, as one of its own."""
        return await self._again(body, compared=False)

    async def ask_again(self, body: Payload, client: AsyncWebClient) -> str:
        """The same, and the answer says what is different from the one before."""
        return await self._again(body, compared=True)

    async def _again(self, body: Payload, *, compared: bool) -> str:
        exchange = await self._exchange(_value(body))
        if exchange is None:
            return self._gone(body)
        if closed := await self._closed(exchange, body):
            return closed
        question = exchange.question
        attempt = question.attempt + 1
        private = bool(question.response_url)
        again = replace(
            question,
            id=f"{first_attempt(question.id)}:again-{attempt}",
            attempt=attempt,
            instead_of=question.id if compared else "",
            response_url=str(body.get("response_url") or "") if private else "",
        )
        if await self._exchange(again.id):
            return TRIED_ALREADY
        await self._intake.take(again)
        return ""

    async def share(self, body: Payload, client: AsyncWebClient) -> str:
        """A private answer, shown to the channel."""
        exchange = await self._exchange(_value(body))
        if exchange is None or exchange.answer is None:
            return self._gone(body)
        if closed := await self._closed(exchange, body):
            return closed
        made = messages(
            exchange.answer,
            question_id=exchange.question.id,
            now=self._clock.now(),
            person=bool(self._person),
            public_url=self._public_url,
            changed=[source.number for source in exchange.changed],
        )
        return await self._once("share", exchange, client, made, SHARED_ALREADY)

    async def stop(self, body: Payload, client: AsyncWebClient) -> None:
        """Slack's Stop button (agent_session_stopped): everything under way in that thread stops."""
        event = body["event"]
        key = ":".join((workspace(body)[1], str(event["channel"]), str(event.get("thread_ts") or "")))
        for exchange in await self._store.conversation(key, 10):
            if not exchange.over:
                stopped = await ask_to_stop(self._store, exchange.question.id)
                log.info("stop_asked", question=exchange.question.id, under_way=stopped)

    async def _closed(self, exchange: Exchange, body: Payload) -> str:
        """Why whoever pressed is not let in: who may not ask has no use of what others asked."""
        question, user = exchange.question, body.get("user") or {}
        presser = replace(
            question, user=person_of(body), asker_team=str(user.get("team_id") or question.team), kind="mention"
        )
        return await self._intake.closed(presser, shared=False)

    def _gone(self, body: Payload) -> str:
        """Why an answer is not known. None is kept for less than a day."""
        posted_at = float((body.get("container") or {}).get("message_ts") or 0)
        return ANSWER_UNKNOWN if self._clock.now().timestamp() - posted_at < DAY_SECONDS else ANSWER_GONE

    async def _exchange(self, question_id: str) -> Exchange | None:
        kept = await self._store.exchange(question_id)
        return kept.exchange if kept else None

    async def _once(
        self, what: str, exchange: Exchange, client: AsyncWebClient, made: Sequence[Message], already: str
    ) -> str:
        """Post it once for an answer, whoever presses how often; why it was not posted, "" where it was."""
        counter, until = _counter(what, exchange), self._clock.now() + timedelta(days=7)
        if await self._store.add(counter, 1, until) > 1:
            await self._store.add(counter, -1, until)
            return already
        root = ""
        try:
            for message in made:
                posted = await self._post(exchange, client, message, thread=root)
                if posted is None:
                    root = root or UNSURE
                    return UNSURE
                root = root or posted
                if not posted:
                    break
        finally:
            if not root:
                await self._store.add(counter, -1, until)
        return "" if root else NOT_HERE

    async def _post(self, exchange: Exchange, client: AsyncWebClient, message: Message, thread: str = "") -> str | None:
        """The ts of what was posted; "" where ritbot may not post, None where nobody knows whether it was."""
        question = exchange.question
        root, began = thread or question.thread, self._clock.now().timestamp()
        try:
            posted = await call(
                client.chat_postMessage,
                again=False,
                channel=question.channel,
                thread_ts=root or None,
                text=message.text,
                blocks=list(message.blocks) or None,
                unfurl_links=False,
                unfurl_media=False,
                metadata={"event_type": WORD, "event_payload": {"about": question.id}},
            )
        except SlackRefused as error:
            if error.unsure and (found := await self._found(question, client, message, root, began)) != "":
                return found
            if error.passing:
                raise
            log.warning("not_posted", question=question.id, reason=str(error))
            return ""
        return str(posted["ts"])

    async def _found(
        self, question: Question, client: AsyncWebClient, message: Message, root: str, began: float
    ) -> str | None:
        """The ts of a message that Slack took without saying so, "" where it is not there, None where nobody can look."""
        where: JsonObject = {"ts": root} if root else {}
        where |= {"channel": question.channel, "oldest": f"{began - CLOCKS_APART_SECONDS:.6f}", "limit": 200}
        looked = client.conversations_replies if root else client.conversations_history
        try:
            said = (await call(looked, include_all_metadata=True, **where)).get("messages", [])
        except SlackRefused as error:
            log.warning("post_not_looked_up", question=question.id, reason=str(error))
            return None
        about = {"event_type": WORD, "event_payload": {"about": question.id}}
        return next((str(m["ts"]) for m in said if m.get("metadata") == about and m.get("text") == message.text), "")


def _counter(what: str, exchange: Exchange) -> str:
    return f"{what}:{exchange.question.id}"


def _words(body: Payload) -> str:
    """What was written into a modal."""
    written = body["view"]["state"]["values"][actions.REASON_BLOCK][actions.REASON_INPUT].get("value")
    return str(written or "").strip()


def _value(body: Payload) -> str:
    """What the pressed element carries."""
    return str(body["actions"][0]["value"])


def _with_feedback(exchange: Exchange, given: Feedback) -> Exchange:
    """A person's last word counts; a reason stays with the verdict that it was given for."""
    others = tuple(one for one in exchange.feedback if one.user != given.user)
    return replace(exchange, feedback=(*others, given))
