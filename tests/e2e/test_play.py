"""`make play` in a real browser: asked on the page, the whole bot answers, and its citations land on the quoted words."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote

from playwright.async_api import Page, expect

from bot.slack.render.change_note import CHANGED
from deploy.settings.index import IndexSettings
from deploy.settings.model import ModelSettings
from deploy.settings.root import Settings
from tests.conftest import ROOT
from tests.e2e.commands import lay_out
from tests.play.browser import chromium
from tests.play.whole import playing

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


def manual_in(folder: Path) -> Path:
    assert MANUAL.is_dir(), "the manual is not built: make manual"
    docs = folder / "docs"
    docs.mkdir()
    for name in PAGES:
        shutil.copy(MANUAL / name, docs / name)
    shutil.copytree(MANUAL / "_static", docs / "_static")
    return docs


def plain(folder: Path) -> Settings:
    return Settings(index=IndexSettings(folder=folder / "index"), model=ModelSettings(provider="extractive"))


async def ask(page: Page, url: str, question: str) -> None:
    await page.goto(url)
    await page.wait_for_selector("#channels button")
    await page.fill("[data-place=channel] textarea", f"@ritbot {question}")
    await page.keyboard.press("Enter")


async def test_every_citation_leads_to_its_page_and_the_quoted_words_are_on_screen(tmp_path: Path) -> None:
    async with playing(manual_in(tmp_path), plain(tmp_path)) as slack, chromium() as browser:
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


async def test_a_change_of_the_docs_is_told_in_the_thread_and_a_section_is_cited_with_a_link_that_stays(
    tmp_path: Path,
) -> None:
    docs = lay_out(tmp_path) / "html"
    async with playing(docs, plain(tmp_path)) as slack, chromium() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 820})
        await ask(page, slack.url, "How often should I rotate the signing keys?")
        answer = page.locator("#thread .message").nth(1)
        await expect(answer.locator("button", has_text="How I found this")).to_be_visible(timeout=60_000)
        link = await answer.locator("a", has_text="permalink").first.get_attribute("href")
        keys = docs / "keys.html"
        keys.write_text(keys.read_text(encoding="utf-8").replace("once a year", "every quarter"), encoding="utf-8")
        note = page.locator("#thread .message", has_text=CHANGED)
        await expect(note).to_contain_text("every quarter", timeout=60_000)
        await page.fill("[data-place=channel] textarea", "/cite rotate signing keys")
        await page.keyboard.press("Enter")
        await page.locator("#messages .mine-only button", has_text="Post").first.click()
        posted = page.locator("#messages .message", has_text="every quarter").last
        await expect(posted.locator("a", has_text="documentation")).to_be_visible(timeout=60_000)
        assert link
        await page.goto(link)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Rotating keys")
        await expect(page.locator(".diff ins").last).to_contain_text("every quarter")
        await expect(page.get_by_text("Signed in as Ada.")).to_be_visible()


async def test_owners_hear_of_what_the_docs_lack(tmp_path: Path) -> None:
    async with playing(lay_out(tmp_path) / "html", plain(tmp_path)) as slack, chromium() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 820})
        await ask(page, slack.url, "How do I connect Pumpkin with an LDAP directory?")
        await expect(page.locator("#thread .message").nth(1)).to_be_visible(timeout=60_000)
        await page.locator("#channels button", has_text="platform").click()
        digest = page.locator("#messages .message", has_text="LDAP")
        await expect(digest).to_be_visible(timeout=60_000)
        await expect(digest.locator("button", has_text="Ignore")).to_be_visible()
