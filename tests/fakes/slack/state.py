"""What a Slack holds: workspaces, people, channels, messages, modals, and its time. No rule and no network; ids look like
Slack's."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
ChannelKind = Literal["public", "private", "direct"]
Guest = Literal["", "single", "multi"]

TOMBSTONE: Json = {"subtype": "tombstone", "hidden": True}
"""What the event of a deleted message says that has replies."""
STATUS_LASTS = 120.0
"""Seconds; facts: "clears after about 2 minutes and on every post"."""


@dataclass
class Team:
    id: str
    name: str
    domain: str
    enterprise: str = ""


@dataclass
class Installation:
    """The app in one workspace: its token, its bot user, what it may do. `organisation`: in all of its organisation's."""

    team: str
    token: str
    bot_user: str
    bot_id: str
    scopes: frozenset[str]
    revoked: bool = False
    organisation: bool = False


@dataclass
class User:
    id: str
    team: str
    name: str
    bot_id: str = ""
    guest: Guest = ""
    admin: bool = False
    deleted: bool = False
    """Its account is switched off."""

    @property
    def handle(self) -> str:
        return self.name.lower().replace(" ", ".")


@dataclass
class Channel:
    """`shared_with`: other workspaces it is shared with over Slack Connect. A direct channel is named by its person."""

    id: str
    team: str
    name: str
    kind: ChannelKind
    members: set[str]
    creator: str = ""
    archived: bool = False
    shared_with: set[str] = field(default_factory=set)

    @property
    def type(self) -> str:
        """As events name it."""
        return {"public": "channel", "private": "group", "direct": "im"}[self.kind]


@dataclass
class Stream:
    """A message while it is written. `ended` says by whom: "app", "person" (Stop) or "slack" (its life was over)."""

    begun: float
    mode: str = "timeline"
    markdown: str = ""
    plan: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)
    blocks: list[Json] = field(default_factory=list)
    ended: Literal["", "app", "person", "slack"] = ""


@dataclass
class Message:
    """`edits` counts chat.update and edits by hand. `only_for`: an ephemeral message, shown to that person alone."""

    channel: str
    ts: str
    user: str
    team: str
    text: str
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str = ""
    bot_id: str = ""
    only_for: str = ""
    edits: int = 0
    edited_at: str = ""
    stream: Stream | None = None
    arguments: Json = field(default_factory=dict)
    """Of the call that posted it."""
    more: Json = field(default_factory=dict)
    """What else its event says: attachments, files, subtype, bot_profile."""
    unfurls: dict[str, Json] = field(default_factory=dict)
    """By link, what the app unfolded under it."""

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts

    @property
    def streaming(self) -> bool:
        return self.stream is not None and not self.stream.ended

    @property
    def id(self) -> tuple[str, str]:
        return self.channel, self.ts


@dataclass
class Status:
    text: str
    loading: list[str]
    at: float
    bot_user: str


@dataclass
class Prompts:
    title: str
    prompts: list[Json]


@dataclass
class View:
    """A modal as it was last sent, with what Slack adds."""

    id: str
    user: str
    installation: Installation
    payload: Json
    hash: str


@dataclass
class Trigger:
    user: str
    until: float
    spent: bool = False


@dataclass
class ResponseUrl:
    """Good for 30 minutes and 5 posts. `message` is what `replace_original` replaces, if it came from a message."""

    installation: Installation
    channel: str
    user: str
    until: float
    thread_ts: str = ""
    message: tuple[str, str] | None = None
    left: int = 5


class Clock:
    """Real time, which a test can move on at once. Rates, the life of streams, triggers and statuses, and the pauses
    between redeliveries are counted by it; how long an acknowledgement took is counted in real seconds, since the bot
    lives in them."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Seconds since 1970, as Slack's `ts` counts them."""
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Whoever sleeps until then wakes."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            try:
                await asyncio.wait_for(self._moved.wait(), left)
            except TimeoutError:
                continue


