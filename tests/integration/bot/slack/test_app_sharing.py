"""Two ritbots with data of their own on one Slack app: found out and told, by what Slack shows of the other; two that share
their data are none of that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bot.slack.app_sharing import is_shared
from bot.slack.inbound.http_mode import EVENTS_PATH
from bot.slack.inbound.interactions import ANSWER_UNKNOWN
from bot.slack.render import actions
from deploy.commands.display import show_findings
from deploy.commands.upkeep.slack_check import slack_findings
from deploy.wiring.stores import SystemClock
from tests.fakes.messages_api import MessagesApi
from tests.fakes.slack import FakeSlack, labels
from tests.fakes.slack_bot import Bot, bot, over_http, settings, written
from tests.fakes.writer import Writer
from tests.waiting import eventually

QUESTION = "How do I prime a pump with water?"


def told(ritbot: Bot) -> Callable[[], Awaitable[bool]]:
    async def found_out() -> bool:
        return await is_shared(ritbot.store, SystemClock().now())

    return found_out


async def test_slack_counts_more_connections_than_the_store_knows_of(tmp_path: Path, slack: FakeSlack) -> None:
    async with bot(tmp_path / "a", slack) as one, bot(tmp_path / "b", slack) as two:
        await eventually(told(two))
        assert not await told(one)(), "it was alone when it connected"
    out = StringIO()
    assert await show_findings(slack_findings(settings(tmp_path / "b", slack)), Console(file=out, width=200)) == 1
    assert re.search("✗ .*another ritbot answers for the same app", out.getvalue())


async def test_a_connection_that_is_changed_and_replicas_that_share_their_data_are_no_others(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path / "a", slack, shared=tmp_path) as one, bot(tmp_path / "b", slack, shared=tmp_path):
        opened = slack.socket.opened
        for connection in list(slack.socket.connections):
            await connection.disconnect()
        await slack.until(lambda: slack.socket.opened >= opened + 2)
        question = await ada.mention(general, QUESTION)
        await one.answered(question, general)
        await slack.settled()
        assert not await told(one)()


@pytest.mark.parametrize("mode", ["socket", "http"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_mention_that_both_heard_of_is_answered_once(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi, mode: str, streamed: bool
) -> None:
    """Each of its two events goes to another one."""
    ada, general = slack.person("Ada"), slack.channel("general")
    api.always(Writer(paragraphs=3, pace=0.05))
    more = {"model": written(api)} if streamed else {}
    async with AsyncExitStack() as stack:
        if mode == "http":
            both = [await stack.enter_async_context(over_http(tmp_path / name, slack, **more)) for name in ("a", "b")]
            slack.over_http(*(f"{address}{EVENTS_PATH}" for _, address in both))
            bots = [ritbot for ritbot, _ in both]
        else:
            bots = [await stack.enter_async_context(bot(tmp_path / name, slack, **more)) for name in ("a", "b")]
            await slack.socket.connected(2)
        question = await ada.mention(general, QUESTION)
        for ritbot in bots:
            await ritbot.over(1)
        [answer] = [one for one in slack.thread(general, question) if one.user == slack.bot_user]
        assert any([await told(ritbot)() for ritbot in bots])
        assert not answer.streaming
        await ada.say(ada.direct(), QUESTION)  # one event: the other does not know of it
        await slack.until(lambda: any(map(labels, slack.said_in(ada.direct()))))
        for _ in range(2):
            await ada.press(slack.said_in(ada.direct())[1], actions.SHOW_TRACE)
        await slack.until(lambda: any(one.text == ANSWER_UNKNOWN for one in slack.said_in(ada.direct())))
