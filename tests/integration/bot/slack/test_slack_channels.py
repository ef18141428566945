"""How ritbot behaves in a channel: what its settings say, who asks from where, and what people send that is no sentence."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from bot.answering.progress import ProgressRelay
from bot.model import ChannelSettings, Question
from bot.slack.inbound.app import NO_WORDS, SHORTCUT
from bot.slack.render import actions
from deploy.settings.known_sites import KnownSites
from deploy.settings.model import ModelSettings
from deploy.wiring.bot_roles import Asker
from ingest.model import Scope, Site
from navigator.answer import Answer
from navigator.navigator import Navigator
from tests.fakes.messages_api import Answer as Reply
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.slack import Channel, FakeSlack, Message, words
from tests.fakes.slack_bot import Bot, bot, written
from tests.fakes.writer import Writer
from tests.unit.bot.slack.inbound.test_addressed import SAID

QUESTION = "How do I prime a pump with water?"
UNKNOWN = "Who won the chess tournament in Reykjavik?"
STRICT = ModelSettings(provider="extractive", extract_threshold=0.9)


async def behaves(ritbot: Bot, channel: Channel, **settings: Any) -> None:
    await ritbot.store.set_channel(ChannelSettings(channel.team, channel.id, **settings))


def ours(slack: FakeSlack, channel: Channel, root: Message) -> list[Message]:
    return [one for one in slack.thread(channel, root) if one.user == slack.bot_user and not one.only_for]


async def test_where_it_is_turned_off_it_says_nothing_in_the_channel(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        await behaves(ritbot, general, mode="off")
        question = await ada.mention(general, QUESTION)
        await slack.settled()
        await ada.shortcut(question, SHORTCUT)
        await slack.until(lambda: any(one.only_for == ada.id for one in slack.said_in(general)))
        assert "turned off in this channel" in slack.said_in(general)[-1].text
        assert await ritbot.exchanges() == []
        await ada.command(general, "/ask", QUESTION)
        await ritbot.over(1)
        assert ours(slack, general, question) == []
        direct = await ada.say(ada.direct(), QUESTION)
        await ritbot.answered(direct, ada.direct())


async def test_where_it_answers_questions_it_is_quiet_about_what_it_does_not_find(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, quiet, loud = slack.person("Ada"), slack.channel("quiet"), slack.channel("loud")
    async with bot(tmp_path, slack, model=STRICT) as ritbot:
        await behaves(ritbot, quiet, mode="questions", quiet=True)
        await behaves(ritbot, loud, mode="questions")
        unheard = await ada.say(quiet, UNKNOWN)
        told = await ada.say(loud, UNKNOWN)
        await ada.say(loud, "The pump is primed.")
        [sorry] = await ritbot.answered(told, loud)
        assert "I found nothing" in words(sorry)
        assert len(await ritbot.over(2)) == 2
        assert ours(slack, quiet, unheard) == []
        assert slack.status(quiet, unheard) is None
        named = await ada.mention(quiet, UNKNOWN)
        [sorry] = await ritbot.answered(named, quiet)
        assert "I found nothing" in words(sorry), "who asks it is answered"


async def test_language_and_extracts_are_those_of_the_channel(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    ada, german, quoted = slack.person("Ada"), slack.channel("german"), slack.channel("quoted")
    api.always(Writer(paragraphs=1))
    model = written(api).model_copy(update={"extract_threshold": 0.05})
    async with bot(tmp_path, slack, model=model) as ritbot:
        await behaves(ritbot, german, language="German")
        await behaves(ritbot, quoted, extracts=True)
        question = await ada.mention(german, QUESTION)
        await ritbot.over(1)
        assert "German" in json.dumps(api.requests[0].body["messages"])
        assert "Step 1 is done." in words(ours(slack, german, question)[0])
        asked = len(api.requests)
        question = await ada.mention(quoted, QUESTION)
        await ritbot.over(2)
        assert "Fill the pump with water first." in words(ours(slack, quoted, question)[0])
        assert len(api.requests) == asked, "no model"


async def test_the_strategy_is_that_of_the_channel(tmp_path: Path, slack: FakeSlack, api: MessagesApi) -> None:
    admin, general, quick = slack.person("Root", admin=True), slack.channel("general"), slack.channel("quick")
    quick.creator = admin.id
    api.always(Writer(paragraphs=1))
    async with bot(tmp_path, slack, model=written(api)) as ritbot:
        await admin.command(quick, "/ritbot", "settings")
        await slack.until(lambda: slack.state.modals.get(admin.id))
        await admin.submit(mode="mention", strategy="vanilla")
        await ritbot.settings_kept(quick)
        api.always(lambda request: Reply((cited("Fill it.", (0, 0, 0)),)))
        question = await admin.mention(quick, QUESTION)
        await ritbot.over(1)
        assert "Fill it." in words(ours(slack, quick, question)[0])
        assert len(api.requests) == 1, "one call, with the passages in it"
        api.always(Writer(paragraphs=1))
        await admin.mention(general, QUESTION)
        exchanges = await ritbot.over(2)
        assert {one.answer.strategy for one in exchanges if one.answer} == {"vanilla", "rit"}


async def test_without_a_model_no_strategy_is_offered(tmp_path: Path, slack: FakeSlack) -> None:
    admin, general = slack.person("Root", admin=True), slack.channel("general")
    general.creator = admin.id
    async with bot(tmp_path, slack) as ritbot:
        await behaves(ritbot, general, strategy="agentic")
        await admin.command(general, "/ritbot", "settings")
        await slack.until(lambda: slack.state.modals.get(admin.id))
        assert "strategy" not in {block.get("block_id") for block in admin.modal.payload["blocks"]}
        await admin.submit(mode="mention")
        kept = await ritbot.store.channel(general.team, general.id)
        assert kept is not None
        assert kept == replace(kept, changed_by=admin.id, strategy="agentic"), "what the modal does not show stays"
        question = await admin.mention(general, QUESTION)
        assert "Fill the pump with water first." in words((await ritbot.answered(question, general))[0])


class Asked:
    """A navigator that notes where it is to look."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    async def ask(self, question: str, scope: Scope, listener: object, **more: object) -> Answer:
        self.scopes.append(scope)
        return Answer(question, "", "not_found")


