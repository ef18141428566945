"""Handling page events on the embedded stores: what the stores hold afterwards."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import Conflict
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.model import Chunk, PageEvent, PageRecord
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from tests.fakes.site import START, IndexedSite, ParseHere, TickingClock, html, indexed_site

A = "https://docs.example.test/a.html"
B = "https://docs.example.test/b.html"
C = "https://docs.example.test/c.html"

TWO_SECTIONS = html(
    "Pumps",
    "<p>Pumps move water.</p><h2 id='prime'>Priming</h2><p>Fill the pump first.</p><h2 id='seal'>Seals</h2><p>Grease the seal.</p>",
)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path) as open_site:
        yield open_site


async def titles(site: IndexedSite, url: str) -> dict[str, str]:
    """Title -> node id of a live page."""
    stored = await site.trees.get(page_key(url))
    assert stored is not None
    assert stored.record.page is not None
    return {node.title: node.id for node in stored.record.page.nodes}


async def state(site: IndexedSite, url: str) -> tuple[str, str | None]:
    stored = await site.trees.get(page_key(url))
    assert stored is not None
    return stored.record.state, stored.record.target


async def test_the_index_holds_exactly_the_chunks_that_the_record_lists(site: IndexedSite) -> None:
    outcome = (await site.update({A: TWO_SECTIONS}))[A]
    stored = await site.trees.get(A)
    assert stored is not None
    assert outcome.kind == "new"
    assert set(await site.index.ids_of(A)) == set(stored.record.chunk_ids)
    assert outcome.chunks == outcome.embedded == 3


async def test_the_same_page_again_embeds_nothing_and_moves_seq_and_freshness(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    before = await site.trees.get(A)
    outcome = (await site.update({A: TWO_SECTIONS}))[A]
    after = await site.trees.get(A)
    assert before is not None
    assert after is not None
    assert (outcome.kind, outcome.embedded) == ("unchanged", 0)
    assert after.record.seq > before.record.seq
    assert after.record.checked_at > before.record.checked_at
    assert after.record == replace(before.record, seq=after.record.seq, checked_at=after.record.checked_at)


async def test_a_new_navigation_bar_is_no_change(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    decorated = TWO_SECTIONS.replace("<main>", "<nav><a href='/x'>New</a></nav><main data-build='7'>")
    assert (await site.update({A: decorated}))[A].kind == "unchanged"


async def test_an_edited_section_costs_one_embedding_and_keeps_every_id(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    before = await titles(site, A)
    outcome = (await site.update({A: TWO_SECTIONS.replace("Grease the seal.", "Grease the seal twice a year.")}))[A]
    assert (outcome.kind, outcome.embedded) == ("changed", 1)
    assert await titles(site, A) == before
    assert len(await site.index.ids_of(A)) == 3


async def test_a_renamed_heading_embeds_that_section_only(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    before = await titles(site, A)
    outcome = (await site.update({A: TWO_SECTIONS.replace("Seals", "Gaskets").replace("'seal'", "'gaskets'")}))[A]
    assert outcome.embedded == 1
    assert (await titles(site, A))["Gaskets"] == before["Seals"]


async def test_a_page_that_shrinks_leaves_no_orphan(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    await site.update({A: html("Pumps", "<p>Pumps move water.</p>")})
    stored = await site.trees.get(A)
    assert stored is not None
    assert set(await site.index.ids_of(A)) == set(stored.record.chunk_ids)
    assert await site.index.count() == 1


async def test_an_older_event_after_a_newer_one_changes_nothing(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    await site.update({A: TWO_SECTIONS.replace("Pumps move", "Pumps push")})
    before = await site.trees.get(A)
    site.fetcher.pages[A] = html("Other", "<p>Other.</p>")
    outcome = await site.indexer.handle(PageEvent(A, "docs", 1, "changed", A, START))
    assert outcome.kind == "stale"
    assert await site.trees.get(A) == before


async def test_a_missing_page_is_reported_and_only_removed_when_told(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    assert (await site.update({A: 404}))[A].kind == "missing"
    assert await state(site, A) == ("live", None)
    assert (await site.remove(A)).kind == "gone"
    assert await state(site, A) == ("gone", None)
    assert await site.index.count() == 0


async def test_a_live_page_that_turns_noindex_is_reported_as_emptied(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    hidden = TWO_SECTIONS.replace("<head>", "<head><meta name='robots' content='noindex'>")
    outcome = (await site.update({A: hidden}))[A]
    assert (outcome.kind, outcome.reason) == ("emptied", "noindex")
    assert await site.index.count() == 3
    await site.remove(A, "noindex")
    assert await state(site, A) == ("skipped", None)
    assert await site.index.count() == 0


async def test_the_new_url_is_live_before_the_old_one_leaves(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    before = await titles(site, A)
    site.fetcher.pages.update({A: (301, B), B: TWO_SECTIONS})
    outcome = await site.handle(A)
    assert await state(site, A) == ("live", None)
    moved = await site.handle(B, moved_from=outcome.key)
    assert (moved.kind, moved.embedded) == ("moved", 0)
    assert await titles(site, B) == before
    assert (await state(site, A))[1] == B
    assert await site.index.ids_of(A) == {}
    assert len(await site.index.ids_of(B)) == 3


async def test_a_page_that_came_back_is_not_taken_away_by_the_old_news_that_it_had_moved(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    site.fetcher.pages.update({A: (301, B), B: TWO_SECTIONS})
    await site.handle(B, moved_from=A)
    await site.update({A: html("Valves", "<p>Valves close.</p>")})
    again = await site.indexer.handle(PageEvent(B, "docs", 1, "changed", B, START, moved_from=A))
    assert again.kind == "stale"
    assert [await state(site, url) for url in (A, B)] == [("live", None)] * 2
    assert len(await site.index.ids_of(A)) == 1


async def test_a_retirement_that_a_crash_left_undone_is_done_when_the_event_comes_again(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    before = await site.trees.get(A)
    site.fetcher.pages.update({A: (301, B), B: TWO_SECTIONS})
    await site.handle(B, moved_from=A)
    retired = await site.trees.get(A)
    assert before is not None
    assert retired is not None
    await site.trees.put(before.record, retired.revision)
    await site.indexer.handle(PageEvent(B, "docs", 1, "changed", B, START, moved_from=A))
    assert await state(site, A) == ("moved", B)


async def test_equal_copies_become_aliases_of_the_preferred_url(site: IndexedSite) -> None:
    index = "https://docs.example.test/guide/index.html"
    directory = "https://docs.example.test/guide/"
    outcomes = await site.update({index: TWO_SECTIONS, directory: TWO_SECTIONS})
    assert outcomes[directory].kind == "moved"
    assert await state(site, index) == ("alias", directory)
    assert await site.index.count() == 3


async def test_a_canonical_page_is_kept_and_its_copy_is_an_alias(site: IndexedSite) -> None:
    page = TWO_SECTIONS.replace("<head>", f"<head><link rel='canonical' href='{B}'>")
    outcomes = await site.update({A: page, B: page})
    assert B in outcomes[A].links
    assert await state(site, A) == ("alias", B)
    assert await state(site, B) == ("live", None)


async def test_a_canonical_that_says_something_else_is_not_believed(site: IndexedSite) -> None:
    old = TWO_SECTIONS.replace("<head>", f"<head><link rel='canonical' href='{B}'>")
    await site.update({A: old, B: TWO_SECTIONS.replace("water", "oil")})
    stored = await site.trees.get(A)
    assert stored is not None
    assert stored.record.page is not None
    assert stored.record.page.canonical == A


async def test_a_copy_comes_to_life_when_its_original_goes(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS, B: TWO_SECTIONS})
    assert await state(site, B) == ("alias", A)
    site.fetcher.pages[A] = 404
    outcome = await site.remove(A)
    assert outcome.revisit == (B,)
    assert (await site.handle(B)).kind == "new"
    assert await state(site, B) == ("live", None)


async def test_a_copy_may_take_over_the_ids_of_the_page_that_goes(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS, B: TWO_SECTIONS})
    before = await titles(site, A)
    site.fetcher.pages[A] = 404
    assert (await site.handle(B, moved_from=A)).kind == "moved"
    await site.remove(A)
    assert await state(site, A) == ("gone", None)
    assert await titles(site, B) == before
    assert await site.index.count() == 3


@pytest.mark.parametrize("again", range(4))  # who is first where is up to chance
@pytest.mark.parametrize("order", [*permutations((A, B, C))])
async def test_copies_that_arrive_together_end_as_one(tmp_path: Path, order: tuple[str, ...], again: int) -> None:
    async with indexed_site(tmp_path) as site:
        site.fetcher.pages.update({A: TWO_SECTIONS, B: TWO_SECTIONS, C: TWO_SECTIONS})
        await asyncio.gather(*(site.handle(url) for url in order))
        states = [await state(site, url) for url in (A, B, C)]
        assert states == [("live", None), ("alias", A), ("alias", A)]
        assert await site.index.count() == 3


class Overtaken:
    """A TreeStore where another writer always gets in before the first put of a record."""

    def __init__(self, trees: SqliteTreeStore) -> None:
        self._trees = trees
        self.lost = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._trees, name)

    async def put(self, record: PageRecord, expected: str | None) -> str:
        if self.lost == 0:
            self.lost += 1
            raise Conflict("another writer was here")
        return await self._trees.put(record, expected)


async def test_a_lost_race_starts_again_and_ends_well(tmp_path: Path) -> None:
    overtaken: list[Overtaken] = []

    def wrap(trees: SqliteTreeStore) -> Overtaken:
        overtaken.append(Overtaken(trees))
        return overtaken[0]

    async with indexed_site(tmp_path, {A: TWO_SECTIONS}, wrap=wrap) as site:
        assert overtaken[0].lost == 1
        assert await state(site, A) == ("live", None)
        assert await site.index.count() == 3


async def test_chunks_of_a_crashed_handling_are_swept_by_the_next_event(site: IndexedSite) -> None:
    await site.update({A: TWO_SECTIONS})
    stored = await site.trees.get(A)
    assert stored is not None
    assert stored.record.page is not None
    orphan = Chunk(
        "11111111-1111-4111-8111-111111111111", stored.record.page.nodes[0].id, A, "docs", "", "", "left behind", "left"
    )
    await site.index.upsert([orphan], [[0.1] * site.embedder.dimensions])
    await site.update({A: TWO_SECTIONS.replace("water", "oil")})
    after = await site.trees.get(A)
    assert after is not None
    assert set(await site.index.ids_of(A)) == set(after.record.chunk_ids)


@pytest.mark.parametrize("stalled", ["upsert", "ids_of"])
async def test_a_worker_that_was_stalled_past_the_removal_of_its_page_leaves_no_chunk(
    tmp_path: Path, stalled: str
) -> None:
    class Stalling:
        def __getattr__(self, name: str) -> Any:
            return wait if name == stalled else getattr(site.index, name)

    async def wait(*arguments: Any) -> Any:
        if not reached.is_set():
            reached.set()
            await removed.wait()
        return await getattr(site.index, stalled)(*arguments)

    reached, removed = asyncio.Event(), asyncio.Event()
    async with indexed_site(tmp_path, {}) as site:
        site.fetcher.pages[A] = html("A", "<p>Page a.</p>")
        slow = Indexer(
            site.site,
            trees=site.trees,
            index=Stalling(),  # type: ignore[arg-type]
            embedder=site.embedder,
            reader=PageReader(site.site, site.fetcher, ParseHere()),
            clock=TickingClock(),
            sizes=Sizes.fit(site.embedder.window, 60, 20),
        )
        seq = await site.trees.reserve(A, "docs")
        event = PageEvent(A, "docs", seq, "changed", A, START)
        working = asyncio.create_task(slow.handle(event))
        await reached.wait()
        await site.remove(A)
        removed.set()
        assert (await working).kind == "stale"
        assert await site.index.count() == 0
