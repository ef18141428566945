"""Links that land on the cited block in a real browser, whatever stands on the page before it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from ingest.html.parse import parse
from ingest.model import Node, Page
from ingest.urls import node_link
from navigator.answer import Citation, Passage
from navigator.citations.cited_lines import unit_lines
from navigator.citations.landing import landing_link
from tests.fakes.docsite import DocSite
from tests.play.browser import chromium

pytestmark = [pytest.mark.asyncio(loop_scope="module")]

SENTENCES = [
    "Restart the service before you go on.",
    "The default is safe for most installations, and needs no change.",
    "See the notes on upgrading for the exceptions to this rule.",
    "Close the main valve first, then open the drain and wait until nothing flows any more; this takes about ten minutes.",
]
TITLES = ["Install", "Upgrade", "Options"]
APART = "style='margin:1500px 0'"


def generated(seed: int) -> str:
    """Sections with titles and sentences that come again; some paragraphs differ in their last words only."""
    chance = random.Random(seed)
    parts = []
    for number in range(6):
        parts.append(f"<h2 id='s{number}'>{chance.choice(TITLES)}</h2>")
        for _ in range(2):
            own = f" It is called case {number}." if chance.random() < 0.4 else ""
            parts.append(f"<p {APART}>{chance.choice(SENTENCES)}{own}</p>")
        if chance.random() < 0.5:
            items = "".join(f"<li {APART}>{sentence}</li>" for sentence in chance.sample(SENTENCES, 2))
            parts.append(f"<ul>{items}</ul>")
    return f"<!doctype html><title>Guide</title><main><h1>Guide</h1>{''.join(parts)}</main>"


def citations(page: Page) -> list[Citation]:
    """One of each block."""
    above: dict[str, Node] = {node.id: node for node in page.nodes}
    found = []
    for node in page.nodes:
        link = node_link(page.url, [node.anchor, above[node.parent].anchor if node.parent else None])
        passage = Passage(
            1,
            node.id,
            node.own_hash,
            page.key,
            page.url,
            link,
            (node.title,),
            node.blocks,
            datetime(2026, 1, 1, tzinfo=UTC),
        )
        found += [passage.cite(at) for at in range(len(node.blocks))]
    return found


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest.mark.parametrize("seed", range(4))
async def test_a_link_lands_on_the_cited_block_or_names_the_section(browser: Browser, seed: int) -> None:
    async with DocSite() as docs:
        docs.pages["/guide"] = generated(seed)
        page = parse(generated(seed).encode(), docs.url("/guide")).page
        assert page is not None
        shown = await browser.new_page(viewport={"width": 800, "height": 600})
        exact = 0
        cited = citations(page)
        for number, citation in enumerate(cited):
            link = landing_link(citation, page)
            base, mark, fragment = link.partition("#")
            await shown.goto("about:blank")
            await shown.goto(f"{base}?{number}{mark}{fragment}")
            await shown.wait_for_timeout(150)
            blocks = await shown.evaluate(
                "[...document.querySelectorAll('p, li')].filter(e => { const r = e.getBoundingClientRect();"
                " return r.top >= 0 && r.bottom <= innerHeight }).map(e => e.textContent)"
            )
            at = await shown.evaluate(
                "[...document.querySelectorAll('p, ul')].findIndex(e => [...(e.tagName == 'UL' ? e.children : [e])].some(x =>"
                " { const r = x.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight }))"
            )
            if ":~:text=" not in link:
                assert link == citation.node_link
                continue
            exact += 1
            assert (at, bool(blocks)) == (number, True), (link, citation.quote)
        assert exact > len(cited) * 2 / 3
        await shown.close()


LONG = (
    "<title>Manual</title><h1>Manual</h1><h2 id='o'>Options</h2><dl>"
    + "".join(f"<dt>-{n}<dt>--option{n}<dd><p>Sets value {n}.<p>The default is safe." for n in range(150))
    + "</dl><h2 id='c'>Codes</h2><table><tr><th>Code<th>Meaning"
    + "".join(f"<tr><td>{n:03}<td>{'lost' if n % 2 else 'kept'}" for n in range(300))
    + "</table><h2 id='s'>Steps</h2><ol>"
    + "".join(f"<li>Turn {n} on.<ul><li>Wait {n} s.</ul>" for n in range(150))
    + "</ol>"
)


def units(page: Page, title: str) -> Iterator[Citation]:
    """What can be cited of a list or table: its units, or, where each term is a section, the sections."""
    [node] = [node for node in page.nodes if node.title == title]
    terms = [below for below in page.nodes if below.parent == node.id]
    for cited in terms or [node]:
        when, link = datetime(2026, 1, 1, tzinfo=UTC), node_link(page.url, [cited.anchor or node.anchor])
        passage = Passage(1, cited.id, cited.own_hash, page.key, page.url, link, (cited.title,), cited.blocks, when)
        lines = cited.blocks[0].text.split("\n")
        for unit in unit_lines(cited.blocks[0]):
            yield passage.cite(0, quote="\n".join(lines[unit.start : unit.stop]))


@pytest.mark.parametrize(
    ("title", "selector"), [("Options", "dt:nth-child(3n+2)"), ("Codes", "tr"), ("Steps", "ol > li, ul > li")]
)
async def test_a_link_lands_on_one_unit_of_hundreds(browser: Browser, title: str, selector: str) -> None:
    async with DocSite() as docs:
        docs.pages["/manual"] = LONG
        page = parse(LONG.encode(), docs.url("/manual")).page
        assert page is not None
        shown = await browser.new_page(viewport={"width": 800, "height": 300})
        for number, citation in list(enumerate(units(page, title)))[40::53]:
            base, mark, fragment = landing_link(citation, page).partition("#")
            assert ":~:text=" in fragment
            await shown.goto(f"{base}?{number}{mark}{fragment}")
            await shown.wait_for_timeout(150)
            seen = await shown.evaluate(
                f"[...document.querySelectorAll('{selector}')].flatMap((e, n) => {{ const r = e.getBoundingClientRect();"
                " return r.top >= -30 && r.top < innerHeight ? [n] : [] })"
            )
            assert number in seen, (fragment, seen)
        await shown.close()


async def test_a_unique_block_keeps_its_plain_fragment() -> None:
    page = parse(b"<title>T</title><h1>T</h1><p>Only here, and nowhere else.</p>", "https://docs.example.test/t").page
    assert page is not None
    [citation] = citations(page)
    assert landing_link(citation, page) == citation.link


async def test_what_nothing_tells_apart_is_left_to_the_section() -> None:
    same = "<h2 id='a{}'>Notes</h2><p>Ask who runs it.</p>" * 3
    page = parse(f"<title>T</title><h1>T</h1>{same}".encode(), "https://docs.example.test/t").page
    assert page is not None
    cited = citations(page)
    assert landing_link(cited[0], page) == cited[0].link
    assert ":~:" not in landing_link(cited[1], page) or "-," in landing_link(cited[1], page)


async def test_a_page_that_changed_since_keeps_the_link() -> None:
    page = parse(b"<title>T</title><h1>T</h1><p>Ask who runs it.</p><p>Ask who runs it.</p>", "https://a.test/t").page
    other = parse(b"<title>T</title><h1>T</h1><p>Another text altogether.</p>", "https://a.test/t").page
    assert page is not None
    assert other is not None
    assert all(landing_link(citation, other) == citation.link for citation in citations(page))
