"""The search index compared with the truth and mended, on both columns of stores."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.indexing.reconcile import Report, SiteReport
from ingest.model import Chunk, PageRecord
from ingest.ports import WatchState
from ingest.stores.embedded.trees import SqliteTreeStore
from tests.contract.conftest import remove
from tests.fakes.chunk_index import HeldChunks
from tests.fakes.columns import Column, Counted, Pages, cluster, embedded
from tests.fakes.dying import Dies, Killed
from tests.fakes.site import START, html
from tests.servers.qdrant import own_name

A, B, C = (f"https://docs.example.test/{name}.html" for name in "abc")
PAGES: Pages = {
    A: html("Pumps", "<p>Pumps move water.</p><h2>Priming</h2><p>Fill it.</p><h2>Seals</h2><p>Grease the seal.</p>"),
    B: html("Valves", "<p>Valves hold water.</p><h2>Seats</h2><p>Lap the seat.</p>"),
    C: html("Hoses", "<p>Hoses lead water.</p>"),
}
IN_STEP = SiteReport(pages=3, chunks=6)

Opening = Callable[[], AbstractAsyncContextManager[Column]]


def on_disk(_: pytest.FixtureRequest, folder: Path) -> Opening:
    return partial(embedded, folder)


def on_servers(request: pytest.FixtureRequest, _: Path) -> Opening:
    url, qdrant = request.getfixturevalue("opensearch").url, request.getfixturevalue("qdrant")
    name = own_name()
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    request.addfinalizer(partial(remove, f"{qdrant}/collections/{name}-1"))
    return partial(cluster, url, qdrant, name)


@pytest.fixture(params=[pytest.param(on_disk, id="embedded"), pytest.param(on_servers, id="cluster")])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    opened: Opening = request.param(request, tmp_path)
    return opened


@pytest.fixture
async def column(opening: Opening) -> AsyncIterator[Column]:
    async with opening() as column:
        await column.publish(PAGES)
        column.embedder.embedded.clear()
        yield column


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Column]:
    async with embedded(tmp_path) as column:
        await column.publish(PAGES)
        column.embedder.embedded.clear()
        yield column


async def chunks_of(column: Column, key: str) -> list[Chunk]:
    stored = await column.trees.get(key)
    assert stored is not None
    assert stored.record.page is not None
    return await column.indexer()._projection.chunks(stored.record.page, "docs", "", "en")


def stray(name: str, page: str, site: str = "docs") -> Chunk:
    return Chunk(str(uuid5(NAMESPACE_URL, name)), str(uuid5(NAMESPACE_URL, "n")), page, site, "", "Path", name, name)


async def put_chunks(column: Column, *chunks: Chunk) -> None:
    await column.index.upsert(chunks, [column.embedder._vector(chunk.embedded) for chunk in chunks])


async def mend(column: Column, site: str | None = None) -> Report:
    """Once, and once more without a write."""
    report = await column.reconciler(repair=True).run(site)
    trees, index = Counted(column.trees), Counted(column.index)
    again = await column.reconciler(trees=trees, index=index, repair=True).run(site)
    assert trees.writes + index.writes == []
    assert all(found.in_step and not found.missing + found.orphans for found in again.values())
    return report


# --- on both columns


async def test_a_healthy_index_is_left_alone(column: Column) -> None:
    trees, index = Counted(column.trees), Counted(column.index)
    report = await column.reconciler(trees=trees, index=index, repair=True).run()
    assert report == {"docs": IN_STEP}
    assert report["docs"].in_step
    assert trees.writes + index.writes == []
    assert column.embedder.embedded == []


async def test_what_lacks_is_written_and_what_nobody_lists_goes(column: Column) -> None:
    before = await column.holds()
    lost = (await chunks_of(column, A))[1:]
    await column.index.delete([chunk.id for chunk in lost])
    await put_chunks(column, stray("old", A), stray("x", "https://docs.example.test/gone.html"), stray("y", "z", "off"))
    looked = await column.reconciler().run()
    assert (looked["docs"].missing, looked["docs"].orphans, looked["off"].orphans) == (2, 2, 1)
    assert not looked["docs"].in_step
    assert len(await column.holds()) == 5
    report = await mend(column)
    expected = replace(IN_STEP, missing=2, filled=2, embedded=2, orphans=2, swept=2)
    assert report == {"docs": expected, "off": SiteReport(known=False, orphans=1, swept=1)}
    assert await column.holds() == before
    assert sorted(column.embedder.embedded) == sorted(chunk.embedded for chunk in lost)


async def test_chunks_under_another_site_version_or_page_are_put_right_without_embedding(column: Column) -> None:
    before = await column.holds()
    one, two, three = await chunks_of(column, A)
    await put_chunks(column, replace(one, site="old"), replace(two, version="1"), replace(three, page_key=B))
    report = await mend(column)
    assert (report["docs"].missing, report["docs"].filled, report["docs"].embedded) == (3, 3, 0)
    assert await column.holds() == before


async def test_one_site_is_compared_alone(column: Column) -> None:
    await put_chunks(column, stray("x", "p"), stray("y", "q", "off"))
    assert set(await mend(column, "docs")) == {"docs"}
    assert [pair async for pair in column.index.pages() if pair[1] == "off"] == [("q", "off")]


async def test_a_lost_embedded_index_is_made_from_the_trees(tmp_path: Path) -> None:
    async with embedded(tmp_path) as column:
        await column.publish(PAGES)
        before = await column.holds()
    shutil.rmtree(tmp_path / "chunks")
    async with embedded(tmp_path) as column:
        report = await mend(column)
        assert (report["docs"].missing, report["docs"].embedded) == (6, 6)
        assert await column.holds() == before
        assert column.fetcher.fetched == []


async def test_a_lost_half_of_the_cluster_is_made_again(
    opensearch: Any, qdrant: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    opening = on_servers(request, tmp_path)
    async with opening() as column:
        await column.publish(PAGES)
        before = await column.holds()
        name = column.trees._pages.removesuffix("-pages")  # type: ignore[attr-defined]
    vectors, words = f"{qdrant}/collections/{name}-1", f"{opensearch.url}/{name}-words-1"
    for lost, embedded_again in (([words], 0), ([vectors], 6), ([words, vectors], 6)):
        for url in lost:
            remove(url)
        async with opening() as column:
            report = await mend(column)
            assert (report["docs"].missing, report["docs"].filled) == (6, 6)
            assert len(column.embedder.embedded) == embedded_again
            assert await column.holds() == before
            assert [hit.page_key for hit in await column.index.words(["hose"], 5)] == [C]


# --- what is reported and left alone


async def test_chunks_stay_where_the_trees_are_what_was_lost(small: Column) -> None:
    await small.trees.forget("docs")
    report = await small.reconciler(repair=True).run()
    assert (report["docs"].orphans, report["docs"].swept) == (6, 0)
    assert await small.index.count() == 6


async def test_a_site_that_the_settings_do_not_name_is_counted_and_keeps_its_chunks(small: Column) -> None:
    await small.index.delete([(await chunks_of(small, A))[0].id])
    report = await small.reconciler(sites=(), repair=True).run()
    assert report == {"docs": replace(IN_STEP, known=False, missing=1)}
    assert not report["docs"].in_step
    assert await small.index.count() == 5


async def test_pages_of_another_make_are_counted_and_left_to_others(small: Column) -> None:
    stored = await small.trees.get(A)
    assert stored is not None
    await small.trees.put(replace(stored.record, analyser_version="0/1+1/old"), stored.revision)
    await small.index.delete([(await chunks_of(small, A))[0].id])
    report = await small.reconciler(repair=True).run()
    assert report == {"docs": replace(IN_STEP, other_make=1, missing=1)}
    assert small.embedder.embedded == []


async def test_aliases_and_moves_to_nothing_are_named(small: Column) -> None:
    for name, state, target in [
        ("alias-live", "alias", A),
        ("alias-gone", "alias", "gone"),
        ("moved-gone", "moved", "gone"),
        ("moved-nowhere", "moved", "nowhere"),
    ]:
        await small.trees.put(PageRecord(name, "docs", state, 1, START, START, target=target), None)  # type: ignore[arg-type]
    await small.trees.put(PageRecord("gone", "docs", "gone", 1, START, START), None)
    report = await small.reconciler(repair=True).run()
    assert sorted(report["docs"].dangling) == ["alias-gone", "moved-nowhere"]
    assert not report["docs"].in_step


async def test_pages_whose_change_is_not_handled_yet_are_counted(small: Column) -> None:
    stored = await small.trees.get(A)
    assert stored is not None
    assert stored.record.page is not None
    await small.trees.watch(WatchState(A, "docs", sent=stored.record.page.hash))
    await small.trees.watch(WatchState(B, "docs", sent="another tree"))
    report = await small.reconciler().run()
    assert report == {"docs": replace(IN_STEP, waiting=1)}
    assert report["docs"].in_step


# --- beside an indexer


async def test_a_page_that_is_being_written_is_no_orphan(small: Column) -> None:
    """Its chunks are there, its record is not yet; at the second look it is."""
    changed: Pages = {A: str(PAGES[A]).replace("Grease the seal.", "Oil the seal.")}
    dying = Dies(2)
    with pytest.raises(Killed):
        await small.publish(changed, small.indexer(dying(small.trees), dying(small.index)))
    assert await small.index.count() == 7

    class CommitsLater:
        """The record is written when the pages were looked at once."""

        def __getattr__(self, name: str) -> Any:
            return getattr(small.index, name)

        async def pages(self, *args: Any) -> AsyncIterator[tuple[str, str]]:
            await small.publish(changed)
            async for pair in small.index.pages(*args):
                yield pair

    index = Counted(CommitsLater())
    assert await small.reconciler(index=index, repair=True).run() == {"docs": IN_STEP}
    assert index.writes == []


async def test_a_record_that_lists_a_chunk_in_the_moment_it_is_swept_gets_it_back(small: Column) -> None:
    changed: Pages = {A: str(PAGES[A]).replace("Grease the seal.", "Oil the seal.")}
    dying = Dies(2)
    with pytest.raises(Killed):
        await small.publish(changed, small.indexer(dying(small.trees), dying(small.index)))

    async def commit() -> None:
        await small.publish(changed)

    index = Counted(small.index, {"delete": commit})
    report = await small.reconciler(index=index, repair=True).run()
    assert (report["docs"].orphans, report["docs"].missing, report["docs"].filled) == (1, 1, 1)
    await mend(small)
    stored = await small.trees.get(A)
    assert stored is not None
    assert set(await small.index.ids_of(A)) == set(stored.record.chunk_ids)


async def test_a_record_that_changes_while_it_is_compared_is_no_difference(small: Column) -> None:
    async def change() -> None:
        await small.publish({url: str(page).replace("water", "oil") for url, page in PAGES.items()})

    index = Counted(small.index, {"ids_of": change})
    assert await small.reconciler(index=index, repair=True).run() == {"docs": IN_STEP}
    assert index.writes == []


async def test_of_two_records_that_list_the_same_chunks_the_one_written_last_has_them(small: Column) -> None:
    """As a crash in the middle of a move leaves them."""
    stored = await small.trees.get(A)
    assert stored is not None
    assert stored.record.page is not None
    moved = replace(stored.record, key=A + "x", page=replace(stored.record.page, key=A + "x"))
    await small.trees.put(moved, None)
    await mend(small)
    assert await small.index.ids_of(A) == {}
    assert len(await small.index.ids_of(A + "x")) == 3


# --- random damage


kinds = st.sampled_from(["delete", "site", "version", "page", "unknown page", "text", "orphan", "unknown"])
damages = st.lists(st.tuples(kinds, st.integers(0, 5)), max_size=8)


async def small_column() -> tuple[Column, HeldChunks, SqliteTreeStore]:
    held, trees = HeldChunks(), SqliteTreeStore(Path(":memory:"))
    await trees.__aenter__()
    index: Any = held
    return Column(trees, index), held, trees


async def damage(column: Column, held: HeldChunks, kind: str, which: int) -> None:
    if kind in ("orphan", "unknown"):
        page = list(PAGES)[which % 3] if kind == "orphan" else f"{A}?{which}"
        await put_chunks(column, stray(f"stray {which}", page))
        return
    ids = sorted(held.held)
    if not ids:
        return
    chunk, vector = held.held[ids[which % len(ids)]]
    if kind == "delete":
        del held.held[chunk.id]
        return
    changed = {
        "site": replace(chunk, site="other"),
        "version": replace(chunk, version="9"),
        "page": replace(chunk, page_key=B),
        "unknown page": replace(chunk, page_key="https://docs.example.test/never"),
        "text": replace(chunk, text="Another text."),
    }[kind]
    vector = column.embedder._vector(changed.embedded) if kind == "text" else vector
    held.held[chunk.id] = (changed, vector)


@given(damages, st.booleans())
@settings(max_examples=60)
async def test_any_damage_is_found_and_mended_to_an_index_made_from_scratch(
    done: list[tuple[str, int]], lose: bool
) -> None:
    column, held, trees = await small_column()
    try:
        await column.publish(PAGES)
        scratch = dict(held.held)
        if lose:
            held.held.clear()
        for kind, which in done:
            await damage(column, held, kind, which)
        differs = held.held != scratch
        known = {chunk.input_hash for chunk, _ in held.held.values()}
        column.embedder.embedded.clear()
        looked = await column.reconciler().run()
        assert all(found.in_step for found in looked.values()) is not differs
        report = await mend(column)
        assert held.held == scratch
        assert all(found.in_step for found in report.values())
        lost = {chunk.embedded for chunk, _ in scratch.values() if chunk.input_hash not in known}
        assert sorted(column.embedder.embedded) == sorted(lost)
    finally:
        await trees.__aexit__()


@given(damages, st.integers(1, 6))
@settings(max_examples=30)
async def test_a_run_that_was_killed_is_made_good_by_the_next(done: list[tuple[str, int]], write: int) -> None:
    column, held, trees = await small_column()
    try:
        await column.publish(PAGES)
        scratch = dict(held.held)
        for kind, which in done:
            await damage(column, held, kind, which)
        dying = Dies(write)
        with suppress(Killed):
            await column.reconciler(index=dying(column.index), repair=True).run()
        await mend(column)
        assert held.held == scratch
    finally:
        await trees.__aexit__()
