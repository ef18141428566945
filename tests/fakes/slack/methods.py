"""A call of a Web API method, and the methods but for those that write messages: who is who, who is in a channel and what
was said there, status lines and prompts, modals.

Source: docs.slack.dev, their reference pages. A session that is "processing" shows Stop; pressing it sends
agent_session_stopped, and the status stays until the app sets another. A trigger opens one modal, within three seconds,
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.fakes.slack import limits
from tests.fakes.slack.events import Events
from tests.fakes.slack.limits import Refusal
from tests.fakes.slack.state import Channel, Installation, Json, Message, Prompts, State, Status, Trigger, View


class Refused(Exception):
    """{"ok": false, "error": …}."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.body: Json = {"ok": False, "error": error, **more}


@dataclass
class Call:
    """`by`: the installation whose token it carries."""

    method: str
    arguments: Json
    by: Installation
    state: State
    events: Events

    def __getitem__(self, name: str) -> str:
        """A required argument."""
        value = self.arguments.get(name)
        if value in (None, ""):
            raise Refused(
                "invalid_arguments", response_metadata={"messages": [f"[ERROR] missing required field: {name}"]}
            )
        return str(value)

    def get(self, name: str, default: Any = None) -> Any:
        value = self.arguments.get(name)
        return default if value is None else value

    def obey(self, refusal: Refusal | None) -> None:
        if refusal:
            metadata = {"response_metadata": {"messages": list(refusal.messages)}} if refusal.messages else {}
            raise Refused(refusal.error, **metadata)

    def channel(self, name: str = "channel", *, member: bool = True) -> Channel:
        """The channel named by an argument; a person's id stands for the conversation with that person."""
        wanted = self[name]
        if wanted in self.state.users and not self.state.users[wanted].bot_id:
            return self.state.direct(wanted, self.by.bot_user)
        channel = self.state.channels.get(wanted)
        inside = channel is not None and self.by.bot_user in channel.members
        if channel is None or (channel.kind != "public" and not inside):
            raise Refused("channel_not_found")
        if member and not inside:
            raise Refused("not_in_channel")
        return channel

    def writable(self, name: str = "channel") -> Channel:
        channel = self.channel(name)
        if channel.archived:
            raise Refused("is_archived")
        return channel

    def own_message(self, channel: Channel, not_mine: str) -> Message:
        message = self.state.messages.get((channel.id, self["ts"]))
        if message is None or message.only_for:
            raise Refused("message_not_found")
        if message.user != self.by.bot_user:
            raise Refused(not_mine)
        return message

    def needs(self, *scopes: str) -> None:
        """Any one of these."""
        if not self.by.scopes.intersection(scopes):
            raise Refused("missing_scope", needed=scopes[0], provided=",".join(sorted(self.by.scopes)))


@dataclass(frozen=True)
class Method:
    """`scopes`: any one of them will do; none: any token."""

    run: Callable[[Call], Json]
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recorded:
    """A call as it came and as it was answered. `status` 0: it was cut off, and not done."""

    method: str
    arguments: Mapping[str, Any]
    at: float
    status: int
    answer: Json = field(default_factory=dict)
    team: str = ""

    @property
    def ok(self) -> bool:
        return bool(self.answer.get("ok"))

    @property
    def error(self) -> str:
        return str(self.answer.get("error", ""))


# --- who is who


def auth_test(call: Call) -> Json:
    team = call.state.teams[call.by.team]
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": call.state.users[call.by.bot_user].handle,
        "team_id": team.id,
        "user_id": call.by.bot_user,
        "bot_id": call.by.bot_id,
        "is_enterprise_install": call.by.organisation,
        **({"enterprise_id": team.enterprise} if team.enterprise else {}),
    }


