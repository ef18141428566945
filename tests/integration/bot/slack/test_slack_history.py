"""What a thread remembers: what was understood, what was cited, and what people said before ritbot was called."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.slack import FakeSlack, words
from tests.fakes.slack.methods import Recorded
from tests.fakes.slack_bot import bot, written

QUESTION = "How do I prime a pump with water?"


def answers_with(api: MessagesApi, text: str, result: int) -> None:
    """Search, read, answer with a citation of one of the sections that were read."""
    api.call("get_toc", {"query": "prime pump"})
    api.call("read", {"sections": [1, 2, 3]})
    api.send(cited(text, (result, 0, 0)))


def said_to(api: MessagesApi, request: int) -> str:
    return json.dumps(api.requests[request].body["messages"], ensure_ascii=False)


def read_whole(slack: FakeSlack) -> list[Recorded]:
    """Threads that were read from their beginning on."""
    return [call for call in slack.calls("conversations.replies") if "oldest" not in call.arguments]


async def test_a_follow_up_is_understood_in_its_thread_and_finds_what_was_cited_at_hand(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    answers_with(api, "Fill it with water.", 1)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.over(1)
        [exchange] = await ritbot.exchanges()
        assert exchange.answer is not None
        path = exchange.answer.sources[0].first.path
        at_hand = f"1: {' › '.join(path)}"
        assert at_hand not in said_to(api, 0)
        api.say("How do I prime a pump in version 2?")
        api.call("read", {"sections": [1]})  # no search before it: it is at hand
        api.send(cited("In version 2 as well.", (0, 0, 0)))
        await ada.say(general, "and in v2?", thread=question)
        await ritbot.over(2)
    understanding, opening = said_to(api, 3), said_to(api, 4)
    assert QUESTION in understanding
    assert "and in v2?" in understanding
    assert "How do I prime a pump in version 2?" in opening
    assert at_hand in opening
    answer = slack.thread(general, question)[-1]
    assert "In version 2 as well." in words(answer)
    assert path[-1] in words(answer)
    assert not read_whole(slack), "the memory is our own log"


async def test_an_older_thread_is_read_once_when_it_is_called_into_it(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    root = await ada.say(general, "The pump on deck four is dry.")
    for number in range(120):
        await bob.say(general, f"I saw it, too, number {number}.", thread=root)
    api.say("How do I prime the dry pump on deck four?")
    answers_with(api, "Fill it with water.", 1)
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        await ada.mention(general, "what do I do?", thread=root)
        await ritbot.over(1)
        understanding = said_to(api, 0)
        assert "The pump on deck four is dry." in understanding
        assert "number 119." in understanding, "the newest counts"
        assert len(read_whole(slack)) == 1
        api.say("How often do I grease its seal?")
        answers_with(api, "Twice a year.", 2)
        await bob.say(general, "and how often do I grease it?", thread=root)
        await ritbot.over(2)
    assert len(read_whole(slack)) == 1
    assert "number 119." not in said_to(api, 4)
    assert "How do I prime the dry pump on deck four?" in said_to(api, 4)


async def test_a_thread_that_cannot_be_read_is_answered_all_the_same(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    root = await ada.say(general, "The pump on deck four is dry.")
    async with bot(tmp_path, slack) as ritbot:
        slack.installation.scopes -= {"channels:history"}
        question = await ada.mention(general, QUESTION, thread=root)
        [answer] = await ritbot.answered(question, general)
        assert "Fill the pump" in words(answer)
