"""`ritbot slack` and `ritbot slack init` as an operator runs them, against a fake Slack."""

from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path

from bot.slack.inbound.http_mode import EVENTS_PATH
from tests.e2e.commands import RITBOT, environment, ritbot
from tests.fakes.slack import FakeSlack


def test_nothing_set_is_no_fault_of_init_and_one_of_the_listeners(tmp_path: Path) -> None:
    listened, inited = ritbot(tmp_path, "slack", fresh=True), ritbot(tmp_path, "slack", "init", fresh=True)
    assert listened.returncode == 2
    assert "slack.bot_token and slack.app_token must be set" in listened.stderr
    assert inited.returncode == 0
    assert "From a manifest" in inited.stdout
    assert "Nothing of it is set yet." in inited.stdout
    assert list(tmp_path.iterdir()) == []


async def test_init_reads_the_settings_file_wherever_it_is_named(tmp_path: Path) -> None:
    async with FakeSlack() as slack:
        settings = tmp_path / "other.toml"
        settings.write_text(f'[slack]\napi_url = "{slack.base_url}"\n')
        tokens = {"RITBOT_SLACK__BOT_TOKEN": slack.bot_token, "RITBOT_SLACK__APP_TOKEN": "xapp-wrong"}
        for arguments in (("slack", "-c", str(settings), "init"), ("slack", "init", "-c", str(settings))):
            tried = await asyncio.to_thread(ritbot, tmp_path, *arguments, env=tokens)
            assert tried.returncode == 1, tried.stderr
            assert "✓ Slack: Acme, as @ritbot" in tried.stdout
            assert "✗ Slack: the app token cannot be used" in tried.stdout


async def test_over_http_it_serves_slack_until_it_is_told_to_stop(tmp_path: Path) -> None:
    async with FakeSlack() as slack:
        settings = {
            "API_URL": slack.base_url,
            "BOT_TOKEN": slack.bot_token,
            "SIGNING_SECRET": slack.signing_secret,
            "MODE": "http",
        }
        process = await asyncio.create_subprocess_exec(
            *RITBOT,
            "slack",
            cwd=tmp_path,
            env=environment(
                PYTHONUNBUFFERED="1",
                RITBOT_INDEX__FOLDER=str(tmp_path / "nothing indexed yet"),
                **{f"RITBOT_SLACK__{name}": value for name, value in settings.items()},
            ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await _serves_until_told(process, slack)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def _serves_until_told(process: asyncio.subprocess.Process, slack: FakeSlack) -> None:
    assert process.stdout
    async with asyncio.timeout(60):
        hello = (await process.stdout.readline()).decode()
    found = re.search(r"Health at (http://[\d.:]+)/readyz", hello)
    assert found, hello
    assert await slack.over_http(found[1] + EVENTS_PATH).verify()
    ada, general = slack.person("Ada"), slack.channel("general")
    await ada.mention(general, "How do I prime a pump?")
    await slack.settled()
    assert all(delivery.acked for delivery in slack.deliveries.all)
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(30):
        assert (await process.stdout.read()).decode() == "Stopped.\n"
        assert await process.wait() == 0
