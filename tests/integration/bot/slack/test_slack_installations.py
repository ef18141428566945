"""Several workspaces: each installs the app by itself, is answered with its own token, and can take the app away."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession
from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Installation as Granted

from bot.slack.inbound.oauth import INSTALL_PATH, REDIRECT_PATH, SignedStates, installation_of
from bot.slack.workspaces import NEEDED_SCOPES
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from deploy.settings.bot import BotSettings
from deploy.settings.messages import SettingsError
from tests.fakes.exchanges import SetClock
from tests.fakes.slack import SERVER_ERROR, FakeSlack, Fault, Team, words
from tests.fakes.slack_bot import Bot, bot, over_http

QUESTION = "How do I prime a pump with water?"
KEY = "x" * 43 + "="
COOKIE = "slack-app-oauth-state"

pytestmark = pytest.mark.filterwarnings(
    "ignore:BasicAuth is deprecated:DeprecationWarning"
)  # slack_sdk's own use of it


@asynccontextmanager
async def several(folder: Path, slack: FakeSlack, **changes: Any) -> AsyncIterator[tuple[Bot, str]]:
    """The bot without a token of its own."""
    app = {"bot_token": None, "client_id": slack.client_id, "client_secret": slack.client_secret}
    async with over_http(folder, slack, **{**app, "bot": BotSettings(keys=KEY), **changes}) as running:
        yield running


async def begin(address: str, query: str = "") -> tuple[dict[str, str], str]:
    """Opens the installation: what Slack is asked with, and the cookie that the browser keeps."""
    async with (
        ClientSession() as session,
        session.get(address + INSTALL_PATH + query, allow_redirects=False) as response,
    ):
        assert response.status == 302
        asked = {name: values[0] for name, values in parse_qs(urlsplit(response.headers["Location"]).query).items()}
        cookie = SimpleCookie(response.headers["Set-Cookie"])[COOKIE]
        assert cookie["secure"]
        assert cookie["httponly"]
        assert cookie["samesite"] == "lax"
        return asked, cookie.value


async def come_back(address: str, state: str, cookie: str, **query: str) -> tuple[int, str]:
    async with (
        ClientSession(cookies={COOKIE: cookie} if cookie else None) as session,
        session.get(address + REDIRECT_PATH, params={"state": state, **query}) as response,
    ):
        return response.status, await response.text()


async def install(address: str, slack: FakeSlack, team: Team, *, organisation: bool = False) -> None:
    asked, cookie = await begin(address)
    code = slack.oauth_code(team, organisation=organisation)
    status, page = await come_back(address, asked["state"], cookie, code=code)
    assert status == 200, page


async def test_two_workspaces_side_by_side_are_answered_each_with_its_own_token(
    tmp_path: Path, slack: FakeSlack
) -> None:
    acme, beta = slack.team("Acme"), slack.team("Beta")
    async with several(tmp_path, slack) as (ritbot, address):
        await install(address, slack, acme)
        await install(address, slack, beta)
        ada, bea = slack.person("Ada", team=acme), slack.person("Bea", team=beta)
        general, lounge = slack.channel("general"), slack.channel("lounge", team=beta)
        one, two = await ada.mention(general, QUESTION), await bea.mention(lounge, QUESTION)
        for question, channel in ((one, general), (two, lounge)):
            [answer] = await ritbot.answered(question, channel)
            assert "Fill the pump with water first." in words(answer)
        await bea.command(lounge, "/ask", QUESTION)
        await slack.until(lambda: any(m.only_for == bea.id and m.blocks for m in slack.said_in(lounge)))
        posts = [call for call in slack.calls("chat.postMessage") if call.ok]
        assert sorted((call.team, call.arguments["channel"]) for call in posts) == sorted(
            [(acme.id, general.id), (beta.id, lounge.id)]
        )


async def test_tokens_are_sealed_at_rest_and_asked_for_with_the_scopes_that_are_needed(
    tmp_path: Path, slack: FakeSlack
) -> None:
    team = slack.team("Beta")
    async with several(tmp_path, slack, answers=False) as (ritbot, address):
        asked, _ = await begin(address, "?team=T1%26redirect_uri%3Dhttps%3A%2F%2Fevil.example")
        assert asked["client_id"] == slack.client_id
        assert set(asked["scope"].split(",")) == set(NEEDED_SCOPES)
        assert "redirect_uri" not in asked
        assert "team" not in asked
        await install(address, slack, team)
        [kept] = [each async for each in ritbot.store.installations()]
        granted = slack.state.installations[team.id]
        assert (kept.team, kept.bot_token, kept.bot_user) == (team.id, granted.token, granted.bot_user)
        assert set(kept.scopes) == granted.scopes
    files = b"".join(path.read_bytes() for path in tmp_path.glob("bot.sqlite*"))  # noqa: ASYNC240
    assert team.id.encode() in files
    assert granted.token.encode() not in files
    async with several(tmp_path, slack) as (ritbot, _):
        bea, lounge = slack.person("Bea", team=team), slack.channel("lounge", team=team)
        await ritbot.answered(await bea.mention(lounge, QUESTION), lounge)


async def test_without_a_key_it_does_not_start_and_says_how_to_make_one(tmp_path: Path, slack: FakeSlack) -> None:
    with pytest.raises(SettingsError, match=r"bot\.keys must be set .*RITBOT_BOT__KEYS.*openssl rand"):
        async with several(tmp_path, slack, bot=BotSettings()):
            pass
    async with bot(tmp_path / "one", slack, answers=False):
        pass


async def test_where_one_token_is_set_nobody_installs(tmp_path: Path, slack: FakeSlack) -> None:
    async with over_http(tmp_path, slack, answers=False) as (_, address), ClientSession() as session:
        for path in (INSTALL_PATH, REDIRECT_PATH):
            async with session.get(address + path) as response:
                assert response.status == 404
        slack.uninstall()
        await slack.settled()
    assert [delivery.acked for delivery in slack.deliveries.all] == [True, True]


async def test_installed_again_it_uses_the_new_token(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta")
    async with several(tmp_path, slack) as (ritbot, address):
        await install(address, slack, beta)
        bea, lounge = slack.person("Bea", team=beta), slack.channel("lounge", team=beta)
        await ritbot.answered(await bea.mention(lounge, QUESTION), lounge)
        slack.state.installations[beta.id].revoked = True
        await install(address, slack, beta)
        lounge.members.add(slack.state.installations[beta.id].bot_user)
        await ritbot.answered(await bea.mention(lounge, QUESTION), lounge)
        [kept] = [each async for each in ritbot.store.installations()]
        assert kept.bot_token == slack.state.installations[beta.id].token


async def test_taken_away_it_is_forgotten_there_and_goes_on_elsewhere(tmp_path: Path, slack: FakeSlack) -> None:
    acme, beta = slack.team("Acme"), slack.team("Beta")
    async with several(tmp_path, slack) as (ritbot, address):
        await install(address, slack, acme)
        await install(address, slack, beta)
        slack.uninstall(slack.state.installations[beta.id])
        await slack.settled()
        assert [each.team async for each in ritbot.store.installations()] == [acme.id]
        ada, general = slack.person("Ada", team=acme), slack.channel("general")
        await ritbot.answered(await ada.mention(general, QUESTION), general)
    assert all(delivery.acked for delivery in slack.deliveries.all)


async def test_an_uninstallation_told_late_does_not_remove_a_new_installation(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta")
    async with several(tmp_path, slack, answers=False) as (ritbot, address):
        await install(address, slack, beta)
        slack.deliveries.hold()
        slack.uninstall(slack.state.installations[beta.id])
        await install(address, slack, beta)
        slack.deliveries.release()
        await slack.settled()
        assert [each.team async for each in ritbot.store.installations()] == [beta.id]


async def test_an_uninstallation_that_cannot_be_checked_is_told_again(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta")
    async with several(tmp_path, slack, answers=False) as (ritbot, address):
        await install(address, slack, beta)
        slack.deliveries.retries_after = ()
        slack.faults.always("auth.test", Fault(error="internal_error"))
        slack.deliveries.ack_within = 10
        slack.uninstall(slack.state.installations[beta.id])
        await slack.settled()
        assert not any(delivery.acked for delivery in slack.deliveries.all)
        assert [each.team async for each in ritbot.store.installations()] == [beta.id]
        slack.faults.none()
        slack.deliveries.again(slack.deliveries.all[0])
        await slack.settled()
        assert [each.team async for each in ritbot.store.installations()] == []


async def test_a_question_from_where_it_is_not_installed_is_acknowledged_and_not_answered(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with several(tmp_path, slack) as (ritbot, _):
        await ada.mention(general, QUESTION)
        command = await ada.command(general, "/ask", QUESTION)
        await slack.settled()
        assert await ritbot.exchanges() == []
        assert [m.text for m in slack.said_in(general) if m.only_for] == [
            "I am not installed in this workspace any more: ask whoever manages your apps to install me again."
        ]
        assert command.acked
    assert all(delivery.acked for delivery in slack.deliveries.all)
    assert slack.calls("chat.postMessage") == []


async def test_a_question_that_waits_while_the_app_is_taken_away_holds_up_nobody(
    tmp_path: Path, slack: FakeSlack
) -> None:
    acme, beta = slack.team("Acme"), slack.team("Beta")
    async with several(tmp_path / "ears", slack, answers=False, shared=tmp_path) as (ritbot, address):
        await install(address, slack, acme)
        await install(address, slack, beta)
        bea, lounge = slack.person("Bea", team=beta), slack.channel("lounge", team=beta)
        ada, general = slack.person("Ada", team=acme), slack.channel("general")
        await bea.mention(lounge, QUESTION)
        await slack.settled()
        slack.uninstall(slack.state.installations[beta.id])
        question = await ada.mention(general, QUESTION)
        await slack.settled()
    async with several(tmp_path / "mouth", slack, shared=tmp_path) as (ritbot, _):
        await ritbot.answered(question, general)
        await ritbot.idle()
        assert len(slack.thread(lounge, slack.said_in(lounge)[0])) == 1


async def test_an_organisation_installs_once_for_all_its_workspaces(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta", enterprise="E0001")
    async with several(tmp_path, slack) as (ritbot, address):
        await install(address, slack, beta, organisation=True)
        [kept] = [each async for each in ritbot.store.installations()]
        assert (kept.enterprise, kept.team) == ("E0001", "")
        bea, lounge = slack.person("Bea", team=beta), slack.channel("lounge", team=beta)
        await ritbot.answered(await bea.mention(lounge, QUESTION), lounge)
        await bea.command(lounge, "/ask", QUESTION)
        await slack.until(lambda: any(m.only_for == bea.id and m.blocks for m in slack.said_in(lounge)))
        slack.uninstall(slack.state.installations[beta.id])
        await slack.settled()
        assert [each async for each in ritbot.store.installations()] == []


async def test_a_workspace_of_an_organisation_may_install_by_itself(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta", enterprise="E0001")
    async with several(tmp_path, slack) as (ritbot, address):
        await install(address, slack, beta)
        [kept] = [each async for each in ritbot.store.installations()]
        assert (kept.enterprise, kept.team) == ("E0001", beta.id)
        bea, lounge = slack.person("Bea", team=beta), slack.channel("lounge", team=beta)
        await ritbot.answered(await bea.mention(lounge, QUESTION), lounge)


async def test_only_who_left_from_here_comes_back_and_once(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta")
    async with (
        several(tmp_path / "a", slack, answers=False, shared=tmp_path) as (ritbot, here),
        several(tmp_path / "b", slack, answers=False, shared=tmp_path) as (_, there),
    ):
        asked, cookie = await begin(here)
        state, code = asked["state"], slack.oauth_code(beta)
        until, nonce, mac = state.split(".")
        longer = f"{int(until) + 600}.{nonce}.{mac}"
        assert (await come_back(here, state, "", code=code))[0] == 400
        assert (await come_back(here, state, "another", code=code))[0] == 400
        assert (await come_back(here, longer, longer, code=code))[0] == 401
        assert (await come_back(here, "x", "x", code=code))[0] == 401
        assert (await come_back(here, state, cookie))[0] == 401
        assert [each async for each in ritbot.store.installations()] == []
        asked, cookie = await begin(here)
        assert (await come_back(there, asked["state"], cookie, code=code))[0] == 200
        assert (await come_back(here, asked["state"], cookie, code=slack.oauth_code(beta)))[0] == 401
        assert [each.team async for each in ritbot.store.installations()] == [beta.id]


async def test_what_goes_wrong_on_the_way_is_a_page_and_no_installation(tmp_path: Path, slack: FakeSlack) -> None:
    async with several(tmp_path, slack, answers=False) as (ritbot, address):
        status, page = await come_back(address, "", "", error="access_denied")
        assert (status, "access_denied" in page) == (200, True)
        status, page = await come_back(address, "", "", error="<script>alert(1)</script>")
        assert "<script>alert" not in page
        asked, cookie = await begin(address)
        assert (await come_back(address, asked["state"], cookie, code="made up"))[0] == 401
        for fault in (SERVER_ERROR, Fault(drops=True)):
            asked, cookie = await begin(address)
            slack.faults.next("oauth.v2.access", fault)
            status, page = await come_back(address, asked["state"], cookie, code=slack.oauth_code(slack.team("Beta")))
            assert status in (401, 503), page
            assert "Traceback" not in page
        assert [each async for each in ritbot.store.installations()] == []


async def test_a_state_is_good_for_ten_minutes(tmp_path: Path) -> None:
    clock = SetClock(datetime(2026, 5, 1, tzinfo=UTC))
    async with SqliteBotStore(tmp_path / "bot.sqlite", KeySeal(()), clock) as store:
        one, other = SignedStates(store, clock, "secret"), SignedStates(store, clock, "another")
        early, late = await one.async_issue(), await one.async_issue()
        assert early != late
        assert not await other.async_consume(early)
        clock.time += timedelta(minutes=9)
        assert await one.async_consume(early)
        assert not await one.async_consume(early)
        clock.time += timedelta(minutes=1)
        assert not await one.async_consume(late)
        for wrong in ("", ".", "é.é", "1.2.3", late + "0"):
            assert not await one.async_consume(wrong)


def granted(**changes: Any) -> Granted:
    return Granted(**{"team_id": "T1", "bot_token": "xoxb-1", "user_id": "U1", "bot_user_id": "UB", **changes})


def test_what_is_no_lasting_token_of_a_bot_is_not_kept() -> None:
    kept = installation_of(granted(bot_id="B1", bot_scopes="chat:write,commands", team_name="Acme"))
    assert (kept.team, kept.enterprise, kept.bot_user, kept.scopes) == ("T1", "", "UB", ("chat:write", "commands"))
    assert json.loads(kept.data) == {"app_id": None, "bot_id": "B1", "installer": "U1", "name": "Acme"}
    whole = installation_of(granted(is_enterprise_install=True, enterprise_id="E1", enterprise_name="Acme Inc"))
    assert (whole.team, whole.enterprise, json.loads(whole.data)["name"]) == ("", "E1", "Acme Inc")
    with pytest.raises(BoltError, match="token rotation"):
        installation_of(granted(bot_refresh_token="xoxe-1", bot_token_expires_in=43_200))
    for wrong in (granted(bot_token=None), granted(team_id=None), granted(is_enterprise_install=True)):
        with pytest.raises(BoltError, match="no bot token"):
            installation_of(wrong)
