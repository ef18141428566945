"""What a person can do in Slack: write, edit, press, command, fill in a modal; and what that person reads there. Each waits
until the app has heard.

    ada = slack.person("Ada")
    question = await ada.mention(general, "How do I scale?")
    await ada.press(answer, "feedback", "Helpful")
    await ada.command(general, "/ask", "How do I scale?")
    await ada.submit(sites=["Manual"], mode="Questions")      # the open modal; by action id or block id

What a person chooses is named by its words or by its value, whatever the test finds easier to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import messages, methods
from tests.fakes.slack.events import Delivery
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
        """The one that is open."""
        if self.id not in self.state.modals:
            raise NotThere(f"No modal is open for {self.user.name}.")
        return self.state.modals[self.id]

    def direct(self) -> Channel:
        """The conversation with the bot."""
        return self.state.direct(self.id, self._slack.installation.bot_user)

    async def say(
        self,
        channel: Channel,
        text: str,
        *,
        thread: Message | None = None,
        blocks: Sequence[Json] = (),
        **more: Any,
    ) -> Message:
        """`more`: attachments, files, subtype and the like, as its event shows them."""
        if self.id not in channel.members:
            raise NotThere(f"{self.user.name} is not in {channel.name}.")
        message = Message(
            channel=channel.id,
            ts=self.state.timestamp(),
            user=self.id,
            team=self.user.team,
            text=text,
            thread_ts=thread.root if thread else "",
            bot_id=self.user.bot_id,
            blocks=list(blocks),
            more=more,
        )
        self.state.put(message)
        self._slack.events.posted(message)
        return message

    async def mention(self, channel: Channel, text: str, *, thread: Message | None = None, **more: Any) -> Message:
        """Writes "@ritbot text"."""
        bot_user = self._slack.installed_in(channel).bot_user
        return await self.say(channel, f"<@{bot_user}> {text}".strip(), thread=thread, **more)

    async def edit(self, message: Message, text: str) -> None:
        before = self._slack.events.message(message)
        message.text, message.edited_at = text, self.state.timestamp()
        message.edits += 1
        self.state.changed()
        self._slack.events.edited(message, before)

    async def delete(self, message: Message) -> None:
        self._slack.events.removed(message)

    @property
    def home(self) -> View:
        """The Home tab, as it was published."""
        if self.id not in self.state.homes:
            raise NotThere(f"Nothing was published for {self.user.name}.")
        return self.state.homes[self.id]

    async def open_home(self, tab: str = "messages") -> None:
        """Opens the app, at "messages" or "home"."""
        self._slack.events.home_opened(self.user, self.direct(), tab)

    async def press(
        self, place: Message | View, action_id: str, chosen: Chosen = None, *, agrees: bool = False, value: str = ""
    ) -> Delivery:
        """A button, a feedback button ("Helpful" or its value), an option of a menu. `agrees`: to what is asked first;
        raises NotThere with its words where that is not expected, or not asked. `value`: of which button, where several
        have the same action."""
        view = place.payload if isinstance(place, View) else None
        block, element = find(view["blocks"] if view else self._blocks(place), action_id, value)
        if agrees != bool(asks_first(element)):
            raise NotThere(f"It asks first: {asks_first(element) or 'nothing'}")
        payload = self._interaction("block_actions", self._installation(place))
        payload["actions"] = [pressed(block, element, chosen, self.state.timestamp())]
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
                "trigger_id": methods.trigger(self.state, self.id),
            },
            lambda answer: self._slack.respond(url, answer),
        )
        return await delivery.over()

    async def submit(self, values: Mapping[str, Chosen] | None = None, **more: Chosen) -> Delivery:
        """Sends the modal, filled in. It closes unless the app answers with errors."""
        view = self.modal
        state = {"values": filled(view.payload["blocks"], {**(values or {}), **more})}
        view.payload = {**view.payload, "state": state}
        payload = self._interaction("view_submission", view.installation)
        payload |= {"view": view.payload, "response_urls": []}
        delivery = self._slack.deliveries.send("interactive", payload, lambda answer: self._closed(view, answer or {}))
        return await delivery.over()

    async def dismiss(self) -> None:
        """Closes the modal without sending it."""
        del self.state.modals[self.id]
        self.state.changed()

    async def stop(self, channel: Channel, root: str) -> None:
        """The native Stop button, which is there while the session is processing."""
        if self.state.sessions.get((channel.id, root)) != "processing":
            raise NotThere("There is no Stop button: the session is not processing.")
        writing = [one for one in self.state.thread(channel.id, root) if one.streaming]
        for message in writing:
            messages.expire(self.state, message, "person")
        self._slack.events.session_stopped(channel, root, self.id, [message.ts for message in writing])

    def _closed(self, view: View, answer: Json) -> None:
        if answer.get("response_action") == "errors":
            view.payload = {**view.payload, "errors": answer["errors"]}
        else:
            assert not answer, f"ritbot answers a submission with nothing or with errors, not with {answer}"
            del self.state.modals[self.id]
        self.state.changed()

    def _blocks(self, place: Message | View) -> list[Json]:
        assert isinstance(place, Message)
        if place.only_for not in ("", self.id):
            raise NotThere("That message is shown to someone else alone.")
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
            "trigger_id": methods.trigger(self.state, self.id),
        }

    async def _sent(self, payload: Json) -> Delivery:
        return await self._slack.deliveries.send("interactive", payload).over()


# --- elements that a person acts on

Chosen = str | Sequence[str] | None


class NotThere(AssertionError):
    """A person looks for something that is not on the screen."""


def elements(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Every element with an action, and the block that it stands in."""
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and element.get("action_id"):
                yield block, element


