"""`make play` in a real browser: asked on the page, the whole bot answers, and its citations land on the quoted words."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote

from playwright.async_api import Page, expect
from rich.console import Console

from deploy.serving.health import Health
from deploy.serving.roles import run_roles
from deploy.settings.index import IndexSettings
from deploy.settings.model import ModelSettings
from deploy.settings.root import Settings
from tests.conftest import ROOT
from tests.play import Play
from tests.play.browser import chromium
from tests.play.whole import index_docs, open_bot, play_on, settings_on

MANUAL = ROOT / "build" / "manual"
PAGES = ("index.html", "links-and-ids.html", "glossary.html")
"""Of the manual: enough to answer one question, few enough to be embedded in seconds."""
QUESTION = "What happens to links in old tickets when a heading is renamed?"
ON_SCREEN = """words => {
  const text = document.querySelector("main, [role=main], article, body").innerText.replace(/\\s+/g, " ");
  if (!text.includes(words)) return false;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const first = words.split(" ").slice(0, 3).join(" ");
  for (let node; (node = walker.nextNode()); ) {
    if (!node.data.replace(/\\s+/g, " ").includes(first)) continue;
    const box = node.parentElement.getBoundingClientRect();
    if (box.height && box.top >= 0 && box.top < innerHeight) return true;
  }
  return false;
}"""


@asynccontextmanager
async def playing(folder: Path) -> AsyncIterator[Play]:
    assert MANUAL.is_dir(), "the manual is not built: make manual"
    docs = folder / "docs"
    docs.mkdir()
    for name in PAGES:
        shutil.copy(MANUAL / name, docs / name)
    shutil.copytree(MANUAL / "_static", docs / "_static")
    plain = Settings(index=IndexSettings(folder=folder / "index"), model=ModelSettings(provider="extractive"))
    async with play_on(docs, 0) as slack:
        settings = settings_on(slack, plain)
        await index_docs(slack, settings, docs, Console(file=io.StringIO()))
        async with open_bot(settings) as roles:
            stop = asyncio.Event()
            running = asyncio.create_task(run_roles(roles, stop, Health()))
            try:
                yield slack
            finally:
                stop.set()
                await running


async def ask(page: Page, url: str, question: str) -> None:
    await page.goto(url)
    await page.wait_for_selector("#channels button")
    await page.fill("[data-place=channel] textarea", f"@ritbot {question}")
    await page.keyboard.press("Enter")


async def test_every_citation_leads_to_its_page_and_the_quoted_words_are_on_screen(tmp_path: Path) -> None:
    async with playing(tmp_path) as slack, chromium() as browser:
        page = await browser.new_page(viewport={"width": 1360, "height": 420})
        await ask(page, slack.url, QUESTION)
        answer = page.locator("#thread .message").nth(1)
        cited = answer.locator("a[href*=':~:text=']").first
        await expect(cited).to_be_visible(timeout=60_000)
        await expect(answer.locator("button", has_text="How I found this")).to_be_visible(timeout=60_000)
        targets = await answer.locator("a[href*=':~:text=']").evaluate_all("links => links.map(link => link.href)")
        scrolled = 0
        for target in sorted(set(targets)):
            assert target.startswith(slack.docs_url)
            async with page.context.expect_page() as opened:
                await answer.locator(f'a[href="{target}"]').first.click()
            there = await opened.value
            await there.wait_for_load_state()
            words = unquote(target.partition(":~:text=")[2].partition(",")[0])
            await there.wait_for_function(ON_SCREEN, arg=words, timeout=20_000)
            scrolled += await there.evaluate("scrollY > 0")
            await there.close()
        assert scrolled
        await answer.locator("button", has_text="How I found this").click()
        await expect(page.locator("dialog")).to_contain_text("links", ignore_case=True)
        assert all(call.ok for call in slack.calls() if call.method.startswith(("chat.", "views."))), slack.calls()
