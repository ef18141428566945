"""Slack over HTTP: the whole bot behind its own server, called by the fake Slack with signed requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession

from bot.slack.inbound.app import SHORTCUT, heading
from bot.slack.inbound.http_mode import EVENTS_PATH, MAX_SLACK_BODY_BYTES
from bot.slack.render import actions
from deploy.settings.messages import SettingsError
from deploy.settings.slack import CALLED, SlackSettings
from tests.fakes.slack import FakeSlack, words
from tests.fakes.slack_bot import over_http

QUESTION = "How do I prime a pump with water?"


async def test_events_interactivity_and_commands_are_answered(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with over_http(tmp_path, slack) as (ritbot, _):
        assert slack.webhook
        assert await slack.webhook.verify()
        question = await ada.mention(general, QUESTION)
        [answer] = await ritbot.answered(question, general)
        assert "Fill the pump with water first." in words(answer)
        await ada.press(answer, actions.SHOW_TRACE)
        await slack.until(lambda: slack.state.modals.get(ada.id))
        command = await bob.command(general, "/ask", QUESTION)
        said = command.answer if isinstance(command.answer, str) else command.answer["text"]
        assert said == heading(QUESTION)
        await slack.until(lambda: any(m.only_for == bob.id and m.blocks for m in slack.said_in(general)))
        other = await bob.say(general, "no idea: how do I prime a pump with water")
        await ada.shortcut(other, SHORTCUT)
        assert "Fill the pump" in words((await ritbot.answered(other, general))[0])
        await slack.settled()
    assert not slack.socket.connections
    assert {delivery.acked for delivery in slack.deliveries.all} == {True}
    assert {len(delivery.attempts) for delivery in slack.deliveries.all} == {1}


async def test_a_retry_is_acknowledged_and_answered_once(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with over_http(tmp_path, slack) as (ritbot, _):
        question = await ada.mention(general, QUESTION)
        await ritbot.answered(question, general)
        for delivery in [one for one in slack.deliveries.all if one.kind == "events_api"]:
            slack.deliveries.again(delivery, times=2)
        await slack.settled()
        await ritbot.idle()
        assert len(await ritbot.answered(question, general)) == 1
        assert len(await ritbot.exchanges()) == 1
    assert {attempt.failed for delivery in slack.deliveries.all for attempt in delivery.attempts} == {""}


async def test_what_cannot_be_written_down_is_not_acknowledged_and_comes_again(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with over_http(tmp_path, slack) as (ritbot, _):
        slack.deliveries.retries_after = (0.0, 0.0, 0.0)
        ritbot.events.down = True
        question = await ada.mention(general, QUESTION)
        await slack.settled()
        assert await ritbot.exchanges() == []
        ritbot.events.down = False
        for delivery in [one for one in slack.deliveries.all if not one.acked]:
            slack.deliveries.again(delivery)
        await ritbot.answered(question, general)
    mention = next(one for one in slack.deliveries.all if one.type == "app_mention")
    assert [attempt.failed for attempt in mention.attempts] == ["http_error"] * 4 + [""]


def signed(body: str, secret: str, *, at: str = "", prefix: str = "v0=") -> dict[str, str]:
    stamp = at or str(int(time.time()))
    mac = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": prefix + mac}


def forged(body: str, secret: str) -> Iterator[tuple[str, dict[str, str]]]:
    """What a body may come with that Slack did not sign just now."""
    good = signed(body, secret)
    yield "without a signature", {}
    yield "with an empty signature", good | {"X-Slack-Signature": ""}
    yield "without a timestamp", {"X-Slack-Signature": good["X-Slack-Signature"]}
    yield "with another secret", signed(body, "another secret")
    yield "signed long ago", signed(body, secret, at=str(int(time.time()) - 301))
    yield "signed in the future", signed(body, secret, at=str(int(time.time()) + 301))
    yield "with a timestamp that is no number", signed(body, secret, at="yesterday")
    yield "with a negative timestamp", signed(body, secret, at="-1")
    yield "with an endless timestamp", signed(body, secret, at="1" * 5000)
    yield "with a signature of another body", signed(body + " ", secret)
    yield "with a signature that is not ASCII", good | {"X-Slack-Signature": "v0=é" + "0" * 63}


async def test_people_of_other_companies_are_let_in_by_one_setting_and_guests_by_another(
    tmp_path: Path, slack: FakeSlack
) -> None:
    partner = slack.team("Partner")
    olga, gus = slack.person("Olga", team=partner), slack.person("Gus", guest="single")
    shared, general = slack.channel("shared", shared_with=[partner]), slack.channel("general")
    for name, doors, asked in (("a", {"shared_channels": True}, [olga.id]), ("b", {"guests": True}, [gus.id])):
        async with over_http(tmp_path / name, slack, answers=False, **doors) as (ritbot, _):
            await olga.mention(shared, QUESTION)
            await gus.mention(general, QUESTION)
            await slack.settled()
            assert [exchange.question.user for exchange in await ritbot.exchanges()] == asked


BODIES = ('{"type": "url_verification", "challenge": "c"}', "ssl_check=1&token=t", "{", "payload={", "", "€")


async def test_what_slack_did_not_sign_gets_401_and_is_not_read(tmp_path: Path, slack: FakeSlack) -> None:
    async with over_http(tmp_path, slack, answers=False) as (_, address), ClientSession() as session:
        for body in BODIES:
            for what, headers in forged(body, slack.signing_secret):
                typed = {"Content-Type": "application/json", **headers}
                async with session.post(address + EVENTS_PATH, data=body.encode(), headers=typed) as response:
                    assert response.status == 401, (body, what)
                    assert list(await response.json()) == ["error"]


async def test_a_body_that_is_no_text_is_not_slacks(tmp_path: Path, slack: FakeSlack) -> None:
    async with over_http(tmp_path, slack, answers=False) as (_, address), ClientSession() as session:
        async with session.post(
            address + EVENTS_PATH, data=b"\xff\xfe", headers=signed("", slack.signing_secret)
        ) as response:
            assert response.status == 401
        headers = signed("{", slack.signing_secret)
        async with session.post(address + EVENTS_PATH, data="{", headers=headers) as response:
            assert response.status == 400
        async with session.get(address + EVENTS_PATH) as response:
            assert response.status == 405


async def test_a_body_that_is_too_large_is_let_go_be_its_length_told_or_not(tmp_path: Path, slack: FakeSlack) -> None:
    body = "x" * (MAX_SLACK_BODY_BYTES + 1)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 100_000):
            yield body[start : start + 100_000].encode()

    async with over_http(tmp_path, slack, answers=False) as (_, address), ClientSession() as session:
        headers = signed(body, slack.signing_secret)
        for data in (io.BytesIO(body.encode()), pieces()):
            async with session.post(address + EVENTS_PATH, data=data, headers=headers) as response:
                assert response.status == 413


async def test_a_form_is_read_with_whatever_words_it_holds(tmp_path: Path, slack: FakeSlack) -> None:
    """A command's text is what a person typed."""
    fields = {"command": "/ask", "text": "Grüße & 100 % = {?}", "team_id": slack.installation.team, "user_id": "U1"}
    body = urlencode({**fields, "channel_id": "C1", "trigger_id": "1.2", "response_url": f"{slack.url}/respond/x"})
    async with over_http(tmp_path, slack, answers=False, guests=True) as (ritbot, address), ClientSession() as session:
        headers = signed(body, slack.signing_secret) | {"Content-Type": "application/x-www-form-urlencoded"}
        async with session.post(address + EVENTS_PATH, data=body, headers=headers) as response:
            assert response.status == 200
        [exchange] = await ritbot.exchanges()
        assert exchange.question.text == "Grüße & 100 % = {?}"