def user_info(call: Call) -> Json:
    """`is_stranger`: of another workspace, and in no channel that the app sees (docs.slack.dev, "User object")."""
    user = call.state.users.get(call["user"])
    if user is None:
        raise Refused("user_not_found")
    enterprise = call.state.teams[user.team].enterprise
    colleague = user.team == call.by.team or (enterprise and enterprise == call.state.teams[call.by.team].enterprise)
    seen = any({user.id, call.by.bot_user} <= channel.members for channel in call.state.channels.values())
    return {
        "user": {
            "id": user.id,
            "team_id": user.team,
            "name": user.handle,
            "real_name": user.name,
            "is_bot": bool(user.bot_id),
            "deleted": user.deleted,
            "is_admin": user.admin,
            "is_owner": user.admin,
            "is_restricted": bool(user.guest),
            "is_ultra_restricted": user.guest == "single",
            "is_stranger": not colleague and not seen,
            **({"enterprise_user": {"enterprise_id": enterprise, "id": user.id}} if enterprise else {}),
            "profile": {"real_name": user.name, "display_name": user.name, "team": user.team},
        }
    }


def exchange(state: State, app_id: str, code: str) -> Json:
    """oauth.v2.access. From then on the token is good."""
    installation: Installation | None = state.codes.pop(code, None)
    if installation is None:
        return {"ok": False, "error": "invalid_code"}
    installation.revoked = False
    state.installations[installation.team] = installation
    team = state.teams[installation.team]
    return {
        "ok": True,
        "access_token": installation.token,
        "token_type": "bot",
        "scope": ",".join(sorted(installation.scopes)),
        "bot_user_id": installation.bot_user,
        "app_id": app_id,
        "team": None if installation.organisation else {"id": team.id, "name": team.name},
        "enterprise": {"id": team.enterprise, "name": "The organisation"} if team.enterprise else None,
        "is_enterprise_install": installation.organisation,
        "authed_user": {"id": "U0INSTALLER"},
    }


# --- channels

PAGE = 100
SCOPE = {"public": "channels", "private": "groups", "direct": "im"}
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
        "is_ext_shared": call.state.is_external(channel),
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


def replies(call: Call) -> Json:
    """Oldest first, the root before all."""
    channel = _readable(call, "history")
    asked = call.state.messages.get((channel.id, call["ts"]))
    if asked is None:
        raise Refused("thread_not_found")
    thread = [one for one in call.state.thread(channel.id, asked.root) if not one.only_for]
    page, more = _page(call, _between(call, thread))
    return {"messages": [_shown(call, message) for message in page], "has_more": bool(more), **more}


def history(call: Call) -> Json:
    """What stands in the channel itself, newest first."""
    channel = _readable(call, "history")
    said = [one for one in call.state.in_channel(channel.id) if one.root == one.ts and not one.only_for]
    page, more = _page(call, _between(call, said[::-1]))
    return {"messages": [_shown(call, message) for message in page], "has_more": bool(more), **more}


def _readable(call: Call, what: str) -> Channel:
    known = call.state.channels.get(call["channel"])
    call.needs(f"{SCOPE[known.kind] if known else 'channels'}:{what}")
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


# --- status lines, prompts, sessions


def set_status(call: Call) -> Json:
    """An empty status takes it away."""
    call.needs("chat:write", "assistant:write")
    channel, root = _thread(call)
    call.obey(limits.many_loading_messages(call.arguments))
    if text := str(call.get("status", "")):
        loading = [str(one) for one in call.get("loading_messages", [])]
        call.state.statuses[channel.id, root] = Status(text, loading, call.state.clock.now(), call.by.bot_user)
    else:
        call.state.clear_status(channel.id, root)
    call.state.changed()
    return {}


def set_suggested_prompts(call: Call) -> Json:
    """For a thread, or without one for the whole direct channel."""
    channel = call.writable("channel_id")
    if channel.kind != "direct":
        raise Refused("channel_type_not_supported")
    call.obey(limits.malformed_prompts(call.arguments))
    root = _thread(call)[1] if call.get("thread_ts") else ""
    call.state.prompts[channel.id, root] = Prompts(str(call.get("title", "")), list(call.arguments["prompts"]))
    call.state.changed()
    return {}


