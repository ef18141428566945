"""Questions in, one answer each: through the event log, the bot's store and a delivery, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.answering.lease import Lease, LeaseTimings, ask_to_stop, claim
from bot.answering.quota import Quota
from bot.answering.service import BROKEN, ENDED_OFTEN, STOPPED, TOO_LONG
from bot.errors import DeliveryFailed
from bot.events import QUESTIONS_TOPIC
from bot.model import ChannelSettings, Exchange
from ingest.errors import IndexMismatch
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import dead_topic
from navigator.answer import Usage
from tests.fakes import exchanges
from tests.fakes.exchanges import question
from tests.fakes.office import QUICKLY, Office, open_office
from tests.waiting import eventually


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with open_office(tmp_path) as opened:
        yield opened


async def test_a_question_is_answered_shown_kept_and_told(office: Office) -> None:
    asked = question()
    await office.ask(asked)
    async with office.service():
        [exchange] = await office.over(asked)
    assert exchange.state == "done"
    assert exchange.answer is not None
    assert exchange.answer.text == "About Question 1? [1]"
    assert (exchange.owner, exchange.lease_until, exchange.attempts) == ("", None, 1)
    assert exchange.posted is not None
    assert office.delivery.texts() == ["About Question 1? [1]"]
    assert office.delivery.messages[exchange.posted.ts].statuses == ["get_toc"]
    assert await office.endings() == [(asked.id, "answered")]
    assert await office.events.lag(QUESTIONS_TOPIC, "answer") == 0


async def test_the_same_question_three_times_at_two_services_with_a_restart_is_answered_once(
    office: Office, tmp_path: Path
) -> None:
    asked = question()
    await office.ask(asked)
    async with (
        SqliteEventLog(tmp_path / "events.sqlite", office.clock) as theirs,
        office.service(),
        office.service(events=theirs),
    ):
        await office.ask(asked)
        await office.over(asked)
    await office.ask(asked)
    async with office.service():

        async def empty() -> bool:
            return await office.events.lag(QUESTIONS_TOPIC, "answer") == 0

        await eventually(empty)
    assert office.replier.asked == ["Question 1?"]
    assert len(office.delivery.messages) == 1


async def test_threads_do_not_wait_for_each_other_and_each_keeps_its_order(office: Office) -> None:
    slow = question(1, thread="1.0")
    behind = question(2, thread="1.0")
    others = [question(n, thread=f"{n}.0") for n in range(3, 9)]
    office.replier.holding = {slow.text}
    office.replier.may.clear()
    await office.ask(slow, behind, *others)
    async with office.service():
        await office.over(*others)
        assert behind.text not in office.replier.asked
        office.replier.may.set()
        await office.over(slow, behind)
    assert office.replier.asked.index(slow.text) < office.replier.asked.index(behind.text)


async def test_what_a_killed_worker_began_another_one_ends_in_the_same_message(office: Office) -> None:
    asked = question()
    office.replier.holding = {asked.text}
    office.replier.may.clear()
    await office.ask(asked)
    killed = asyncio.create_task(office.made().run())

    async def begun() -> bool:
        kept = await office.store.exchange(asked.id)
        return bool(kept and kept.exchange.posted)

    await eventually(begun)
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    office.replier.may.set()
    async with office.service():
        [exchange] = await office.over(asked)
    assert exchange.attempts == 2
    assert [(message.text, message.writers) for message in office.delivery.messages.values()] == [
        ("About Question 1? [1]", 2)
    ]


async def test_a_question_that_kills_its_workers_is_given_up_with_a_plain_word(office: Office) -> None:
    asked = question()
    now = office.clock.now()
    dying = Exchange(asked, "answering", "gone", now - timedelta(seconds=1), attempts=3)
    await office.store.keep(dying, None)
    await office.ask(asked)
    async with office.service():
        [exchange] = await office.over(asked)
    assert exchange.state == "refused"
    assert office.delivery.texts() == [ENDED_OFTEN]
    assert office.replier.asked == []


async def test_stop_is_seen_by_whichever_process_answers(office: Office) -> None:
    asked = question()
    office.replier.holding = {asked.text}
    office.replier.may.clear()
    await office.ask(asked)
    async with office.service():
        await eventually(lambda: office.replier.asked)
        assert await ask_to_stop(office.store, asked.id)
        [exchange] = await office.over(asked)
    assert exchange.state == "stopped"
    assert office.delivery.texts() == [STOPPED]
    assert await office.endings() == [(asked.id, "stopped")]
    assert not await ask_to_stop(office.store, asked.id)


async def test_a_worker_that_slept_too_long_leaves_the_answer_to_its_successor(office: Office) -> None:
    asked = question()
    office.replier.holding = {asked.text}
    office.replier.may.clear()
    await office.ask(asked)
    async with office.service():
        await eventually(lambda: office.delivery.messages)
        kept = await office.store.exchange(asked.id)
        assert kept is not None
        other = replace(kept.exchange, state="done", owner="", lease_until=None, answer=exchanges.answer())
        while True:  # the renewal of the sleeper may come in between
            try:
                await office.store.keep(other, kept.revision)
                break
            except Exception:
                kept = await office.store.exchange(asked.id)
                assert kept is not None
        office.replier.may.set()

        async def empty() -> bool:
            return await office.events.lag(QUESTIONS_TOPIC, "answer") == 0

        await eventually(empty)
    assert all("About" not in text for text in office.delivery.texts())
    assert await office.endings() == []


async def test_an_answer_that_could_not_be_shown_is_shown_later_and_not_made_again(office: Office) -> None:
    asked = question()
    office.delivery.failing = [DeliveryFailed("down", passing=True), DeliveryFailed("down", passing=True)]
    await office.ask(asked)
    async with office.service():
        [exchange] = await office.over(asked)
    assert office.replier.asked == ["Question 1?"]
    assert office.delivery.texts() == ["About Question 1? [1]"]
    assert exchange.state == "done"


async def test_an_answer_that_cannot_be_shown_at_all_is_kept(office: Office) -> None:
    asked = question()
    office.delivery.failing = [DeliveryFailed("not in channel", passing=False)]
    await office.ask(asked)
    async with office.service():
        [exchange] = await office.over(asked)
    assert exchange.answer is not None


async def test_what_takes_too_long_or_breaks_ends_in_a_plain_word_with_retry(office: Office) -> None:
    slow, broken = question(1), question(2, thread="2.0")
    office.replier.holding = {slow.text}
    office.replier.may.clear()
    await office.ask(slow)
    async with office.service(replace(QUICKLY, timeout=0.2)):
        await office.over(slow)
        office.replier.outcome = {"raises": ValueError("a defect")}
        await office.ask(broken)
        await office.over(broken)
    assert [(m.text, m.retry) for m in office.delivery.messages.values()] == [(TOO_LONG, True), (BROKEN, True)]


async def test_a_worker_whose_index_was_replaced_ends_and_leaves_the_question_to_another(office: Office) -> None:
    asked = question()
    office.replier.outcome = {"raises": IndexMismatch("the index is of another model now")}
    await office.ask(asked)
    with pytest.raises(IndexMismatch):
        await office.made().run()
    assert office.delivery.texts() in ([], [""])
    office.replier.outcome = {}
    async with office.service():
        [exchange] = await office.over(asked)
    assert (exchange.state, exchange.attempts) == ("done", 1)


async def test_too_many_questions_of_one_person_get_a_polite_word(office: Office) -> None:
    asked = [question(n, thread=f"{n}.0") for n in (1, 2, 3)]
    other = question(4, thread="4.0", user="U2")
    await office.ask(*asked, other)
    async with office.service(replace(QUICKLY, quota=Quota(per_user=2))):
        done = await office.over(*asked, other)
    assert sorted(exchange.state for exchange in done[:3]) == ["done", "done", "refused"]
    assert done[3].state == "done"
    assert sum("within the hour" in text for text in office.delivery.texts()) == 1


async def test_the_days_budget_is_counted_and_kept(office: Office) -> None:
    first, second = question(1), question(2, thread="2.0")
    office.replier.outcome = {"trace": replace(exchanges.answer().trace, usage=Usage(cost=0.6))}
    async with office.service(replace(QUICKLY, quota=Quota(0, 0, daily_cost=0.5))):
        await office.ask(first)
        await office.over(first)
        await office.ask(second)
        done = await office.over(second)
    assert done[0].state == "refused"
    assert "spend" in office.delivery.texts()[-1]


async def test_in_a_quiet_channel_nothing_is_said_where_nothing_is_found(office: Office) -> None:
    office.settings = ChannelSettings("T1", "C1", mode="questions", quiet=True)
    office.replier.outcome = {"outcome": "not_found", "sources": ()}
    overheard, named = question(1, kind="message"), question(2, thread="2.0", kind="mention")
    await office.ask(overheard, named)
    async with office.service():
        await office.over(overheard, named)
    assert [message.question for message in office.delivery.messages.values()] == [named.id]


async def test_what_was_said_before_comes_from_our_own_log(office: Office) -> None:
    first, second = question(1), question(2)
    await office.ask(first)
    async with office.service():
        await office.over(first)
        await office.ask(second)
        await office.over(second)
    assert office.delivery.threads_read == 1  # when it was first called into the thread
    [said] = office.replier.earlier[1]
    assert (said.question, said.answer, said.nodes) == ("Question 1?", "About Question 1? [1]", ("n1",))


async def test_called_into_an_older_thread_it_reads_what_people_said(office: Office) -> None:
    office.delivery.thread = ["Pods crash after the upgrade.", "Same here, on v2."]
    asked = question(1, thread="0.5")
    await office.ask(asked)
    async with office.service():
        await office.over(asked)
    [said] = office.replier.earlier[0]
    assert (said.question, said.answer) == ("Pods crash after the upgrade.", "Same here, on v2.")


async def test_a_question_that_opens_a_thread_or_is_a_command_remembers_nothing(office: Office) -> None:
    office.delivery.thread = ["never read"]
    opening = question(1, thread="1.000100")
    command = question(2, kind="command", thread="", ts="")
    await office.ask(opening, command)
    async with office.service():
        await office.over(opening, command)
    assert office.delivery.threads_read == 0
    assert office.replier.earlier == [(), ()]


async def test_what_is_no_question_goes_to_the_dead_letters(office: Office) -> None:
    await office.events.append(QUESTIONS_TOPIC, "k", b"{}")
    async with office.service():

        async def dead() -> bool:
            return bool([record async for record in office.events.read(dead_topic(QUESTIONS_TOPIC))])

        await eventually(dead)


async def test_a_claim_waits_for_nobody_and_one_of_many_wins(office: Office) -> None:
    asked = question()
    claims = await asyncio.gather(
        *(claim(office.store, office.clock, LeaseTimings(), asked, f"worker {n}") for n in range(8))
    )
    assert sum(isinstance(one, Lease) for one in claims) == 1
