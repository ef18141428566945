"""A call of a Web API method, and what a method can answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack.events import Events
from tests.fakes.slack.limits import Refusal
from tests.fakes.slack.state import Channel, Installation, Json, Message, State


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
    links: str
    """Where permalinks begin."""

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
