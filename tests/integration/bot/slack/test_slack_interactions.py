"""Buttons and modals when something is in the way: whoever pressed hears of it, and nothing is done twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from bot.answering.service import STOPPED
from bot.slack.inbound.app import FAILED
from bot.slack.inbound.interactions import (
    ANSWER_GONE,
    ASKED_ALREADY,
    NOT_HERE,
    SHARED_ALREADY,
    TRIED_ALREADY,
    UNSURE,
)
from bot.slack.inbound.settings_modal import NOT_YOURS
from bot.slack.render import actions
from bot.slack.workspaces import Workspaces
from deploy.serving.health import Check, Health
from deploy.settings.bot import AnswersSettings
from deploy.wiring.bot_roles import answering_checks
from deploy.wiring.stores import SystemClock
from tests.fakes.messages_api import MessagesApi
from tests.fakes.site import html
from tests.fakes.slack import SERVER_ERROR, Channel, FakeSlack, Fault, Message, Person, words
from tests.fakes.slack.person import said
from tests.fakes.slack_bot import Bot, bot, written
from tests.fakes.writer import Writer

QUESTION = "How do I prime a pump with water?"


async def asked(ritbot: Bot, ada: Person, general: Channel) -> tuple[Message, Message]:
    question = await ada.mention(general, QUESTION)
    [answer] = await ritbot.answered(question, general)
    return question, answer


async def told(slack: FakeSlack, person: Person, channel: Channel, text: str, times: int = 1) -> None:
    """Wait until that person alone has been told so."""

    def count() -> int:
        return sum(one.only_for == person.id and one.text == text for one in slack.said_in(channel))

    await slack.until(lambda: count() >= times)
    assert count() == times


def ours(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [one for one in slack.thread(channel, root) if one.user == slack.bot_user and not one.only_for]


async def asks_a_person(slack: FakeSlack, person: Person, answer: Message, comment: str = "") -> None:
    """Presses the button, and agrees to what the modal says."""
    await person.press(answer, actions.ASK_PERSON)
    await slack.until(lambda: slack.state.modals.get(person.id))
    await person.submit({actions.REASON_BLOCK: comment})


@pytest.mark.parametrize("action", [actions.SHOW_TRACE, actions.ASK_PERSON, actions.FEEDBACK])
async def test_an_answer_that_is_no_longer_kept_is_said_so(tmp_path: Path, slack: FakeSlack, action: str) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.clock.advance(-2 * 86_400)
    async with bot(tmp_path, slack, person="S0DOCS") as ritbot:
        question, answer = await asked(ritbot, ada, general)
        await ritbot.idle()  # a mention comes as two events, and the later one must find it answered
        assert await ritbot.store.expire(SystemClock().now() + timedelta(days=1)) == 1
        await ada.press(answer, action, "Bad answer" if action == actions.FEEDBACK else None)
        await told(slack, ada, general, ANSWER_GONE)
        assert len(ours(slack, general, question)) == 1


async def test_a_modal_that_comes_too_late_is_said_so_and_a_verdict_counts_all_the_same(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        _, answer = await asked(ritbot, ada, general)
        slack.faults.always("views.open", Fault(error="expired_trigger_id"))
        await ada.press(answer, actions.SHOW_TRACE)
        await told(slack, ada, general, FAILED)
        await asyncio.gather(*(one.press(answer, actions.FEEDBACK, "Good answer") for one in (ada, bob)))
        await ritbot.until(lambda all_: len(all_[0].feedback) == 2)
        await slack.until(lambda: len(slack.calls("views.open")) == 3)
        await bob.command(general, "/ritbot", "settings")
        await told(slack, bob, general, FAILED)
    assert sum(one.text == FAILED for one in slack.said_in(general)) == 2


async def test_two_people_judge_at_once_and_the_last_word_of_each_counts(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        _, answer = await asked(ritbot, ada, general)
        await ada.press(answer, actions.FEEDBACK, "Bad answer")
        await ritbot.until(lambda all_: all_[0].feedback)
        verdicts = (ada, "Good answer"), (bob, "Bad answer")
        await asyncio.gather(*(person.press(answer, actions.FEEDBACK, word) for person, word in verdicts))
        await ritbot.until(
            lambda all_: {(f.user, f.verdict) for f in all_[0].feedback} == {(ada.id, "good"), (bob.id, "bad")}
        )


async def test_retry_pressed_twice_answers_once(tmp_path: Path, slack: FakeSlack, api: MessagesApi) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    api.fail(500)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question, sorry = await asked(ritbot, ada, general)
        api.always(Writer(paragraphs=2))
        await asyncio.gather(ada.press(sorry, actions.RETRY), bob.press(sorry, actions.RETRY))
        await ritbot.over(2)
        await ada.press(sorry, actions.RETRY)
        await slack.until(lambda: any(m.only_for == ada.id for m in slack.thread(general, question)))
        await ritbot.idle()
    assert any(one.text == TRIED_ALREADY for one in slack.thread(general, question))
    assert len(ours(slack, general, question)) == 2
    assert "Step 2 is done." in words(ours(slack, general, question)[1])


async def test_a_private_answer_that_is_tried_again_takes_the_place_of_what_was_there(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    api.fail(500)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        await ada.command(general, "/ask", QUESTION)
        await slack.until(lambda: any(one.blocks for one in slack.said_in(general)))
        head, sorry = slack.said_in(general)
        api.always(Writer(paragraphs=2))
        await ada.press(sorry, actions.RETRY)
        await ritbot.over(2)
        await slack.until(lambda: sorry.edits)
    assert slack.said_in(general) == [head, sorry]
    assert "Step 2 is done." in words(sorry)


async def test_a_private_answer_waits_for_as_long_as_its_address_is_good_and_is_kept(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.faults.next("response_url", SERVER_ERROR, times=2)
    async with bot(tmp_path, slack) as ritbot:
        await ada.command(general, "/ask", QUESTION)
        [shown] = await ritbot.over(1)
        slack.faults.always("response_url", SERVER_ERROR)
        await ada.command(general, "/ask", QUESTION)
        await ritbot.until(lambda all_: any(one.unshown_since and not one.over for one in all_))
        slack.clock.advance(1_801)
        slack.faults.none()
        [_, late] = await ritbot.over(2)
    assert (shown.state, late.state) == ("done", "failed")
    assert late.answer is not None


async def test_where_ritbot_is_no_member_a_private_answer_is_shared_once_it_is_invited(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada = slack.person("Ada")
    plans = slack.channel("plans", members=[ada], with_bot=False)
    async with bot(tmp_path, slack, person="S0DOCS"):
        await ada.command(plans, "/ask", QUESTION)
        await slack.until(lambda: any(m.blocks for m in slack.said_in(plans)))
        answer = slack.said_in(plans)[-1]
        for action in (actions.SHARE, actions.ASK_PERSON):
            before = len(slack.calls("response_url"))
            await (ada.press(answer, action) if action == actions.SHARE else asks_a_person(slack, ada, answer))
            await slack.until(lambda before=before: len(slack.calls("response_url")) > before)
        await told(slack, ada, plans, NOT_HERE, 2)
        plans.members.add(slack.bot_user)
        await asyncio.gather(ada.press(answer, actions.SHARE), ada.press(answer, actions.SHARE))
        await told(slack, ada, plans, SHARED_ALREADY)
        await asks_a_person(slack, ada, answer)
        await slack.until(lambda: sum(not m.only_for for m in slack.said_in(plans)) == 2)
        await ada.press(answer, actions.ASK_PERSON)
        await told(slack, ada, plans, ASKED_ALREADY)
    shared, handed = (one for one in slack.said_in(plans) if not one.only_for)
    assert "Fill the pump" in words(shared)
    assert "<!subteam^S0DOCS>" in words(handed)
    assert QUESTION in words(handed)


async def test_what_was_asked_in_private_is_shown_to_others_only_after_a_question(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, person="S0DOCS"):
        await ada.command(general, "/ask", QUESTION)
        await slack.until(lambda: any(m.blocks for m in slack.said_in(general)))
        answer = slack.said_in(general)[-1]
        await ada.press(answer, actions.ASK_PERSON)
        await slack.until(lambda: slack.state.modals.get(ada.id))
        assert "in this channel, where everyone sees it" in "\n".join(said(ada.modal.payload["blocks"]))
        await ada.dismiss()
        await ada.press(answer, actions.SHARE)
        await slack.until(lambda: any(not m.only_for for m in slack.said_in(general)))
        shared = slack.said_in(general)[-1]
        await asks_a_person(slack, ada, shared)
        await slack.until(lambda: sum(not m.only_for for m in slack.said_in(general)) == 2)


async def test_settings_are_not_changed_by_who_may_no_longer(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    general.creator = ada.id
    async with bot(tmp_path, slack) as ritbot:
        await ada.command(general, "/ritbot", "settings")
        await slack.until(lambda: slack.state.modals.get(ada.id))
        general.creator = bob.id
        refused = await ada.submit(mode="off", switches=[])
        assert refused.answer["errors"] == {"mode": NOT_YOURS}
        assert await ritbot.store.channel(general.team, general.id) is None


@pytest.mark.parametrize("what", ["archived", "removed", "revoked"])
async def test_who_may_no_longer_speak_ends_and_goes_on_elsewhere(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi, what: str
) -> None:
    ada, general, other = slack.person("Ada"), slack.channel("general"), slack.channel("other")
    writer = Writer(paragraphs=6, pace=0.1)
    api.always(writer)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:

        def needed() -> dict[str, Check]:
            """Of a process that has just begun."""
            token, store = slack.bot_token, ritbot.store
            return answering_checks(ritbot.events, store, Workspaces(store, token=token, base_url=slack.base_url))

        health = Health()
        health.ready(needed())
        transport = httpx.ASGITransport(app=health.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://ritbot") as client:
            assert (await client.get("/readyz")).json()["checks"]["slack token"] == "ok"
            await ada.mention(general, QUESTION)
            await slack.until(lambda: slack.calls("chat.appendStream"))
            match what:
                case "archived":
                    general.archived = True
                case "removed":
                    general.members.discard(slack.bot_user)
                case "revoked":
                    slack.installation.revoked = True
            [exchange] = await ritbot.over(1)
            assert exchange.answer is not None
            assert (await client.get("/readyz")).status_code == 200, "Slack is asked once a minute"
            health.ready(needed())
            ready = await client.get("/readyz")
            assert ready.status_code == (503 if what == "revoked" else 200)
            assert ("token_revoked" in ready.text and "xoxb-" in ready.text) == (what == "revoked")
        await ritbot.idle()
        slack.installation.revoked = False
        question = await ada.mention(other, QUESTION)
        await ritbot.over(2)
    assert writer.last in words(ours(slack, other, question)[0])


async def test_stop_ends_what_is_written_and_what_waits_behind_it_and_once_is_enough(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    """One replica listens, another one answers: Stop works across processes."""
    ada, general = slack.person("Ada"), slack.channel("general")
    api.always(Writer(pace=0.3))
    async with (
        bot(tmp_path / "a", slack, shared=tmp_path, answers=False, model=written(api)),
        bot(tmp_path / "b", slack, shared=tmp_path, model=written(api)) as ritbot,
    ):
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: slack.calls("chat.startStream"))
        await ada.mention(general, "And once more?", thread=question)
        await ritbot.until(lambda all_: len(all_) == 2)
        await ada.stop(general, question.ts)
        await ada.stop(general, question.ts)
        exchanges = await ritbot.over(2)
        assert [exchange.state for exchange in exchanges] == ["stopped", "stopped"]
        await ritbot.idle()
    said = [words(one) for one in ours(slack, general, question)]
    assert said[1:] == [STOPPED, STOPPED]
    assert len(slack.calls("chat.startStream")) == 1


async def test_stop_while_the_answer_is_posted_leaves_the_answer(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.faults.next("chat.postMessage", Fault(applies=True, delay=1.5))
    async with bot(tmp_path, slack, limits=AnswersSettings(timeout=20)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: ours(slack, general, question))
        await ada.stop(general, question.ts)
        [exchange] = await ritbot.over(1)
    assert exchange.state == "done"
    assert ["Fill the pump" in words(one) for one in ours(slack, general, question)] == [True]


async def test_a_press_while_slack_fails_is_answered_with_a_plain_word(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, person="S0DOCS") as ritbot:
        question, answer = await asked(ritbot, ada, general)
        slack.faults.next("chat.postMessage", SERVER_ERROR)
        await asks_a_person(slack, ada, answer)
        await told(slack, ada, general, FAILED)
        await asks_a_person(slack, ada, answer)
        await slack.until(lambda: len(ours(slack, general, question)) == 2)


@pytest.mark.parametrize("action", [actions.SHARE, actions.ASK_PERSON])
async def test_what_slack_took_without_saying_so_is_not_posted_again(
    tmp_path: Path, slack: FakeSlack, action: str
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, person="S0DOCS"):
        await ada.command(general, "/ask", QUESTION)
        await slack.until(lambda: any(m.blocks for m in slack.said_in(general)))
        answer = slack.said_in(general)[-1]
        slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))
        await (ada.press(answer, action) if action == actions.SHARE else asks_a_person(slack, ada, answer))
        await slack.until(lambda: sum(not one.only_for for one in slack.said_in(general)) == 1)
        await ada.press(answer, action)
        await told(slack, ada, general, SHARED_ALREADY if action == actions.SHARE else ASKED_ALREADY)
    assert sum(not one.only_for for one in slack.said_in(general)) == 1


async def test_what_nobody_can_look_up_is_not_posted_again(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack):
        await ada.command(general, "/ask", QUESTION)
        await slack.until(lambda: any(m.blocks for m in slack.said_in(general)))
        answer = slack.said_in(general)[-1]
        slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))
        slack.faults.always("conversations.history", Fault(error="missing_scope"))
        await ada.press(answer, actions.SHARE)
        await told(slack, ada, general, UNSURE)
        await ada.press(answer, actions.SHARE)
        await told(slack, ada, general, SHARED_ALREADY)
    assert sum(not one.only_for for one in slack.said_in(general)) == 1


@pytest.mark.parametrize("how", [Fault(applies=True, drops=True), Fault(applies=True, status=504)])
async def test_a_private_answer_that_slack_took_without_saying_so_comes_once(
    tmp_path: Path, slack: FakeSlack, how: Fault
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.faults.next("response_url", how)
    async with bot(tmp_path, slack) as ritbot:
        await ada.command(general, "/ask", QUESTION)
        [exchange] = await ritbot.over(1)
        await ritbot.idle()
    assert exchange.state == "done"
    assert sum(bool(one.blocks) for one in slack.said_in(general)) == 1


@pytest.mark.parametrize("action", [actions.SHOW_TRACE, actions.RETRY, actions.ASK_PERSON, actions.FEEDBACK])
async def test_who_may_not_ask_may_not_press_either(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi, action: str
) -> None:
    ada, gus, general = slack.person("Ada"), slack.person("Gus", guest="multi"), slack.channel("general")
    if action == actions.RETRY:
        api.fail(500)
    async with bot(
        tmp_path, slack, person="S0DOCS", **({"model": written(api)} if action == actions.RETRY else {})
    ) as b:
        question, answer = await asked(b, ada, general)
        await gus.press(answer, action, "Bad answer" if action == actions.FEEDBACK else None)
        await told(slack, gus, general, "I am closed to guests of this workspace.")
        await b.idle()
        assert len(await b.exchanges()) == 1
        assert len(ours(slack, general, question)) == 1
        assert gus.id not in slack.state.modals
        assert (await b.exchanges())[0].feedback == ()


async def test_who_is_shut_out_is_told_so_once_and_alone(tmp_path: Path, slack: FakeSlack) -> None:
    gus, general = slack.person("Gus", guest="multi"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        for _ in range(3):
            await gus.mention(general, QUESTION)
        await slack.settled()
        await told(slack, gus, general, "I am closed to guests of this workspace.")
        await gus.say(gus.direct(), QUESTION)
        await slack.settled()
        assert await ritbot.exchanges() == []
    assert len(slack.calls("chat.postEphemeral")) == 1


async def test_a_person_is_asked_with_a_comment_and_with_code_as_it_is(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    code = "```\npump --prime\n    --level 3\n```"
    pages = {"https://docs.example.test/": html("Docs", "<p>All.</p>")} | {
        "https://docs.example.test/pumps.html": html(
            "Pumps", "<h2>Priming</h2><p>Prime a pump with water like this:</p><pre>pump --prime\n    --level 3</pre>"
        )
    }
    async with bot(tmp_path, slack, person=slack.group("docs-team", bob), pages=pages) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        await asks_a_person(slack, ada, answer, f"It fails <!channel>:\n\n{code}")
        await slack.until(lambda: len(ours(slack, general, question)) == 2)
        call = words(ours(slack, general, question)[1])
        assert call.count(code) == 2
        assert "It fails" in call
        assert "<!channel>" not in call
        await ada.press(answer, actions.FEEDBACK, "Bad answer")
        await slack.until(lambda: slack.state.modals.get(ada.id))
        await ada.submit({actions.REASON_CHOICE: ["It is out of date"], actions.REASON_BLOCK: "See v2."})
        await ritbot.until(lambda kept: kept[0].feedback and kept[0].feedback[0].reason)
        assert (await ritbot.exchanges())[0].feedback[0].reason == "It is out of date\nSee v2."