async def test_only_the_sites_of_the_channel_are_looked_into(tmp_path: Path) -> None:
    asked = Asked()
    known = KnownSites(tmp_path, {name: Site(name, f"https://{name}.example/") for name in ("docs", "api")}, {})
    ask = Asker(cast(Navigator, asked), cast(Navigator, asked), known)
    question = Question("1", "T1", "C1", "U1", QUESTION, "mention", datetime.now(UTC))
    for sites in ((), ("api",), ("api", "gone")):
        await ask(question, ChannelSettings("T1", "C1", sites=sites), (), ProgressRelay(None))
    assert asked.scopes[0] == known.scope((), None)
    assert asked.scopes[1:] == [known.scope(["api"], None)] * 2
    assert asked.scopes[0] != asked.scopes[1]


async def test_an_asker_of_another_company_is_the_recipient_of_the_stream(
    tmp_path: Path, slack: FakeSlack, api: MessagesApi
) -> None:
    """Situation 8: both ids, and those of the asker."""
    partner = slack.team("Partner")
    ada, olga = slack.person("Ada"), slack.person("Olga", team=partner)
    shared = slack.channel("shared", shared_with=[partner])
    api.always(Writer(paragraphs=4, pace=0.05))
    async with bot(tmp_path, slack, model=written(api), shared_channels=True, guests=True) as ritbot:
        for person in (ada, olga):
            await person.mention(shared, QUESTION)
        await ritbot.over(2)
    recipients = {
        (call.arguments["recipient_team_id"], call.arguments["recipient_user_id"])
        for call in slack.calls("chat.startStream")
        if call.ok
    }
    assert recipients == {(ada.user.team, ada.id), (partner.id, olga.id)}


async def test_colleagues_in_other_workspaces_of_an_organisation_are_no_outsiders(
    tmp_path: Path, slack: FakeSlack
) -> None:
    """Enterprise Grid: a channel of several workspaces, whose people carry other ids."""
    home = slack.team("Acme")
    home.enterprise = "E0ACME"
    sister, partner = slack.team("Acme Labs", enterprise="E0ACME"), slack.team("Partner", enterprise="E0PARTNER")
    wide, foreign = slack.channel("wide", shared_with=[sister]), slack.channel("foreign", shared_with=[partner])
    mia, olga = slack.person("Mia", team=sister), slack.person("Olga", team=partner)
    async with bot(tmp_path, slack) as ritbot:
        await olga.mention(foreign, QUESTION)
        question = await mia.mention(wide, QUESTION)
        [answer] = await ritbot.answered(question, wide)
        await mia.press(answer, actions.SHOW_TRACE)
        await slack.until(lambda: slack.state.modals.get(mia.id))
        await slack.settled()
        assert len(await ritbot.exchanges()) == 1


async def test_replies_stay_in_the_thread_that_was_asked_in(tmp_path: Path, slack: FakeSlack) -> None:
    """Situation 10: the root is thread_ts or ts, in channels and in direct messages, and is the memory's key."""
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        for room in (general, ada.direct()):
            root = await ada.say(room, "A pump is dry." if room is general else QUESTION)
            first = await ada.mention(room, QUESTION, thread=root)
            await ritbot.answered(first, room)
            await ada.say(room, "How often do I grease the seal?", thread=root)
            await slack.settled()
            await ritbot.idle()
            said = [one for one in slack.said_in(room) if one.user == slack.bot_user]
            assert {one.thread_ts for one in said} == {root.ts}
            assert len(said) == (2 if room is general else 3)
        assert {exchange.question.thread for exchange in await ritbot.exchanges()} == {
            one.thread_ts
            for room in (general, ada.direct())
            for one in slack.said_in(room)
            if one.user == slack.bot_user
        }


