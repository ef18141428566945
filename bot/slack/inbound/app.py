"""The Bolt app: which of Slack's events, commands, shortcuts, buttons and modals go where.

Events and commands are taken in before Slack is answered (process_before_response): where a question could not be
written down Slack gets no acknowledgement, and sends it again. What takes longer, such as opening a modal, is done after
the answer. Everything else that Slack sends is acknowledged and let go, or it would be sent four times.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.inbound.background import Background
from bot.slack.inbound.home import Home
from bot.slack.inbound.intake import Intake
from bot.slack.inbound.interactions import Interactions
from bot.slack.inbound.parse import IncomingMessage, commanded, heard, picked, privately
from bot.slack.inbound.settings_modal import SettingsModal
from bot.slack.outbound.ephemeral_notice import tell
from bot.slack.render import actions
from bot.slack.render.blocks import shortened
from bot.slack.render.sanitize import escaped, plain
from bot.slack.workspaces import Workspaces, is_in
from ingest.ports import Clock

log = structlog.get_logger()

Json = Mapping[str, Any]
Press = Callable[[Json, AsyncWebClient], Awaitable[str]]
"""What is done with a payload; what could not be done comes back as a sentence, "" else."""

ASK = "/ask"
RITBOT = "/ritbot"
SHORTCUT = "answer_from_docs"
USAGE = "Ask me something, for example: `/ask How do I rotate the keys?`"
NOT_INSTALLED = "I am not installed in this workspace any more: ask whoever manages your apps to install me again."
NO_WORDS = "There are no words in that message that I could answer."
NOT_IN = (
    "I am not in this conversation, so my answer comes here, to you alone. Where I am invited I answer in the thread, for"
    " everyone."
)
ASKED = 300
"""Characters of the question that stand over a private answer."""
FAILED = "That did not work just now. Please try once more."
HELP = "`/ritbot settings` shows how I behave in this channel, and lets those change it who may."
_ANYTHING = re.compile(".*", re.DOTALL)


def make_app(
    *,
    workspaces: Workspaces,
    client: AsyncWebClient,
    reception: Intake,
    interactions: Interactions,
    home: Home,
    settings: SettingsModal,
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
    _hear(app, reception)
    _commands(app, reception, settings, background, clock)
    _buttons(app, interactions, background)
    _modals(app, interactions, settings, home, background)
    _installations(app, workspaces)
    _rest(app)
    return app


def _hear(app: AsyncApp, reception: Intake) -> None:
    async def said(body: Json, context: AsyncBoltContext) -> None:
        understood = heard(body, str(context.bot_user_id))
        if isinstance(understood, IncomingMessage):
            await reception.hear(understood)

    app.event("app_mention")(said)
    app.event("message")(said)


def _commands(app: AsyncApp, reception: Intake, settings: SettingsModal, background: Background, clock: Clock) -> None:
    async def ask(body: Json, ack: AsyncAck) -> BoltResponse:
        question = commanded(body, clock.now())
        if not question.text:
            return await ack(USAGE)
        if closed := await reception.closed(question, shared=False):
            return await ack(closed)
        await reception.take(question)
        return await ack(heading(question.text))

    async def ritbot(body: Json, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        if str(body.get("text") or "").strip().lower() != "settings":
            return await ack(HELP)
        background.start("settings", _done(settings.open, body, client))
        return await ack()

    async def shortcut(body: Json, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        question = picked(body)
        word = await reception.closed(question, shared=False) if question else NO_WORDS
        if question and not word:
            if not await is_in(client, question.channel):
                question, word = privately(question, body), NOT_IN
            await reception.take(question)
        if word:
            background.start("shortcut", tell(body, client, word))
        return await ack()

    app.command(ASK)(ask)
    app.command(RITBOT)(ritbot)
    app.shortcut(SHORTCUT)(shortcut)


def _buttons(app: AsyncApp, interactions: Interactions, background: Background) -> None:
    def pressed(action_id: str, press: Press) -> None:
        async def listener(body: Json, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
            background.start(action_id, _done(press, body, client))
            return await ack()

        app.action(action_id)(listener)

    pressed(actions.FEEDBACK, interactions.judge)
    pressed(actions.SHOW_WAY, interactions.show_way)
    pressed(actions.ASK_PERSON, interactions.ask_person)
    pressed(actions.RETRY, interactions.retry)
    pressed(actions.SHARE, interactions.share)

    async def stopped(body: Json, client: AsyncWebClient) -> None:
        await interactions.stop(body, client)

    app.event("agent_session_stopped")(stopped)


def heading(text: str) -> str:
    """What stands at once where a command was typed, and over its answer later on: Slack lets nobody take it back, and
    does not show what was typed."""
    return f"You asked: {escaped(shortened(plain(text), ASKED))}\nMy answer comes here, to you alone."


async def _done(press: Press, body: Json, client: AsyncWebClient) -> None:
    """Whoever pressed hears of what could not be done."""
    try:
        sorry = await press(body, client)
    except Exception as error:  # a defect of ours, too
        log.error("press_failed", kind=type(error).__name__, reason=str(error))
        sorry = FAILED
    if sorry:
        await tell(body, client, sorry)


def _modals(
    app: AsyncApp, interactions: Interactions, settings: SettingsModal, home: Home, background: Background
) -> None:
    async def explained(body: Json, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        background.start("reason", interactions.explain(body, client))
        return await ack()

    async def chosen(body: Json, ack: AsyncAck, client: AsyncWebClient) -> BoltResponse:
        wrong = await settings.submit(body, client)
        return await ack(response_action="errors", errors=wrong) if wrong else await ack()

    async def opened(body: Json, client: AsyncWebClient) -> None:
        background.start("home", home.opened(body, client))

    app.view(actions.REASON_VIEW)(explained)
    app.view(actions.SETTINGS_VIEW)(chosen)
    app.event("app_home_opened")(opened)


def _installations(app: AsyncApp, workspaces: Workspaces) -> None:
    async def removed(body: Json) -> None:
        await workspaces.removed(str(body.get("team_id") or ""))

    app.event("app_uninstalled")(removed)
    app.event("tokens_revoked")(removed)


def _rest(app: AsyncApp) -> None:
    async def let_go(body: Json) -> None:
        log.debug("event_let_go", type=(body.get("event") or {}).get("type"))

    async def failed(error: Exception, body: Json) -> None:
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
