"""Documentation that is edited as people edit, and an indexer that follows: sections renamed, moved, split, merged, removed, and
pages that move or go. Every sentence stands there once, so that it can be said where its words are."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from ingest.events.announce import Tell, told_nobody
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.model import EventKind, Node, PageEvent, Site
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from tests.fakes.chunk_index import HeldChunks
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import START, PagesFetcher, ParseHere, TickingClock, html

SITE = Site("docs", "https://docs.example.test/")
MEMORY = Path("/dev/shm")
"""Where there is one, tests that write thousands of files write them there."""
VERBS = "opens shuts drains fills turns cleans checks lifts holds moves".split()
THINGS = "pump valve filter pipe tank meter seal motor fuse switch".split()


def sentence(number: int) -> str:
    """No two share a pair of words that are told apart: each has numbers of its own."""
    verb, thing = VERBS[number % 10], THINGS[number // 10 % 10]
    return f"Step{number} {verb} part{number} of the {thing}{number} with tool{number} before stage{number} begins."


@dataclass
class Docs:
    """Pages of sections, each a title and sentences; edited as people edit."""

    pages: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)
    made: int = 0

    def text(self) -> list[str]:
        self.made += 3
        return [sentence(number) for number in range(self.made - 3, self.made)]

    def section(self) -> tuple[str, list[str]]:
        said = self.text()
        return f"Section {self.made}", said

    def html(self, name: str) -> str:
        parts = [f"<h2>{title}</h2>{''.join(f'<p>{each}</p>' for each in said)}" for title, said in self.pages[name]]
        return html(f"Page {name}", f"<p>This is what page {name} is about.</p>{''.join(parts)}")

    def edit(self, kind: str, name: str, at: int, to: int) -> None:
        sections = self.pages[name]
        at, to = at % len(sections), to % len(sections)
        title, said = sections[at]
        match kind:
            case "rename":
                sections[at] = (f"{title} renamed", said)
            case "edit":
                sections[at] = (title, [*said, sentence(self.made)])
                self.made += 1
            case "reword":
                said[to % len(said)] = sentence(self.made)
                self.made += 1
            case "move":
                sections.insert(to, sections.pop(at))
            case "insert":
                sections.insert(at, (title, self.text()))
            case "split" if len(said) > 1:
                half = len(said) // 2
                sections[at : at + 1] = [(title, said[half:]), (f"{title} split", said[:half])]
            case "merge" if at != to:
                into = sections[to]
                sections[to] = (into[0], [*into[1], *said])
                del sections[at]
            case "remove" if len(sections) > 1:
                del sections[at]


EDITS = st.tuples(
    st.sampled_from(
        ["rename", "edit", "reword", "move", "insert", "split", "merge", "remove", "page moves", "page goes"]
    ),
    st.sampled_from("ab"),
    st.integers(0, 9),
    st.integers(0, 9),
)
Edit = tuple[str, str, int, int]


def words_of(said: str) -> list[str]:
    """The sentences of a text."""
    return re.findall(r"Step\d+ .*?begins\.", said)


@dataclass
class EditedSite:
    """Two pages of three sections each, to begin with."""

    trees: SqliteTreeStore
    indexer: Indexer
    fetcher: PagesFetcher
    docs: Docs = field(default_factory=Docs)
    urls: dict[str, str] = field(default_factory=lambda: {name: f"{SITE.start}{name}" for name in "ab"})
    gone: set[str] = field(default_factory=set)

    async def begin(self) -> None:
        self.docs.pages = {name: [self.docs.section() for _ in range(3)] for name in self.urls}
        for name in self.urls:
            await self._publish(name)

    async def edit(self, number: int, edit: Edit) -> None:
        """Done and indexed; `number` is another for each. A page that went is edited no more."""
        kind, name, at, to = edit
        if name in self.gone:
            return
        if kind == "page goes":
            self.gone.add(name)
            await self._publish(name, kind="removed")
        elif kind == "page moves":
            before, self.urls[name] = self.urls[name], f"{SITE.start}{name}{number}"
            self.fetcher.pages[before] = (301, self.urls[name])
            await self._publish(name, moved_from=page_key(before))
        else:
            self.docs.edit(kind, name, at, to)
            await self._publish(name)

    async def nodes(self) -> list[Node]:
        """All sections that are there, without the pages' own."""
        stored = [await self.trees.get(page_key(url)) for url in self.urls.values()]
        return [node for each in stored if each and each.record.page for node in each.record.page.nodes[1:]]

    async def living(self) -> dict[str, set[str]]:
        """Which sections each sentence stands in today, by their titles."""
        found: dict[str, set[str]] = {}
        for node in await self.nodes():
            for words in words_of(node.text):
                found.setdefault(words, set()).add(node.title)
        return found

    async def _publish(self, name: str, *, kind: EventKind = "changed", moved_from: str | None = None) -> None:
        url, key = self.urls[name], page_key(self.urls[name])
        if kind == "changed":
            self.fetcher.pages[url] = self.docs.html(name)
        seq = await self.trees.reserve(key, SITE.name)
        reason = None if kind == "changed" else "HTTP 404"
        await self.indexer.handle(PageEvent(key, SITE.name, seq, kind, url, START, moved_from, reason))


@asynccontextmanager
async def edited_site(folder: Path, tell: Tell = told_nobody) -> AsyncIterator[EditedSite]:
    fetcher, embedder = PagesFetcher({}), HashingEmbedder()
    async with SqliteTreeStore(folder / "trees") as trees:
        indexer = Indexer(
            SITE,
            trees=trees,
            index=HeldChunks(),  # type: ignore[arg-type]
            embedder=embedder,
            reader=PageReader(SITE, fetcher, ParseHere()),
            clock=TickingClock(),
            sizes=Sizes.fit(embedder.window, 60, 20),
            tell=tell,
        )
        site = EditedSite(trees, indexer, fetcher)
        await site.begin()
        yield site
