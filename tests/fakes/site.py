"""A small indexed site in memory stores: real retrieval, real trees, no files to prepare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ingest.events.announce import Tell, told_nobody
from ingest.html.parse import parse
from ingest.indexing.indexer import Indexer, Outcome
from ingest.indexing.page_reader import PageReader
from ingest.model import Document, PageEvent, Site
from ingest.notes import Notes
from ingest.ports import Fetched
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from tests.fakes.embedder import HashingEmbedder

START = datetime(2026, 1, 1, tzinfo=UTC)


class TickingClock:
    """A second later at each look."""

    def __init__(self) -> None:
        self._now = START

    def now(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


class PagesFetcher:
    """Pages from a dict: URL -> HTML text, status, or (status, redirect target)."""

    def __init__(self, pages: dict[str, str | int | tuple[int, str]]) -> None:
        self.pages = pages
        self.fetched: list[str] = []

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        self.fetched.append(url)
        hops: list[tuple[str, int]] = []
        answer = self.pages.get(url, 404)
        while isinstance(answer, tuple):
            hops.append((url, answer[0]))
            url = answer[1]
            answer = self.pages.get(url, 404)
        if isinstance(answer, int):
            return Fetched(url, answer, b"", "text/html", hops=tuple(hops))
        return Fetched(url, 200, answer.encode(), "text/html; charset=utf-8", hops=tuple(hops))


class ParseHere:
    """Reads pages in this process, without limits, which tests/integration/ingest/indexing/test_parse_process.py tries."""

    async def parse(self, body: bytes, url: str, **options: Any) -> Document:
        await asyncio.sleep(0)
        return parse(body, url, **options)


@dataclass
class IndexedSite:
    """The parts, and `update` to publish pages and index them."""

    site: Site
    trees: SqliteTreeStore
    index: EdgeChunkIndex
    embedder: HashingEmbedder
    fetcher: PagesFetcher
    indexer: Indexer

    async def update(self, pages: Mapping[str, str | int | tuple[int, str]]) -> dict[str, Outcome]:
        self.fetcher.pages.update(pages)
        return {url: await self.handle(url) for url in pages}

    async def handle(self, url: str, **changes: object) -> Outcome:
        key = page_key(url)
        seq = await self.trees.reserve(key, self.site.name)
        event = PageEvent(key, self.site.name, seq, "changed", url, START, **changes)  # type: ignore[arg-type]
        return await self.indexer.handle(event)

    async def remove(self, url: str, reason: str = "HTTP 404") -> Outcome:
        key = page_key(url)
        seq = await self.trees.reserve(key, self.site.name)
        return await self.indexer.handle(PageEvent(key, self.site.name, seq, "removed", url, START, reason=reason))


@asynccontextmanager
async def indexed_site(
    folder: Path,
    pages: Mapping[str, str | int | tuple[int, str]] | None = None,
    wrap: Callable[[SqliteTreeStore], Any] = lambda trees: trees,
    notes: Notes | None = None,
    tell: Tell = told_nobody,
    **site: object,
) -> AsyncIterator[IndexedSite]:
    """An open site whose pages are indexed already."""
    embedder = HashingEmbedder()
    made = Site("docs", "https://docs.example.test/", **site)  # type: ignore[arg-type]
    async with (
        SqliteTreeStore(folder / "trees.sqlite") as trees,
        EdgeChunkIndex(folder / "chunks", embedder.dimensions) as index,
    ):
        fetcher = PagesFetcher({})
        indexer = Indexer(
            made,
            trees=wrap(trees),
            index=index,
            embedder=embedder,
            reader=PageReader(made, fetcher, ParseHere(), notes=notes),
            clock=TickingClock(),
            sizes=Sizes.fit(embedder.window, 60, 20),
            tell=tell,
        )
        open_site = IndexedSite(made, trees, index, embedder, fetcher, indexer)
        await open_site.update(pages or {})
        yield open_site


def html(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{body}</main></body></html>"
