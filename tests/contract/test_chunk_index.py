"""What every ChunkIndex does with chunks (ingest.ports.ChunkIndex); its searches have a suite of their own."""

from __future__ import annotations

import asyncio

import pytest

from ingest.errors import IndexMismatch
from ingest.model import Scope
from ingest.ports import ChunkIndex
from tests.contract.chunks import EAST, NORTH, chunk, direction, found
from tests.contract.conftest import OpenIndex

pytestmark = pytest.mark.asyncio(loop_scope="module")


# --- upsert and delete


async def test_an_empty_index_holds_nothing(index: ChunkIndex) -> None:
    assert await index.count() == 0
    assert list(await index.dense(EAST, 5)) == []
    assert list(await index.words(["a"], 5)) == []
    assert await index.ids_of("page") == {}
    assert await index.vectors(["0" * 64]) == {}


async def test_upserting_or_deleting_nothing_is_no_error(index: ChunkIndex) -> None:
    await index.upsert([], [])
    await index.delete([])
    assert await index.count() == 0


async def test_a_chunk_is_found_by_all_ways_as_soon_as_it_is_upserted(index: ChunkIndex) -> None:
    one = chunk("one", "alpha beta", page="https://docs/ü?a=1", version="1.2")
    await index.upsert([one], [EAST])
    for (hit,) in (await index.dense(EAST, 5), await index.words(["beta"], 5)):
        assert (hit.chunk_id, hit.node_id, hit.page_key) == (one.id, "node of one", "https://docs/ü?a=1")
    assert await index.ids_of("https://docs/ü?a=1") == {one.id: one.input_hash}
    assert set(await index.vectors([one.input_hash])) == {one.input_hash}
    assert await index.count() == 1


async def test_upserting_an_id_again_replaces_all_of_the_chunk(index: ChunkIndex) -> None:
    await index.upsert([chunk("one", "old", page="before", text="old text")], [EAST])
    new = chunk("one", "new", page="after", site="other", text="new text")
    await index.upsert([new], [NORTH])
    assert await index.count() == 1
    assert await found(index, "old") == []
    assert await found(index, "new", scope=Scope(sites=frozenset({"other"}))) == [new.id]
    assert await index.ids_of("before") == {}
    assert await index.ids_of("after") == {new.id: new.input_hash}
    assert await index.vectors([chunk("one", text="old text").input_hash]) == {}
    assert direction((await index.vectors([new.input_hash]))[new.input_hash]) == pytest.approx(NORTH)


async def test_a_deleted_chunk_is_found_by_no_way(index: ChunkIndex) -> None:
    gone, stays = chunk("gone", "a"), chunk("stays", "a")
    await index.upsert([gone, stays], [EAST, EAST])
    await index.delete([gone.id, gone.id])
    assert [hit.chunk_id for hit in await index.dense(EAST, 5)] == [stays.id]
    assert await found(index, "a") == [stays.id]
    assert set(await index.ids_of("page")) == {stays.id}
    assert set(await index.vectors([gone.input_hash, stays.input_hash])) == {stays.input_hash}
    assert await index.count() == 1


async def test_deleting_unknown_ids_is_no_error(index: ChunkIndex) -> None:
    one = chunk("one")
    await index.upsert([one], [EAST])
    await index.delete([chunk("never there").id])
    await index.delete(iter([chunk("nor this").id, one.id]))
    assert await index.count() == 0


async def test_five_thousand_chunks_go_in_and_out_at_once(index: ChunkIndex) -> None:
    chunks = [chunk(i, f"common t{i}", page=f"p{i % 2}") for i in range(5000)]
    await index.upsert(chunks, [EAST] * 5000)
    assert await index.count() == 5000
    assert await found(index, "t4999") == [chunks[-1].id]
    assert len(await index.ids_of("p1")) == 2500
    assert len(await index.vectors(chunk.input_hash for chunk in chunks)) == 5000
    assert len(await index.words(["common"], 10_000)) == len(await index.dense(EAST, 10_000)) == 5000
    await index.delete(chunk.id for chunk in chunks)
    assert await index.count() == 0


async def test_as_many_vectors_as_chunks_or_nothing_is_written(index: ChunkIndex) -> None:
    with pytest.raises(ValueError, match="argument"):
        await index.upsert([chunk(1), chunk(2)], [EAST])
    assert await index.count() == 0


async def test_vectors_of_another_size_are_refused_whole(index: ChunkIndex) -> None:
    with pytest.raises(IndexMismatch, match="4 numbers, this one has 3"):
        await index.upsert([chunk(1), chunk(2)], [EAST, (1.0, 0.0, 0.0)])
    with pytest.raises(IndexMismatch, match="4 numbers, this one has 5"):
        await index.dense([1.0] * 5, 5)
    assert await index.count() == 0


async def test_what_was_written_is_there_after_closing_and_opening(open_index: OpenIndex) -> None:
    kept, gone = chunk("kept", "a b"), chunk("gone", "a")
    async with open_index() as index:
        await index.upsert([kept, gone], [EAST, NORTH])
        await index.delete([gone.id])
    async with open_index() as index:
        assert [hit.chunk_id for hit in await index.dense(NORTH, 5)] == [kept.id]
        assert await found(index, "a") == [kept.id]
        assert await index.ids_of("page") == {kept.id: kept.input_hash}