def set_session_status(call: Call) -> Json:
    channel, root = _thread(call)
    call.obey(limits.unknown_session_status(call.arguments))
    call.state.sessions[channel.id, root] = call["status"]
    if title := call.get("title"):
        call.state.titles.setdefault((channel.id, root), str(title))
    call.state.changed()
    answer: Json = {"status": call["status"], "agent_status": call["status"]}
    answer["title"] = call.state.titles.get((channel.id, root), "")
    if call["status"] == "processing" and "agent_session_stopped" not in call.events.subscriptions:
        answer["warning"] = "missing_agent_session_stopped_event_subscription"
    return answer


def _thread(call: Call) -> tuple[Channel, str]:
    channel = call.writable("channel_id")
    message = call.state.messages.get((channel.id, call["thread_ts"]))
    if message is None:
        raise Refused("invalid_thread_ts")
    return channel, message.root


# --- modals

TRIGGER_LASTS = 3.0


def trigger(state: State, user: str) -> str:
    """What an interaction hands to the app to open a modal with."""
    name = f"{state.number()}.{state.number()}.trigger"
    state.triggers[name] = Trigger(user, state.clock.now() + TRIGGER_LASTS)
    return name


def open_view(call: Call) -> Json:
    """A view that is refused does not spend the trigger."""
    one = call.state.triggers.get(call["trigger_id"])
    if one is None:
        raise Refused("invalid_trigger_id")
    if one.spent:
        raise Refused("exchanged_trigger_id")
    if call.state.clock.now() > one.until:
        raise Refused("expired_trigger_id")
    call.obey(limits.first(limits.VIEW, call.arguments))
    one.spent = True
    if one.user in call.state.modals:
        raise Refused("push_limit_reached")
    view = call.state.modals[one.user] = _view(call.state, one.user, call.by, call.arguments["view"])
    call.state.changed()
    return {"view": view.payload}


def update_view(call: Call) -> Json:
    """`hash` is not looked at: ritbot sends none."""
    view = next((one for one in call.state.modals.values() if one.id == call["view_id"]), None)
    if view is None:
        raise Refused("not_found")
    call.obey(limits.first(limits.VIEW, call.arguments))
    made = _view(call.state, view.user, call.by, call.arguments["view"])
    view.payload, view.hash = {**made.payload, "id": view.id, "root_view_id": view.id}, made.hash
    call.state.changed()
    return {"view": view.payload}


def publish_view(call: Call) -> Json:
    if call["user_id"] not in call.state.users:
        raise Refused("user_not_found")
    call.obey(limits.first(limits.VIEW, call.arguments))
    view = call.state.homes[call["user_id"]] = _view(call.state, call["user_id"], call.by, call.arguments["view"])
    call.state.changed()
    return {"view": view.payload}


def with_ids(state: State, blocks: list[Json]) -> list[Json]:
    """Slack names blocks that have no id."""
    return [{**block, "block_id": block.get("block_id") or f"b{state.number()}"} for block in blocks]


def _view(state: State, user: str, by: Installation, payload: Json) -> View:
    """What the app sent, with what Slack adds to it."""
    name, version = state.name("V"), f"{int(state.clock.now())}.{state.number()}"
    added: Json = {
        "id": name,
        "team_id": by.team,
        "app_installed_team_id": by.team,
        "bot_id": by.bot_id,
        "root_view_id": name,
        "previous_view_id": None,
        "hash": version,
        "state": {"values": {}},
    }
    blocks = with_ids(state, payload["blocks"])
    return View(
        name, user, by, {"callback_id": "", "private_metadata": "", **payload, "blocks": blocks, **added}, version
    )


METHODS: Mapping[str, Method] = {
    "auth.test": Method(auth_test),
    "users.info": Method(user_info, ("users:read",)),
    "conversations.info": Method(info),
    "conversations.members": Method(members),
    "conversations.replies": Method(replies),
    "conversations.history": Method(history),
    "assistant.threads.setStatus": Method(set_status),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, ("assistant:write",)),
    "agents.sessions.setStatus": Method(set_session_status, ("chat:write",)),
    "views.open": Method(open_view),
    "views.update": Method(update_view),
    "views.publish": Method(publish_view),
}
