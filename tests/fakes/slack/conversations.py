"""conversations.*: who is in a channel, what was said there, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tests.fakes.slack.call import Call, Method, Refused
from tests.fakes.slack.state import Channel, Json, Message

PAGE = 100
SCOPES = {"public": "channels", "private": "groups", "direct": "im"}
T = TypeVar("T")


def info(call: Call) -> Json:
    channel = _readable(call, "read")
    shown: Json = {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_im": channel.kind == "direct",
        "is_private": channel.kind != "public",
        "is_archived": channel.archived,
        "is_shared": bool(channel.shared_with),
        "is_ext_shared": bool(channel.shared_with),
        "context_team_id": channel.team,
        "creator": channel.creator,
    }
    if channel.kind != "direct":
        shown["is_member"] = call.by.bot_user in channel.members
    else:
        shown["user"] = next(user for user in channel.members if user != call.by.bot_user)
    if call.get("include_num_members"):
        shown["num_members"] = len(channel.members)
    return {"channel": shown}


def members(call: Call) -> Json:
    channel = _readable(call, "read")
    page, more = _page(call, sorted(channel.members))
    return {"members": page, **more}


def history(call: Call) -> Json:
    """Newest first; replies are not among them."""
    channel = _readable(call, "history")
    roots = [one for one in call.state.in_channel(channel.id) if not one.only_for and one.root == one.ts]
    page, more = _page(call, _between(call, roots)[::-1])
    return {"messages": [_shown(call, message) for message in page], "has_more": bool(more), **more}


def replies(call: Call) -> Json:
    """Oldest first, the root before all."""
    channel = _readable(call, "history")
    asked = call.state.messages.get((channel.id, call["ts"]))
    if asked is None:
        raise Refused("thread_not_found")
    thread = [one for one in call.state.thread(channel.id, asked.root) if not one.only_for]
    page, more = _page(call, _between(call, thread))
    return {"messages": [_shown(call, message) for message in page], "has_more": bool(more), **more}


def open_direct(call: Call) -> Json:
    user = call["users"]
    if user not in call.state.users:
        raise Refused("user_not_found")
    channel = call.state.direct(user, call.by.bot_user)
    return {"channel": {"id": channel.id}}


def _readable(call: Call, what: str) -> Channel:
    known = call.state.channels.get(call["channel"])
    call.needs(f"{SCOPES[known.kind] if known else 'channels'}:{what}")
    return call.channel(member=what == "history")


def _shown(call: Call, message: Message) -> Json:
    shown = call.events.message(message)
    thread = call.state.thread(message.channel, message.ts)
    if message.root == message.ts and len(thread) > 1:
        shown |= {"thread_ts": message.ts, "reply_count": len(thread) - 1, "latest_reply": thread[-1].ts}
    if _flag(call, "include_all_metadata") and message.arguments.get("metadata"):
        shown["metadata"] = message.arguments["metadata"]
    return {name: value for name, value in shown.items() if name not in ("channel", "channel_type", "event_ts")}


def _between(call: Call, messages: Sequence[Message]) -> list[Message]:
    oldest, latest = str(call.get("oldest", "0")), str(call.get("latest", "9"))
    inclusive: Callable[[str], bool] = lambda ts: bool(_flag(call, "inclusive")) and ts in (oldest, latest)  # noqa: E731
    return [one for one in messages if oldest < one.ts < latest or inclusive(one.ts)]


def _flag(call: Call, name: str) -> bool:
    return str(call.get(name, "")).lower() in ("1", "true")


def _page(call: Call, items: Sequence[T]) -> tuple[list[T], Json]:
    start = int(call.get("cursor") or 0)
    end = start + int(call.get("limit") or PAGE)
    more = {"response_metadata": {"next_cursor": str(end)}} if end < len(items) else {}
    return list(items[start:end]), more


METHODS: Mapping[str, Method] = {
    "conversations.info": Method(info),
    "conversations.members": Method(members),
    "conversations.history": Method(history),
    "conversations.replies": Method(replies),
    "conversations.open": Method(open_direct, ("im:write",)),
}
