"""An answer that cannot be shown: it waits while nothing can be shown, and holds up its thread for a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from bot.answering.service import UNSHOWN
from bot.errors import DeliveryFailed
from bot.model import Exchange, Question
from bot.slack.outbound.delivery import SlackDelivery
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.workspaces import Workspaces
from tests.fakes.exchanges import question
from tests.fakes.office import QUICKLY, Office, open_office
from tests.fakes.slack import SERVER_ERROR, FakeSlack, Fault, words
from tests.waiting import eventually

DOWN = DeliveryFailed("down", passing=True)
SOON = replace(QUICKLY, insist_after=0.1, give_up_after=60.0)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with open_office(tmp_path) as opened:
        yield opened


async def waits(office: Office, asked: Question, seconds: float = 0.0) -> Exchange:
    """The exchange, once its answer could not be shown for so long."""

    async def unshown() -> bool:
        kept = await office.store.exchange(asked.id)
        since = kept.exchange.unshown_since if kept else None
        return since is not None and (office.clock.now() - since).total_seconds() >= seconds

    await eventually(unshown)
    kept = await office.store.exchange(asked.id)
    assert kept is not None
    return kept.exchange


async def test_an_answer_that_is_never_taken_ends_as_failed_and_the_next_question_of_its_thread_is_answered(
    office: Office,
) -> None:
    """Whatever is taken besides it: there is no outage."""
    asked, behind = question(1), question(2)
    office.delivery.never = {"About Question 1? [1]"}
    await office.ask(asked, behind)
    with structlog.testing.capture_logs() as logs:
        async with office.service(SOON):
            first, second = await office.over(asked, behind)
    assert (first.state, second.state) == ("failed", "done")
    assert first.answer is not None
    assert first.answer.text == "About Question 1? [1]"
    assert sorted(await office.endings()) == [(asked.id, "failed"), (behind.id, "answered")]
    assert office.delivery.texts() == [UNSHOWN, "About Question 2? [1]"]
    assert [log["log_level"] for log in logs if log["event"] == "answer_not_shown"] == ["error"]
    assert office.replier.asked == ["Question 1?", "Question 2?"], "it is made once"
    assert office.replier.earlier[1] == (), "what nobody saw is not remembered"


async def test_an_outage_that_is_longer_than_that_loses_no_answer(office: Office) -> None:
    asked, other = question(1), question(2, thread="2.0")
    office.delivery.down = True
    await office.ask(asked, other)
    async with office.service(SOON):
        await waits(office, asked, 0.5)
        await waits(office, other, 0.5)
        office.delivery.down = False
        done = await office.over(asked, other)
    assert [(exchange.state, exchange.attempts) for exchange in done] == [("done", 1), ("done", 1)]
    assert sorted(office.delivery.texts()) == ["About Question 1? [1]", "About Question 2? [1]"]
    assert sorted(office.replier.asked) == ["Question 1?", "Question 2?"]


async def test_an_outage_without_end_ends_the_wait_and_a_restart_does_not_begin_it_anew(office: Office) -> None:
    asked = question()
    office.delivery.down = True
    await office.ask(asked)
    async with office.service(replace(SOON, give_up_after=60.0)):
        before = await waits(office, asked)
    async with office.service(replace(SOON, give_up_after=0.5)):
        [exchange] = await office.over(asked)
    assert (exchange.state, exchange.unshown_since) == ("failed", before.unshown_since)
    assert exchange.answer is not None
    assert await office.endings() == [(asked.id, "failed")]


async def test_a_short_failure_is_tried_again_without_a_word(office: Office) -> None:
    asked = question()
    office.delivery.failing = [DOWN, DOWN, DOWN]
    await office.ask(asked)
    async with office.service():
        [exchange] = await office.over(asked)
    assert exchange.state == "done"
    assert UNSHOWN not in office.delivery.said
    assert exchange.unshown_since is not None


@pytest.mark.parametrize("fault", [SERVER_ERROR, Fault(drops=True)], ids=["5xx", "no answer"])
async def test_slack_always_fails_on_one_message_and_takes_what_else_is_said_in_the_thread(
    office: Office, slack: FakeSlack, fault: Fault
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    said = await ada.say(general, "Question 1?")
    asked, behind = (
        question(n, thread=said.ts, team=general.team, channel=general.id, user=ada.id, ts=said.ts) for n in (1, 2)
    )
    slack.faults.where("*", fault, lambda arguments: "About Question 1?" in str(arguments.get("blocks")))
    workspaces = Workspaces(office.store, token=slack.bot_token, base_url=slack.base_url)
    delivery = SlackDelivery(workspaces.client_of, RateLimiter(), office.clock)
    await office.ask(asked, behind)
    async with office.service(replace(SOON, timeout=30.0), delivery=delivery):
        async with asyncio.timeout(60):
            first, second = await office.over(asked, behind, seconds=60)
    assert (first.state, second.state) == ("failed", "done")
    ours = [words(one) for one in slack.thread(general, said) if one.user == slack.bot_user]
    assert UNSHOWN in ours[0]
    assert "About Question 2?" in ours[-1]
    assert len(ours) == 2
