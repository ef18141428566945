"""As much as Slack and the operator allow, and no more: many answers at once, long answers, long questions, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.settings.bot import AnswersSettings
from deploy.settings.messages import SettingsError
from deploy.settings.model import PriceSettings
from tests.fakes.messages_api import MessagesApi, cited, text
from tests.fakes.slack import Channel, FakeSlack, Message, labels, words
from tests.fakes.slack_bot import PUMPS, bot, written
from tests.fakes.writer import Writer

QUESTION = "How do I prime a pump with water?"
MANY = 30


def ours(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [message for message in slack.thread(channel, root) if message.user == slack.bot_user]


@pytest.mark.timeout(200)
async def test_thirty_answers_at_once_in_one_channel_lose_nothing_and_cause_no_storm(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    writer = Writer(paragraphs=6, pace=0.2)
    api.always(writer)
    answers = AnswersSettings(parallel=MANY, timeout=150, per_user=0, per_channel=0)
    async with bot(tmp_path, slack, model=written(api, timeout=20), limits=answers) as ritbot:
        questions = [await ada.mention(general, f"{QUESTION} ({n})") for n in range(MANY)]
        await ritbot.over(MANY, patience=150)
    for question in questions:
        [answer] = ours(slack, general, question)
        assert not answer.streaming
        assert writer.last in words(answer)
        assert PUMPS in words(answer)
        assert slack.state.sessions.get((general.id, question.ts)) != "processing", "no Stop button stays"
    refused = Counter(call.method for call in slack.calls() if call.status == 429)
    assert sum(refused.values()) <= MANY / 3, refused
    assert slack.calls("chat.startStream"), "some of them are streamed"


async def test_a_person_a_channel_and_a_day_have_limits_that_are_told_politely(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, bob, cleo = (slack.person(name) for name in ("Ada", "Bob", "Cleo"))
    general, other = slack.channel("general"), slack.channel("other")
    api.always(Writer(paragraphs=2))
    answers = AnswersSettings(per_user=1, per_channel=2, daily_cost=0.00001)
    async with bot(tmp_path, slack, limits=answers.model_copy(update={"daily_cost": 0.0})) as ritbot:
        for person, room, said in [
            (ada, general, None),
            (ada, general, "You have asked me 1 question within the hour"),
            (bob, general, None),
            (cleo, general, "I have been asked 2 questions here within the hour"),
            (cleo, other, "You have asked me 1 question within the hour"),
        ]:
            question = await person.mention(room, QUESTION)
            [answer] = await ritbot.answered(question, room)
            assert (said or "Fill the pump") in words(answer), (person.user.name, room.name)
            if said:
                assert "Please ask again in" in words(answer)
                assert labels(answer) == []
    rich = answers.model_copy(update={"per_user": 0, "per_channel": 0})
    priced = written(api, timeout=20).model_copy(
        update={"prices": PriceSettings(input=1.0, output=5.0, cache_read=0.1, cache_write=1.2)}
    )
    async with bot(tmp_path / "cost", slack, model=priced, limits=rich) as ritbot:
        first = await ada.mention(general, QUESTION)
        [answer] = await ritbot.answered(first, general)
        assert "Step 2 is done." in words(answer)
        asked = len(api.requests)
        second = await bob.mention(other, QUESTION)
        await ritbot.over(2)
        [answer] = ours(slack, other, second)
        assert "I have used up what I may spend on answers today" in words(answer)
        assert len(api.requests) == asked, "the model was not asked"


async def test_a_ceiling_on_costs_that_nobody_can_count_is_refused_at_the_start(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    half = written(api, timeout=20).model_copy(update={"prices": PriceSettings(input=1.0)})
    for model in (written(api, timeout=20), half):
        with pytest.raises(SettingsError, match=r"model\.prices"):
            async with bot(tmp_path, slack, model=model, limits=AnswersSettings(daily_cost=1.0)):
                pass


async def test_whom_nobody_asked_tells_nobody_of_limits_where_it_is_quiet(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    answers = AnswersSettings(per_user=1)
    async with bot(tmp_path, slack, limits=answers, answer_mode="questions", quiet=True) as ritbot:
        first = await ada.say(general, QUESTION)
        await ritbot.answered(first, general)
        second = await ada.say(general, QUESTION)
        [_, exchange] = await ritbot.over(2)
        assert exchange.state == "refused"
        assert ours(slack, general, second) == []


CODE = [f"line {n}: pump --prime --level {n} `tick` ``` [1]" for n in range(260)]


def long_answer() -> Iterator[dict[str, object]]:
    """A citation's link across character 3,000, two tables, and code of 260 lines with backticks in it."""
    yield cited(("Fill it with water. " * 149).strip(), (0, 0, 0))
    yield text("\n\n| Step | What |\n|---|---|\n" + "".join(f"| {n} | fill | \n" for n in range(30)))
    yield cited("\nThen start it.", (1, 0, 0))
    yield text("\n\n| A | B |\n|---|---|\n| 1 | |\n\n````text\n" + "\n".join(CODE) + "\n````\n\n")
    yield cited("Then wait.", (0, 0, 0))


