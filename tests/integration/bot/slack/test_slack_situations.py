"""What goes wrong between Slack and a bot, as public bug reports tell it: each ends in one answer, or in a plain word."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.answering.service import STOPPED
from bot.errors import SlackClosed
from bot.slack.render import actions
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.slack import RATE_LIMITED, SERVER_ERROR, FakeSlack, Fault, Message, labels, words
from tests.fakes.slack_bot import PUMPS, bot, written
from tests.fakes.writer import Writer

QUESTION = "How do I prime a pump with water?"


def ours(slack: FakeSlack, messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.user == slack.bot_user]


async def test_the_same_event_three_times_at_two_replicas_with_a_restart_between_is_answered_once(
    tmp_path: Path, slack: FakeSlack
) -> None:
    """Situation 1; test 1 of the list."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path / "a", slack, shared=tmp_path) as one, bot(tmp_path / "b", slack, shared=tmp_path):
        question = await ada.mention(general, QUESTION)
        await slack.settled()
        for delivery in [d for d in slack.deliveries.all if d.kind == "events_api"]:
            slack.deliveries.again(delivery)
        await slack.settled()
        await one.answered(question, general)
    async with bot(tmp_path / "a", slack, shared=tmp_path) as again:
        for delivery in [d for d in slack.deliveries.all if d.kind == "events_api"]:
            slack.deliveries.again(delivery)
        await slack.settled()
        await again.idle()
        assert len(ours(slack, slack.thread(general, question))) == 1
    seconds = [a.seconds for d in slack.deliveries.all for a in d.attempts if d.kind == "events_api"]
    assert len(seconds) >= 6
    assert all(second is not None and second < 3 for second in seconds)