async def test_many_writers_and_readers_at_once_lose_nothing(index: ChunkIndex) -> None:
    async def page(number: int) -> None:
        chunks = [chunk(f"{number}-{i}", f"all n{number}", page=f"p{number}") for i in range(7)]
        await index.upsert(chunks, [EAST] * 7)
        assert set(await found(index, f"n{number}")) == {chunk.id for chunk in chunks}
        await index.delete([chunk.id for chunk in chunks[:2]])
        assert set(await index.ids_of(f"p{number}")) == {chunk.id for chunk in chunks[2:]}

    await asyncio.gather(*(page(number) for number in range(40)))
    assert await index.count() == 40 * 5


async def test_writes_of_one_chunk_take_effect_in_the_order_of_the_calls(index: ChunkIndex) -> None:
    one = chunk("one", "a")
    await asyncio.gather(index.upsert([one], [EAST]), index.delete([one.id]))
    assert await index.count() == 0
    await asyncio.gather(
        index.upsert([one], [EAST]), index.delete([one.id]), index.upsert([chunk("one", "last")], [NORTH])
    )
    assert await found(index, "last") == [one.id]


# --- what the index holds


async def test_ids_of_are_a_pages_chunks_and_no_others(index: ChunkIndex) -> None:
    chunks = [chunk("p1-a", page="p1"), chunk("p1-b", page="p1"), chunk("p10", page="p10")]
    await index.upsert(chunks, [EAST] * 3)
    assert await index.ids_of("p1") == {chunk.id: chunk.input_hash for chunk in chunks[:2]}
    assert await index.ids_of("p") == {}


async def test_an_inputs_vector_is_known_while_any_chunk_has_it(index: ChunkIndex) -> None:
    one, two = chunk("one", text="same"), chunk("two", text="same", page="other", site="s2")
    vector = (3.0, 4.0, 0.0, 0.0)
    await index.upsert([one, two], [vector, vector])
    for gone in (None, one.id):
        await index.delete([gone] if gone else [])
        known = await index.vectors([one.input_hash, "0" * 64, one.input_hash])
        assert set(known) == {one.input_hash}
        assert direction(known[one.input_hash]) == pytest.approx([0.6, 0.8, 0.0, 0.0])
    await index.delete([two.id])
    assert await index.vectors([one.input_hash]) == {}
    assert await index.vectors([]) == {}


async def test_a_vector_that_was_given_back_can_be_put_again(index: ChunkIndex) -> None:
    one, two = chunk("one", text="same"), chunk("two", text="same")
    await index.upsert([one], [(1.0, 2.0, 3.0, 4.0)])
    await index.upsert([two], [(await index.vectors([one.input_hash]))[one.input_hash]])
    hits = await index.dense((1.0, 2.0, 3.0, 4.0), 2)
    assert {hit.chunk_id for hit in hits} == {one.id, two.id}
    assert hits[0].score == pytest.approx(hits[1].score, abs=1e-6)


async def test_ids_of_in_a_scope_are_those_whose_site_and_version_are_in_it(index: ChunkIndex) -> None:
    right, site, version = chunk("a", version="2"), chunk("b", site="other", version="2"), chunk("c", version="1")
    await index.upsert([right, site, version], [EAST] * 3)
    scope = Scope(frozenset({"docs"}), frozenset({"2"}))
    assert await index.ids_of("page", scope) == {right.id: right.input_hash}
    assert set(await index.ids_of("page", Scope(versions=frozenset({"2"})))) == {right.id, site.id}
    assert len(await index.ids_of("page")) == 3


async def test_pages_are_all_of_which_a_chunk_is_held_each_once_with_its_site(index: ChunkIndex) -> None:
    assert [pair async for pair in index.pages()] == []
    chunks = [chunk(i, page=f"https://docs/ü?p={i % 1203}") for i in range(2500)]
    chunks += [chunk("moved", page="https://docs/ü?p=0", site="other"), chunk("else", page="q", site="other")]
    await index.upsert(chunks, [EAST] * len(chunks))
    pairs = [pair async for pair in index.pages()]
    assert len(pairs) == len(set(pairs)) == 1205
    assert set(pairs) == {(chunk.page_key, chunk.site) for chunk in chunks}
    others = [pair async for pair in index.pages(Scope(frozenset({"other"})))]
    assert sorted(others) == [("https://docs/ü?p=0", "other"), ("q", "other")]
    await index.delete([chunks[-1].id])
    assert [pair async for pair in index.pages(Scope(frozenset({"other"})))] == [("https://docs/ü?p=0", "other")]


async def test_pages_may_be_written_while_they_are_listed(index: ChunkIndex) -> None:
    chunks = [chunk(i, page=f"p{i}") for i in range(1500)]
    await index.upsert(chunks, [EAST] * len(chunks))
    seen = set()
    async for key, _ in index.pages():
        seen.add(key)
        if len(seen) == 10:
            await index.upsert([chunk("new", page="new")], [EAST])
            await index.delete([chunk.id for chunk in chunks if chunk.page_key in seen])
    assert seen >= {chunk.page_key for chunk in chunks}
