"""Gaps as they come about: questions in a fake Slack, answered from an indexed site."""

from __future__ import annotations

from pathlib import Path

from bot.gaps.report import gap_reports
from bot.model import Exchange
from bot.slack.render import actions
from tests.fakes.site import html
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_bot import PUMPS, Bot, bot
from tests.waiting import eventually

PAGES = {
    PUMPS: html(
        "Pumps",
        "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>Fill the pump with water first.</p>"
        "<h2 id='seal'>Seals</h2><p>Grease the seal twice a year.</p>",
    ),
    "https://docs.example.test/valves.html": html("Valves", "<p>Valves open and shut.</p>"),
}


async def grouped(ritbot: Bot, count: int) -> list[Exchange]:
    """The exchanges, once so many of them are in gaps."""
    await ritbot.until(lambda exchanges: sum(each.need is not None for each in exchanges) == count)
    return [each for each in await ritbot.exchanges() if each.need]


async def test_an_answer_that_was_judged_bad_or_handed_to_a_person_is_a_gap_and_one_that_helped_is_none(
    tmp_path: Path, slack: FakeSlack
) -> None:
    (ada, bob, eve), general = (slack.person(name) for name in ("Ada", "Bob", "Eve")), slack.channel("general")
    async with bot(tmp_path, slack, person="S0DOCS", pages=PAGES) as ritbot:
        said = []
        for text in ("How do I prime a pump with water?", "Grease the seal every year?", "What do valves do?"):
            question = await ada.mention(general, text)
            said += await ritbot.answered(question, general)
        prime, seal, valves = said
        await ada.press(prime, actions.FEEDBACK, "Bad answer")
        await bob.press(valves, actions.FEEDBACK, "Good answer")
        await eve.press(seal, actions.ASK_PERSON)
        await slack.until(lambda: slack.state.modals.get(eve.id))
        await eve.submit({actions.REASON_BLOCK: "Please."})
        first, second = await grouped(ritbot, 2)
        assert [each.shortfall for each in (first, second)] == ["bad", "handed_over"]

        async def pinned() -> bool:
            found = await gap_reports(ritbot.store, ritbot.gaps, ())
            return {report.where for report in found} == {"Pumps › Priming", "Pumps › Seals"}

        await eventually(pinned)
