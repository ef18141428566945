"""Links that stay, in Slack: in the rows of an answer, found, posted, and unfolded where somebody pastes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.permalinks.permalink import Permalink
from bot.slack.inbound.app import CITE_COMMAND, CITE_SHORTCUT
from bot.slack.inbound.citing import SECTION_GONE
from bot.slack.render import actions
from deploy.settings.web import WebSettings
from deploy.wiring.bot_store import open_editions
from ingest.model import Node
from tests.fakes.slack import Channel, FakeSlack, Message, words
from tests.fakes.slack_bot import PAGES, PUMPS, Bot, bot, settings

WEB = WebSettings(public_url="https://kb.example/x")


def private(slack: FakeSlack, channel: Channel) -> list[Message]:
    """What one person alone sees."""
    return [message for message in slack.said_in(channel) if message.only_for]


def public(slack: FakeSlack, channel: Channel) -> list[Message]:
    """What ritbot said to everybody."""
    return [message for message in slack.said_in(channel) if message.bot_id and not message.only_for]


async def section_of(ritbot: Bot, title: str) -> Node:
    stored = await ritbot.site.trees.get(PUMPS)
    assert stored
    assert stored.record.page
    return next(node for node in stored.record.page.nodes if node.title == title)


async def test_the_rows_of_an_answer_hold_links_and_what_they_name_is_kept(slack: FakeSlack, tmp_path: Path) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack, web=WEB) as ritbot:
        question = await ada.mention(general, "How do I prime a pump?")
        (message,) = await ritbot.answered(question, general)
        (exchange,) = await ritbot.over(1)
        assert exchange.answer
        first = exchange.answer.sources[0].first
        assert f"<https://kb.example/x{Permalink(first.node_id, first.node_hash).path}|permalink>" in str(
            message.blocks
        )
    async with open_editions(settings(tmp_path, slack)) as editions:
        (kept,) = await editions.of(first.node_id)
    assert kept.linked
    assert kept.whole
    assert (kept.site, kept.section.page_url, kept.title) == ("docs", PUMPS, "Priming")


async def test_without_an_address_texts_are_kept_for_the_days_of_the_answer_alone(
    slack: FakeSlack, tmp_path: Path
) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        (message,) = await ritbot.answered(await ada.mention(general, "How do I prime a pump?"), general)
        assert "permalink" not in str(message.blocks)
    async with open_editions(settings(tmp_path, slack)) as editions:
        assert [edition.linked async for edition in editions.all()] == [False]


async def test_cite_finds_sections_and_posts_one_for_everybody(slack: FakeSlack, tmp_path: Path) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack, web=WEB, answers=False) as ritbot:
        await ada.command(general, CITE_COMMAND, "grease the seal")
        (choice,) = private(slack, general)
        assert "Pumps › Seals" in words(choice)
        assert "Grease the seal twice a year." in words(choice)
        await ada.press(choice, actions.CITE)
        await slack.until(lambda: public(slack, general))
        (posted,) = public(slack, general)
        node = (await section_of(ritbot, "Seals")).id
        assert f"https://kb.example/x/n/{node}@" in str(posted.blocks)
        assert f"{PUMPS}#seal:~:text=" in str(posted.blocks)
        assert "Grease the seal twice a year." in words(posted)
        async with open_editions(settings(tmp_path, slack)) as editions:
            assert [edition.linked for edition in await editions.of(node)] == [True]


async def test_a_section_is_cited_in_the_thread_of_a_message(slack: FakeSlack, tmp_path: Path) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack, answers=False):
        asked = await ada.say(general, "does anybody know how to prime a pump with water?")
        await ada.shortcut(asked, CITE_SHORTCUT)
        await slack.until(lambda: private(slack, general))
        (choice,) = private(slack, general)
        await ada.press(choice, actions.CITE)
        await slack.until(lambda: len(slack.thread(general, asked)) > 1)
        posted = slack.thread(general, asked)[-1]
        assert "Pumps › Priming" in words(posted)
        assert f"{PUMPS}#prime" in str(posted.blocks)
        assert "/n/" not in str(posted.blocks)


async def test_where_ritbot_is_no_member_the_section_is_posted_all_the_same(slack: FakeSlack, tmp_path: Path) -> None:
    ada, secret = slack.person("ada"), slack.channel("secret", private=True, with_bot=False)
    async with bot(tmp_path, slack, web=WEB, answers=False):
        await ada.command(secret, CITE_COMMAND, "grease the seal")
        (choice,) = private(slack, secret)
        await ada.press(choice, actions.CITE)
        await slack.until(lambda: public(slack, secret))
        assert "Pumps › Seals" in words(public(slack, secret)[-1])


@pytest.mark.parametrize(("text", "told"), [("", "Name some words"), ("zzzz qqqq", "I found no section")])
async def test_what_finds_nothing_says_so(slack: FakeSlack, tmp_path: Path, text: str, told: str) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack, answers=False):
        await ada.command(general, CITE_COMMAND, text)
        (said,) = private(slack, general)
        assert told in said.text + words(said)


async def test_a_section_that_went_meanwhile_is_not_posted(slack: FakeSlack, tmp_path: Path) -> None:
    ada, general = slack.person("ada"), slack.channel("general")
    async with bot(tmp_path, slack, answers=False) as ritbot:
        await ada.command(general, CITE_COMMAND, "grease the seal")
        await ritbot.site.remove(PUMPS)
        (choice,) = private(slack, general)
        await ada.press(choice, actions.CITE)
        await slack.until(lambda: len(private(slack, general)) > 1)
        assert SECTION_GONE in private(slack, general)[-1].text
        assert not public(slack, general)


@pytest.mark.parametrize("with_bot", [True, False])
async def test_a_pasted_link_is_unfolded_with_how_the_section_stands(
    slack: FakeSlack, tmp_path: Path, with_bot: bool
) -> None:
    slack.state.unfurl_domains.add("kb.example")
    ada, general = slack.person("ada"), slack.channel("general", with_bot=with_bot)
    async with bot(tmp_path, slack, web=WEB, answers=False) as ritbot:
        node = await section_of(ritbot, "Seals")
        link, unknown = (
            f"https://kb.example/x{Permalink(node.id, node.own_hash).path}",
            "https://kb.example/x/n/nonsense",
        )
        first = await ada.say(general, f"See <{link}>, <{unknown}> and <https://kb.example/other>.")
        await slack.until(lambda: first.unfurls)
        assert set(first.unfurls) == {link}
        shown = str(first.unfurls[link])
        assert "Pumps › Seals" in shown
        assert "Grease the seal twice a year." in shown
        assert "Current · checked" in shown
        await ritbot.site.update({PUMPS: str(PAGES[PUMPS]).replace("twice", "once")})
        second = await ada.say(general, link)
        await slack.until(lambda: second.unfurls)
        assert "Changed since" in str(second.unfurls[link])
        await ritbot.site.remove(PUMPS)
        third = await ada.say(general, link)
        await slack.until(lambda: third.unfurls)
        assert "Removed · It was read last on" in str(third.unfurls[link])
    assert len(slack.calls("chat.unfurl")) == 3
    assert all(call.ok for call in slack.calls("chat.unfurl"))


async def test_nothing_is_unfolded_where_other_companies_read_along(slack: FakeSlack, tmp_path: Path) -> None:
    slack.state.unfurl_domains.add("kb.example")
    ada, shared = slack.person("ada"), slack.channel("shared", shared_with=[slack.team("Other")])
    async with bot(tmp_path, slack, web=WEB, answers=False) as ritbot:
        node = await section_of(ritbot, "Seals")
        await ada.say(shared, f"https://kb.example/x{Permalink(node.id).path}")
        sent = [each for each in slack.deliveries.all if each.payload["event"]["type"] == "link_shared"]
        assert len(sent) == 2
        for delivery in sent:
            await delivery.over()
    assert slack.calls("chat.unfurl") == []
