"""What the app hears of: events in their envelopes, to the installations that may hear of them.

An event reaches an installation whose bot is in the channel, that subscribed to it and holds its scope. In a channel
that is shared over Slack Connect it is marked is_ext_shared_channel, and the asker's own workspace stands in user_team.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.fakes.slack.delivery import Deliveries, Delivery
from tests.fakes.slack.state import Channel, Installation, Json, Message, State, User, View

SCOPE_OF: Mapping[str, str] = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "app_home_opened": "",
    "agent_session_stopped": "",
    "app_uninstalled": "",
    "tokens_revoked": "",
}
"""What can be subscribed to, and the scope that it takes."""
MESSAGES_IN = {"public": "message.channels", "private": "message.groups", "direct": "message.im"}


class Events:
    def __init__(self, state: State, deliveries: Deliveries, app_id: str, subscriptions: Iterable[str]) -> None:
        self.subscriptions = set(subscriptions)
        self._state = state
        self._deliveries = deliveries
        self._app_id = app_id

    def posted(self, message: Message) -> list[Delivery]:
        """A message was posted; a mention comes as an event of its own before it, but not in a direct channel."""
        channel = self._state.channels[message.channel]
        sent = []
        for installation in self._state.bots_in(channel):
            mentioned = f"<@{installation.bot_user}>" in message.text
            if mentioned and channel.kind != "direct" and not message.bot_id:
                event = self.message(message) | {"type": "app_mention"}
                event.pop("channel_type")
                sent += self._send("app_mention", event, installation, channel, message)
        return sent + self._to_channel(self.message(message), channel, message)

    def edited(self, message: Message, before: Json) -> list[Delivery]:
        """Someone edited a message: message_changed, and a mention in it fires app_mention anew, with `edited`."""
        channel = self._state.channels[message.channel]
        sent = []
        for installation in self._state.bots_in(channel):
            if f"<@{installation.bot_user}>" in message.text and channel.kind != "direct" and not message.bot_id:
                event = self.message(message) | {"type": "app_mention"}
                event.pop("channel_type")
                sent += self._send("app_mention", event, installation, channel, message)
        changed = self._wrapped("message_changed", message, channel)
        changed |= {"message": self.message(message), "previous_message": before}
        return sent + self._to_channel(changed, channel, message)

    def deleted(self, message: Message) -> list[Delivery]:
        channel = self._state.channels[message.channel]
        gone = self._wrapped("message_deleted", message, channel)
        gone |= {"deleted_ts": message.ts, "previous_message": self.message(message)}
        return self._to_channel(gone, channel, message)

    def home_opened(self, user: User, channel: Channel, tab: str, view: View | None) -> list[Delivery]:
        event: Json = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": tab}
        event["event_ts"] = self._state.timestamp()
        if view is not None:
            event["view"] = view.payload
        return [
            sent
            for installation in self._state.bots_in(channel)
            for sent in self._send("app_home_opened", event, installation, channel, None)
        ]

    def session_stopped(self, channel: Channel, root: str, user: str, streams: list[str]) -> list[Delivery]:
        event: Json = {"type": "agent_session_stopped", "channel": channel.id, "thread_ts": root, "user": user}
        event |= {"streaming_message_ts": streams, "event_ts": self._state.timestamp()}
        return [
            sent
            for installation in self._state.bots_in(channel)
            for sent in self._send("agent_session_stopped", event, installation, channel, None)
        ]

    def uninstalled(self, installation: Installation) -> list[Delivery]:
        """The app was removed from a workspace."""
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [installation.bot_user]}}
        gone = {"type": "app_uninstalled"}
        sent = [
            sent
            for event in (revoked, gone)
            for sent in self._send(str(event["type"]), event, installation, None, None)
        ]
        for delivery in sent:
            delivery.payload.pop("authorizations")  # there is none any more
        return sent

    def message(self, message: Message) -> Json:
        """A message as events and conversations.replies show it."""
        channel = self._state.channels[message.channel]
        shown: Json = {
            "type": "message",
            "user": message.user,
            "text": message.text,
            "ts": message.ts,
            "team": message.team,
            "channel": message.channel,
            "channel_type": channel.type,
            "event_ts": message.ts,
            "blocks": message.blocks,
        }
        if message.thread_ts:
            shown |= {"thread_ts": message.thread_ts, "parent_user_id": self._parent(message)}
        if message.bot_id:
            shown |= {"bot_id": message.bot_id, "app_id": self._app_id}
        if message.edited_at:
            shown["edited"] = {"user": message.user, "ts": message.edited_at}
        if channel.shared_with:
            shown["user_team"] = self._state.users[message.user].team
        return shown

    def _parent(self, message: Message) -> str:
        root = self._state.messages.get((message.channel, message.thread_ts))
        return root.user if root else ""

    def _wrapped(self, subtype: str, message: Message, channel: Channel) -> Json:
        now = self._state.timestamp()
        return {
            "type": "message",
            "subtype": subtype,
            "channel": channel.id,
            "channel_type": channel.type,
            "hidden": True,
            "ts": now,
            "event_ts": now,
        }

    def _to_channel(self, event: Json, channel: Channel, message: Message) -> list[Delivery]:
        installation = next(self._state.bots_in(channel), None)
        if installation is None:
            return []
        return self._send(MESSAGES_IN[channel.kind], event, installation, channel, message)

    def _send(
        self, name: str, event: Json, installation: Installation, channel: Channel | None, message: Message | None
    ) -> list[Delivery]:
        scope, enterprise = SCOPE_OF[name], self._state.teams[installation.team].enterprise
        if name not in self.subscriptions or (scope and scope not in installation.scopes):
            return []
        payload: Json = {
            "token": "verification",
            "team_id": installation.team,
            "api_app_id": self._app_id,
            "event": event,
            "type": "event_callback",
            "event_id": self._state.name("Ev"),
            "event_time": int(self._state.clock.now()),
            "authorizations": [
                {
                    "enterprise_id": enterprise or None,
                    "team_id": installation.team,
                    "user_id": installation.bot_user,
                    "is_bot": True,
                    "is_enterprise_install": installation.organisation,
                }
            ],
            "is_ext_shared_channel": bool(channel and channel.shared_with),
            "event_context": f"4-{installation.team}-{channel.id if channel else ''}",
        }
        if message is not None and channel is not None and channel.shared_with:
            payload["context_team_id"] = installation.team
        return [self._deliveries.send("events_api", payload)]