async def test_what_cannot_be_written_down_is_not_acknowledged_and_comes_again(
    tmp_path: Path, slack: FakeSlack
) -> None:
    """Situation 2: written down, acknowledged, then answered."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        slack.deliveries.ack_within, slack.deliveries.retries_after = 0.5, (0.0, 0.0, 0.0)
        ritbot.events.down = True
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: any(d.attempts and d.attempts[0].failed for d in slack.deliveries.all))
        ritbot.events.down = False
        await ritbot.answered(question, general)
    assert len(ours(slack, slack.thread(general, question))) == 1


async def test_ten_questions_in_ten_threads_do_not_wait_and_two_in_one_keep_their_order(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada = slack.person("Ada")
    rooms = [slack.channel(f"room-{n}") for n in range(10)]
    async with bot(tmp_path, slack) as ritbot:
        questions = [await ada.mention(room, QUESTION) for room in rooms]
        await ada.mention(rooms[0], "How often do I grease the seal?", thread=questions[0])
        await ritbot.over(11)
        first, second = ours(slack, slack.thread(rooms[0], questions[0]))
        assert "Fill the pump" in words(first)
        assert "Grease the seal" in words(second)
        for room, question in zip(rooms[1:], questions[1:], strict=True):
            assert len(ours(slack, slack.thread(room, question))) == 1


async def test_an_answer_is_streamed_while_it_is_written_and_ends_as_one_message(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    script(api, "Fill it with water.\n\nThen start it.\n\nThat is all.", pace=0.02)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        [answer] = await ritbot.answered(question, general)
    assert slack.calls("chat.startStream")
    assert slack.calls("chat.startStream")[0].arguments["recipient_user_id"] == ada.id
    assert "Fill it with water. [[1]]" in words(answer)
    assert "That is all." in words(answer)
    assert answer.text.startswith("Fill it with water.")
    assert PUMPS in words(answer)
    assert slack.state.sessions[general.id, question.ts] == "active"


CLOSED = Fault(error="message_not_in_streaming_state", applies=True)
UNHEARD = Fault(applies=True, drops=True)


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("chat.startStream", Fault(error="feature_not_enabled")),
        ("chat.startStream", SERVER_ERROR),
        ("chat.startStream", RATE_LIMITED),
        ("chat.startStream", UNHEARD),
        ("chat.appendStream", CLOSED),
        ("chat.appendStream", SERVER_ERROR),
        ("chat.appendStream", UNHEARD),
        ("chat.stopStream", CLOSED),
        ("chat.stopStream", SERVER_ERROR),
        ("chat.stopStream", UNHEARD),
        ("chat.update", SERVER_ERROR),
    ],
)
async def test_a_stream_that_breaks_loses_nothing_and_says_nothing_twice(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi, method: str, fault: Fault
) -> None:
    """Situation 7."""
    ada, general = slack.person("Ada"), slack.channel("general")
    script(api, "Fill it with water.\n\nThen start it.\n\nThen wait.\n\nThat is all.", pace=0.02)
    slack.faults.next(method, fault)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
    [answer] = ours(slack, slack.thread(general, question))
    assert "That is all." in words(answer)
    assert not answer.streaming


async def test_a_stream_that_expires_ends_in_the_same_message(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    script(api, "Fill it with water.\n\nThen start it.\n\nThat is all.", pace=0.05)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: slack.calls("chat.startStream"))
        slack.expire_streams()
        await ritbot.over(1)
    [answer] = ours(slack, slack.thread(general, question))
    assert "That is all." in words(answer)


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long", "msg_too_long"])
async def test_a_message_that_slack_refuses_is_said_more_simply(tmp_path: Path, slack: FakeSlack, error: str) -> None:
    """Situations 9 and 15."""
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.faults.next("chat.postMessage", Fault(error=error))
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
    [answer] = ours(slack, slack.thread(general, question))
    assert "Fill the pump with water first." in words(answer)
    assert PUMPS in words(answer)


@pytest.mark.parametrize("fault", [RATE_LIMITED, SERVER_ERROR, Fault(drops=True), Fault(applies=True, drops=True)])
async def test_slack_that_fails_for_a_moment_costs_no_answer_and_makes_no_second(
    tmp_path: Path, slack: FakeSlack, fault: Fault
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.faults.next("chat.postMessage", fault)
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
    [answer] = ours(slack, slack.thread(general, question))
    assert "Fill the pump" in words(answer)


async def test_a_model_that_is_down_ends_in_a_plain_word_and_retry_asks_again(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    """Situation 15."""
    ada, general = slack.person("Ada"), slack.channel("general")
    api.fail(500)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        [sorry] = await ritbot.answered(question, general)
        assert "I could not answer this." in words(sorry)
        assert "Traceback" not in words(sorry)
        assert "Retry" in labels(sorry)
        script(api, "Fill it with water.")
        await ada.press(sorry, actions.RETRY)
        answers = await ritbot.answered(question, general, 2)
    assert "Fill it with water." in words(answers[1])


async def test_stop_ends_the_work_with_a_plain_word(tmp_path: Path, slack: FakeSlack, api: MessagesApi) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    script(api, "Fill it with water.\n\nThen start it.\n\nThat is all.", pace=0.3)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: slack.state.sessions.get((general.id, question.ts)) == "processing")
        await ada.stop(general, question.ts)
        [exchange] = await ritbot.over(1)
    assert exchange.state == "stopped"
    assert words(ours(slack, slack.thread(general, question))[-1]) == STOPPED
    assert slack.state.sessions[general.id, question.ts] == "active"


async def test_yes_takes_up_what_was_offered(tmp_path: Path, slack: FakeSlack, api: MessagesApi) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    offer = "Fill it with water.\n\n" + "It is all in the manual. " * 150 + "\n\nDo you want to know about the seals?"
    script(api, offer)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.answered(question, general)
        api.say("How often are the seals of a pump greased?")
        script(api, "Twice a year.")
        await ada.say(general, "yes", thread=question)
        answers = await ritbot.answered(question, general, 2)
        [_, exchange] = await ritbot.exchanges()
    assert exchange.standalone == "How often are the seals of a pump greased?"
    assert "Twice a year." in words(answers[1])
    assert "[1]" in words(answers[1])


async def test_guests_and_other_companies_are_not_let_in_unless_allowed(tmp_path: Path, slack: FakeSlack) -> None:
    guest, partner = slack.person("Gus", guest="restricted"), slack.team("Partner")
    outsider = slack.person("Olga", team=partner)
    general, shared = slack.channel("general"), slack.channel("shared", shared_with=[partner])
    async with bot(tmp_path / "closed", slack) as ritbot:
        await guest.mention(general, QUESTION)
        await outsider.mention(shared, QUESTION)
        await slack.settled()
        assert await ritbot.exchanges() == []
    async with bot(tmp_path / "open", slack, guests=True, shared_channels=True) as ritbot:
        one = await guest.mention(general, QUESTION)
        two = await outsider.mention(shared, QUESTION)
        await ritbot.answered(one, general)
        await ritbot.answered(two, shared)


async def test_a_channels_settings_are_changed_by_those_who_manage_it(tmp_path: Path, slack: FakeSlack) -> None:
    admin, ada = slack.person("Root", admin=True), slack.person("Ada")
    general = slack.channel("general")
    general.creator = admin.id
    async with bot(tmp_path, slack) as ritbot:
        await ada.command(general, "/ritbot", "settings")
        await slack.until(lambda: slack.state.modals.get(ada.id))
        assert "submit" not in ada.modal.payload
        await admin.command(general, "/ritbot", "settings")
        await slack.until(lambda: slack.state.modals.get(admin.id))
        await admin.submit(mode="questions", switches=["quiet", "follow_ups"])
        await ritbot.settings_kept(general)
        question = await ada.say(general, QUESTION)
        await ritbot.answered(question, general)
        await ada.say(general, "I had a sandwich.")
        await slack.settled()
        assert len(await ritbot.exchanges()) == 1


async def test_a_wrong_token_and_a_missing_scope_are_said_at_the_start(tmp_path: Path, slack: FakeSlack) -> None:
    with pytest.raises(SlackClosed, match="xoxb-"):
        async with bot(tmp_path / "a", slack, bot_token="xoxb-wrong"):
            pass
    with pytest.raises(SlackClosed, match="xapp-"):
        async with bot(tmp_path / "b", slack, app_token="xapp-wrong"):
            await asyncio.sleep(5)
    async with FakeSlack(scopes=["chat:write"]) as poor:
        with pytest.raises(SlackClosed, match="app_mentions:read"):
            async with bot(tmp_path / "c", poor):
                pass


async def test_notifications_of_different_answers_differ(tmp_path: Path, slack: FakeSlack) -> None:
    """Situation 14."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        questions = [await ada.mention(general, text) for text in (QUESTION, "How often do I grease the seal?")]
        texts = {(await ritbot.answered(question, general))[0].text for question in questions}
    assert len(texts) == 2


