"""chat.* and posts to a response_url: messages that are posted, replaced, or written while people read.

A stream is open until it is stopped, a person presses Stop, or its life is over (about five minutes, undocumented:
slackapi/python-slack-sdk#1859); then the message stays as it is and every further call answers
message_not_in_streaming_state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.slack import limits
from tests.fakes.slack.methods import Call, Method, Refused, with_ids
from tests.fakes.slack.state import Channel, Json, Message, ResponseUrl, State, Stream


def post_message(call: Call) -> Json:
    channel = call.writable()
    call.obey(limits.first(limits.POST, call.arguments))
    message = call.state.put(_message(call, channel))
    call.state.clear_status(channel.id, message.root)
    call.events.posted(message)
    return {"channel": channel.id, "ts": message.ts, "message": call.events.message(message)}


def post_ephemeral(call: Call) -> Json:
    channel = call.writable()
    if call["user"] not in channel.members:
        raise Refused("user_not_in_channel")
    call.obey(limits.first(limits.POST, call.arguments))
    message = _message(call, channel)
    message.only_for = call["user"]
    call.state.put(message)
    return {"message_ts": message.ts}


def update(call: Call) -> Json:
    """`blocks` that are not given are kept, as the documentation says; a text alone is shown only without blocks."""
    channel = call.writable()
    message = call.own_message(channel, "cant_update_message")
    if message.streaming:
        raise Refused("streaming_state_conflict")
    call.obey(limits.first(limits.UPDATE, call.arguments))
    before = call.events.message(message)
    if message.stream is not None:
        message.blocks, message.stream = [], None
    message.text = _text(call.arguments) or message.text
    message.blocks = with_ids(call.state, _blocks(call.arguments)) if _given(call.arguments) else message.blocks
    message.arguments |= {name: call.arguments[name] for name in ("metadata",) if name in call.arguments}
    message.edits += 1
    message.edited_at = call.state.timestamp()
    call.state.clear_status(channel.id, message.root)
    call.state.changed()
    call.events.edited(message, before)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": call.events.message(message)}


def respond(state: State, url: ResponseUrl, body: Json) -> tuple[str, Message | None]:
    """A post to a response_url: an error, "" if there is none; and the message that is there now.

    Without response_type it is ephemeral, as is every answer to a command. replace_original and delete_original act on
    the message whose button was pressed (docs.slack.dev, "Modifying messages"): what a command was acknowledged with is
    neither replaced nor deleted (slackapi/bolt-js#2287, slackapi/bolt-python#1268), and someone else's message never."""
    if state.clock.now() > url.until:
        return "expired_url", None
    if not url.left:
        return "used_url", None
    url.left -= 1
    original = state.messages.get(url.message) if url.message else None
    if original is not None and original.user != url.installation.bot_user:
        original = None
    if body.get("delete_original"):
        if original is not None:
            state.remove(original)
        return "", None
    if refusal := limits.first(limits.RESPONSE, body):
        return refusal.error, None
    if body.get("replace_original") and original is not None:
        original.text, original.blocks = _text(body), with_ids(state, _blocks(body))
        original.edits += 1
        original.edited_at = state.timestamp()
        state.changed()
        return "", original
    public = body.get("response_type") == "in_channel"
    message = Message(
        channel=url.channel,
        ts=state.timestamp(),
        user=url.installation.bot_user,
        team=url.installation.team,
        bot_id=url.installation.bot_id,
        text=_text(body),
        blocks=with_ids(state, _blocks(body)),
        thread_ts=str(body.get("thread_ts") or url.thread_ts),
        only_for="" if public else url.user,
        arguments=body,
    )
    return "", state.put(message)


def delete(call: Call) -> Json:
    channel = call.writable()
    message = call.own_message(channel, "cant_delete_message")
    call.events.removed(message)
    return {"channel": channel.id, "ts": message.ts}


def _message(call: Call, channel: Channel) -> Message:
    """A reply to what was deleted stands in the channel itself, and is not refused (langchain-ai/open-swe#2753,
    measure-sh/measure#3997), unless other replies keep the thread."""
    thread = str(call.get("thread_ts", ""))
    root = call.state.messages.get((channel.id, thread)) or next(iter(call.state.thread(channel.id, thread)), None)
    return Message(
        channel=channel.id,
        ts=call.state.timestamp(),
        user=call.by.bot_user,
        team=call.by.team,
        bot_id=call.by.bot_id,
        text=_text(call.arguments),
        blocks=with_ids(call.state, _blocks(call.arguments)),
        thread_ts=root.root if root else "",
        arguments=dict(call.arguments),
    )


def _text(arguments: Mapping[str, Any]) -> str:
    return str(arguments.get("text") or arguments.get("markdown_text") or "")


def _given(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("blocks") is not None or bool(arguments.get("markdown_text"))


def _blocks(arguments: Mapping[str, Any]) -> list[Json]:
    if arguments.get("markdown_text"):
        return [{"type": "markdown", "text": arguments["markdown_text"]}]
    return list(arguments.get("blocks") or [])


# --- streams

STREAM_LIFE = 300.0
"""Seconds."""


def start(call: Call) -> Json:
    channel = call.writable()
    root = call.state.messages.get((channel.id, call["thread_ts"]))
    if root is None:
        raise Refused("thread_not_found")
    if channel.kind != "direct":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not call.get(name):
                raise Refused(f"missing_{name}")
        _recipient(call)
    call.obey(limits.first(limits.START, call.arguments))
    message = Message(
        channel=channel.id,
        ts=call.state.timestamp(),
        user=call.by.bot_user,
        team=call.by.team,
        bot_id=call.by.bot_id,
        text="",
        thread_ts=root.root,
        stream=Stream(call.state.clock.now(), str(call.get("task_display_mode", "timeline"))),
        arguments=dict(call.arguments),
    )
    _add(call, message)
    call.state.put(message)
    call.state.clear_status(channel.id, message.root)
    call.events.posted(message)
    return {"channel": channel.id, "ts": message.ts}


def append(call: Call) -> Json:
    message = _open(call)
    call.obey(limits.first(limits.APPEND, call.arguments))
    _add(call, message)
    call.state.changed()
    return {"channel": message.channel, "ts": message.ts}


def stop(call: Call) -> Json:
    message = _open(call)
    call.obey(limits.first(limits.STOP, call.arguments))
    if status := call.get("session_status"):
        call.obey(limits.unknown_session_status({"status": status}))
        call.state.sessions[message.channel, message.root] = str(status)
    before = call.events.message(message)
    _add(call, message)
    assert message.stream is not None
    message.stream.blocks += with_ids(call.state, list(call.get("blocks", [])))
    message.stream.ended = "app"
    message.arguments |= {name: call.arguments[name] for name in ("metadata",) if name in call.arguments}
    message.text, message.blocks = message.stream.markdown, _shown(call.state, message.stream)
    call.state.clear_status(message.channel, message.root)
    call.state.changed()
    call.events.edited(message, before)
    return {"channel": message.channel, "ts": message.ts, "message": call.events.message(message)}


def expire(state: State, message: Message, by: str = "slack") -> None:
    """The stream ends where it stands."""
    if message.stream is not None and not message.stream.ended:
        message.stream.ended = "person" if by == "person" else "slack"
        message.text, message.blocks = message.stream.markdown, _shown(state, message.stream)
        state.changed()


def expire_old(state: State, life: float) -> None:
    for message in list(state.messages.values()):
        if message.stream is not None and state.clock.now() - message.stream.begun > life:
            expire(state, message)


def _open(call: Call) -> Message:
    channel = call.writable()
    message = call.own_message(channel, "message_not_owned_by_app")
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _recipient(call: Call) -> None:
    user = call.state.users.get(call["recipient_user_id"])
    if user is None:
        raise Refused("user_not_found")
    if user.team != call["recipient_team_id"]:
        raise Refused("team_not_found")


def _add(call: Call, message: Message) -> None:
    stream = message.stream
    assert stream is not None
    stream.markdown += limits.streamed(call.arguments)
    for chunk in call.get("chunks", []):
        if chunk["type"] == "task_update":
            stream.tasks[chunk["id"]] = {**stream.tasks.get(chunk["id"], {}), **chunk}
        elif chunk["type"] == "plan_update":
            stream.plan = chunk["title"]
        elif chunk["type"] == "blocks":
            stream.blocks += with_ids(call.state, chunk["blocks"])
    message.text, message.blocks = stream.markdown, _shown(call.state, stream)


def _shown(state: State, stream: Stream) -> list[Json]:
    """The stream as blocks: tasks, then what was written, then blocks that came with it."""
    cards = [_card(task) for task in stream.tasks.values()]
    if cards and stream.mode == "plan":
        cards = [{"type": "plan", "title": stream.plan or "Plan", "tasks": cards}]
    written = [{"type": "markdown", "text": stream.markdown}] if stream.markdown else []
    return with_ids(state, [*cards, *written]) + stream.blocks


def _card(task: Json) -> Json:
    card = {"type": "task_card", "task_id": task["id"], "title": task["title"], "status": task["status"]}
    for name in ("details", "output"):
        if task.get(name):
            text = {"type": "text", "text": task[name]}
            card[name] = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [text]}]}
    if task.get("sources"):
        card["sources"] = task["sources"]
    return card


def unfurl(call: Call) -> Json:
    """Blocks under links of a message that somebody posted, in a channel that the app need not be in. Sent again, they take
    the place of those before (docs.slack.dev, "chat.unfurl")."""
    unfurls = call.arguments.get("unfurls")
    if not isinstance(unfurls, dict) or not unfurls:
        raise Refused("missing_unfurls")
    if call["channel"] not in call.state.channels:
        raise Refused("cannot_find_channel")
    message = call.state.messages.get((call["channel"], call["ts"]))
    if message is None:
        raise Refused("cannot_find_message")
    for url, shown in unfurls.items():
        if url not in message.text or urlsplit(url).hostname not in call.state.unfurl_domains:
            raise Refused("cannot_unfurl_url")
        call.obey(limits.first(limits.BLOCK_RULES, shown))
    message.unfurls.update(unfurls)
    call.state.changed()
    return {}


METHODS: Mapping[str, Method] = {
    "chat.unfurl": Method(unfurl, ("links:write",)),
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.startStream": Method(start, ("chat:write",)),
    "chat.appendStream": Method(append, ("chat:write",)),
    "chat.stopStream": Method(stop, ("chat:write",)),
}