class State:
    """Everything that is there, and who to tell when it changes."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.teams: dict[str, Team] = {}
        self.installations: dict[str, Installation] = {}
        """By team."""
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[tuple[str, str], Message] = {}
        self.unfurl_domains: set[str] = set()
        """Of which the app wants to hear when somebody posts a link to one."""
        self.open_to_all: set[str] = set()
        """Channels that everyone is in who comes to the workspace."""
        self.groups: dict[str, Json] = {}
        self.statuses: dict[tuple[str, str], Status] = {}
        self.prompts: dict[tuple[str, str], Prompts] = {}
        self.titles: dict[tuple[str, str], str] = {}
        self.sessions: dict[tuple[str, str], str] = {}
        self.modals: dict[str, View] = {}
        """By person."""
        self.homes: dict[str, View] = {}
        """By person."""
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.codes: dict[str, Installation] = {}
        """OAuth codes that wait to be exchanged."""
        self.watchers: list[Callable[[], None]] = []
        self._numbers = itertools.count(1)
        self._last_ts = 0

    def changed(self) -> None:
        for watcher in self.watchers:
            watcher()

    def number(self) -> int:
        return next(self._numbers)

    def name(self, prefix: str) -> str:
        """A new id: T0000001, C0000002 …"""
        return f"{prefix}{self.number():07d}"

    def timestamp(self) -> str:
        """Now, later than every one before."""
        micros = max(int(self.clock.now() * 1_000_000), self._last_ts + 1)
        self._last_ts = micros
        return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"

    def put(self, message: Message) -> Message:
        self.messages[message.id] = message
        self.changed()
        return message

    def remove(self, message: Message) -> bool:
        """Whether a tombstone is left of it: where others replied. It goes with the last reply."""
        replies = [one for one in self.thread(message.channel, message.ts) if one is not message]
        if replies:
            message.text, message.blocks, message.more = "This message was deleted.", [], dict(TOMBSTONE)
        else:
            del self.messages[message.id]
            root = self.messages.get((message.channel, message.root))
            if root is not None and root.more == TOMBSTONE and len(self.thread(root.channel, root.ts)) == 1:
                del self.messages[root.id]
        self.changed()
        return bool(replies)

    def is_external(self, channel: Channel) -> bool:
        """Whether it is shared with another company: workspaces of one organisation share channels among themselves."""
        home = self.teams[channel.team].enterprise
        return any(not home or self.teams[team].enterprise != home for team in channel.shared_with)

    def by_token(self, token: str) -> Installation | None:
        return next((one for one in self.installations.values() if one.token == token), None)

    def in_channel(self, channel: str) -> list[Message]:
        """Oldest first, replies among them."""
        return sorted((one for one in self.messages.values() if one.channel == channel), key=lambda one: one.ts)

    def thread(self, channel: str, root: str) -> list[Message]:
        return [one for one in self.in_channel(channel) if one.root == root]

    def status(self, channel: str, root: str) -> Status | None:
        """What is shown under the thread now."""
        status = self.statuses.get((channel, root))
        if status is None or self.clock.now() - status.at > STATUS_LASTS:
            return None
        return status

    def clear_status(self, channel: str, root: str) -> None:
        self.statuses.pop((channel, root), None)

    def direct(self, user: str, bot_user: str) -> Channel:
        """The conversation of these two, made at the first need."""
        for channel in self.channels.values():
            if channel.kind == "direct" and channel.members == {user, bot_user}:
                return channel
        person = self.users[user]
        channel = Channel(self.name("D"), self.users[bot_user].team, person.name, "direct", {user, bot_user})
        self.channels[channel.id] = channel
        return channel

    def bots_in(self, channel: Channel) -> Iterator[Installation]:
        """Installations whose bot is in the channel, that of the channel's own workspace first."""
        for installation in sorted(self.installations.values(), key=lambda one: one.team != channel.team):
            if installation.bot_user in channel.members and not installation.revoked:
                yield installation
