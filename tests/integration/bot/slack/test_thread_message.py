"""One answer being given in a thread: it stays visible for as long as it takes, and touches no message but its own."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from bot.model import Exchange, Posted, Question
from bot.slack.outbound.client import quiet_client
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.outbound.thread_message import ADORNING_SECONDS, MAX_STREAMED_CHARACTERS, STARTED, ThreadMessage
from deploy.wiring.stores import SystemClock
from navigator.answer import Answer, Trace
from tests.fakes.slack import Channel, FakeSlack, Fault, Message, words

SORRY = "This took too long."


@pytest.fixture
def rates() -> RateLimiter:
    return RateLimiter()


def exchange(message: Message, attempts: int = 1, posted: Posted | None = None) -> Exchange:
    question = Question(
        f"{message.team}:{message.channel}:{message.ts}",
        message.team,
        message.channel,
        message.user,
        message.text,
        "mention",
        datetime.fromtimestamp(float(message.ts), UTC),
        thread=message.root,
        ts=message.ts,
    )
    return Exchange(question, attempts=attempts, posted=posted)


class Given:
    """The message of an answer, and what it told to remember."""

    def __init__(self, slack: FakeSlack, rates: RateLimiter, of: Exchange, refresh: float = 90.0) -> None:
        self.kept: list[Posted] = []
        client = quiet_client(slack.bot_token, slack.base_url)
        self.message = ThreadMessage(client, rates, of, self._keep, SystemClock(), person=False, refresh=refresh)

    async def _keep(self, posted: Posted) -> None:
        self.kept.append(posted)

    async def says(self, text: str) -> None:
        await self.message.begin()
        await self.message.answer(answer(text))
        await self.message.leave()


def answer(text: str) -> Answer:
    return Answer("Which?", text, "not_found", (), (), (), Trace())


async def begun(slack: FakeSlack, rates: RateLimiter) -> tuple[Channel, Message, Given]:
    """A question in a channel, and its answer at its beginning."""
    general = slack.channel("general")
    question = await slack.person("Ada").mention(general, "Which pump?")
    given = Given(slack, rates, exchange(question))
    await given.message.begin()
    return general, question, given


def ours(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [message for message in slack.thread(channel, root) if message.user == slack.bot_user]


async def test_a_status_outlasts_the_two_minutes_that_slack_shows_it(slack: FakeSlack, rates: RateLimiter) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    given = Given(slack, rates, exchange(question), refresh=0.1)
    await given.message.begin()
    slack.clock.advance(121)
    assert slack.status(general, question) is None
    await slack.until(lambda: slack.status(general, question))
    status = slack.status(general, question)
    assert status is not None
    assert STARTED in (status.text, *status.loading)
    await given.message.wrote("Now it writes.")
    calls = len(slack.calls("assistant.threads.setStatus"))
    await given.message.leave()
    assert slack.status(general, question) is None
    assert len(slack.calls("assistant.threads.setStatus")) == calls, "a stream takes the status away"


async def test_a_successor_takes_up_what_its_question_began_and_no_other_answer(
    slack: FakeSlack, rates: RateLimiter
) -> None:
    """The second question came while the first was being answered, and whoever took it died before it said anything."""
    ada, general = slack.person("Ada"), slack.channel("general")
    first = await ada.mention(general, "Which pump?")
    one = Given(slack, rates, exchange(first))
    await one.message.begin()
    second = await ada.mention(general, "And which valve?", thread=first)
    await one.message.wrote("The blue one.")
    slack.expire_streams()
    await one.message.answer(answer("The blue one, of course."))
    await one.message.leave()
    await Given(slack, rates, exchange(second, attempts=2)).says("The red one.")
    assert [words(message).split("\n")[0] for message in ours(slack, general, first)] == [
        "The blue one, of course.",
        "The red one.",
    ]


async def test_a_successor_leaves_alone_what_an_answer_that_was_stopped_left_behind(
    slack: FakeSlack, rates: RateLimiter
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    first = await ada.mention(general, "Which pump?")
    one = Given(slack, rates, exchange(first))
    await one.message.begin()
    second = await ada.mention(general, "And which valve?", thread=first)
    await one.message.wrote("The blue one")
    await one.message.plainly(SORRY, retry=True)
    await one.message.leave()
    await Given(slack, rates, exchange(second, attempts=2)).says("The red one.")
    assert [words(message).split("\n")[0] for message in ours(slack, general, first)] == [
        "The blue one",
        SORRY,
        "The red one.",
    ]


async def test_a_successor_goes_on_in_a_stream_of_which_nobody_heard(slack: FakeSlack, rates: RateLimiter) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    lost = Given(slack, rates, exchange(question))
    await lost.message.begin()
    await lost.message.wrote("The blue")
    await lost.message.leave()
    await Given(slack, rates, exchange(question, attempts=2)).says("The blue one.")
    [message] = ours(slack, general, question)
    assert words(message).startswith("The blue one.")
    assert not message.streaming


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_plain_word_is_said_even_where_the_message_was_deleted(
    slack: FakeSlack, rates: RateLimiter, streaming: bool
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    gone = Posted(general.id, "1.000001", streaming=streaming)
    given = Given(slack, rates, exchange(question, attempts=4, posted=gone))
    await given.message.begin()
    await given.message.plainly(SORRY, retry=True)
    await given.message.leave()
    assert [words(message) for message in ours(slack, general, question)] == [SORRY]


async def test_a_plain_word_that_slack_took_and_nobody_heard_of_is_not_looked_for_in_the_stream(
    slack: FakeSlack, rates: RateLimiter
) -> None:
    general, question, given = await begun(slack, rates)
    await given.message.wrote("The blue one")
    slack.faults.next("chat.postMessage", Fault(applies=True, drops=True))
    await given.message.plainly(SORRY, retry=True)
    await given.message.leave()
    began, said = ours(slack, general, question)
    assert (words(began), words(said)) == ("The blue one", SORRY)
    assert given.kept[-1].ts == said.ts


async def test_no_more_is_streamed_than_a_message_holds(slack: FakeSlack, rates: RateLimiter) -> None:
    general, question, given = await begun(slack, rates)
    text = ""
    for number in range(40):
        text += f"{number} " + "The blue one is best. " * 25 + "\n\n"
        await given.message.wrote(text)
    [message] = ours(slack, general, question)
    assert MAX_STREAMED_CHARACTERS - 1_000 < len(words(message)) <= MAX_STREAMED_CHARACTERS
    await given.message.answer(answer(text))
    await given.message.leave()
    messages = ours(slack, general, question)
    assert messages[0].ts == message.ts
    assert not [call.error for call in slack.calls() if call.error]
    said = "\n".join(map(words, messages))
    assert all(f"{number} The blue one" in said for number in range(40))


@pytest.mark.parametrize(
    "code",
    "cant_update_message edit_window_closed update_failed streaming_state_conflict block_mismatch".split(),
)
async def test_an_answer_that_may_not_take_the_place_of_its_stream_is_not_said_again(
    slack: FakeSlack, rates: RateLimiter, code: str
) -> None:
    """Only what the stream lacks follows, and once, however often it is tried."""
    general, question, given = await begun(slack, rates)
    await given.message.wrote("The blue one.\n\nIt is in the cellar.")
    slack.faults.always("chat.update", Fault(error=code))
    whole = "The blue one.\n\nIt is in the cellar.\n\nMind the step."
    await given.message.answer(answer(whole))
    await given.message.leave()
    assert given.kept[-1].refused == code
    await Given(slack, rates, exchange(question, attempts=2, posted=given.kept[-1])).says(whole)
    began, rest = ours(slack, general, question)
    assert words(began) == "The blue one.\n\nIt is in the cellar."
    assert words(rest).startswith("Mind the step.")
    assert "cellar" not in words(rest)


async def test_a_stream_that_slack_never_lets_go_of_is_not_said_again(slack: FakeSlack, rates: RateLimiter) -> None:
    general, question, given = await begun(slack, rates)
    await given.message.wrote("The blue one.")
    slack.faults.always("chat.stopStream", Fault(error="access_denied"))
    await given.message.answer(answer("The blue one.\n\nMind the step."))
    await given.message.leave()
    began, rest = ours(slack, general, question)
    assert words(began) == "The blue one."
    assert words(rest).startswith("Mind the step.")


async def test_a_message_that_stands_whole_is_left_alone_where_it_may_not_be_changed(
    slack: FakeSlack, rates: RateLimiter
) -> None:
    """Its worker died between showing it and saying so."""
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    given = Given(slack, rates, exchange(question))
    await given.says("The blue one.")
    slack.faults.always("chat.update", Fault(error="edit_window_closed"))
    await Given(slack, rates, exchange(question, attempts=2, posted=given.kept[-1])).says("The blue one.")
    assert len(ours(slack, general, question)) == 1


async def test_a_429_ends_a_stream_at_once_and_other_answers_know_of_it(slack: FakeSlack, rates: RateLimiter) -> None:
    ada, general, other = slack.person("Ada"), slack.channel("general"), slack.channel("other")
    one, two = [Given(slack, rates, exchange(await ada.mention(room, "Which pump?"))) for room in (general, other)]
    for given in (one, two):
        await given.message.begin()
        await given.message.wrote("The blue one.")
    slack.faults.always("chat.appendStream", Fault(error="ratelimited", status=429, retry_after=30))
    began = time.monotonic()
    for given in (one, two):
        await given.message.wrote("The blue one.\n\nMind the step.")
        await given.message.answer(answer("The blue one.\n\nMind the step."))
        await given.message.leave()
    assert time.monotonic() - began < 5, "nobody waits for what adorns"
    assert len(slack.calls("chat.appendStream")) == 1
    for room in (general, other):
        assert "Mind the step." in words(slack.said_in(room)[-1])


async def test_a_stream_that_began_unheard_and_could_not_be_looked_for_carries_the_answer(
    slack: FakeSlack, rates: RateLimiter
) -> None:
    general, question, given = await begun(slack, rates)
    slack.faults.next("chat.startStream", Fault(applies=True, drops=True))
    slack.faults.next("conversations.replies", Fault(error="fatal_error"), times=4)
    await given.message.wrote("The blue one.")
    await given.message.answer(answer("The blue one.\n\nMind the step."))
    await given.message.leave()
    [message] = ours(slack, general, question)
    assert words(message).startswith("The blue one.\n\nMind the step.")


async def test_a_piece_that_was_appended_unheard_is_not_said_again(slack: FakeSlack, rates: RateLimiter) -> None:
    general, question, given = await begun(slack, rates)
    await given.message.wrote("The blue one.")
    slack.faults.next("chat.appendStream", Fault(applies=True, drops=True))
    await given.message.wrote("The blue one.\n\nMind the step.")
    slack.faults.always("chat.update", Fault(error="edit_window_closed"))
    await given.message.answer(answer("The blue one.\n\nMind the step.\n\nThat is all."))
    await given.message.leave()
    began, rest = ours(slack, general, question)
    assert words(began) == "The blue one.\n\nMind the step."
    assert words(rest).startswith("That is all.")


async def test_what_adorns_and_hangs_keeps_nobody_waiting(slack: FakeSlack, rates: RateLimiter) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    for method in ("assistant.threads.setStatus", "agents.sessions.setStatus"):
        slack.faults.next(method, Fault(delay=60))
    began = time.monotonic()
    await Given(slack, rates, exchange(question)).says("The blue one.")
    assert time.monotonic() - began < 2 * ADORNING_SECONDS
    assert words(ours(slack, general, question)[0]).startswith("The blue one.")


async def test_a_429_for_the_stop_button_holds_up_no_answer(slack: FakeSlack, rates: RateLimiter) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    question = await ada.mention(general, "Which pump?")
    slack.faults.next("agents.sessions.setStatus", Fault(error="ratelimited", status=429, retry_after=25))
    given, began = Given(slack, rates, exchange(question)), time.monotonic()
    await given.message.begin()
    await given.message.answer(answer("The blue one."))
    assert time.monotonic() - began < 5
    await given.message.leave()
