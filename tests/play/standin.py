"""A scripted bot in ritbot's place: it answers every question alike, with everything that Slack can show.

    python -m tests.play.standin        # then open http://127.0.0.1:8484/

The page and its tests need no index and no model with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack.state import Json
from tests.play.page import Play

PORT = 8484
SHORTCUTS = {"answer_from_docs": "Answer from docs"}
ANSWER = """\
Set `replicas` in the deployment and apply it [1]. **Autoscaling** does the same by load [2].

```yaml
spec:
  replicas: 3   # a < b & c
```

| Way | Reacts in | Section |
|---|---:|---|
| By hand | at once | Scaling |
| Autoscaling | 15 s | Autoscaling |

- New pods start before old ones stop.
- Nothing is lost while they do.
"""
SOURCES = """\
*1* <https://docs.example.com/scaling.html#replicas|Scaling › Replicas> · checked 2 hours ago
*2* <https://docs.example.com/scaling.html#autoscaling|Scaling › Autoscaling> · checked 2 hours ago"""


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def button(text: str, action: str) -> Json:
    return {"type": "button", "action_id": action, "text": plain(text), "value": action}


FEEDBACK: Json = {
    "type": "feedback_buttons",
    "action_id": "feedback",
    "positive_button": {"text": plain("Helpful"), "value": "good"},
    "negative_button": {"text": plain("Not helpful"), "value": "bad"},
}
BELOW: list[Json] = [
    {"type": "divider"},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": SOURCES}]},
    {"type": "actions", "elements": [button("How I found this", "trace"), button("Ask a person", "person")]},
    {"type": "context_actions", "elements": [FEEDBACK]},
]


SURE: Json = {
    "title": plain("Ask a person"),
    "text": plain("Everyone will see it."),
    "confirm": plain("Go on"),
    "deny": plain("Cancel"),
}
BELOW_ALONE: list[Json] = [{"type": "actions", "elements": [{**button("Ask a person", "person"), "confirm": SURE}]}]
"""Of an answer that one person alone sees."""


def option(text: str) -> Json:
    return {"text": plain(text), "value": text.lower()}


REASON: Json = {
    "type": "modal",
    "callback_id": "reason",
    "title": plain("What was wrong?"),
    "submit": plain("Send"),
    "blocks": [
        {
            "type": "input",
            "block_id": "kind",
            "label": plain("Kind"),
            "element": {
                "type": "radio_buttons",
                "action_id": "kind",
                "options": [option("Wrong"), option("Outdated"), option("Unclear")],
            },
        },
        {
            "type": "input",
            "block_id": "why",
            "label": plain("What should it have said?"),
            "hint": plain("At least ten characters."),
            "element": {"type": "plain_text_input", "action_id": "why", "multiline": True},
        },
    ],
}
WAY: Json = {
    "type": "modal",
    "callback_id": "way",
    "title": plain("How I found this"),
    "close": plain("Close"),
    "blocks": [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "*1. GetToC* `scale replicas`\n> 12 sections on 3 pages"},
        },
        {"type": "section", "text": {"type": "mrkdwn", "text": "*2. Read* Scaling › Replicas, Scaling › Autoscaling"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "2 calls, 1,240 tokens, 1.9 s"}]},
    ],
}