def script(api: MessagesApi, answer: str, *, pace: float = 0.0) -> None:
    """Search, read the first sections, answer; every paragraph cites the first."""
    api.call("get_toc", {"query": "prime pump"}, say="I look.")
    api.call("read", {"sections": [1, 2, 3]}, say="I read.")
    paragraphs = answer.split("\n\n")
    parts = [cited(("\n\n" if position else "") + said, (0, 0, 0)) for position, said in enumerate(paragraphs)]
    api.send(*parts, pace=pace)


@pytest.mark.parametrize("when", ["before a word", "while it is written"])
async def test_a_question_that_is_deleted_ends_the_work_and_nothing_is_posted(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi, when: str
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    writer = Writer(paragraphs=40, pace=0.2)
    api.always(writer)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        method = "chat.startStream" if when == "while it is written" else "assistant.threads.setStatus"
        await slack.until(lambda: slack.calls(method))
        await ada.delete(question)
        [exchange] = await ritbot.over(1)
        await ritbot.idle()
    assert exchange.state == "stopped"
    assert slack.said_in(general) == []
    assert not slack.calls("chat.postMessage")


async def test_a_question_that_is_deleted_after_others_replied_is_answered_no_more(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    """Slack changes it to a tombstone."""
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    api.always(Writer(paragraphs=40, pace=0.2))
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: slack.calls("chat.startStream"))
        await bob.say(general, "good one", thread=question)
        await ada.delete(question)
        [exchange] = await ritbot.over(1)
        await ritbot.idle()
    assert exchange.state == "stopped"
    assert [one.text for one in slack.said_in(general)] == ["This message was deleted.", "good one"]


async def test_an_answer_that_comes_just_after_its_question_was_deleted_does_not_stay_in_the_channel(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    slack.events.subscriptions.discard("message.channels")  # nobody tells ritbot
    slack.faults.next("chat.postMessage", Fault(delay=0.5))
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, QUESTION)
        await slack.until(lambda: slack.calls("assistant.threads.setStatus"))
        await ada.delete(question)
        [exchange] = await ritbot.over(1)
    assert exchange.state == "failed"
    assert exchange.answer is not None
    assert slack.said_in(general) == []
