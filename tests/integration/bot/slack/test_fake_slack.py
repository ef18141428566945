"""The fake Slack against the real slack-bolt app, Socket Mode client and Web API client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import RATE_LIMITED, SERVER_ERROR, FakeSlack, Fault, labels, words

Listen = Callable[[AsyncApp], None]
Json = dict[str, Any]


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=False) as slack:
        yield slack


def web(slack: FakeSlack) -> AsyncWebClient:
    return AsyncWebClient(slack.bot_token, base_url=slack.base_url, timeout=5)


@asynccontextmanager
async def bolt(slack: FakeSlack, listen: Listen | None = None, *, sockets: int = 1) -> AsyncIterator[AsyncApp]:
    """A real app, connected."""
    app = AsyncApp(client=web(slack))

    @app.event({"type": "message"})
    async def _ignore() -> None:
        """Acknowledges what no listener wants."""

    if listen:
        listen(app)
    handlers = [AsyncSocketModeHandler(app, slack.app_token, ping_interval=0.3) for _ in range(sockets)]
    try:
        for handler in handlers:
            await handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.socket.connected(sockets)
        yield app
    finally:
        for handler in handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]


async def error(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


def section(text: str = "Yes.") -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def modal(*blocks: Json, **more: Any) -> Json:
    title = {"type": "plain_text", "text": "Settings"}
    return {"type": "modal", "callback_id": "settings", "title": title, "blocks": list(blocks), **more}


def entry(action_id: str, **element: Any) -> Json:
    label = {"type": "plain_text", "text": action_id}
    return {"type": "input", "label": label, "element": {"action_id": action_id, "type": "plain_text_input", **element}}


BUTTON = {"type": "button", "action_id": "more", "text": {"type": "plain_text", "text": "More"}, "value": "v1"}
FEEDBACK = {
    "type": "feedback_buttons",
    "action_id": "feedback",
    "positive_button": {"text": {"type": "plain_text", "text": "Helpful"}, "value": "good"},
    "negative_button": {"text": {"type": "plain_text", "text": "Not helpful"}, "value": "bad"},
}


# --- events


async def test_a_mention_is_answered_by_a_stream(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")

    def listen(app: AsyncApp) -> None:
        @app.event("app_mention")
        async def answer(say_stream: Any, set_status: Any) -> None:
            await set_status("is reading", loading_messages=["Reading Scaling"])
            stream = await say_stream(buffer_size=1, task_display_mode="plan")
            await stream.append(chunks=[{"type": "task_update", "id": "1", "title": "Read", "status": "in_progress"}])
            await stream.append(markdown_text="Set **replicas**")
            await stream.append(markdown_text=" to 3.")
            task = {"type": "task_update", "id": "1", "title": "Read", "status": "complete"}
            await stream.stop(chunks=[task], blocks=[{"type": "context_actions", "elements": [FEEDBACK]}])

    async with bolt(slack, listen):
        question = await ada.mention(general, "How do I scale?")
        await slack.until(lambda: len(slack.thread(general, question)) == 2)
        await slack.until(lambda: not slack.thread(general, question)[1].streaming)
        await slack.settled()
    answer = slack.thread(general, question)[1]
    assert answer.text == "Set **replicas** to 3."
    assert words(answer) == "Plan\nRead\nSet **replicas** to 3."
    assert labels(answer) == ["Helpful", "Not helpful"]
    assert answer.blocks[0]["tasks"][0]["status"] == "complete"
    assert slack.status(general, question) is None
    assert [call.method for call in slack.calls() if call.method.startswith(("chat", "assistant"))] == [
        "assistant.threads.setStatus",
        "chat.startStream",
        "chat.appendStream",
        "chat.appendStream",
        "chat.stopStream",
    ]


async def test_a_mention_fires_app_mention_and_message_and_each_is_acknowledged(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    heard: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.event("app_mention")
        async def mentioned(event: Json, body: Json) -> None:
            heard.append(body["event_id"])

    async with bolt(slack, listen):
        question = await ada.mention(general, "How?")
        await slack.settled()
    mention, message = slack.deliveries.all
    assert (mention.type, message.type) == ("app_mention", "message")
    assert mention.payload["event"]["ts"] == message.payload["event"]["ts"] == question.ts
    assert heard == [mention.event_id]
    for delivery in (mention, message):
        assert delivery.acked
        assert delivery.attempts[0].seconds is not None


async def test_a_direct_message_fires_message_alone_and_a_first_delivery_says_retry_0(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    headers: list[Json] = []

    def listen(app: AsyncApp) -> None:
        @app.middleware
        async def remember(req: Any, next: Any) -> None:  # noqa: A002
            headers.append(dict(req.headers))
            await next()

    async with bolt(slack, listen):
        await ada.say(ada.direct(), f"<@{slack.bot_user}> hello")
        await slack.settled()
    assert [one.type for one in slack.deliveries.all] == ["message"]
    assert slack.deliveries.all[0].payload["event"]["channel_type"] == "im"
    assert [one["x-slack-retry-num"] for one in headers] == [["0"]]


async def test_an_unacknowledged_event_is_sent_four_times(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    slack.deliveries.ack_within = 0.2
    slack.deliveries.retries_after = (0, 0, 0)
    async with bolt(slack):  # nothing listens to app_mention
        await ada.mention(general, "How?")
        await slack.settled()
    mention = slack.deliveries.all[0]
    assert [attempt.number for attempt in mention.attempts] == [0, 1, 2, 3]
    assert {attempt.failed for attempt in mention.attempts} == {"timeout"}
    assert not mention.acked
    assert slack.deliveries.all[1].acked


async def test_the_second_retry_comes_after_a_minute_of_the_clock(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    slack.deliveries.ack_within = 0.1
    await ada.say(ada.direct(), "hello")
    delivery = slack.deliveries.all[0]
    await slack.until(lambda: len(delivery.attempts) == 2 and delivery.attempts[1].failed)
    slack.clock.advance(59)
    async with bolt(slack):
        assert len(delivery.attempts) == 2
        slack.clock.advance(1)
        await delivery.over()
    assert [attempt.failed for attempt in delivery.attempts] == ["connection_failed", "connection_failed", ""]


async def test_payloads_go_to_connections_in_turn_and_the_same_event_can_come_again(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    async with bolt(slack, sockets=2):
        await ada.say(ada.direct(), "hello")
        await slack.settled()
        slack.deliveries.again(slack.deliveries.all[0], times=2)
        await slack.settled()
    attempts = slack.deliveries.all[0].attempts
    assert len(attempts) == 3
    assert {attempt.to for attempt in attempts} == {"connection-1", "connection-2"}
    assert all(attempt.seconds is not None for attempt in attempts)


async def test_held_payloads_go_out_in_another_order(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    heard: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.middleware
        async def remember(body: Json, next: Any) -> None:  # noqa: A002
            heard.append(body["event"]["text"])
            await next()

    async with bolt(slack, listen):
        slack.deliveries.hold()
        for text in ("one", "two"):
            await ada.say(ada.direct(), text)
        slack.deliveries.release(reverse=True)
        await slack.settled()
    assert heard == ["two", "one"]


async def test_after_a_cut_connection_the_app_comes_back_and_gets_the_event(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    async with bolt(slack):
        slack.socket.connections[0].abort()
        await slack.until(lambda: not slack.socket.connections)
        await ada.say(ada.direct(), "hello")
        await slack.settled()
        assert slack.deliveries.all[0].acked
        assert slack.socket.opened == 2


async def test_asked_to_connect_anew_the_app_does(slack: FakeSlack) -> None:
    async with bolt(slack):
        await slack.socket.connections[0].disconnect()
        await slack.until(lambda: slack.socket.opened == 2 and len(slack.socket.connections) == 1)


async def test_pings_are_answered_and_a_deaf_socket_is_given_up(slack: FakeSlack) -> None:
    async with bolt(slack):
        await slack.until(lambda: slack.socket.connections[0].pings >= 2)
        assert slack.socket.opened == 1
        slack.socket.deaf = True
        await slack.until(lambda: slack.socket.opened > 1)
        slack.socket.deaf = False


async def test_a_mute_socket_is_connected_and_delivers_nothing(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    slack.deliveries.ack_within = 0.2
    slack.deliveries.retries_after = ()
    async with bolt(slack):
        slack.socket.mute = True
        await ada.say(ada.direct(), "hello")
        await slack.settled()
        assert len(slack.socket.connections) == 1
    assert [attempt.failed for attempt in slack.deliveries.all[0].attempts] == ["timeout"]


async def test_a_command_that_nobody_acknowledges_is_sent_once(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    slack.deliveries.ack_within = 0.2
    slack.deliveries.retries_after = (0, 0, 0)
    delivery = await ada.command(general, "/ask", "How?")
    assert not delivery.acked
    assert len(delivery.attempts) == 1


async def test_without_the_scope_or_the_bot_in_the_channel_nothing_is_heard() -> None:
    async with FakeSlack(scopes={"chat:write", "im:history"}) as slack:
        ada = slack.person("Ada")
        await ada.mention(slack.channel("general"), "How?")
        await ada.mention(slack.channel("without", with_bot=False), "How?")
        assert slack.deliveries.all == []
        await ada.say(ada.direct(), "hello")
        assert len(slack.deliveries.all) == 1


async def test_an_edited_mention_fires_again_with_edited_and_message_changed(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    message = await ada.mention(general, "How?")
    await ada.edit(message, f"<@{slack.bot_user}> How, exactly?")
    mention, changed = slack.deliveries.all[2:]
    assert mention.payload["event"]["edited"]["user"] == ada.id
    assert changed.payload["event"]["subtype"] == "message_changed"
    assert changed.payload["event"]["previous_message"]["text"].endswith("How?")


async def test_a_shared_channel_says_so_and_whose_person_asks(slack: FakeSlack) -> None:
    other = slack.team("Other")
    shared = slack.channel("with-other", shared_with=[other])
    olga = slack.person("Olga", team=other)
    await olga.mention(shared, "How?")
    mention = slack.deliveries.all[0].payload
    assert mention["is_ext_shared_channel"] is True
    assert mention["team_id"] == slack.installation.team
    assert mention["event"]["user_team"] == other.id
    assert mention["event"]["team"] == other.id


async def test_the_app_hears_of_its_own_posts_and_of_other_bots(slack: FakeSlack) -> None:
    general = slack.channel("general")
    await web(slack).chat_postMessage(channel=general.id, text="Mine.")
    bot = slack.other_bot("deploybot")
    general.members.add(bot.id)
    await bot.say(general, "Deployed.")
    own, foreign = (one.payload["event"] for one in slack.deliveries.all)
    assert own["bot_id"] == slack.installation.bot_id
    assert foreign["bot_id"] == bot.user.bot_id


# --- interactions


async def test_a_pressed_button_arrives_and_its_response_url_replaces_the_message(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    heard: list[Json] = []

    def listen(app: AsyncApp) -> None:
        @app.action("more")
        async def more(ack: Any, action: Json, respond: Any) -> None:
            await ack()
            heard.append(action)
            await respond(text="More.", replace_original=True)

    async with bolt(slack, listen):
        blocks = [section(), {"type": "actions", "elements": [BUTTON]}]
        await web(slack).chat_postMessage(channel=general.id, text="Yes.", blocks=blocks)
        message = slack.said_in(general)[0]
        assert (await ada.press(message, "more")).acked
        await slack.until(lambda: message.edits)
    assert heard[0]["value"] == "v1"
    assert words(message) == "More."


async def test_feedback_buttons_say_which_one(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    heard: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.action("feedback")
        async def feedback(ack: Any, action: Json) -> None:
            await ack()
            heard.append(action["value"])

    async with bolt(slack, listen):
        blocks = [{"type": "context_actions", "elements": [FEEDBACK]}]
        await web(slack).chat_postMessage(channel=general.id, text="Yes.", blocks=blocks)
        await ada.press(slack.said_in(general)[0], "feedback", "Not helpful")
        await slack.until(lambda: heard)
    assert heard == ["bad"]


async def test_a_command_is_answered_to_its_asker_alone(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")

    def listen(app: AsyncApp) -> None:
        @app.command("/ask")
        async def ask(ack: Any, command: Json, respond: Any) -> None:
            await ack("Looking …")
            await respond(f"You asked: {command['text']}")
            await respond("For all.", response_type="in_channel")

    async with bolt(slack, listen):
        delivery = await ada.command(general, "/ask", "How?")
        await slack.until(lambda: len(slack.said_in(general)) == 3)
    assert delivery.acked
    assert {(one.text, one.only_for) for one in slack.said_in(general)} == {
        ("Looking …", ada.id),  # sent by Bolt some milliseconds after ack() returned
        ("You asked: How?", ada.id),
        ("For all.", ""),
    }


async def test_what_a_command_was_acknowledged_with_is_not_replaced_and_nobodys_message_is(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")

    def listen(app: AsyncApp) -> None:
        @app.command("/ask")
        async def ask(ack: Any, respond: Any) -> None:
            await ack("Looking …")
            await respond("Done.", replace_original=True)

        @app.shortcut("answer")
        async def answer(ack: Any, respond: Any) -> None:
            await ack()
            await respond("Done.", replace_original=True)

    async with bolt(slack, listen):
        await ada.command(general, "/ask")
        await slack.until(lambda: len(slack.said_in(general)) == 2)
        await ada.shortcut(await ada.say(general, "Mine."), "answer")
        await slack.until(lambda: len(slack.said_in(general)) == 4)
    assert sorted(one.text for one in slack.said_in(general)) == ["Done.", "Done.", "Looking …", "Mine."]


async def test_a_response_url_is_good_for_five_posts_in_half_an_hour(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    statuses: list[int] = []

    def listen(app: AsyncApp) -> None:
        @app.command("/ask")
        async def ask(ack: Any, respond: Any) -> None:
            await ack()
            for _ in range(6):
                statuses.append((await respond("Once more.")).status_code)

        @app.command("/late")
        async def late(ack: Any, respond: Any) -> None:
            await ack()
            slack.clock.advance(1801)
            statuses.append((await respond("Late.")).status_code)

    async with bolt(slack, listen):
        await ada.command(general, "/ask")
        await slack.until(lambda: len(statuses) == 6)
        assert statuses == [200] * 5 + [404]
        await ada.command(general, "/late")
        await slack.until(lambda: statuses[6:] == [404])


async def test_a_modal_is_opened_filled_in_refused_and_sent(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    sent: list[Json] = []

    def listen(app: AsyncApp) -> None:
        @app.shortcut("answer")
        async def answer(ack: Any, shortcut: Json, client: AsyncWebClient) -> None:
            await ack()
            submit = {"type": "plain_text", "text": "Save"}
            view = modal(entry("name", initial_value="ritbot"), entry("mode"), submit=submit, private_metadata="m")
            await client.views_open(trigger_id=shortcut["trigger_id"], view=view)

        @app.view("settings")
        async def save(ack: Any, view: Json) -> None:
            values = {
                name: value["value"] for block in view["state"]["values"].values() for name, value in block.items()
            }
            if values["mode"] == "wrong":
                await ack(response_action="errors", errors={view["blocks"][1]["block_id"]: "No such mode."})
                return
            sent.append({**values, "private_metadata": view["private_metadata"]})
            await ack()

    async with bolt(slack, listen):
        message = await ada.say(general, "How?")
        await ada.shortcut(message, "answer")
        await slack.until(lambda: slack.state.modals.get(ada.id))
        with pytest.raises(AssertionError, match="mode is required"):
            await ada.submit()
        await ada.submit(mode="wrong")
        assert list(ada.modal.payload["errors"].values()) == ["No such mode."]
        await ada.submit(mode="questions")
    assert sent == [{"name": "ritbot", "mode": "questions", "private_metadata": "m"}]
    assert slack.state.modals == {}


async def test_a_trigger_opens_one_modal_within_three_seconds(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    triggers: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.command("/ask")
        async def ask(ack: Any, command: Json) -> None:
            triggers.append(command["trigger_id"])
            await ack()

    client = web(slack)
    async with bolt(slack, listen):
        await ada.command(general, "/ask")
        await ada.command(general, "/ask")
    view = modal(section())
    assert await error(client.views_open(trigger_id="none", view=view)) == "invalid_trigger_id"
    assert await error(client.views_open(trigger_id=triggers[0], view={**view, "title": None})) == "invalid_arguments"
    await client.views_open(trigger_id=triggers[0], view=view)
    assert await error(client.views_open(trigger_id=triggers[0], view=view)) == "exchanged_trigger_id"
    assert await error(client.views_open(trigger_id=triggers[1], view=view)) == "push_limit_reached"
    await ada.dismiss()
    with pytest.raises(AssertionError, match="No modal is open"):
        _ = ada.modal


async def test_an_old_trigger_opens_nothing(slack: FakeSlack) -> None:
    triggers: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.command("/ask")
        async def ask(ack: Any, command: Json) -> None:
            triggers.append(command["trigger_id"])
            await ack()

    async with bolt(slack, listen):
        await slack.person("Ada").command(slack.channel("general"), "/ask")
    slack.clock.advance(4)
    assert await error(web(slack).views_open(trigger_id=triggers[0], view=modal(section()))) == "expired_trigger_id"


async def test_opening_the_app_offers_prompts(slack: FakeSlack) -> None:
    ada = slack.person("Ada")

    def listen(app: AsyncApp) -> None:
        @app.event("app_home_opened")
        async def opened(event: Json, set_suggested_prompts: Any) -> None:
            assert event["tab"] == "messages"
            await set_suggested_prompts(prompts=["How do I scale?"], title="Ask about")

    async with bolt(slack, listen):
        await ada.open_home()
        await slack.until(lambda: slack.state.prompts)
    prompts = slack.state.prompts[ada.direct().id, ""]
    assert prompts.prompts == [{"title": "How do I scale?", "message": "How do I scale?"}]


async def test_stop_ends_the_stream_and_tells_the_app(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    stopped: list[Json] = []

    def listen(app: AsyncApp) -> None:
        @app.event("agent_session_stopped")
        async def stop(event: Json) -> None:
            stopped.append(event)

    client = web(slack)
    async with bolt(slack, listen):
        direct = ada.direct()
        question = await ada.say(direct, "How?")
        thread = {"channel_id": direct.id, "thread_ts": question.ts}
        with pytest.raises(AssertionError, match="no Stop"):
            await ada.stop(direct, question.ts)
        await client.agents_sessions_setStatus(**thread, status="processing", title="How?")
        stream = await client.chat_startStream(channel=direct.id, thread_ts=question.ts, markdown_text="Set")
        await ada.stop(direct, question.ts)
        await slack.until(lambda: stopped)
        append = client.chat_appendStream(channel=direct.id, ts=stream["ts"], markdown_text=" it")
        assert await error(append) == "message_not_in_streaming_state"
    assert stopped[0]["streaming_message_ts"] == [stream["ts"]]
    assert slack.state.sessions[direct.id, question.ts] == "processing"


# --- the Web API


async def test_tokens_scopes_and_unknown_methods_are_answered_as_slack_does() -> None:
    async with FakeSlack(scopes={"chat:write"}) as slack:
        general = slack.channel("general")
        client = web(slack)
        answer = await client.auth_test()
        assert answer["user_id"] == slack.bot_user
        assert answer.headers["x-oauth-scopes"] == "chat:write"
        with pytest.raises(SlackApiError) as caught:
            await client.conversations_replies(channel=general.id, ts="1.2")
        assert caught.value.response["error"] == "missing_scope"
        assert (caught.value.response["needed"], caught.value.response["provided"]) == (
            "channels:history",
            "chat:write",
        )
        assert await error(client.api_call("chat.shout")) == "unknown_method"
        assert await error(client.auth_test(token="xoxb-wrong")) == "invalid_auth"
        assert await error(client.apps_connections_open(app_token="xapp-wrong")) == "invalid_auth"
        assert await error(client.apps_connections_open(app_token=slack.bot_token)) == "not_allowed_token_type"
        slack.uninstall()
        assert await error(client.auth_test()) == "token_revoked"


async def test_channels_that_the_bot_cannot_write_to_are_refused(slack: FakeSlack) -> None:
    client = web(slack)
    post = client.chat_postMessage
    assert await error(post(channel="C404", text="a")) == "channel_not_found"
    assert await error(post(channel=slack.channel("plain", with_bot=False).id, text="a")) == "not_in_channel"
    closed = slack.channel("closed", private=True, with_bot=False)
    assert await error(post(channel=closed.id, text="a")) == "channel_not_found"
    assert await error(post(channel=slack.channel("old", archived=True).id, text="a")) == "is_archived"
    general = slack.channel("general").id
    assert "thread_ts" not in (await post(channel=general, text="a", thread_ts="1.2"))["message"]
    assert await error(client.chat_update(channel=general, ts="1.2", text="a")) == "message_not_found"
    ada = slack.person("Ada")
    hers = await ada.say(slack.channel("general"), "Mine.")
    assert await error(client.chat_update(channel=general, ts=hers.ts, text="a")) == "cant_update_message"
    slack.channel("general").members.discard(ada.id)
    assert await error(client.chat_postEphemeral(channel=general, user=ada.id, text="a")) == "user_not_in_channel"


async def test_messages_are_posted_updated_and_read(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    client = web(slack)
    question = await ada.say(general, "How?")
    posted = await client.chat_postMessage(channel=general.id, thread_ts=question.ts, text="Yes.", blocks=[section()])
    await client.chat_postEphemeral(channel=general.id, user=ada.id, thread_ts=question.ts, text="Only you.")
    updated = await client.chat_update(channel=general.id, ts=posted["ts"], text="No.")
    assert updated["message"]["blocks"][0]["text"]["text"] == "Yes."
    await client.chat_update(channel=general.id, ts=posted["ts"], text="No.", blocks=[])
    answer = slack.thread(general, question)[1]
    assert (words(answer), answer.edits) == ("No.", 2)
    replies = await client.conversations_replies(channel=general.id, ts=question.ts)
    assert [one["text"] for one in replies["messages"]] == ["How?", "No."]
    assert replies["messages"][0]["reply_count"] == 2
    assert [one.only_for for one in slack.thread(general, question)] == ["", "", ada.id]


async def test_long_threads_are_read_page_by_page(slack: FakeSlack) -> None:
    general, ada = slack.channel("general"), slack.person("Ada")
    question = await ada.say(general, "0")
    for n in range(1, 5):
        await ada.say(general, str(n), thread=question)
    read: list[str] = []
    async for page in await web(slack).conversations_replies(channel=general.id, ts=question.ts, limit=2):
        read += [one["text"] for one in page["messages"]]
    assert read == ["0", "1", "2", "3", "4"]


async def test_who_and_where_is_told(slack: FakeSlack) -> None:
    gil, other = slack.person("Gil", guest="single"), slack.team("Other")
    shared = slack.channel("with-other", shared_with=[other])
    client = web(slack)
    assert (await client.users_info(user=gil.id))["user"]["is_ultra_restricted"] is True
    channel = (await client.conversations_info(channel=shared.id))["channel"]
    assert channel["is_ext_shared"] is True
    assert (await client.conversations_members(channel=shared.id))["members"] == sorted([gil.id, slack.bot_user])


async def test_a_refused_payload_says_where_it_is_wrong(slack: FakeSlack) -> None:
    general = slack.channel("general")
    with pytest.raises(SlackApiError) as caught:
        await web(slack).chat_postMessage(channel=general.id, text="a", blocks=[section("a" * 3001)])
    assert caught.value.response["error"] == "invalid_blocks"
    assert caught.value.response["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    ]
    assert slack.said_in(general) == []


async def test_a_stream_in_a_channel_needs_its_reader_and_the_readers_own_workspace(slack: FakeSlack) -> None:
    other = slack.team("Other")
    shared = slack.channel("with-other", shared_with=[other])
    olga = slack.person("Olga", team=other)
    question = await olga.say(shared, "How?")
    client = web(slack)
    where: Json = {"channel": shared.id, "thread_ts": question.ts}
    assert await error(client.chat_startStream(**where)) == "missing_recipient_team_id"
    where["recipient_team_id"] = slack.installation.team
    assert await error(client.chat_startStream(**where)) == "missing_recipient_user_id"
    where["recipient_user_id"] = olga.id
    assert await error(client.chat_startStream(**where)) == "team_not_found"
    assert (await client.chat_startStream(**{**where, "recipient_team_id": other.id}))["ok"]


async def test_an_expired_stream_is_updated_or_not_at_all(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    direct = ada.direct()
    question = await ada.say(direct, "How?")
    client = web(slack)
    stream = await client.chat_startStream(channel=direct.id, thread_ts=question.ts, markdown_text="Set")
    here: Json = {"channel": direct.id, "ts": stream["ts"]}
    assert await error(client.chat_update(**here, text="No.")) == "streaming_state_conflict"
    slack.clock.advance(301)
    assert await error(client.chat_appendStream(**here, markdown_text=" it")) == "message_not_in_streaming_state"
    assert await error(client.chat_stopStream(**here)) == "message_not_in_streaming_state"
    assert slack.thread(direct, question)[1].text == "Set"
    await client.chat_update(**here, text="Set it.", blocks=[section("Set it.")])
    assert words(slack.thread(direct, question)[1]) == "Set it."


async def test_streams_can_be_made_to_expire(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    question = await ada.say(ada.direct(), "How?")
    await web(slack).chat_startStream(channel=ada.direct().id, thread_ts=question.ts, markdown_text="Set")
    slack.expire_streams()
    answer = slack.thread(ada.direct(), question)[1]
    assert answer.stream is not None
    assert (answer.streaming, answer.stream.ended) == (False, "slack")


async def test_a_status_is_cleared_by_a_post_and_after_two_minutes(slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    direct = ada.direct()
    question = await ada.say(direct, "How?")
    client = web(slack)
    for end in ("post", "stream", "time", "empty"):
        await client.assistant_threads_setStatus(channel_id=direct.id, thread_ts=question.ts, status="is reading")
        assert slack.status(direct, question) is not None
        if end == "post":
            await client.chat_postMessage(channel=direct.id, thread_ts=question.ts, text="Yes.")
        elif end == "stream":
            await client.chat_startStream(channel=direct.id, thread_ts=question.ts)
        elif end == "time":
            slack.clock.advance(121)
        else:
            await client.assistant_threads_setStatus(channel_id=direct.id, thread_ts=question.ts, status="")
        assert slack.status(direct, question) is None


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk's own use of aiohttp
async def test_a_workspace_is_installed_by_a_code(slack: FakeSlack) -> None:
    other = slack.team("Other")
    code = slack.oauth_code(other)
    client = AsyncWebClient(base_url=slack.base_url)
    secrets = {"client_id": slack.client_id, "client_secret": slack.client_secret}
    wrong = client.oauth_v2_access(client_id=slack.client_id, client_secret="no", code=code)
    assert await error(wrong) == "bad_client_secret"
    granted = await client.oauth_v2_access(**secrets, code=code)
    assert granted["team"]["id"] == other.id
    assert (await client.auth_test(token=granted["access_token"]))["team_id"] == other.id
    assert await error(client.oauth_v2_access(**secrets, code=code)) == "invalid_code"


@pytest.mark.parametrize(
    ("asked", "granted", "refusal"),
    [
        ({}, {}, ""),
        ({"client_id": "9.9"}, {}, "invalid_client_id"),
        ({"response_type": "token"}, {}, "invalid_response_type"),
        ({"scope": "profile"}, {}, "invalid_scope"),
        ({"scope": "openid users:read"}, {}, "invalid_scope"),
        ({"redirect_uri": "https://evil.example/web/signed-in"}, {}, "bad_redirect_uri"),
        ({"code_challenge": "x"}, {}, "PKCE"),
        ({}, {"code": "x"}, "invalid_code"),
        ({}, {"redirect_uri": "https://kb.example.test/other"}, "bad_redirect_uri"),
        ({}, {"client_secret": "no"}, "bad_client_secret"),
        ({}, {"grant_type": "password"}, "invalid_grant_type"),
    ],
)
async def test_signing_in_is_as_strict_as_slack(
    slack: FakeSlack, asked: dict[str, str], granted: dict[str, str], refusal: str
) -> None:
    slack.sign_in.redirect_urls = {"https://kb.example.test/web/signed-in"}
    slack.sign_in.browser = slack.person("Ada").user
    back = {"redirect_uri": "https://kb.example.test/web/signed-in"}
    request = {"response_type": "code", "scope": "openid", "client_id": slack.client_id, "nonce": "n", **back, **asked}
    async with ClientSession() as browser:
        async with browser.get(f"{slack.url}/openid/connect/authorize", params=request, allow_redirects=False) as page:
            if page.status != 302:
                assert refusal
                assert refusal in await page.text()
                return
            code = parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]
        wanted = {"client_id": slack.client_id, "client_secret": slack.client_secret, "code": code, **back, **granted}
        for expected in (refusal, "invalid_code" if refusal in ("", "bad_redirect_uri") else refusal):
            async with browser.post(f"{slack.base_url}openid.connect.token", data=wanted) as answer:
                assert (await answer.json()).get("error", "") == expected


# --- what goes wrong on demand


async def test_the_next_calls_of_a_method_fail_as_told(slack: FakeSlack) -> None:
    general = slack.channel("general")
    client = web(slack)
    slack.faults.next("chat.postMessage", Fault(error="invalid_blocks", messages=("[ERROR] no",)), times=2)
    slack.faults.next("chat.postMessage", SERVER_ERROR)
    for _ in range(2):
        assert await error(client.chat_postMessage(channel=general.id, text="a")) == "invalid_blocks"
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=general.id, text="a")
    assert caught.value.response.status_code == 500
    await client.chat_postMessage(channel=general.id, text="a")
    assert [(call.status, call.ok) for call in slack.calls("chat.postMessage")] == [
        (200, False),
        (200, False),
        (500, False),
        (200, True),
    ]


async def test_a_429_is_waited_out_by_the_sdks_own_handler(slack: FakeSlack) -> None:
    general = slack.channel("general")
    client = web(slack)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    slack.faults.next("chat.postMessage", RATE_LIMITED)
    await client.chat_postMessage(channel=general.id, text="a")
    assert [call.status for call in slack.calls("chat.postMessage")] == [429, 200]


async def test_a_call_can_be_done_and_yet_its_answer_lost(slack: FakeSlack) -> None:
    general = slack.channel("general")
    client = AsyncWebClient(slack.bot_token, base_url=slack.base_url, timeout=1, retry_handlers=[])
    slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))
    with pytest.raises(Exception, match=r"disconnected|reset"):
        await client.chat_postMessage(channel=general.id, text="a")
    slack.faults.next("chat.postMessage", Fault(applies=True, delay=1.5))
    with pytest.raises(asyncio.TimeoutError):
        await client.chat_postMessage(channel=general.id, text="b")
    slack.faults.next("chat.postMessage", Fault(drops=True))
    with pytest.raises(Exception, match=r"disconnected|reset"):
        await client.chat_postMessage(channel=general.id, text="c")
    assert [message.text for message in slack.said_in(general)] == ["a", "b"]
    assert [call.ok for call in slack.calls("chat.postMessage")] == [True, True, False]


async def test_too_many_posts_to_a_channel_are_refused_until_the_clock_moves() -> None:
    async with FakeSlack() as slack:
        general = slack.channel("general")
        client = web(slack)
        for _ in range(4):
            await client.chat_postMessage(channel=general.id, text="a")
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=general.id, text="a")
        assert caught.value.response["error"] == "ratelimited"
        assert caught.value.response.status_code == 429
        slack.clock.advance(int(caught.value.response.headers["Retry-After"]))
        await client.chat_postMessage(channel=general.id, text="a")