def app(client: AsyncWebClient, pause: float) -> AsyncApp:
    """`pause`: seconds between two steps of an answer."""
    bot = AsyncApp(client=client)
    seen: set[str] = set()

    async def answer(channel: str, ts: str, root: str, user: str, team: str) -> None:
        if ts in seen:
            return
        seen.add(ts)
        await client.agents_sessions_setStatus(channel_id=channel, thread_ts=root, status="processing")
        loading = ["Looking through 12 sections …", "Reading Scaling › Autoscaling"]
        await client.assistant_threads_setStatus(
            channel_id=channel, thread_ts=root, status="is reading", loading_messages=loading
        )
        await asyncio.sleep(4 * pause)
        stream = await client.chat_stream(
            channel=channel,
            thread_ts=root,
            recipient_user_id=user,
            recipient_team_id=team,
            buffer_size=1,
            task_display_mode="plan",
        )
        with suppress(SlackApiError):  # someone pressed Stop
            await stream.append(
                chunks=[{"type": "plan_update", "title": "Read 2 of 12 sections"}, _task("in_progress")]
            )
            for line in ANSWER.splitlines(keepends=True):
                await asyncio.sleep(pause)
                await stream.append(markdown_text=line)
            await stream.stop(chunks=[_task("complete")], blocks=BELOW, session_status="active")

    @bot.event("app_mention")
    async def mentioned(event: Json, body: Json) -> None:
        root = event.get("thread_ts") or event["ts"]
        await answer(event["channel"], event["ts"], root, event["user"], event.get("user_team") or body["team_id"])

    @bot.event("message")
    async def said(event: Json, body: Json) -> None:
        if event.get("channel_type") == "im" and not event.get("bot_id") and not event.get("subtype"):
            root = event.get("thread_ts") or event["ts"]
            await answer(event["channel"], event["ts"], root, event["user"], body["team_id"])

    @bot.event("app_home_opened")
    async def opened(set_suggested_prompts: Any) -> None:
        if set_suggested_prompts:
            await set_suggested_prompts(prompts=["How do I scale?", "What changed in v2?"], title="Ask about")

    @bot.event("agent_session_stopped")
    async def stopped(event: Json) -> None:
        where = {"channel_id": event["channel"], "thread_ts": event["thread_ts"]}
        await client.agents_sessions_setStatus(**where, status="active")
        await client.assistant_threads_setStatus(**where, status="")

    _interactions(bot)
    return bot


def _task(status: str) -> Json:
    source = {"type": "url", "url": "https://docs.example.com/scaling.html#replicas", "text": "Scaling › Replicas"}
    return {"type": "task_update", "id": "1", "title": "Read Scaling", "status": status, "sources": [source]}


def _interactions(bot: AsyncApp) -> None:
    @bot.action("feedback")
    async def feedback(ack: Any, action: Json, body: Json, client: AsyncWebClient) -> None:
        await ack()
        if action["value"] == "bad":
            await client.views_open(trigger_id=body["trigger_id"], view=REASON)

    @bot.view("reason")
    async def reason(ack: Any, view: Json) -> None:
        why = view["state"]["values"]["why"]["why"]["value"]
        if len(why) < 10:
            await ack(response_action="errors", errors={"why": "Please say a little more."})
        else:
            await ack()

    @bot.action("trace")
    async def way(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=WAY)

    @bot.action("person")
    async def person(ack: Any, respond: Any) -> None:
        await ack()
        await respond(text="A person was asked.", replace_original=False)

    @bot.command("/ask")
    async def ask(ack: Any, respond: Any, command: Json) -> None:
        await ack()
        blocks = [{"type": "markdown", "text": ANSWER}, *BELOW_ALONE]
        await respond(text=f"About {command['text']}: set `replicas`.", blocks=blocks)

    @bot.shortcut("answer_from_docs")
    async def shortcut(ack: Any, respond: Any) -> None:
        await ack()
        await respond(text="Set `replicas`.", blocks=[{"type": "markdown", "text": ANSWER}, *BELOW])


@asynccontextmanager
async def playing(*, port: int = 0, pause: float = 0.4, **how: Any) -> AsyncIterator[Play]:
    async with Play(port=port, shortcuts=SHORTCUTS, **how) as slack:
        bot = app(AsyncWebClient(slack.bot_token, base_url=slack.base_url), pause)
        handler = AsyncSocketModeHandler(bot, slack.app_token)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        try:
            yield slack
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]


async def main() -> None:
    async with playing(port=PORT) as slack:
        print(f"Open {slack.url}/ and ask. Ctrl+C ends it.")  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
