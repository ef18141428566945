"""`/ritbot settings`: how ritbot behaves in a channel, seen by its members and changed by those who manage it.

A channel is managed by whoever made it, by the workspace's admins and owners, and by the people whom ritbot's own
settings name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import ChannelSettings
from bot.ports import BotStore
from bot.slack.inbound.intake import SettingsOf
from bot.slack.inbound.parse import person_of
from bot.slack.message_text import Payload
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.render import actions, blocks
from bot.slack.render.blocks import Block, plain_text
from ingest.ports import Clock

log = structlog.get_logger()

MODE_LABELS = {"mention": "when it is mentioned", "questions": "mentions and questions", "off": "never"}
SWITCH_LABELS = {
    "quiet": "Say nothing where nothing is found (for questions that nobody asked ritbot)",
    "extracts": "Quote the documentation only; no model writes the answer",
    "follow_ups": "In a thread, answer on without a new mention",
    "change_notes": "Say in the thread when words that an answer quoted have changed",
}
STRATEGY_LABELS = {
    "": "As set for the documentation",
    "rit": "rit: read what a table of contents offers",
    "vanilla": "vanilla: the best sections, one look",
    "agentic": "agentic: search again and again",
    "interact": "interact: searches of several kinds",
    "pageindex": "pageindex: one page, its whole contents",
    "rdr2": "rdr2: unfold pages heading by heading",
}
MAX_SITES = 100
AS_SET = "as-set"
NO_CHANNEL = "These settings belong to a channel, and I cannot see this one. Invite me first: `/invite @ritbot`."
NOT_YOURS = "Only whoever made this channel, or an admin of the workspace, can change how I behave here."


class SettingsModal:
    """`sites` and `strategies`: names to choose from (of fewer than two strategies there is nothing to choose). `managers`: ids of people who may change the settings of any channel."""

    def __init__(
        self,
        store: BotStore,
        settings_of: SettingsOf,
        clock: Clock,
        *,
        sites: Sequence[str],
        strategies: Sequence[str] = (),
        managers: Collection[str] = (),
    ) -> None:
        self._store = store
        self._settings_of = settings_of
        self._clock = clock
        self._sites = tuple(sites)[:MAX_SITES]
        self._strategies = tuple(strategies)
        self._managers = managers

    async def open(self, body: Payload, client: AsyncWebClient) -> str:
        """The command's payload, or that of a button whose value is the channel; opens the modal."""
        pressed: Payload = next(iter(body.get("actions") or ()), {})
        team = str(body.get("team_id") or (body.get("team") or {}).get("id"))
        channel, user = str(body.get("channel_id") or pressed.get("value")), person_of(body)
        settings = await self._settings_of(team, channel)
        view = self._view(settings, changeable=await self._manages(client, channel, user))
        await call(client.views_open, again=False, trigger_id=body["trigger_id"], view=view)
        return ""

    async def submit(self, body: Payload, client: AsyncWebClient) -> dict[str, str]:
        """Keep what was chosen; what is wrong with it, by block id, else empty."""
        view: Payload = body["view"]
        team, _, channel = str(view["private_metadata"]).partition(":")
        user = str(body["user"]["id"])
        if not await self._manages(client, channel, user):
            return {"mode": NOT_YOURS}
        chosen = _chosen(view["state"]["values"], await self._settings_of(team, channel))
        kept = replace(chosen, changed_by=user, changed_at=self._clock.now())
        await self._store.set_channel(kept)
        log.info("channel_settings_changed", team=team, channel=channel, mode=kept.mode, sites=len(kept.sites))
        return {}

    async def _manages(self, client: AsyncWebClient, channel: str, user: str) -> bool:
        """Asked of Slack each time: who manages a channel changes."""
        if user in self._managers:
            return True
        try:
            about = (await call(client.conversations_info, channel=channel)).get("channel", {})
            if about.get("is_im") or about.get("creator") == user:
                return True
            person = (await call(client.users_info, user=user)).get("user", {})
            if not (person.get("is_admin") or person.get("is_owner")):
                return False
            members = await call(client.conversations_members, channel=channel, limit=1000)
            return user in members.get("members", [])
        except SlackRefused as error:
            log.info("manager_not_known", channel=channel, reason=str(error))
            return False

    def _view(self, settings: ChannelSettings, *, changeable: bool) -> Block:
        made = (
            self._inputs(settings) if changeable else [blocks.section(_summary(settings)), blocks.context([NOT_YOURS])]
        )
        view: Block = {
            "type": "modal",
            "callback_id": actions.SETTINGS_VIEW,
            "private_metadata": f"{settings.team}:{settings.channel}",
            "title": plain_text("ritbot in this channel", 24),
            "close": plain_text("Close", 24),
            "blocks": made,
        }
        return {**view, "submit": plain_text("Save", 24)} if changeable else view

    def _inputs(self, settings: ChannelSettings) -> list[Block]:
        mode = {
            "type": "static_select",
            "action_id": "value",
            "options": [_option(value, f"ritbot answers {label}") for value, label in MODE_LABELS.items()],
            "initial_option": _option(settings.mode, f"ritbot answers {MODE_LABELS[settings.mode]}"),
        }
        made = [_input("mode", "When to answer", mode)]
        if self._sites:
            sites: Block = {
                "type": "multi_static_select",
                "action_id": "value",
                "placeholder": plain_text("All", 150),
                "options": [_option(site, site) for site in self._sites],
            }
            if chosen := [site for site in settings.sites if site in self._sites]:
                sites["initial_options"] = [_option(site, site) for site in chosen]
            made.append(_input("sites", "Documentation to look in", sites, optional=True))
        if len(self._strategies) > 1:
            made.append(_input("strategy", "How to look", _strategies(self._strategies, settings.strategy)))
        language: Block = {"type": "plain_text_input", "action_id": "value", "max_length": 40}
        if settings.language:
            language["initial_value"] = settings.language
        made.append(_input("language", "Language of answers (empty: the question's)", language, optional=True))
        switches: Block = {
            "type": "checkboxes",
            "action_id": "value",
            "options": [_option(value, label) for value, label in SWITCH_LABELS.items()],
        }
        if on := [_option(value, label) for value, label in SWITCH_LABELS.items() if getattr(settings, value)]:
            switches["initial_options"] = on
        return [*made, _input("switches", "Also", switches, optional=True)]


