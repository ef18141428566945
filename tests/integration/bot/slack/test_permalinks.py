"""Links that stay, in Slack: in the rows of an answer, found, posted, and unfolded where somebody pastes one."""

from __future__ import annotations

from pathlib import Path

from bot.permalinks.permalink import Permalink
from deploy.settings.web import WebSettings
from deploy.wiring.bot_store import open_editions
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_bot import PUMPS, bot, settings

WEB = WebSettings(public_url="https://kb.example/x")


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
