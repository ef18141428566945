"""Questions of which an indexed site falls short, and whoever sorts them into gaps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.gaps.gap import Gap
from bot.gaps.grouping import Grouping
from bot.model import Exchange
from bot.ports import BotStore, Gaps
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_gaps import SqliteGaps
from navigator.answer import Answer, Trace
from navigator.retrieval.passages import passage
from tests.fakes.exchanges import SetClock, question
from tests.fakes.site import IndexedSite, html, indexed_site

KEYS = "https://docs.example.test/keys.html"
BACKUP = "https://docs.example.test/backup.html"
EXPIRY = "<h2 id='expiry'>Key expiry</h2><p>Keys are good for ninety days.</p>"
PAGES = {
    KEYS: html(
        "Keys",
        f"<p>Every client signs with a key.</p><h2 id='create'>Create a key</h2><p>Run pump keys create.</p>{EXPIRY}",
    ),
    BACKUP: html("Backup", "<p>Pump keeps one folder.</p><h2 id='restore'>Restore</h2><p>Stop Pump first.</p>"),
}


class Lacking:
    """The parts, and `asked` to keep a question whose answer was not found in the sections of these titles."""

    def __init__(self, site: IndexedSite, store: BotStore, gaps: Gaps) -> None:
        self.site = site
        self.store = store
        self.gaps = gaps
        self.clock = SetClock()

    def grouping(self) -> Grouping:
        return Grouping(self.store, self.gaps, self.site.trees, self.site.embedder, self.clock)

    async def node(self, title: str) -> str:
        pages = await self.site.trees.outlines(PAGES)
        return next(heading.id for page in pages.values() for heading in page.headings if heading.title == title)

    async def asked(self, number: int, text: str, *titles: str, **fields: Any) -> Exchange:
        located = await self.site.trees.nodes([await self.node(title) for title in titles])
        met = tuple(passage(each, n, (each.page.title, each.node.title)) for n, each in enumerate(located.values(), 1))
        by_title = {each.path[-1]: each for each in met}
        nearest = tuple(by_title[title] for title in titles)
        lacking = Answer(text, "I found nothing.", "not_found", nearest=nearest, trace=Trace(passages=met))
        exchange = Exchange(question(number, text=text, **fields), state="done", answer=lacking)
        await self.store.keep(exchange, None)
        return exchange

    async def kept(self, exchange: Exchange) -> Exchange:
        found = await self.store.exchange(exchange.question.id)
        assert found is not None
        return found.exchange

    async def judged_right(self, exchange: Exchange) -> None:
        """Its answer turns out to be there."""
        found = await self.store.exchange(exchange.question.id)
        assert found is not None
        assert found.exchange.answer is not None
        right = replace(found.exchange, answer=replace(found.exchange.answer, outcome="answered"))
        await self.store.keep(right, found.revision)

    async def all(self) -> list[Gap]:
        return [gap async for gap in self.gaps.all()]


@asynccontextmanager
async def lacking(folder: Path) -> AsyncIterator[Lacking]:
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240
    async with (
        indexed_site(folder, PAGES) as site,
        SqliteBotStore(folder / "bot.sqlite", KeySeal(()), SetClock()) as store,
        SqliteGaps(folder / "gaps.sqlite") as gaps,
    ):
        yield Lacking(site, store, gaps)
