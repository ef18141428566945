"""The pictures of the README, taken from the whole bot in a browser, on pages about pumpkins.

python -m tests.play.pictures        # deploy/manual/_static/section.png and stale-note.png
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Page, expect

from deploy.settings.index import IndexSettings
from deploy.settings.model import ModelSettings
from deploy.settings.root import Settings
from tests.e2e.commands import lay_out
from tests.play.browser import chromium
from tests.play.whole import playing

PICTURES = Path("deploy/manual/_static")
UNANSWERED = (
    "How do I connect Pumpkin with an LDAP directory?",
    "Does Pumpkin take users from LDAP?",
    "Is there a Helm chart for Kubernetes?",
)
QUESTION = "How often should I rotate the signing keys?"
SIZE = {"width": 1280, "height": 720}
PATIENCE_MILLISECONDS = 60_000


async def take(folder: Path) -> None:
    docs = lay_out(folder) / "html"
    settings = Settings(index=IndexSettings(folder=folder / "index"), model=ModelSettings(provider="extractive"))
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    async with playing(docs, settings) as slack, chromium() as browser:
        page = await browser.new_page(viewport=SIZE)
        await page.goto(slack.url)
        for number, question in enumerate(UNANSWERED, 1):
            await ask(page, question)
            await expect(page.locator("#messages .replies")).to_have_count(number)
        await page.locator("#channels button", has_text="platform").click()
        await expect(page.locator("#messages button", has_text="Ignore").first).to_be_visible()
        await ask(page, QUESTION)
        thread = page.locator("#thread")
        permalink = thread.locator("a", has_text="permalink").first
        await expect(permalink).to_be_visible()
        link = str(await permalink.get_attribute("href"))
        keys = docs / "keys.html"
        keys.write_text(keys.read_text(encoding="utf-8").replace("once a year", "every quarter"), encoding="utf-8")
        note = thread.locator("button", has_text="Ask again").last
        await expect(note).to_be_visible()
        await note.scroll_into_view_if_needed()
        await shot(page, "stale-note.png")
        await page.goto(link)
        await shot(page, "section.png")
        await page.goto(f"{link.partition('/n/')[0]}/web/gaps")
        await shot(page, "gaps.png")


async def ask(page: Page, question: str) -> None:
    await page.fill("[data-place=channel] textarea", f"@ritbot {question}")
    await page.keyboard.press("Enter")


async def shot(page: Page, name: str) -> None:
    await expect(page.locator(".toast")).to_have_count(
        0, timeout=PATIENCE_MILLISECONDS
    )  # they cover it for some seconds
    await page.screenshot(path=PICTURES / name, animations="disabled")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(take(Path(folder) / "docs"))
