"""An answer whose words changed, from the page to the thread: asked in a fake Slack, edited on an indexed site."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.answering.difference import SAME
from bot.model import ChangeNote, ChannelSettings, Exchange
from bot.slack.inbound.checking import (
    ALL_STAND,
    CHECK_USAGE,
    NO_ANSWER,
    NO_WORDS_NAMED,
    NOT_INDEXED,
    PAGE_GONE,
    SOME_CHANGED,
)
from bot.slack.inbound.interactions import TRIED_ALREADY
from bot.slack.outbound.change_message import ANSWER_TAKEN_AWAY
from bot.slack.render import actions
from bot.slack.render.change_note import CHANGED
from bot.staleness.judging import STALENESS_GROUP
from deploy.settings.stale import StaleSettings
from ingest.events.topics import NODES
from tests.fakes.slack import Channel, FakeSlack, Fault, Message, Person, words
from tests.fakes.slack_bot import PAGES, PUMPS, Bot, bot
from tests.waiting import eventually

QUESTION = "How do I prime a pump with water?"
PAGE = str(PAGES[PUMPS])
WORDS, OTHERS = "Fill the pump with water first.", "Fill the pump with oil first."
AT_ONCE = StaleSettings(wait_minutes=0)


async def asked(ritbot: Bot, ada: Person, general: Channel) -> tuple[Message, Message]:
    question = await ada.mention(general, QUESTION)
    [answer] = await ritbot.answered(question, general)
    return question, answer


async def edit(ritbot: Bot, page: str | int) -> None:
    """Publish it, index it, and wait until whoever keeps the answers has looked at it."""
    await ritbot.site.update({PUMPS: page})

    async def looked() -> bool:
        return not await ritbot.events.lag(NODES, STALENESS_GROUP)

    await eventually(looked)


async def told(ritbot: Bot) -> Exchange:
    """The exchange, once nothing is due to be told."""

    async def nothing_due() -> bool:
        return not any(each.note and each.note.due_at for each in await ritbot.exchanges())

    await eventually(nothing_due)
    return (await ritbot.exchanges())[0]


def notes(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [one for one in slack.thread(channel, root) if CHANGED in words(one)]


async def test_the_thread_hears_once_that_quoted_words_changed_and_the_answer_is_marked(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        await slack.until(lambda: notes(slack, general, question))
        await told(ritbot)
        [note] = notes(slack, general, question)
        assert f"Before: “{WORDS}”" in words(note)
        assert f"Now: “{OTHERS}”" in words(note)
        assert f"{PUMPS}#prime:~:text=" in str(note.blocks)
        assert "changed since" in words(answer)
        await edit(ritbot, PAGE.replace(WORDS, "Fill the pump with wine first."))
        exchange = await told(ritbot)
        assert exchange.changed[0].after == "Fill the pump with wine first."
        assert len(notes(slack, general, question)) == 1


@pytest.mark.parametrize(
    ("page", "states"),
    [
        (PAGE.replace("Grease the seal", "Oil the seal"), []),
        (PAGE.replace("<pre>pump --prime</pre>", "<p>Then start it.</p><pre>pump --prime</pre>"), ["marked"]),
        (PAGE.replace(f"<p>{WORDS}</p>", f"<div><p><em>{WORDS}</em></p></div>"), []),
        (PAGE.replace(">Priming<", ">How to prime<"), ["marked"]),
    ],
    ids=["another section", "other words of the section", "markup", "another title"],
)
async def test_an_edit_elsewhere_is_no_news_to_the_thread(
    tmp_path: Path, slack: FakeSlack, page: str, states: list[str]
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        await edit(ritbot, page)
        exchange = await told(ritbot)
        assert [source.state for source in exchange.changed] == states
        assert ("changed since" in words(answer)) == bool(states)
        assert notes(slack, general, question) == []


async def test_a_page_that_went_is_said_so_and_one_that_moved_is_not(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        new = "https://docs.example.test/machines.html"
        ritbot.site.fetcher.pages |= {new: PAGE, PUMPS: (301, new)}
        await ritbot.site.handle(new, moved_from=PUMPS)
        await edit(ritbot, (301, new))
        assert (await told(ritbot)).changed == ()
        ritbot.site.fetcher.pages[new] = 404
        await ritbot.site.remove(new)
        await slack.until(lambda: notes(slack, general, question))
        assert "This section is no longer there." in words(notes(slack, general, question)[0])
        assert [source.state for source in (await told(ritbot)).changed] == ["gone"]


async def test_what_is_as_it_was_again_before_the_note_is_no_news(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=StaleSettings(wait_minutes=15)) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        [exchange] = await ritbot.exchanges()
        assert [source.state for source in exchange.changed] == ["stale"]
        assert exchange.note is not None
        due_at = exchange.note.due_at
        await edit(ritbot, PAGE)
        [exchange] = await ritbot.exchanges()
        assert exchange.changed == ()
        assert exchange.note is not None
        assert exchange.note.due_at == due_at
        assert notes(slack, general, question) == []


async def test_the_same_is_asked_again_in_place_and_the_answer_says_what_is_different(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        await slack.until(lambda: notes(slack, general, question))
        [note] = notes(slack, general, question)
        await ada.press(note, actions.ASK_AGAIN)
        exchanges = await ritbot.over(2)
        again = next(each for each in exchanges if each.question.attempt == 2)
        assert again.question.instead_of == exchanges[0].question.id
        assert again.answer is not None
        assert OTHERS in again.answer.text
        assert again.answer.note.endswith("Different from before: “Priming” says something else now.")
        await ada.press(note, actions.ASK_AGAIN)
        await slack.until(lambda: any(one.text == TRIED_ALREADY for one in slack.said_in(general)))
        assert SAME not in again.answer.note


async def test_an_answer_that_people_took_away_needs_no_note(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        slack.state.remove(answer)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        exchange = await told(ritbot)
        assert exchange.note is not None
        assert exchange.note.unsent == ANSWER_TAKEN_AWAY
        assert notes(slack, general, question) == []


async def test_a_process_that_died_between_the_note_and_the_store_left_a_note_that_is_found(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        await slack.until(lambda: notes(slack, general, question))
        exchange = await told(ritbot)
        assert exchange.note is not None
        kept = await ritbot.store.exchange(exchange.question.id)
        assert kept is not None
        died = ChangeNote(exchange.question.asked_at - timedelta(days=1), attempts=1)
        await ritbot.store.keep(replace(exchange, note=died), kept.revision)
        assert (await told(ritbot)).note == exchange.note
        assert len(notes(slack, general, question)) == 1


@pytest.mark.parametrize("code", ["channel_not_found", "is_archived", "not_in_channel", "thread_not_found"])
async def test_where_the_conversation_is_closed_nothing_is_said(tmp_path: Path, slack: FakeSlack, code: str) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        slack.faults.always("conversations.replies" if "found" in code else "chat.postMessage", Fault(error=code))
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        note = (await told(ritbot)).note
        assert note is not None
        assert note.unsent == f"Slack refused: {code}"
        assert notes(slack, general, question) == []


async def test_an_answer_that_can_be_changed_no_more_gets_its_note_all_the_same(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        slack.faults.always("chat.update", Fault(error="edit_window_closed"))
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        await slack.until(lambda: notes(slack, general, question))
        assert "changed since" not in words(answer)


@pytest.mark.parametrize("off", [{"change_notes": False}, {"mode": "off"}], ids=["notes", "ritbot"])
async def test_a_channel_may_do_without(tmp_path: Path, slack: FakeSlack, off: dict[str, Any]) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        await ritbot.store.set_channel(ChannelSettings(general.team, general.id, **off))
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        assert [source.state for source in (await told(ritbot)).changed] == ["stale"]
        assert "changed since" in words(answer)
        assert notes(slack, general, question) == []


async def test_an_answer_given_while_its_page_changed_is_judged_when_it_is_there(
    tmp_path: Path, slack: FakeSlack
) -> None:
    """What changed was told before anybody had cited it."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        [exchange] = await ritbot.exchanges()
        await ritbot.store.expire(exchange.question.asked_at + timedelta(days=1))
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        late = await ritbot.store.exchange(exchange.question.id)  # whoever took the question in wrote it down meanwhile
        await ritbot.store.keep(exchange, late.revision if late else None)
        [ending] = [record async for record in ritbot.events.read("bot.answers")]
        await ritbot.events.append("bot.answers", ending.key, ending.value)
        await slack.until(lambda: notes(slack, general, question))
        assert [source.state for source in (await told(ritbot)).changed] == ["stale"]