def _chosen(values: Payload, before: ChannelSettings) -> ChannelSettings:
    """What the modal's state says; what it does not show stays as it was."""
    mode = _element(values, "mode").get("selected_option") or {}
    on = {option["value"] for option in _element(values, "switches").get("selected_options") or ()}
    sites = before.sites
    if "sites" in values:
        sites = tuple(option["value"] for option in _element(values, "sites").get("selected_options") or ())
    strategy = before.strategy
    if picked := _element(values, "strategy").get("selected_option"):
        strategy = "" if picked["value"] == AS_SET else picked["value"]
    return replace(
        before,
        strategy=strategy,
        mode=mode["value"] if mode.get("value") in MODE_LABELS else before.mode,
        sites=sites,
        language=" ".join(str(_element(values, "language").get("value") or "").split()),
        quiet="quiet" in on,
        extracts="extracts" in on,
        follow_ups="follow_ups" in on,
        change_notes="change_notes" in on,
    )


def _strategies(offered: Sequence[str], chosen: str) -> Block:
    """Slack takes no empty value: `AS_SET` stands for it."""
    options = {AS_SET: STRATEGY_LABELS[""], **{name: STRATEGY_LABELS[name] for name in offered}}
    initial = chosen if chosen in options else AS_SET
    return {
        "type": "static_select",
        "action_id": "value",
        "options": [_option(value, label) for value, label in options.items()],
        "initial_option": _option(initial, options[initial]),
    }


def _element(values: Payload, block_id: str) -> Payload:
    found: Payload = (values.get(block_id) or {}).get("value") or {}
    return found


def _option(value: str, label: str) -> Block:
    return {"text": plain_text(label, 75), "value": value[:150]}


def _input(block_id: str, label: str, element: Block, *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label, 2000),
        "element": element,
        "optional": optional,
    }


def _summary(settings: ChannelSettings) -> str:
    said = [
        f"*ritbot answers* {MODE_LABELS[settings.mode]}",
        f"*Documentation* {', '.join(settings.sites) or 'all'}",
        *([f"*How to look* {STRATEGY_LABELS.get(settings.strategy, settings.strategy)}"] if settings.strategy else []),
        f"*Language* {settings.language or 'the language of the question'}",
        *(f"• {label}" for value, label in SWITCH_LABELS.items() if getattr(settings, value)),
    ]
    return "\n".join(said)
