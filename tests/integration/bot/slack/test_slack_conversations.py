"""Conversations in Slack as people have them: the real Bolt app, the real log, stores and navigator, a fake Slack."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.slack.inbound.app import NOT_IN, SHORTCUT
from bot.slack.render import actions
from deploy.settings.model import ModelSettings
from tests.fakes.slack import FakeSlack, labels, words
from tests.fakes.slack.person import said
from tests.fakes.slack_bot import PUMPS, bot


async def test_a_mention_is_answered_in_its_thread_with_links_to_what_was_read(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, "How do I prime a pump with water?")
        [answer] = await ritbot.answered(question, general)
        assert answer.thread_ts == question.ts
        assert "Fill the pump with water first." in words(answer)
        assert f"{PUMPS}#prime" in words(answer)
        assert "Pumps › Priming" in words(answer)
        assert "checked" in words(answer)
        assert answer.text == "Fill the pump with water first."
        assert "How I found this" in labels(answer)
        assert slack.status(general, question) is None
        [exchange] = await ritbot.exchanges()
        assert exchange.state == "done"


async def test_a_direct_message_is_its_own_thread_and_opening_it_suggests_questions(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada = slack.person("Ada")
    async with bot(tmp_path, slack) as ritbot:
        await ada.open_home()
        await slack.until(lambda: slack.state.prompts)
        [prompts] = slack.state.prompts.values()
        assert "What are the valves?" in " ".join(prompt["message"] for prompt in prompts.prompts)
        first = await ada.say(ada.direct(), "How do I prime a pump with water?")
        second = await ada.say(ada.direct(), "How often do I grease the seal?")
        [one] = await ritbot.answered(first, ada.direct())
        [two] = await ritbot.answered(second, ada.direct())
        assert "Fill the pump" in words(one)
        assert "Grease the seal" in words(two)


async def test_in_its_thread_a_question_needs_no_mention_unless_it_is_for_someone_else(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, bob, other = slack.person("Ada"), slack.person("Bob"), slack.other_bot("CI")
    general = slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, "How do I prime a pump with water?")
        await ritbot.answered(question, general)
        await bob.say(general, f"<@{ada.id}> did that help?", thread=question)
        await other.say(general, "build passed?", thread=question)
        await bob.say(general, "How often do I grease the seal?", thread=question)
        answers = await ritbot.answered(question, general, 2)
        assert len(await ritbot.over(2)) == 2
        assert "Grease the seal" in words(answers[1])
        await bob.say(general, "Who is on call?")
        await slack.settled()
        assert len(await ritbot.exchanges()) == 2


async def test_edits_and_double_events_make_no_second_answer(tmp_path: Path, slack: FakeSlack) -> None:
    """Situations 3 and 4."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, "How do I prime a pump with water?")
        await ritbot.answered(question, general)
        await ada.edit(question, f"<@{slack.bot_user}> How do I prime a pump with much water?")
        await slack.settled()
        heard = [delivery.type for delivery in slack.deliveries.all if delivery.kind == "events_api"]
        assert heard.count("app_mention") >= 1
        assert heard.count("message") >= 2
        assert [exchange.question.text for exchange in await ritbot.exchanges()] == [
            "How do I prime a pump with water?"
        ]
        assert len(await ritbot.answered(question, general)) == 1


