"""chat.* but for streams: posting, updating, deleting, and posts to a response_url."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.slack import limits
from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.state import Channel, Json, Message, ResponseUrl, State


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


def delete(call: Call) -> Json:
    channel = call.writable()
    message = call.own_message(channel, "cant_delete_message")
    call.state.remove(message)
    call.events.deleted(message)
    return {"channel": channel.id, "ts": message.ts}


def permalink(call: Call) -> Json:
    channel = call.channel(member=False)
    if (channel.id, call["message_ts"]) not in call.state.messages:
        raise Refused("message_not_found")
    return {
        "channel": channel.id,
        "permalink": f"{call.links}/archives/{channel.id}/p{call['message_ts'].replace('.', '')}",
    }


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


def with_ids(state: State, blocks: list[Json]) -> list[Json]:
    """Slack names blocks that have no id."""
    return [{**block, "block_id": block.get("block_id") or f"b{state.number()}"} for block in blocks]


def _message(call: Call, channel: Channel) -> Message:
    thread = str(call.get("thread_ts", ""))
    root = call.state.messages.get((channel.id, thread))
    if thread and root is None:
        raise Refused("thread_not_found")
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


METHODS: Mapping[str, Method] = {
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.getPermalink": Method(permalink),
}