async def test_many_at_once_are_all_acknowledged_in_time(tmp_path: Path, slack: FakeSlack) -> None:
    ada = slack.person("Ada")
    rooms = [slack.channel(f"room-{n}") for n in range(10)]
    async with over_http(tmp_path, slack, answers=False) as (ritbot, _):
        await asyncio.gather(*(ada.mention(room, QUESTION) for room in rooms))
        await slack.settled()
        assert len(await ritbot.exchanges()) == 10
    taken = [attempt.seconds for delivery in slack.deliveries.all for attempt in delivery.attempts]
    assert len(taken) == 20
    assert all(seconds is not None and seconds < 3 for seconds in taken)


def test_what_must_be_set_is_told_by_name() -> None:
    assert CALLED == EVENTS_PATH
    nothing, http = SlackSettings(), SlackSettings(mode="http")
    with pytest.raises(SettingsError, match=r"slack\.bot_token and slack\.app_token must be set \(RITBOT_SLACK__BOT"):
        nothing.check()
    with pytest.raises(SettingsError, match=r"^slack\.bot_token must be set"):
        nothing.check(listens=False)
    with pytest.raises(SettingsError, match=r"slack\.bot_token and slack\.signing_secret must be set"):
        http.check()
    several = {"mode": "http", "client_id": "1.2"}
    with pytest.raises(SettingsError, match=r"slack\.signing_secret and slack\.client_secret must be set"):
        SlackSettings(**several).check()
    SlackSettings(**several).check(listens=False)
    with pytest.raises(SettingsError, match="set one of them"):
        SlackSettings(**several, bot_token="xoxb-1").check()
    SlackSettings(bot_token="xoxb-1").check(listens=False)
    SlackSettings(bot_token="xoxb-1", app_token="xapp-1").check()
    SlackSettings(mode="http", bot_token="xoxb-1", signing_secret="s").check()