def find(blocks: Sequence[Json], action_id: str, value: str = "") -> tuple[Json, Json]:
    there = []
    for block, element in elements(blocks):
        if element["action_id"] == action_id and value in ("", element.get("value")):
            return block, element
        there.append(element["action_id"])
    raise NotThere(f"There is no {action_id} to press; there is {', '.join(there) or 'nothing'}.")


def asks_first(element: Json) -> str:
    """What stands in the dialog that comes before the press counts; "" where there is none."""
    dialog = element.get("confirm")
    return str(dialog["text"]["text"]) if dialog else ""


def pressed(block: Json, element: Json, chosen: Chosen, now: str) -> Json:
    """The action as block_actions carries it."""
    action: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"]}
    action["action_ts"] = now
    match element["type"]:
        case "button":
            action["text"] = element["text"]
            action |= {"value": element["value"]} if "value" in element else {}
        case "feedback_buttons":
            buttons = [element["positive_button"], element["negative_button"]]
            action |= {key: value for key, value in _option(buttons, chosen).items() if key in ("text", "value")}
        case _:
            action |= value_of(element, chosen)
    return action


def filled(blocks: Sequence[Json], values: Mapping[str, Chosen]) -> Json:
    """view.state.values: what was entered, else what stood there from the start. By action id or block id.

    Raises NotThere for a field that is not there and for a required one that stays empty."""
    left = dict(values)
    state: Json = {}
    for block, element in elements(blocks):
        if element["type"] in ("button", "feedback_buttons"):
            continue
        name = next((one for one in (element["action_id"], block["block_id"]) if one in left), None)
        value = value_of(element, left.pop(name) if name else None, start=name is None)
        if block["type"] == "input" and not block.get("optional") and not _any(value):
            raise NotThere(f"{block['label']['text']} is required and was left empty.")
        state.setdefault(block["block_id"], {})[element["action_id"]] = value
    if left:
        raise NotThere(f"The modal has no field {', '.join(left)}.")
    return state


def value_of(element: Json, chosen: Chosen, *, start: bool = False) -> Json:
    """The value of one element. `start`: as the app filled it in."""
    value: Json = {"type": element["type"]}
    match element["type"]:
        case "plain_text_input":
            value["value"] = (element.get("initial_value") if start else chosen) or None
        case "static_select" | "radio_buttons":
            initial = element.get("initial_option")
            value["selected_option"] = initial if start else _option(_all(element), chosen) if chosen else None
        case _:
            picked = [chosen] if isinstance(chosen, str) else list(chosen or [])
            initial = element.get("initial_options", [])
            value["selected_options"] = initial if start else [_option(_all(element), one) for one in picked]
    return value


def _all(element: Json) -> list[Json]:
    groups = [option for group in element.get("option_groups", []) for option in group["options"]]
    return [*element.get("options", []), *groups]


def _option(options: Sequence[Json], chosen: Chosen) -> Json:
    for option in options:
        if chosen in (option["value"], option["text"]["text"]):
            return option
    words = ", ".join(option["text"]["text"] for option in options)
    raise NotThere(f"There is no {chosen!r} to choose; there is {words}.")


def _any(value: Json) -> bool:
    return any(one for name, one in value.items() if name != "type")


# --- a message as a person reads it: what its blocks say, one after the other, as plain text


def words(message: Message) -> str:
    """Blocks hide `text`, which then is what notifications and screen readers say."""
    return "\n".join(said(message.blocks)) if message.blocks else message.text


def said(blocks: Sequence[Json]) -> Iterator[str]:
    for block in blocks:
        match block["type"]:
            case "markdown":
                yield block["text"]
            case "header" | "section" | "alert":
                texts = [block.get("text"), *block.get("fields", [])]
                yield from (text["text"] for text in texts if text)
            case "context":
                yield " ".join(element["text"] for element in block["elements"] if "text" in element)
            case "table":
                yield from ("\t".join(_cell(cell) for cell in row) for row in block["rows"])
            case "rich_text":
                yield _spans(block)
            case "task_card":
                details = [_spans(block[name]) for name in ("details", "output") if name in block]
                yield "\n".join([block["title"], *details, *(source["text"] for source in block.get("sources", []))])
            case "plan":
                yield "\n".join([block["title"], *said(block.get("tasks", []))])


def labels(message: Message) -> list[str]:
    """What its buttons say."""
    found: list[str] = []
    for block in message.blocks:
        for element in [*block.get("elements", []), block.get("accessory") or {}]:
            if element.get("type") == "button":
                found.append(element["text"]["text"])
            elif element.get("type") == "feedback_buttons":
                found += [element[name]["text"]["text"] for name in ("positive_button", "negative_button")]
    return found


def _cell(cell: Json) -> str:
    if cell["type"] == "rich_text":
        return _spans(cell)
    return str(cell.get("text") or cell.get("value"))


def _spans(part: Json) -> str:
    if "elements" in part:
        gap = "\n" if part["type"] in ("rich_text", "rich_text_list") else ""
        return gap.join(_spans(element) for element in part["elements"])
    return str(part.get("text") or part.get("url") or part.get("name") or "")
