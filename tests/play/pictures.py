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
QUESTION = "How often should I rotate the signing keys?"
SIZE = {"width": 1280, "height": 720}
PATIENCE_MILLISECONDS = 60_000


async def take(folder: Path) -> None:
    docs = lay_out(folder) / "html"
    settings = Settings(index=IndexSettings(folder=folder / "index"), model=ModelSettings(provider="extractive"))
    async with playing(docs, settings) as slack, chromium() as browser:
        page = await browser.new_page(viewport=SIZE)
        await page.goto(slack.url)
        await page.fill("[data-place=channel] textarea", f"@ritbot {QUESTION}")
        await page.keyboard.press("Enter")
        thread = page.locator("#thread")
        permalink = thread.locator("a", has_text="permalink").first
        await expect(permalink).to_be_visible(timeout=PATIENCE_MILLISECONDS)
        link = await permalink.get_attribute("href")
        keys = docs / "keys.html"
        keys.write_text(keys.read_text(encoding="utf-8").replace("once a year", "every quarter"), encoding="utf-8")
        note = thread.locator("button", has_text="Ask again").last
        await expect(note).to_be_visible(timeout=PATIENCE_MILLISECONDS)
        await note.scroll_into_view_if_needed()
        await shot(page, "stale-note.png")
        await page.goto(link or "")
        await shot(page, "section.png")


async def shot(page: Page, name: str) -> None:
    await expect(page.locator(".toast")).to_have_count(
        0, timeout=PATIENCE_MILLISECONDS
    )  # they cover it for some seconds
    await page.screenshot(path=PICTURES / name, animations="disabled")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(take(Path(folder) / "docs"))
