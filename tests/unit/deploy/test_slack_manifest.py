"""The manifest of the Slack app and the code ask for the same: scopes, events, commands, shortcuts, addresses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from bot.slack.inbound.app import ASK_COMMAND, CITE_COMMAND, CITE_SHORTCUT, RITBOT_COMMAND, SHORTCUT
from bot.slack.inbound.http_mode import EVENTS_PATH
from bot.slack.inbound.oauth import REDIRECT_PATH
from bot.slack.inbound.sign_in import SCOPES as SIGN_IN_SCOPES
from bot.slack.workspaces import NEEDED_SCOPES
from bot.web.sign_in import SIGNED_IN_PATH
from tests.fakes.slack import web_api
from tests.fakes.slack.events import SCOPE_OF

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "deploy/slack/manifest.yaml").read_text(encoding="utf-8")
MANIFEST: dict[str, Any] = yaml.safe_load(TEXT)
SETTINGS, FEATURES = MANIFEST["settings"], MANIFEST["features"]
UNFOLDING: dict[str, Any] = yaml.safe_load(TEXT.replace("#web ", ""))
"""As it is where permalinks are unfolded: all that the code can do."""
SCOPES: list[str] = UNFOLDING["oauth_config"]["scopes"]["bot"]
EVENTS_HEARD: list[str] = UNFOLDING["settings"]["event_subscriptions"]["bot_events"]


def methods_called() -> Iterator[str]:
    """Of Slack's Web API, in the code: client.chat_postMessage is chat.postMessage."""
    known = {name.replace(".", "_"): name for name in web_api.METHODS}
    for path in sorted((ROOT / "bot/slack").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in known:
                yield known[node.attr]


def events_registered() -> set[str]:
    source = (ROOT / "bot/slack/inbound/app.py").read_text(encoding="utf-8")
    return set(re.findall(r'app\.event\("(\w+)"\)', source))


def test_the_scopes_are_those_that_the_code_asks_for_each_with_its_reason() -> None:
    assert sorted(MANIFEST["oauth_config"]["scopes"]["bot"]) == sorted(NEEDED_SCOPES)
    assert set(SCOPES) - set(NEEDED_SCOPES) == {"links:read", "links:write"}
    for scope in SCOPES:
        assert re.search(rf"^ +(?:#web )?- {re.escape(scope)} # \S.{{8,}}$", TEXT, re.MULTILINE), scope


def test_every_method_that_is_called_and_every_event_has_its_scope() -> None:
    called = set(methods_called())
    assert {"chat.postMessage", "conversations.replies", "users.info", "views.open"} <= called
    lacking = {name for name in called if (needed := web_api.METHODS[name].scopes) and not {*needed} & {*SCOPES}}
    assert lacking == set()
    read = {f"{kind}:{what}" for kind in ("channels", "groups", "im") for what in ("history", "read")}
    assert read <= set(SCOPES)  # conversations.*: by the kind of channel
    assert {scope for event in EVENTS_HEARD if (scope := SCOPE_OF[event])} <= set(SCOPES)


def test_no_scope_is_asked_for_that_nothing_takes() -> None:
    called = set(methods_called())
    taken = {scope for name in called for scope in web_api.METHODS[name].scopes}
    taken |= {SCOPE_OF[event] for event in EVENTS_HEARD}
    taken |= {f"{kind}:read" for kind in ("channels", "groups", "im") if "conversations.info" in called}
    assert set(SCOPES) - taken == {"commands"}


def test_events_are_subscribed_to_where_the_code_hears_them_and_nowhere_else() -> None:
    heard = events_registered()
    assert "agent_session_stopped" in heard
    assert {event.partition(".")[0] for event in EVENTS_HEARD} == heard
    assert {event for event in EVENTS_HEARD if event.startswith("message.")} == {
        "message.channels", "message.groups", "message.im",
    }  # fmt: skip


def test_commands_and_shortcuts_are_those_of_the_code() -> None:
    assert [command["command"] for command in FEATURES["slash_commands"]] == [ASK_COMMAND, CITE_COMMAND, RITBOT_COMMAND]
    assert [(each["type"], each["callback_id"]) for each in FEATURES["shortcuts"]] == [
        ("message", SHORTCUT),
        ("message", CITE_SHORTCUT),
    ]


def test_texts_keep_within_slacks_limits() -> None:
    assert len(FEATURES["agent_view"]["agent_description"]) <= 300
    assert 1 <= len(FEATURES["agent_view"]["suggested_prompts"]) <= 4
    assert len(MANIFEST["display_information"]["description"]) <= 140
    assert all(len(each["name"]) <= 24 and len(each["description"]) <= 150 for each in FEATURES["shortcuts"])


def test_as_it_stands_it_is_for_socket_mode_and_needs_no_address() -> None:
    assert SETTINGS["socket_mode_enabled"] is True
    assert SETTINGS["interactivity"]["is_enabled"] is True
    assert "example.com" not in str(MANIFEST)


def test_over_http_every_address_is_one_that_ritbot_serves() -> None:
    over_http = yaml.safe_load(
        TEXT.replace("#http ", "").replace("socket_mode_enabled: true", "socket_mode_enabled: false")
    )
    called = f"https://ritbot.example.com{EVENTS_PATH}"
    assert over_http["settings"]["event_subscriptions"]["request_url"] == called
    assert over_http["settings"]["interactivity"]["request_url"] == called
    assert {command["url"] for command in over_http["features"]["slash_commands"]} == {called}
    assert over_http["oauth_config"]["redirect_urls"] == [f"https://ritbot.example.com{REDIRECT_PATH}"]


def test_for_signing_in_it_names_where_slack_sends_people_back_to_and_what_it_may_tell() -> None:
    oauth = yaml.safe_load(TEXT.replace("#sign-in ", ""))["oauth_config"]
    assert oauth["redirect_urls"] == [f"https://kb.example.com{SIGNED_IN_PATH}"]
    assert oauth["scopes"]["user"] == SIGN_IN_SCOPES.split()
    assert "user" not in MANIFEST["oauth_config"]["scopes"]