async def test_ask_answers_privately_and_can_be_shared(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with bot(tmp_path, slack):
        await ada.command(general, "/ask", "How do I prime a pump with water?")
        await slack.until(lambda: any(m.blocks for m in slack.said_in(general)))
        head, private = slack.said_in(general)
        assert "How do I prime a pump with water?" in head.text, "Slack does not show what was typed"
        assert (head.only_for, private.only_for) == (ada.id, ada.id)
        assert "Fill the pump" in words(private)
        await ada.press(private, actions.SHARE)
        await slack.until(lambda: len(slack.said_in(general)) == 3)
        shared = slack.said_in(general)[2]
        assert shared.only_for == ""
        assert "Fill the pump" in words(shared)
        empty = await bob.command(general, "/ask", "  ")
        assert "Ask me something" in str(empty.answer)


async def test_the_shortcut_answers_someone_elses_message(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        message = await bob.say(general, "no idea: how do I prime a pump with water")
        await ada.shortcut(message, SHORTCUT)
        [answer] = await ritbot.answered(message, general)
        assert "Fill the pump" in words(answer)


@pytest.mark.parametrize("private", [False, True])
async def test_the_shortcut_where_ritbot_is_no_member_answers_whoever_picked_it_alone(
    tmp_path: Path, slack: FakeSlack, private: bool
) -> None:
    ada, bob = slack.person("Ada"), slack.person("Bob")
    plans = slack.channel("plans", private=private, members=[ada, bob], with_bot=False)
    async with bot(tmp_path, slack) as ritbot:
        message = await bob.say(plans, "no idea: how do I prime a pump with water")
        for person in (ada, bob):
            await person.shortcut(message, SHORTCUT)
        await slack.until(lambda: sum(bool(one.blocks) for one in slack.said_in(plans)) == 2)
        await slack.until(lambda: sum(one.text == NOT_IN for one in slack.said_in(plans)) == 2)
        assert message.text == "no idea: how do I prime a pump with water", "nobody's message is replaced"
        answers = [one for one in slack.said_in(plans) if one.blocks]
        assert {one.only_for for one in answers} == {ada.id, bob.id}
        assert all("Fill the pump" in words(one) for one in answers)
        plans.members.add(slack.bot_user)
        await bob.say(plans, "And the seal?", thread=message)
        await slack.settled()
        assert len(await ritbot.exchanges()) == 2, "ritbot is not in that thread"
        await ada.shortcut(message, SHORTCUT)
        await ritbot.answered(message, plans)
    assert len([one for one in slack.said_in(plans) if one.user == slack.bot_user and not one.only_for]) == 1


async def test_the_shortcut_in_a_conversation_with_ritbot_alone_is_answered_in_its_thread(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada = slack.person("Ada")
    async with bot(tmp_path, slack, answer_mode="mention") as ritbot:
        message = await ada.say(ada.direct(), "How do I prime a pump with water?")
        await ritbot.answered(message, ada.direct())
        await ada.shortcut(message, SHORTCUT)
        assert len(await ritbot.answered(message, ada.direct(), 2)) == 2


async def test_a_greeting_has_no_sources_and_what_is_not_documented_says_so(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    strict = ModelSettings(provider="extractive", extract_threshold=0.9)
    async with bot(tmp_path, slack, model=strict) as ritbot:
        hello = await ada.mention(general, "hello")
        [greeting] = await ritbot.answered(hello, general)
        assert "Sources" not in words(greeting)
        assert "/ask" in words(greeting)
        unknown = await ada.mention(general, "Who won the chess tournament in Reykjavik?")
        [sorry] = await ritbot.answered(unknown, general)
        assert "I found nothing" in words(sorry)
        assert "*Sources*" not in words(sorry)
        assert "nearest" in words(sorry)


async def test_judging_showing_the_way_and_asking_a_person(tmp_path: Path, slack: FakeSlack) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    group = slack.group("docs-team", bob)
    async with bot(tmp_path, slack, person=group) as ritbot:
        question = await ada.mention(general, "How do I prime a pump with water?")
        [answer] = await ritbot.answered(question, general)
        await ada.press(answer, actions.FEEDBACK, "Bad answer")
        await slack.until(lambda: slack.state.modals.get(ada.id))
        await ada.submit({actions.REASON_BLOCK: "It lacks the picture."})
        await ritbot.until(lambda kept: kept[0].feedback and kept[0].feedback[0].reason)
        [exchange] = await ritbot.exchanges()
        assert [(f.verdict, f.reason) for f in exchange.feedback] == [("bad", "It lacks the picture.")]
        await bob.press(answer, actions.SHOW_TRACE)
        await slack.until(lambda: slack.state.modals.get(bob.id))
        way = " ".join(said(bob.modal.payload["blocks"]))
        assert "in the answer" in way
        await bob.press(bob.modal, actions.SHOW_DETAILS)
        await slack.until(lambda: "● " in " ".join(said(bob.modal.payload["blocks"])))
        await ada.press(answer, actions.ASK_PERSON)
        await slack.until(lambda: slack.state.modals.get(ada.id))
        await ada.submit({actions.REASON_BLOCK: ""})
        await slack.until(lambda: len(slack.thread(general, question)) == 3)
        asked = slack.thread(general, question)[2]
        assert f"<!subteam^{group}>" in words(asked)
        assert "How do I prime a pump with water?" in words(asked)
        await bob.press(answer, actions.ASK_PERSON)
        await slack.until(lambda: any(m.only_for == bob.id for m in slack.thread(general, question)))
        assert len([m for m in slack.thread(general, question) if not m.only_for]) == 3