@pytest.mark.parametrize(
    "text",
    [
        "👩🏽‍🚀🚰 How do I prime a pump with water? 💧💧",
        "\u202eHow do I prime a pump with water?\u202c כיצד ממלאים משאבה במים؟",
        "How do I prime a pump with water? <!channel> <@U0000001> &lt;script&gt; ```",
        "How do I prime\x00 a pump with \ud83d water?",
    ],
)
async def test_emoji_writing_from_right_to_left_and_live_tokens_do_no_harm(
    tmp_path: Path, slack: FakeSlack, text: str
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, text)
        [answer] = await ritbot.answered(question, general)
    assert "pumps.html" in words(answer), "what it answers is the extracts' matter"
    assert "<!channel>" not in words(answer) + answer.text
    assert not [(call.method, call.answer) for call in slack.calls() if call.error]


async def test_a_mention_alone_and_a_file_alone_are_greeted_where_they_are_for_ritbot(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        alone = await ada.mention(general, "")
        [greeting] = await ritbot.answered(alone, general)
        assert "/ask" in words(greeting)
        for room in (ada.direct(), general):
            shared = await with_file(slack, await ada.say(room, "…"))
            if room is not general:
                [greeting] = await ritbot.answered(shared, room)
                assert "/ask" in words(greeting)
        await slack.settled()
        await ritbot.idle()
        assert len(await ritbot.exchanges()) == 3, "a file in a channel is for somebody else"
        await ada.shortcut(await with_file(slack, await ada.say(general, "")), SHORTCUT)
        await slack.until(lambda: any(one.text == NO_WORDS for one in slack.said_in(general)))


async def with_file(slack: FakeSlack, said: Message) -> Message:
    """The same person shares a file there, and says nothing with it."""
    await slack.settled()
    payload = copy.deepcopy(slack.deliveries.all[-1].payload)
    message = copy.copy(said)
    message.ts, message.text = slack.state.timestamp(), ""
    slack.state.put(message)
    payload["event_id"] += "F"
    payload["event"] |= {"ts": message.ts, "text": "", "subtype": "file_share", "files": [{"id": "F1"}]}
    await slack.deliveries.send("events_api", payload).over()
    return message


def forwarded(text: str) -> dict[str, Any]:
    return {"is_share": True, "is_msg_unfurl": True, "text": text, "message_blocks": "…"}


SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": QUESTION}}
WORKFLOW = {"subtype": "bot_message", "bot_id": "B0FLOW", "bot_profile": {"id": "B0FLOW", "is_workflow_bot": True}}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("", {"attachments": [forwarded(QUESTION)]}),
        ("can you answer this?", {"attachments": [forwarded(QUESTION)]}),
        (QUESTION, {"subtype": "file_share", "files": [{"id": "F1"}]}),
        (QUESTION, WORKFLOW),
        (QUESTION, {"subtype": "document_comment_root"}),
        ("", {"files": [{"id": "F1", "mode": "snippet", "preview": QUESTION}]}),
    ],
)
async def test_what_people_send_is_read_as_people_see_it(
    tmp_path: Path, slack: FakeSlack, text: str, more: dict[str, Any]
) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, text, **more)
        [answer] = await ritbot.answered(question, general)
    assert "Fill the pump" in words(answer)


async def test_a_message_of_blocks_alone_can_be_answered(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        said = await ada.say(general, "", blocks=[SECTION])
        await ada.shortcut(said, SHORTCUT)
        [answer] = await ritbot.answered(said, general)
    assert "Fill the pump" in words(answer)


async def test_people_who_talk_to_each_other_in_a_thread_are_left_alone(tmp_path: Path, slack: FakeSlack) -> None:
    ada, general = slack.person("Ada"), slack.channel("general")
    bob = slack.person("Bob")
    async with bot(tmp_path, slack) as ritbot:
        question = await ada.mention(general, QUESTION)
        await ritbot.answered(question, general)
        for text in (
            *SAID,
            f"hey <@{bob.id}> how do I prime a pump?",
            "<!subteam^S0OPS> can you look at this?",
            "<!here> who did this?",
            "really?",
            "明日確認します",
            "```\nwhy?\n```",
        ):
            await ada.say(general, text, thread=question)
        await ada.mention(general, "thanks!", thread=question)
        await ada.say(ada.direct(), "thanks!")
        await ada.say(general, "How often do I grease the seal?", thread=question)
        await ritbot.over(2)
        await slack.settled()
        await ritbot.idle()
        asked = [exchange.question.text for exchange in await ritbot.exchanges()]
    assert asked == [QUESTION, "How often do I grease the seal?"]
    assert len(ours(slack, general, question)) == 2
    assert not [one for one in slack.said_in(ada.direct()) if one.user == slack.bot_user]
