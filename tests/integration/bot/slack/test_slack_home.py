"""What whoever opens the app sees: questions to begin with, and the Home tab; nothing of it whoever may not ask."""

from __future__ import annotations

from pathlib import Path

from bot.slack.render import actions
from tests.fakes.slack import FakeSlack
from tests.fakes.slack.person import said
from tests.fakes.slack_bot import bot

QUESTION = "How do I prime a pump with water?"
SECRET = "How often do I grease the seal?"


async def test_the_home_tab_shows_sites_questions_of_ones_own_settings_and_help(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    plans = slack.channel("plans", private=True)
    async with bot(tmp_path, slack) as ritbot:
        for person, room, text in ((ada, general, QUESTION), (bob, plans, SECRET)):
            await ritbot.answered(await person.mention(room, text), room)
        await ritbot.over(2)
        await ada.open_home("home")
        await slack.until(lambda: slack.state.homes.get(ada.id))
        home = "\n".join(said(ada.home.payload["blocks"]))
        assert "• docs: 2 pages, checked" in home
        assert f"• {QUESTION} · answered" in home
        assert f"<#{general.id}>" in home
        assert SECRET not in home, "asked by another, in a private channel"
        assert "/ritbot settings" in home
        assert "/ask" in home
        await ada.press(ada.home, actions.HOME_SETTINGS)
        await slack.until(lambda: slack.state.modals.get(ada.id))
        await ada.submit(mode="questions", switches=["extracts"])
        await ritbot.settings_kept(ada.direct())


async def test_suggested_are_questions_that_were_asked_in_public_then_what_titles_invite_to_ask(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada, bob, general = slack.person("Ada"), slack.person("Bob"), slack.channel("general")
    async with bot(tmp_path, slack) as ritbot:
        await ritbot.answered(await bob.mention(general, QUESTION), general)
        await ritbot.answered(await bob.say(bob.direct(), SECRET), bob.direct())
        await ritbot.over(2)
        await ada.open_home()
        await slack.until(lambda: slack.state.prompts)
        [prompts] = slack.state.prompts.values()
    messages = [prompt["message"] for prompt in prompts.prompts]
    assert messages[0] == QUESTION
    assert SECRET not in messages
    assert len(messages) > 1
    assert all(message.endswith("?") for message in messages)


async def test_whoever_may_not_ask_sees_nothing_of_it(tmp_path: Path, slack: FakeSlack) -> None:
    gus = slack.person("Gus", guest="multi")
    async with bot(tmp_path, slack):
        await gus.open_home("home")
        await gus.open_home()
        await slack.until(lambda: slack.state.homes.get(gus.id))
        await slack.settled()
        assert list(said(gus.home.payload["blocks"])) == ["I am closed to guests of this workspace."]
        assert not slack.state.prompts
