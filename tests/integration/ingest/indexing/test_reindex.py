"""After an upgrade: pages that another parser or analyser made are read again, and that is no change of content."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.wiring.stores import SystemClock
from ingest.events.announce import Announcer, to_log
from ingest.events.codec import load_event
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import PAGES
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.indexing.projection import Projection
from ingest.indexing.reindex import announce, outdated, reread
from ingest.model import Block, Node, PageEvent, PageRecord
from ingest.text.chunks import Sizes
from ingest.text.words import terms
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import START, IndexedSite, ParseHere, TickingClock, html, indexed_site

A = "https://docs.example.test/a.html"
B = "https://docs.example.test/b.html"
C = "https://docs.example.test/c.html"
PAGE = "<p>Pumps move water at {0}.</p><h2 id='prime'>Priming</h2><p>Fill the pump {0} first.</p>"
SIZES = Sizes.fit(HashingEmbedder.window, 60, 20)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path, {url: html("Pumps", PAGE.format(url)) for url in (A, B, C)}) as site:
        yield site


def made_by(site: IndexedSite) -> str:
    return Projection(site.index, site.embedder, SIZES).made_by


async def record(site: IndexedSite, url: str) -> PageRecord:
    stored = await site.trees.get(url)
    assert stored
    return stored.record


async def age(site: IndexedSite, url: str, *, parser: str | None = None, analyser: str | None = None) -> PageRecord:
    """The record as another version would have made it: its parser saw the whole page as one section."""
    stored = await site.trees.get(url)
    assert stored
    assert stored.record.page
    old = stored.record
    if analyser:
        old = replace(old, analyser_version=f"{analyser}/{old.analyser_version.partition('/')[2]}")
    if parser:
        first, *rest = stored.record.page.nodes
        text = "\n".join((first.text, *(node.text for node in rest)))
        whole = Node(first.id, None, 0, first.title, blocks=(Block("text", text),), kind="page")
        old = replace(old, page=replace(stored.record.page, nodes=(whole,), parser_version=parser))
    await site.trees.put(old, stored.revision)
    return old


async def outdated_keys(site: IndexedSite) -> list[str]:
    return [page.key for page in await outdated(site.trees, made_by(site), "docs")]


async def test_pages_of_this_version_are_not_outdated(site: IndexedSite) -> None:
    assert await outdated_keys(site) == []


async def test_pages_of_another_parser_or_analyser_are_outdated_and_those_that_are_gone_are_not(
    site: IndexedSite,
) -> None:
    await age(site, A, parser="0")
    await age(site, B, analyser="0")
    await age(site, C, parser="0")
    assert await outdated_keys(site) == [A, B, C]
    assert await outdated(site.trees, made_by(site), "other") == []
    await site.remove(C)
    assert await outdated_keys(site) == [A, B]


async def test_a_page_that_another_parser_made_is_read_anew_and_that_is_no_change(site: IndexedSite) -> None:
    old = await age(site, A, parser="0")
    untouched = await record(site, B)
    pages = await outdated(site.trees, made_by(site))
    summary = await reread(pages, site.indexer, site.trees, TickingClock())
    new = await record(site, A)
    assert (summary.pages, summary.done, summary.left) == (1, 1, [])
    assert new.page
    assert old.page
    assert len(new.page.nodes) == 2
    assert new.page.nodes[0].id == old.page.nodes[0].id
    assert new.changed_at == old.changed_at
    assert new.checked_at > old.checked_at
    assert await outdated_keys(site) == []
    assert await record(site, B) == untouched
    assert set(await site.index.ids_of(A)) == set(new.chunk_ids)


async def test_an_edit_of_a_page_of_this_parser_is_still_a_change(site: IndexedSite) -> None:
    before = await record(site, A)
    await site.update({A: html("Pumps", PAGE.format("another place"))})
    assert (await record(site, A)).changed_at > before.changed_at


async def test_words_that_another_analyser_made_are_made_anew_and_nothing_is_embedded(site: IndexedSite) -> None:
    old = await age(site, A, analyser="0")
    assert old.page
    chunks = await Projection(site.index, site.embedder, SIZES).chunks(old.page, "docs", "", "en")
    vectors = await site.index.vectors([chunk.input_hash for chunk in chunks])
    await site.index.upsert([replace(c, terms="antique") for c in chunks], [vectors[c.input_hash] for c in chunks])
    site.embedder.embedded.clear()
    await reread(await outdated(site.trees, made_by(site)), site.indexer, site.trees, TickingClock())
    assert site.embedder.embedded == []
    assert await site.index.words(["antique"], 10) == []
    assert A in {hit.page_key for hit in await site.index.words(terms("priming"), 10)}


async def test_a_rebuild_writes_the_words_of_unchanged_pages_anew(site: IndexedSite) -> None:
    await site.index.delete(await site.index.ids_of(A))
    rebuild = Indexer(
        site.site,
        trees=site.trees,
        index=site.index,
        embedder=site.embedder,
        reader=PageReader(site.site, site.fetcher, ParseHere()),
        clock=TickingClock(),
        sizes=SIZES,
        rebuild=True,
    )
    for url in (A, B):
        await rebuild.handle(PageEvent(url, "docs", await site.trees.reserve(url, "docs"), "changed", url, START))
        assert set(await site.index.ids_of(url)) == set((await record(site, url)).chunk_ids)


async def test_pages_that_went_moved_or_do_not_answer_are_left_for_who_weighs_what_goes(site: IndexedSite) -> None:
    for url in (A, B, C):
        await age(site, url, parser="0")
    moved = "https://docs.example.test/new.html"
    site.fetcher.pages |= {A: 404, B: (301, moved), moved: html("Elsewhere", "<p>Quite another page.</p>")}
    summary = await reread(await outdated(site.trees, made_by(site)), site.indexer, site.trees, TickingClock())
    left = dict(summary.left)
    assert set(left) == {A, B}
    assert "404" in left[A]
    assert moved in left[B]
    assert [(await record(site, url)).state for url in (A, B, C)] == ["live"] * 3
    assert await outdated_keys(site) == [A, B]


async def test_a_run_that_was_cut_short_goes_on_with_what_is_left(site: IndexedSite) -> None:
    for url in (A, B, C):
        await age(site, url, parser="0")
    pages = await outdated(site.trees, made_by(site))
    await reread(pages[:2], site.indexer, site.trees, TickingClock(), workers=1)
    assert await outdated_keys(site) == [C]


async def test_an_event_that_another_version_handled_last_is_handled_again(site: IndexedSite) -> None:
    old = await age(site, A, parser="0")
    again = PageEvent(A, "docs", old.seq, "changed", A, START)
    assert (await site.indexer.handle(again)).kind == "changed"
    assert (await record(site, A)).seq == old.seq
    assert (await site.indexer.handle(again)).kind == "stale"
    await age(site, A, parser="0")
    assert (await site.indexer.handle(replace(again, seq=old.seq - 1))).kind == "stale"


async def test_announced_pages_come_to_the_indexers_as_events_that_are_new(site: IndexedSite, tmp_path: Path) -> None:
    old = await age(site, B, parser="0")
    clock = SystemClock()
    async with SqliteEventLog(tmp_path / "events.sqlite", clock) as events:
        await announce(
            await outdated(site.trees, made_by(site)), Announcer(site.trees, to_log(events), clock), site.trees
        )
        sent = [load_event(record.value) async for record in events.read(PAGES)]
    assert [(event.key, event.kind) for event in sent] == [(B, "changed")]
    assert sent[0].seq > old.seq
    assert (await site.indexer.handle(sent[0])).kind == "changed"
    assert await outdated_keys(site) == []
