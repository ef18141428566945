"""Messages that are written while people read: chat.startStream, appendStream, stopStream.

A stream is open until it is stopped, a person presses Stop, or its life is over (about five minutes, undocumented:
slackapi/python-slack-sdk#1859); then the message stays as it is and every further call answers
message_not_in_streaming_state.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.slack import limits
from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.chat import with_ids
from tests.fakes.slack.state import Json, Message, State, Stream

LIFE = 300.0
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
    _write(call, message)
    call.state.put(message)
    call.state.clear_status(channel.id, message.root)
    call.events.posted(message)
    return {"channel": channel.id, "ts": message.ts}


def append(call: Call) -> Json:
    message = _open(call)
    call.obey(limits.first(limits.APPEND, call.arguments))
    _write(call, message)
    call.state.changed()
    return {"channel": message.channel, "ts": message.ts}


def stop(call: Call) -> Json:
    message = _open(call)
    call.obey(limits.first(limits.STOP, call.arguments))
    if status := call.get("session_status"):
        call.obey(limits.unknown_session_status({"status": status}))
        call.state.sessions[message.channel, message.root] = str(status)
    before = call.events.message(message)
    _write(call, message)
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


def _write(call: Call, message: Message) -> None:
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


METHODS: Mapping[str, Method] = {
    "chat.startStream": Method(start, ("chat:write",)),
    "chat.appendStream": Method(append, ("chat:write",)),
    "chat.stopStream": Method(stop, ("chat:write",)),
}
