"""`ritbot slack init` and `ritbot doctor`: the steps that are left, and what is wrong with what is set."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bot.model import Installation
from deploy.commands.roles.slack import MANIFEST, init
from deploy.commands.upkeep.doctor import doctor
from deploy.settings.bot import BotSettings
from deploy.settings.index import IndexSettings
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store
from tests.fakes.slack import FakeSlack
from tests.fakes.slack.server import SCOPES
from tests.fakes.slack_bot import settings as settings_for

KEY = "x" * 43 + "="


async def said(settings: Settings) -> tuple[int, str]:
    out = StringIO()
    status = await init(settings, Console(file=out, width=120))
    return status, " ".join(out.getvalue().split())


async def test_with_nothing_set_it_says_the_steps(tmp_path: Path) -> None:
    status, text = await said(Settings(index=IndexSettings(folder=tmp_path)))
    assert status == 0
    assert MANIFEST.is_file()
    for step in ("From a manifest", str(MANIFEST), "RITBOT_SLACK__BOT_TOKEN", "connections:write", "ritbot serve"):
        assert step in text
    assert text.endswith("Nothing of it is set yet.")


async def test_tokens_that_are_right_are_told_with_workspace_and_bot(tmp_path: Path, slack: FakeSlack) -> None:
    status, text = await said(settings_for(tmp_path, slack))
    assert status == 0
    assert "✓ Slack: Acme, as @ritbot (Socket Mode); no scope is missing" in text
    assert "✓ Slack: the app token opens a connection" in text
    assert slack.bot_token not in text
    assert {call.method for call in slack.calls()} == {"auth.test", "apps.connections.open"}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"bot_token": "xoxb-wrong"}, "✗ Slack: the bot token cannot be used → Slack does not take the bot token (invalid_auth)"),
    ({"bot_token": "xapp-1-wrong"}, "slack.bot_token must begin with xoxb-"),
    ({"app_token": "xapp-wrong"}, "✗ Slack: the app token cannot be used → Slack does not take the app token"),
    ({"app_token": "xoxb-wrong"}, "(not_allowed_token_type): slack.app_token must begin with xapp-"),
    ({"app_token": None}, "✗ Slack: not everything is set → slack.app_token must be set (RITBOT_SLACK__APP_TOKEN)"),
    ({"bot_token": None}, "slack.bot_token must be set (RITBOT_SLACK__BOT_TOKEN)"),
    ({"mode": "http"}, "slack.signing_secret must be set (RITBOT_SLACK__SIGNING_SECRET)"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "wanted"), WRONG)
async def test_what_is_wrong_is_told_token_by_token(
    tmp_path: Path, slack: FakeSlack, changes: dict[str, Any], wanted: str
) -> None:
    status, text = await said(settings_for(tmp_path, slack, **changes))
    assert status == 1
    assert wanted in text
    assert not {"xoxb-wrong", "xapp-wrong", "xapp-1-wrong"} & set(text.split())


async def test_a_token_without_a_scope_or_of_a_person_is_found_out(tmp_path: Path, slack: FakeSlack) -> None:
    async with FakeSlack(scopes=set(SCOPES) - {"users:read", "groups:read"}) as poor:
        status, text = await said(settings_for(tmp_path, poor))
    assert status == 1
    assert (
        "the bot token lacks groups:read, users:read: add to the app what deploy/slack/manifest.yaml asks for" in text
    )
    slack.installation.bot_id = ""
    status, text = await said(settings_for(tmp_path, slack))
    assert status == 1
    assert "the token of a person" in text


async def test_a_slack_that_cannot_be_reached_is_told(tmp_path: Path, slack: FakeSlack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/api/"
    status, text = await said(settings_for(tmp_path, slack, api_url=nobody, bot_token=None))
    assert status == 1
    assert "✗ Slack: the app token cannot be used → Slack does not answer" in text


async def test_over_http_the_steps_are_others(tmp_path: Path, slack: FakeSlack) -> None:
    one = settings_for(tmp_path, slack, mode="http", app_token=None, signing_secret="s")
    status, text = await said(one)
    assert status == 0
    assert "/slack/events must reach ritbot" in text
    assert "RITBOT_SLACK__SIGNING_SECRET" in text
    assert "RITBOT_SLACK__APP_TOKEN" not in text
    assert "as @ritbot (HTTP)" in text


async def test_where_workspaces_install_it_each_of_their_tokens_is_tried(tmp_path: Path, slack: FakeSlack) -> None:
    app = {"mode": "http", "app_token": None, "bot_token": None, "signing_secret": "s"}
    app |= {"client_id": slack.client_id, "client_secret": slack.client_secret}
    settings = settings_for(tmp_path, slack, bot=BotSettings(keys=KEY), **app)
    status, text = await said(settings)
    assert status == 0
    assert "RITBOT_BOT__KEYS" in text
    assert "· Slack: 0 workspaces have installed the app (HTTP)" in text
    async with open_bot_store(settings) as store:
        for team, token in (("T1", slack.bot_token), ("T2", "xoxb-old")):
            await store.install(Installation(team, "", token, "U1", (), datetime(2026, 5, 1, tzinfo=UTC)))
    status, text = await said(settings)
    assert status == 1
    assert "✗ Slack: T2: Slack refused: invalid_auth → Install the app there again." in text
    assert "✓ Slack: 2 workspaces have installed the app (HTTP)" in text
    status, text = await said(settings_for(tmp_path, slack, **app))
    assert status == 1
    assert "bot.keys" in text


async def test_doctor_shows_slack_where_it_is_set_up_and_says_nothing_of_it_elsewhere(
    tmp_path: Path, slack: FakeSlack
) -> None:
    out = StringIO()
    await doctor(settings_for(tmp_path / "none", slack), Console(file=out, width=200), None)
    assert "✓ Slack: Acme, as @ritbot (Socket Mode); no scope is missing" in out.getvalue()
    out = StringIO()
    assert await doctor(settings_for(tmp_path / "none", slack, bot_token="xoxb-wrong"), Console(file=out), None) == 1
    out = StringIO()
    await doctor(Settings(index=IndexSettings(folder=tmp_path / "none")), Console(file=out, width=200), None)
    assert "Slack" not in out.getvalue()
