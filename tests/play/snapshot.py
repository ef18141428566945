"""What one person sees in one place of the workspace, as JSON for the page. Pure but for the clock of the state.

The page asks for it whenever something changed, and shows it; it keeps nothing of its own but where it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.fakes.slack import Channel, Message, Person
from tests.fakes.slack.state import State
from tests.play import rendering
from tests.play.markup import mrkdwn

Json = dict[str, Any]


class Snapshot:
    """`channel` and `thread` (a root's ts, or "") are where the person is."""

    def __init__(self, person: Person, channel: Channel, thread: str, bot_user: str) -> None:
        self._person = person
        self._state: State = person.state
        self._channel = channel
        self._thread = thread
        self._bot = bot_user
        self._names = {
            **{user.id: user.name for user in self._state.users.values()},
            **{one.id: one.name for one in self._state.channels.values()},
            **{name: group["handle"] for name, group in self._state.groups.items()},
        }

    def as_json(self) -> Json:
        return {
            "me": self._person.id,
            "people": [self._named(one.id) for one in self._state.users.values() if not one.bot_id],
            "bot": self._named(self._bot),
            "channels": [self._place(one) for one in self._mine()],
            "channel": self._place(self._channel),
            "messages": [self._message(one) for one in self._shown() if one.root == one.ts],
            "thread": self._open_thread(),
            "prompts": self._prompts(""),
            "home": self._home(),
            "modal": self._modal(),
        }

    def _mine(self) -> list[Channel]:
        """The person's channels, then the conversation with the bot."""
        mine = [one for one in self._state.channels.values() if self._person.id in one.members]
        return sorted(mine, key=lambda one: one.kind == "direct")

    def _shown(self) -> list[Message]:
        """What is in the channel and not for another's eyes."""
        return [one for one in self._state.in_channel(self._channel.id) if one.only_for in ("", self._person.id)]

    def _open_thread(self) -> Json | None:
        messages = [one for one in self._shown() if self._thread and one.root == self._thread]
        if not messages:
            return None
        place = self._channel.id, self._thread
        return {
            "root": self._thread,
            "messages": [self._message(one) for one in messages],
            "title": self._state.titles.get(place, ""),
            "status": self._status(),
            "processing": self._state.sessions.get(place) == "processing",
            "prompts": self._prompts(self._thread),
        }

    def _status(self) -> Json | None:
        status = self._state.status(self._channel.id, self._thread)
        if status is None:
            return None
        return {"who": self._names[status.bot_user], "text": status.text, "loading": status.loading}

    def _prompts(self, thread: str) -> Json | None:
        prompts = self._state.prompts.get((self._channel.id, thread))
        return {"title": prompts.title, "prompts": prompts.prompts} if prompts else None

    def _message(self, message: Message) -> Json:
        user = self._state.users[message.user]
        replies = len(self._state.thread(message.channel, message.ts)) - 1
        if message.blocks:
            html = rendering.blocks(message.blocks, self._names)
        else:
            html = f'<div class="section"><div>{mrkdwn(message.text, self._names)}</div></div>'
        status = self._state.status(message.channel, message.ts)
        return {
            "ts": message.ts,
            "who": user.name,
            "user": user.id,
            "app": bool(user.bot_id),
            "guest": bool(user.guest),
            "team": "" if user.team == self._channel.team else self._state.teams[user.team].name,
            "time": datetime.fromtimestamp(float(message.ts)).strftime("%H:%M"),
            "html": html,
            "text": message.text,
            "edited": bool(message.edits) and not user.bot_id,
            "streaming": message.streaming,
            "private": bool(message.only_for),
            "replies": replies if message.root == message.ts else 0,
            "busy": f"{self._names[status.bot_user]} {status.text}" if status and message.root == message.ts else "",
        }

    def _home(self) -> str:
        """The app's Home tab as HTML."""
        view = self._state.homes.get(self._person.id)
        return rendering.blocks(view.payload["blocks"], self._names) if view else ""

    def _modal(self) -> Json | None:
        view = self._state.modals.get(self._person.id)
        if view is None:
            return None
        payload = view.payload
        errors = payload.get("errors", {})
        return {
            "id": view.id,
            "version": view.hash + "".join(sorted(errors.values())),
            "title": payload["title"]["text"],
            "submit": payload["submit"]["text"] if payload.get("submit") else "",
            "close": payload["close"]["text"] if payload.get("close") else "Cancel",
            "html": rendering.blocks(payload["blocks"], self._names, errors),
        }

    def _place(self, channel: Channel) -> Json:
        name = self._names[self._bot] if channel.kind == "direct" else channel.name
        mark = {"public": "#", "private": "⚿", "direct": "✦"}[channel.kind]
        return {
            "id": channel.id,
            "name": name,
            "mark": mark,
            "direct": channel.kind == "direct",
            "shared": bool(channel.shared_with),
            "archived": channel.archived,
            "latest": max((one.ts for one in self._state.messages.values() if one.channel == channel.id), default=""),
        }

    def _named(self, user: str) -> Json:
        one = self._state.users[user]
        note = "guest" if one.guest else "" if one.team == self._channel.team else self._state.teams[one.team].name
        return {"id": one.id, "name": one.name, "note": note}
