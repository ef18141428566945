"""What a person can do in Slack: write, edit, press, command, fill in a modal. Each waits until the app has heard.

ada = slack.person("Ada")
question = await ada.mention(general, "How do I scale?")
await ada.press(answer, "feedback", "Helpful")
await ada.command(general, "/ask", "How do I scale?")
await ada.submit(sites=["Manual"], mode="Questions")      # the modal on top; by action id or block id
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.fakes.slack import forms, limits, streams, views
from tests.fakes.slack.delivery import Delivery
from tests.fakes.slack.state import Channel, Installation, Json, Message, ResponseUrl, User, View

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack

RESPONSE_URL_LASTS = 1800.0


class Person:
    """Writing returns at once, for the app answers in its own time; `slack.settled()` waits for acknowledgements.
    Interactions return when they were acknowledged, or were not in time (`delivery.acked`)."""

    def __init__(self, slack: FakeSlack, user: User) -> None:
        self.user = user
        self._slack = slack
        self.state = slack.state

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def modal(self) -> View:
        """The one on top."""
        stack = self.state.modals.get(self.id)
        if not stack:
            raise forms.NotThere(f"No modal is open for {self.user.name}.")
        return stack[-1]

    @property
    def home(self) -> View | None:
        return self.state.homes.get(self.id)

    def direct(self) -> Channel:
        """The conversation with the bot."""
        return self.state.direct(self.id, self._slack.installation.bot_user)

    async def say(self, channel: Channel, text: str, *, thread: Message | None = None) -> Message:
        if self.id not in channel.members:
            raise forms.NotThere(f"{self.user.name} is not in {channel.name}.")
        message = Message(
            channel=channel.id,
            ts=self.state.timestamp(),
            user=self.id,
            team=self.user.team,
            text=text,
            thread_ts=thread.root if thread else "",
            bot_id=self.user.bot_id,
        )
        self.state.put(message)
        self._slack.events.posted(message)
        return message

    async def mention(self, channel: Channel, text: str, *, thread: Message | None = None) -> Message:
        """Writes "@ritbot text"."""
        bot_user = self._slack.installed_in(channel).bot_user
        return await self.say(channel, f"<@{bot_user}> {text}".strip(), thread=thread)

    async def edit(self, message: Message, text: str) -> None:
        before = self._slack.events.message(message)
        message.text, message.edited_at = text, self.state.timestamp()
        message.edits += 1
        self.state.changed()
        self._slack.events.edited(message, before)

    async def delete(self, message: Message) -> None:
        self.state.remove(message)
        self._slack.events.deleted(message)

    async def open_home(self, tab: str = "messages") -> None:
        """Opens the app: its messages tab or its home tab."""
        self._slack.events.home_opened(self.user, self.direct(), tab, self.home)

    async def press(
        self, place: Message | View, action_id: str, chosen: forms.Chosen = None, *, agrees: bool = False
    ) -> Delivery:
        """A button, a feedback button ("Helpful" or its value), an option of a menu. `agrees`: to what is asked first;
        raises NotThere with its words where that is not expected, or not asked."""
        view = place.payload if isinstance(place, View) else None
        block, element = forms.find(view["blocks"] if view else self._blocks(place), action_id)
        if agrees != bool(forms.asks_first(element)):
            raise forms.NotThere(f"It asks first: {forms.asks_first(element) or 'nothing'}")
        payload = self._interaction("block_actions", self._installation(place))
        payload["actions"] = [forms.pressed(block, element, chosen, self.state.timestamp())]
        if isinstance(place, View):
            payload |= {"container": {"type": "view", "view_id": place.id}, "view": place.payload}
        else:
            payload |= self._on_message(place)
        return await self._sent(payload)

    async def shortcut(self, message: Message, callback_id: str) -> Delivery:
        """A message shortcut, from the message's menu."""
        payload = self._interaction("message_action", self._slack.installed_in(self._channel(message)))
        payload |= self._on_message(message) | {"callback_id": callback_id, "message_ts": message.ts}
        payload["action_ts"] = self.state.timestamp()
        payload.pop("container")
        return await self._sent(payload)

    async def command(self, channel: Channel, command: str, text: str = "") -> Delivery:
        """A slash command. What the app acknowledges with is shown to this person alone."""
        installation = self._slack.installed_in(channel)
        team = self.state.teams[installation.team]
        url = ResponseUrl(installation, channel.id, self.id, self.state.clock.now() + RESPONSE_URL_LASTS)
        delivery = self._slack.deliveries.send(
            "slash_commands",
            {
                "token": "verification",
                "team_id": team.id,
                "team_domain": team.domain,
                **({"enterprise_id": team.enterprise} if team.enterprise else {}),
                "channel_id": channel.id,
                "channel_name": "directmessage" if channel.kind == "direct" else channel.name,
                "user_id": self.id,
                "user_name": self.user.handle,
                "command": command,
                "text": text,
                "api_app_id": self._slack.app_id,
                "is_enterprise_install": str(installation.organisation).lower(),
                "response_url": self._slack.response_url(url),
                "trigger_id": views.trigger(self.state, self.id),
            },
            lambda answer: self._slack.respond(url, answer),
        )
        return await delivery.over()

    async def submit(self, values: Mapping[str, forms.Chosen] | None = None, **more: forms.Chosen) -> Delivery:
        """Sends the modal on top, filled in; what the app answers (errors, update, push, clear) is done."""
        view = self.modal
        state = {"values": forms.filled(view.payload["blocks"], {**(values or {}), **more})}
        view.payload = {**view.payload, "state": state}
        payload = self._interaction("view_submission", view.installation)
        payload |= {"view": view.payload, "response_urls": []}
        delivery = self._slack.deliveries.send("interactive", payload, lambda answer: self._close(view, answer or {}))
        return await delivery.over()

    async def dismiss(self) -> None:
        """Closes the modal on top without sending it."""
        view = self.state.modals[self.id].pop()
        self.state.changed()
        if view.payload.get("notify_on_close"):
            payload = self._interaction("view_closed", view.installation)
            await self._sent(payload | {"view": view.payload, "is_cleared": False})

    async def stop(self, channel: Channel, root: str) -> None:
        """The native Stop button, which is there while the session is processing."""
        if self.state.sessions.get((channel.id, root)) != "processing":
            raise forms.NotThere("There is no Stop button: the session is not processing.")
        writing = [one for one in self.state.thread(channel.id, root) if one.streaming]
        for message in writing:
            streams.expire(self.state, message, "person")
        self._slack.events.session_stopped(channel, root, self.id, [message.ts for message in writing])

    def _close(self, view: View, answer: Json) -> None:
        """What becomes of the modals after a submission. A view that Slack would refuse is a failure of the test."""
        stack = self.state.modals[self.id]
        action = answer.get("response_action")
        if action in ("update", "push"):
            refusal = limits.first(limits.VIEW, answer)
            assert refusal is None, refusal
        if action == "errors":
            view.payload = {**view.payload, "errors": answer["errors"]}
        elif action == "update":
            views.replace(self.state, view, answer["view"])
        elif action == "push":
            stack.append(views.made(self.state, view.installation, self.id, answer["view"], view.id))
        elif action == "clear":
            stack.clear()
        else:
            stack.pop()
        self.state.changed()

    def _blocks(self, place: Message | View) -> list[Json]:
        assert isinstance(place, Message)
        if place.only_for not in ("", self.id):
            raise forms.NotThere("That message is shown to someone else alone.")
        return place.blocks

    def _channel(self, message: Message) -> Channel:
        return self.state.channels[message.channel]

    def _installation(self, place: Message | View) -> Installation:
        if isinstance(place, View):
            return place.installation
        return next(one for one in self.state.installations.values() if one.bot_user == place.user)

    def _on_message(self, message: Message) -> Json:
        channel = self._channel(message)
        url = ResponseUrl(
            self._slack.installed_in(channel),
            channel.id,
            self.id,
            self.state.clock.now() + RESPONSE_URL_LASTS,
            message.thread_ts,
            message.id,
        )
        container = {"type": "message", "message_ts": message.ts, "channel_id": channel.id}
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        return {
            "container": {**container, "is_ephemeral": bool(message.only_for)},
            "channel": {"id": channel.id, "name": channel.name},
            "message": self._slack.events.message(message),
            "response_url": self._slack.response_url(url),
            "state": {"values": {}},
        }

    def _interaction(self, kind: str, installation: Installation) -> Json:
        team = self.state.teams[installation.team]
        return {
            "type": kind,
            "token": "verification",
            "api_app_id": self._slack.app_id,
            "team": {"id": team.id, "domain": team.domain},
            "user": {
                "id": self.id,
                "username": self.user.handle,
                "name": self.user.handle,
                "team_id": self.user.team,
            },
            "enterprise": {"id": team.enterprise} if team.enterprise else None,
            "is_enterprise_install": installation.organisation,
            "trigger_id": views.trigger(self.state, self.id),
        }

    async def _sent(self, payload: Json) -> Delivery:
        return await self._slack.deliveries.send("interactive", payload).over()