async def test_a_long_answer_with_code_tables_and_links_is_whole_in_every_message(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    """Situations 9, 11, 12 and 13, and test 2 of the list."""
    ada, general = slack.person("Ada"), slack.channel("general")
    api.call("get_toc", {"query": "prime pump"})
    api.call("read", {"sections": [1, 2, 3]})
    api.send(*long_answer())
    async with bot(tmp_path, slack, model=written(api, timeout=20)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
    assert not [(call.method, call.answer) for call in slack.calls() if call.error]
    messages = ours(slack, general, question)
    assert len(messages) > 1
    for message in messages:
        fences = re.findall(r"^(?:`{3,}|~{3,})", words(message), re.MULTILINE)
        assert len(fences) % 2 == 0, fences
        assert len(message.text.encode()) < 1_000
        assert len(words(message)) < 13_200
    whole = "\n".join(map(words, messages))
    positions = [whole.index(f"line {n}: pump --prime --level {n} ") for n in range(260)]
    assert positions == sorted(positions)
    assert whole.index("[[1]](") < 3_000 < whole.index(")", whole.index("[[1]]("))
    linked = set(re.findall(r"\[\[(\d+)\]\]\(https://docs\.example\.test/pumps\.html[^)\s]*\)", whole))
    assert linked == {"1", "2"}, "every citation is a link"
    assert re.findall(r"^\[(\d+)\] <", whole, re.MULTILINE) == ["1", "2"], "and has its row"


async def test_an_answer_longer_than_a_message_is_streamed_as_far_as_it_holds_and_finished_in_further_ones(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    api.call("get_toc", {"query": "prime pump"})
    api.call("read", {"sections": [1, 2, 3]})
    paragraphs = [f"Part {n}. " + "It is all in the manual. " * 30 + "\n\n" for n in range(40)]
    api.send(*(cited(paragraph, (0, 0, 0)) for paragraph in paragraphs), pace=0.0005)
    async with bot(tmp_path, slack, model=written(api, timeout=20)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
    streamed = [*slack.calls("chat.startStream"), *slack.calls("chat.appendStream")]
    assert sum(len(str(call.arguments["markdown_text"])) for call in streamed) <= 12_000
    messages = ours(slack, general, question)
    assert messages[0].ts == slack.calls("chat.startStream")[0].answer["ts"]
    whole = "\n".join(map(words, messages))
    assert [int(n) for n in re.findall(r"Part (\d+)\.", whole)] == list(range(40))
    assert not [(call.method, call.answer) for call in slack.calls() if call.error]


async def test_a_question_of_forty_thousand_characters_is_answered_and_says_what_was_read(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, f"{QUESTION} {'It leaks & <drips>. ' * 2000}"[:39_900])
        [answer] = await ritbot.answered(question, general)
        assert "Your question was very long" in words(answer)
        assert not [(call.method, call.answer) for call in slack.calls() if call.error]
