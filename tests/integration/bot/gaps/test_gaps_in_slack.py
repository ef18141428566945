"""Gaps as they come about: questions in a fake Slack, answered from an indexed site."""

from __future__ import annotations

from pathlib import Path

from bot.gaps.gap import Gap
from bot.gaps.report import gap_reports, state_line
from bot.model import Exchange
from bot.slack.render import actions
from deploy.settings.model import ModelSettings
from tests.fakes.lacking import KEYS
from tests.fakes.lacking import PAGES as KEY_PAGES
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


ROTATE = (
    "<h2 id='rotate'>Rotate a key</h2><p>To rotate a key early run pump keys rotate: rotating makes a second key, and both"
    " keys work for a day.</p>"
)
STRICT = ModelSettings(provider="extractive", extract_threshold=0.4)


async def gap_of(ritbot: Bot) -> Gap:
    found = [gap async for gap in ritbot.gaps.all()]
    assert len(found) == 1
    return found[0]


async def test_a_gap_of_two_wordings_is_pinned_and_closed_by_the_edit_that_answers_it(
    tmp_path: Path, slack: FakeSlack
) -> None:
    (ada, bob), general = (slack.person(name) for name in ("Ada", "Bob")), slack.channel("general")
    async with bot(tmp_path, slack, pages=KEY_PAGES, model=STRICT) as ritbot:
        for person, text in ((ada, "How do I rotate a key early?"), (bob, "Can I rotate my key early?")):
            await ritbot.answered(await person.mention(general, text), general)
        exchanges = await grouped(ritbot, 2)
        assert [each.shortfall for each in exchanges] == ["not_found"] * 2

        async def pinned() -> bool:
            return (gap := await gap_of(ritbot)).pin is not None and gap.pin.link.startswith(KEYS) and bool(gap.watched)

        await eventually(pinned)
        page = str(KEY_PAGES[KEYS])

        async def asked_again() -> bool:
            return (await gap_of(ritbot)).asked_again is not None

        await ritbot.site.update({KEYS: page.replace("ninety days", "sixty days")})
        await eventually(asked_again)
        gap = await gap_of(ritbot)
        assert (gap.state, gap.asked_again and (gap.asked_again.asked, gap.asked_again.answered)) == ("open", (2, 0))
        assert state_line(gap).endswith("still not answered")

        async def closed() -> bool:
            return (await gap_of(ritbot)).state == "fixed"

        await ritbot.site.update({KEYS: page.replace("</main>", f"{ROTATE}</main>")})
        await eventually(closed)
        gap = await gap_of(ritbot)
        assert gap.fixed_by.startswith(f"the change of {KEYS} on 20")
        assert (gap.due_at, gap.asked_again and gap.asked_again.answered) == (None, 2)
        assert len(await ritbot.exchanges()) == 2
