"""Whatever is done to the documentation, a link that was kept lands on its words, or says rightly what became of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.permalinks.lookup import Permalinks
from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Standing
from bot.store.sqlite_editions import SqliteEditions
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.model import PageEvent, Site
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from tests.fakes.chunk_index import HeldChunks
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import START, PagesFetcher, ParseHere, TickingClock, html

SITE = Site("docs", "https://docs.example.test/")
MEMORY = Path("/dev/shm")
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
    st.sampled_from(["rename", "edit", "move", "insert", "split", "merge", "remove", "page moves", "page goes"]),
    st.sampled_from("ab"),
    st.integers(0, 9),
    st.integers(0, 9),
)


@dataclass
class Kept:
    """A link, and what it named."""

    link: Permalink
    words: list[str]


def words_of(said: str) -> list[str]:
    return re.findall(r"Step\d+ .*?begins\.", said)


def check(kept: Kept, standing: Standing | None, living: Mapping[str, set[str]]) -> None:
    """`living`: which sections each sentence stands in today, by the sections' titles. Each sentence of the old text is in the
    live section, in one that is named, or nowhere (but for what is too little to be told)."""
    assert standing is not None
    assert standing.then is not None
    assert [w for block in standing.then.section.blocks for w in words_of(block.text)] == kept.words
    here = {w for block in (standing.now.blocks if standing.now else ()) for w in words_of(block.text)}
    there = {w for part in standing.parts for block in part.section.blocks for w in words_of(block.text)}
    named = {each for each in kept.words if each in here | there}
    stands = {each for each in kept.words if living.get(each)}
    assert stands - named == set(), (standing.kinds, standing.parts)
    match standing.kinds[0]:
        case "current":
            assert set(kept.words) <= here
        case "changed":
            assert standing.now
            assert standing.now.node_hash != kept.link.hash
        case "merged":
            assert stands
        case "removed":
            assert not stands
            assert standing.gone_for or standing.gone_by
    assert ("split" in standing.kinds) == bool(standing.now and standing.parts)


async def kept_links_after(edits: list[tuple[str, str, int, int]], folder: Path) -> None:
    docs = Docs()
    docs.pages = {name: [docs.section() for _ in range(3)] for name in "ab"}
    urls = {name: f"https://docs.example.test/{name}" for name in "ab"}
    fetcher, embedder = PagesFetcher({}), HashingEmbedder()
    async with SqliteTreeStore(folder / "trees") as trees, SqliteEditions(folder / "editions") as editions:
        reader = PageReader(SITE, fetcher, ParseHere())
        indexer = Indexer(SITE, trees=trees, index=HeldChunks(), embedder=embedder, reader=reader, clock=TickingClock(),
                          sizes=Sizes.fit(embedder.window, 60, 20))  # type: ignore[arg-type]  # fmt: skip
        permalinks = Permalinks(trees, editions, TickingClock())

        async def publish(name: str, moved_from: str | None = None, kind: str = "changed") -> None:
            url, key = urls[name], page_key(urls[name])
            if kind == "changed":
                fetcher.pages[url] = docs.html(name)
            seq = await trees.reserve(key, SITE.name)
            event = PageEvent(
                key, SITE.name, seq, kind, url, START, moved_from, None if kind == "changed" else "HTTP 404"
            )  # type: ignore[arg-type]
            await indexer.handle(event)

        async def living() -> dict[str, set[str]]:
            found: dict[str, set[str]] = {}
            for url in urls.values():
                stored = await trees.get(page_key(url))
                for node in stored.record.page.nodes if stored and stored.record.page else ():
                    for words in words_of(node.text):
                        found.setdefault(words, set()).add(node.title)
            return found

        for name in urls:
            await publish(name)
        links: list[Kept] = []
        for url in urls.values():
            stored = await trees.get(page_key(url))
            assert stored
            assert stored.record.page
            for node in stored.record.page.nodes[1:]:
                section = (await permalinks.sections([node.id]))[node.id]
                await permalinks.keep_linked(section)
                links.append(Kept(Permalink(node.id, node.own_hash), words_of(node.text)))
        gone: set[str] = set()
        for number, (kind, name, at, to) in enumerate(edits):
            if name in gone:
                continue
            if kind == "page goes":
                gone.add(name)
                await publish(name, kind="removed")
            elif kind == "page moves":
                before, urls[name] = urls[name], f"https://docs.example.test/{name}{number}"
                fetcher.pages[before] = (301, urls[name])
                await publish(name, moved_from=page_key(before))
            else:
                docs.edit(kind, name, at, to)
                await publish(name)
            stands = await living()
            for link in links:
                check(link, await permalinks.standing(link.link), stands)


@settings(max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=6))
def test_a_kept_link_lands_on_its_words_or_says_what_became_of_them(edits: list[tuple[str, str, int, int]]) -> None:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        asyncio.run(kept_links_after(edits, Path(folder)))
