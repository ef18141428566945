"""The page of `make play` in a real browser, with the scripted stand-in for the bot."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Dialog, Page, expect

from tests.fakes.slack import Fault
from tests.play import Play
from tests.play.browser import chromium
from tests.play.standin import playing

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
]
expect.set_options(timeout=20_000)


@pytest_asyncio.fixture(loop_scope="module")
async def slack() -> AsyncIterator[Play]:
    async with playing(pause=0.02, rates=False) as slack:
        yield slack


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def page(slack: Play, browser: Browser) -> AsyncIterator[Page]:
    """Opened, and without a complaint of the browser or a word to another machine at the end."""
    page = await browser.new_page(viewport={"width": 1360, "height": 860})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda wrong: complaints.append(str(wrong)))
    page.on("request", lambda request: None if request.url.startswith(slack.url) else complaints.append(request.url))
    await page.goto(slack.url)
    await page.wait_for_selector("#channels button")
    yield page
    await page.close()
    assert complaints == []


async def ask(page: Page, text: str, place: str = "channel") -> None:
    await page.fill(f"[data-place={place}] textarea", text)
    await page.keyboard.press("Enter")


async def test_a_question_in_a_channel_is_answered_in_its_thread_as_it_is_written(slack: Play, page: Page) -> None:
    slack.faults.next("chat.startStream", Fault(delay=2))
    await ask(page, "@ritbot How do I scale?")
    await expect(page.locator("#status")).to_contain_text(re.compile("Looking through 12 sections|Reading Scaling"))
    answer = page.locator("#thread .message").nth(1)
    await expect(answer.locator("table")).to_contain_text("Autoscaling")
    await expect(answer.locator("pre")).to_contain_text("replicas: 3   # a < b & c")
    await expect(answer.locator(".task.complete")).to_contain_text("Read Scaling")
    await expect(answer.locator("a", has_text="Scaling › Autoscaling")).to_have_attribute(
        "href", re.compile("#autoscaling$")
    )
    await expect(page.locator("#status")).to_be_hidden()
    await expect(page.locator(".toast")).to_contain_text("Set `replicas`")
    await expect(page.locator("#messages .replies")).to_have_text("1 reply")
    asked = slack.said_in(slack.channel("general"))[0]
    assert asked.text == f"<@{slack.bot_user}> How do I scale?"


async def test_a_modal_is_filled_in_corrected_and_sent(slack: Play, page: Page) -> None:
    await ask(page, "@ritbot How?")
    await page.click("#thread >> text=Not helpful")
    await page.click("dialog >> text=Outdated")
    await page.fill("dialog textarea", "short")
    await page.click("dialog >> text=Send")
    await expect(page.locator("dialog [role=alert]")).to_have_text("Please say a little more.")
    await expect(page.locator("dialog input[value=outdated]")).to_be_checked()
    await page.fill("dialog textarea", "It should have said more.")
    await page.click("dialog >> text=Send")
    await expect(page.locator("dialog")).to_be_hidden()
    await expect(page.locator("#thread button", has_text="Not helpful")).to_have_attribute("aria-pressed", "true")


async def test_a_private_answer_is_seen_by_its_asker_alone(slack: Play, page: Page) -> None:
    await ask(page, "/ask what changed?")
    await expect(page.locator("#messages .mine-only")).to_contain_text("Only visible to you")
    await page.select_option("#as", label="Grace")
    await expect(page.locator("#messages .empty")).to_be_visible()


async def test_a_button_that_asks_first_does_nothing_before_it_was_agreed_to(slack: Play, page: Page) -> None:
    asked: list[str] = []

    async def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        await (dialog.accept() if len(asked) > 1 else dialog.dismiss())

    page.on("dialog", answer)
    await ask(page, "/ask what changed?")
    button = page.locator("#messages button", has_text="Ask a person")
    await button.click()
    await slack.settled()
    pressed = [one for one in slack.deliveries.all if one.type == "block_actions"]
    await button.click()
    await expect(page.locator("#messages")).to_contain_text("A person was asked.")
    assert (asked, pressed) == (["Everyone will see it."] * 2, [])


async def test_a_message_is_answered_by_the_shortcut_in_its_menu_with_the_keyboard_alone(
    slack: Play, page: Page
) -> None:
    await ask(page, "How do we scale this?")
    menu = page.locator("#messages .message summary")
    await menu.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.locator("button", has_text="Answer from docs")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages .mine-only")).to_contain_text("Set replicas")


async def test_a_prompt_in_the_apps_own_conversation_begins_a_thread_that_can_be_stopped(
    slack: Play, page: Page
) -> None:
    await page.click("#apps button")
    slack.faults.next("chat.startStream", Fault(delay=2))
    await page.click("#prompts >> text=How do I scale?")
    await page.click("#stop")
    await expect(page.locator("#status")).to_be_hidden()
    assert any(delivery.type == "agent_session_stopped" for delivery in slack.deliveries.all)


async def test_what_nobody_acknowledges_is_said(slack: Play, page: Page) -> None:
    slack.deliveries.ack_within = 0.2
    slack.socket.mute = True
    await ask(page, "/ask what changed?")
    await expect(page.locator(".toast.wrong")).to_have_text("The app did not answer within three seconds.")


async def test_an_address_leads_back_to_the_same_thread(slack: Play, page: Page) -> None:
    await ask(page, "@ritbot How do I scale?")
    await expect(page.locator("#thread .message")).to_have_count(2)
    await page.reload()
    await expect(page.locator("#thread .message")).to_have_count(2)
    await page.keyboard.press("Escape")
    await expect(page.locator(".thread")).to_be_hidden()
