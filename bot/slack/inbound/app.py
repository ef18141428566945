"""The Bolt app: which of Slack's events, commands, shortcuts, buttons and modals go where.

Events and commands are taken in before Slack is answered (process_before_response): where a question could not be
written down Slack gets no acknowledgement, and sends it again. What takes longer, such as opening a modal, is done after
the answer. Everything else that Slack sends is acknowledged and let go, or it would be sent four times.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.gaps.report import STATES
from bot.slack.inbound.checking import Checking
from bot.slack.inbound.citing import CITE_USAGE, Citing
from bot.slack.inbound.gap_states import GapStates
from bot.slack.inbound.home import Home
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.interactions import Interactions
from bot.slack.inbound.parse import IncomingMessage, commanded, deleted, heard, person_of, picked, privately
from bot.slack.inbound.settings_modal import SettingsModal
from bot.slack.message_text import Payload
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render import actions
from bot.slack.render.blocks import Block, shortened
from bot.slack.render.sanitize import escaped, plain_line
from bot.slack.workspaces import Workspaces, is_in
from ingest.ports import Clock

log = structlog.get_logger()

Press = Callable[[Payload, AsyncWebClient], Awaitable[str]]
"""What is done with a payload; what could not be done comes back as a sentence, "" else."""

ASK_COMMAND = "/ask"
RITBOT_COMMAND = "/ritbot"
CITE_COMMAND = "/cite"
SHORTCUT = "answer_from_docs"
CITE_SHORTCUT = "cite_section"
USAGE = "Ask me something, for example: `/ask How do I rotate the keys?`"
NOT_INSTALLED = "I am not installed in this workspace any more: ask whoever manages your apps to install me again."
NO_WORDS = "There are no words in that message that I could answer."
NOT_IN = (
    "I am not in this conversation, so my answer comes here, to you alone. Where I am invited I answer in the thread, for"
    " everyone."
)
MAX_HEADING_CHARACTERS = 300
"""Characters of the question that stand over a private answer."""
FAILED = "That did not work just now. Please try once more."
RITBOT_HELP = (
    "`/ritbot settings` shows how I behave in this channel, and lets those change it who may.\n`/ritbot check LINK` says"
    " whether what I quoted still stands; the link is that of an answer here, or of a source."
)
_ANYTHING = re.compile(".*", re.DOTALL)


class Background:
    """Tasks in flight. What one of them raises is logged, and the others go on."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, what: str, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(self._run(what, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self, seconds: float) -> None:
        """Wait for what is in flight, and end what takes longer."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, what: str, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except Exception as error:
            log.error("interaction_failed", what=what, kind=type(error).__name__, reason=str(error))


def make_app(
    *,
    workspaces: Workspaces,
    client: AsyncWebClient,
    intake: Intake,
    interactions: Interactions,
    citing: Citing,
    home: Home,
    settings: SettingsModal,
    checking: Checking,
    gap_states: GapStates,
    background: Background,
    clock: Clock,
) -> AsyncApp:
    """`client` carries Slack's address and proxy; its token is not used. Whoever hands requests to the app has made
    sure that they come from Slack: a socket by being connected, bot.slack.inbound.http_mode by their signature."""

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        return await workspaces.authorize(enterprise_id, team_id)  # Bolt looks at the names of a function's arguments

    app = AsyncApp(
        name="ritbot",
        client=client,
        signing_secret="",
        request_verification_enabled=False,
        authorize=authorize,  # type: ignore[arg-type]  # None: not installed
        user_facing_authorize_error_message=NOT_INSTALLED,
        process_before_response=True,
        attaching_conversation_kwargs_enabled=False,
    )
    _hear(app, intake, background)
    _commands(app, intake, settings, checking, background, clock)
    _citing(app, citing, background, clock)
    _buttons(app, interactions, citing, settings, gap_states, background)
    _modals(app, interactions, settings, home, background)
    _installations(app, workspaces)
    _rest(app)
    return app


def _hear(app: AsyncApp, intake: Intake, background: Background) -> None:
    async def said(body: Payload, context: AsyncBoltContext, client: AsyncWebClient) -> None:
        if gone := deleted(body):
            await intake.withdraw(*gone)
        understood = heard(body, str(context.bot_user_id))
        if isinstance(understood, IncomingMessage) and (word := await intake.hear(understood)):
            question = understood.question
            thread = question.thread if question.thread != question.ts else ""
            whom = {"user_id": question.user, "channel_id": question.channel, "container": {"thread_ts": thread}}
            background.start("shut_out", tell(whom, client, word))

    app.event("app_mention")(said)
    app.event("message")(said)


def _commands(
    app: AsyncApp, intake: Intake, settings: SettingsModal, checking: Checking, background: Background, clock: Clock
) -> None:
    async def ask(body: Payload, ack: AsyncAck) -> BoltResponse:
        question = commanded(body, clock.now())
        if not question.text:
            return await ack(USAGE)
        if closed := await intake.closed(question, shared=False):
            return await ack(closed)
        await intake.take(question)
        return await ack(heading(question.text))

    async def ritbot(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        wanted = str(body.get("text") or "").strip().lower()
        if wanted.partition(" ")[0] == "check":
            background.start("check", _done(checking.check, body, client))
            return await ack()
        if wanted != "settings":
            return await ack(RITBOT_HELP)
        background.start("settings", _done(settings.open, body, client))
        return await ack()

    async def shortcut(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        question = picked(body)
        word = await intake.closed(question, shared=False) if question else NO_WORDS
        if question and not word:
            if not await is_in(client, question.channel):
                question, word = privately(question, body), NOT_IN
            await intake.take(question)
        if word:
            background.start("shortcut", tell(body, client, word))
        return await ack()

    app.command(ASK_COMMAND)(ask)
    app.command(RITBOT_COMMAND)(ritbot)
    app.shortcut(SHORTCUT)(shortcut)


def _citing(app: AsyncApp, citing: Citing, background: Background, clock: Clock) -> None:
    async def command(body: Payload, ack: AsyncAck) -> BoltResponse:
        wanted = commanded(body, clock.now())
        if not wanted.text:
            return await ack(CITE_USAGE)
        found = await citing.offer(wanted)
        return await ack(text=found.text, blocks=list(found.blocks))

    async def shortcut(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        if wanted := picked(body):
            found = await citing.offer(wanted)
            background.start("cite", tell(body, client, found.text, found.blocks))
        else:
            background.start("cite", tell(body, client, NO_WORDS))
        return await ack()

    async def shared(body: Payload, client: AsyncWebClient) -> None:
        background.start("unfurl", citing.unfurl(body, client))

    app.event("link_shared")(shared)
    app.command(CITE_COMMAND)(command)
    app.shortcut(CITE_SHORTCUT)(shortcut)


def _buttons(
    app: AsyncApp,
    interactions: Interactions,
    citing: Citing,
    settings: SettingsModal,
    gap_states: GapStates,
    background: Background,
) -> None:
    def pressed(action_id: str, press: Press) -> None:
        async def listener(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
            background.start(action_id, _done(press, body, client))
            return await ack()

        app.action(action_id)(listener)

    pressed(actions.FEEDBACK, interactions.judge)
    pressed(actions.SHOW_TRACE, interactions.show_trace)
    pressed(actions.SHOW_DETAILS, interactions.show_details)
    pressed(actions.ASK_PERSON, interactions.ask_person)
    pressed(actions.RETRY, interactions.retry)
    pressed(actions.ASK_AGAIN, interactions.ask_again)
    pressed(actions.SHARE, interactions.share)
    pressed(actions.HOME_SETTINGS, settings.open)
    pressed(actions.CITE, citing.post)
    for state in STATES:
        pressed(f"{actions.GAP}{state}", gap_states.put)

    async def stopped(body: Payload, client: AsyncWebClient) -> None:
        await interactions.stop(body, client)

    app.event("agent_session_stopped")(stopped)


def heading(text: str) -> str:
    """What stands at once where a command was typed, and over its answer later on: Slack lets nobody take it back, and
    does not show what was typed."""
    return f"You asked: {escaped(shortened(plain_line(text), MAX_HEADING_CHARACTERS))}\nMy answer comes here, to you alone."


async def _done(press: Press, body: Payload, client: AsyncWebClient) -> None:
    """Whoever pressed hears of what could not be done."""
    try:
        sorry = await press(body, client)
    except Exception as error:  # a defect of ours, too
        log.error("press_failed", kind=type(error).__name__, reason=str(error))
        sorry = FAILED
    if sorry:
        await tell(body, client, sorry)


async def tell(body: Payload, client: AsyncWebClient, text: str, blocks: Sequence[Block] = ()) -> None:
    """A word to whoever pressed, picked or typed something, alone. `body`: the payload of that. Where ritbot is no member of the channel, the address
    that came with the payload still works."""
    container: Payload = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or body.get("channel_id")
    try:
        await call(
            client.chat_postEphemeral,
            channel=str(channel),
            user=person_of(body),
            thread_ts=container.get("thread_ts") or None,
            text=text,
            blocks=list(blocks) or None,
        )
    except SlackRefused as error:
        log.info("not_told", reason=str(error))
        if address := str(body.get("response_url") or ""):
            webhook = AsyncWebhookClient(address, proxy=client.proxy, retry_handlers=[])
            said = {"text": text, **({"blocks": list(blocks)} if blocks else {})}
            await call(webhook.send_dict, body={"response_type": "ephemeral", "replace_original": False, **said})


def _modals(
    app: AsyncApp, interactions: Interactions, settings: SettingsModal, home: Home, background: Background
) -> None:
    async def explained(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        background.start("reason", interactions.explain(body, client))
        return await ack()

    async def escalated(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        question, pressed = actions.escalation_of(dict(body))
        background.start("escalation", _done(partial(interactions.escalate, question), pressed, client))
        return await ack()

    async def chosen(body: Payload, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        wrong = await settings.submit(body, client)
        return await ack(response_action="errors", errors=wrong) if wrong else await ack()

    async def opened(body: Payload, client: AsyncWebClient) -> None:
        background.start("home", home.opened(body, client))

    app.view(actions.REASON_VIEW)(explained)
    app.view(actions.ESCALATION_VIEW)(escalated)
    app.view(actions.SETTINGS_VIEW)(chosen)
    app.event("app_home_opened")(opened)


def _installations(app: AsyncApp, workspaces: Workspaces) -> None:
    async def removed(body: Payload) -> None:
        await workspaces.removed(str(body.get("team_id") or ""))

    app.event("app_uninstalled")(removed)
    app.event("tokens_revoked")(removed)


def _rest(app: AsyncApp) -> None:
    async def let_go(body: Payload) -> None:
        log.debug("event_let_go", type=(body.get("event") or {}).get("type"))

    async def failed(error: Exception, body: Payload) -> None:
        kind = (body.get("event") or {}).get("type") or body.get("type") or body.get("command")
        log.warning("slack_request_failed", type=kind, kind=type(error).__name__, reason=str(error))

    app.error(failed)

    async def acknowledged(ack: AsyncAck) -> BoltResponse:
        return await ack()

    app.event(_ANYTHING)(let_go)
    app.action(_ANYTHING)(acknowledged)
    app.view(_ANYTHING)(acknowledged)
    app.view_closed(_ANYTHING)(acknowledged)
    app.shortcut(_ANYTHING)(acknowledged)