async def test_two_workers_and_events_that_come_again_make_one_note(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    shared = tmp_path / "shared"
    shared.mkdir()
    async with bot(tmp_path / "one", slack, shared=shared, stale=AT_ONCE) as ritbot:
        question, _ = await asked(ritbot, ada, general)
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        await slack.until(lambda: notes(slack, general, question))
        exchange = await told(ritbot)
        for record in [record async for record in ritbot.events.read(NODES)] * 2:
            await ritbot.events.append(NODES, record.key, record.value)

        async def looked() -> bool:
            return not await ritbot.events.lag(NODES, STALENESS_GROUP)

        await eventually(looked)
        assert (await ritbot.exchanges())[0] == exchange
        assert len(notes(slack, general, question)) == 1


async def checked(slack: FakeSlack, ada: Person, general: Channel, link: str) -> str:
    """What `/ritbot check` tells whoever typed it."""
    before = sum(bool(one.only_for) for one in slack.said_in(general))
    await ada.command(general, "/ritbot", f"check {link}")

    def told() -> list[Message]:
        return [one for one in slack.said_in(general) if one.only_for]

    await slack.until(lambda: len(told()) > before)
    return told()[-1].text


async def test_a_link_tells_whether_what_was_quoted_still_stands(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack, stale=StaleSettings(notes=False)) as ritbot:
        question, answer = await asked(ritbot, ada, general)
        [exchange] = await ritbot.exchanges()
        assert exchange.answer is not None
        message = f"https://acme.slack.com/archives/{general.id}/p{answer.ts.replace('.', '')}?thread_ts={question.ts}"
        source = exchange.answer.sources[0].first.link
        assert (await checked(slack, ada, general, message)).startswith("What I quoted still stands.")
        assert await checked(slack, ada, general, source) == ALL_STAND
        await edit(ritbot, PAGE.replace(WORDS, OTHERS))
        told = await checked(slack, ada, general, message)
        assert told.startswith("Not all that I quoted still stands.")
        assert f"Before: “{WORDS}”" in told
        assert await checked(slack, ada, general, source) == SOME_CHANGED
        assert await checked(slack, ada, general, PUMPS) == NO_WORDS_NAMED
        assert await checked(slack, ada, general, f"{PUMPS}x") == NOT_INDEXED
        await ritbot.site.remove(PUMPS)
        assert await checked(slack, ada, general, source) == PAGE_GONE
        assert await checked(slack, ada, general, "nothing") == CHECK_USAGE
        other = message.replace(general.id, "C0OTHER")
        assert await checked(slack, ada, general, other) == NO_ANSWER
