"""What only the vectors on a Qdrant server have: answers that are lost, a collection that takes over, a strict server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

import pytest
from qdrant_client import AsyncQdrantClient

from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.stores.cluster.vectors import QdrantVectors
from tests.contract.chunks import DIMENSIONS, EAST, NORTH, chunk
from tests.fakes.qdrant_server import Fault, QdrantServer
from tests.servers.java import free_ports


@pytest.fixture
def qdrant(tmp_path: Path) -> Iterator[QdrantServer]:
    with QdrantServer(tmp_path) as server:
        yield server


@pytest.fixture
async def vectors(qdrant: QdrantServer) -> AsyncIterator[QdrantVectors]:
    async with QdrantVectors(qdrant.url, DIMENSIONS, timeout=1, patience=5.0) as vectors:
        yield vectors


@pytest.fixture
async def client(qdrant: QdrantServer) -> AsyncIterator[AsyncQdrantClient]:
    client = AsyncQdrantClient(url=qdrant.url, check_compatibility=False)
    yield client
    await client.close()


CHUNKS = [chunk(number) for number in range(10)]


# --- a server that refuses, or whose answers are lost


@pytest.mark.parametrize(
    "fault",
    [
        Fault(delay=1.5),
        Fault(status=500, applies="half"),
        Fault(status=500, applies="all"),
        Fault(status=503),
        Fault(status=429),
        Fault(status=408),
    ],
    ids=["done-but-late", "half-done", "done-but-failed", "away", "busy", "out-of-time"],
)
async def test_a_write_that_got_no_good_answer_is_sent_again_and_done_once(
    vectors: QdrantVectors, qdrant: QdrantServer, fault: Fault
) -> None:
    qdrant.next("upsert", fault)
    await vectors.upsert(CHUNKS, [EAST] * 10)
    assert qdrant.requests.count("upsert") == 2
    assert await vectors.count() == 10
    assert set(await vectors.ids_of("page")) == {chunk.id for chunk in CHUNKS}
    qdrant.next("delete", fault)
    await vectors.delete([chunk.id for chunk in CHUNKS[:4]])
    assert await vectors.count() == 6


async def test_a_server_that_says_when_to_come_back_is_left_alone_so_long(
    vectors: QdrantVectors, qdrant: QdrantServer
) -> None:
    qdrant.next("count", Fault(status=429, retry_after=1))
    began = time.monotonic()
    assert await vectors.count() == 0
    assert time.monotonic() - began >= 1.0


async def test_a_server_that_goes_on_failing_is_an_error_that_says_why(qdrant: QdrantServer) -> None:
    async with QdrantVectors(qdrant.url, DIMENSIONS, patience=0.5) as vectors:
        qdrant.next("query", *[Fault(status=503)] * 20)
        with pytest.raises(StoreUnavailable, match="503"):
            await vectors.dense(EAST, 5)


async def test_a_server_that_is_not_there_is_an_error_that_names_it() -> None:
    (port,) = free_ports(1)
    with pytest.raises(StoreUnavailable, match=rf"127\.0\.0\.1:{port} gave no answer.*is it running"):
        async with QdrantVectors(f"http://127.0.0.1:{port}", DIMENSIONS, patience=0.3):
            pass


async def test_vectors_that_are_not_open_say_so() -> None:
    with pytest.raises(StoreUnavailable, match="not open"):
        await QdrantVectors("http://127.0.0.1:1", DIMENSIONS).count()


async def test_more_points_than_fit_a_request_are_sent_in_several(vectors: QdrantVectors, qdrant: QdrantServer) -> None:
    chunks = [chunk(number) for number in range(1100)]
    await vectors.upsert(chunks, [EAST] * 1100)
    assert qdrant.requests.count("upsert") == 5
    assert len(await vectors.ids_of("page")) == 1100


# --- collections and their alias


async def test_those_that_open_at_the_same_time_share_one_collection(qdrant: QdrantServer) -> None:
    async def upsert(number: int) -> None:
        async with QdrantVectors(qdrant.url, DIMENSIONS) as vectors:
            await vectors.upsert([CHUNKS[number]], [EAST])

    await asyncio.gather(*(upsert(number) for number in range(6)))
    async with QdrantVectors(qdrant.url, DIMENSIONS) as vectors:
        assert await vectors.count() == 6


async def test_an_opening_that_was_cut_short_is_finished_by_the_next(qdrant: QdrantServer) -> None:
    qdrant.next("index", Fault(), Fault(status=400))
    with pytest.raises(StoreUnavailable, match="400"):
        async with QdrantVectors(qdrant.url, DIMENSIONS):
            pass
    async with QdrantVectors(qdrant.url, DIMENSIONS) as vectors:
        await vectors.upsert(CHUNKS, [EAST] * 10)
        assert len(await vectors.ids_of("page")) == 10
        assert await vectors.vectors(["0" * 64]) == {}


async def test_a_collection_of_another_embedding_model_is_refused(vectors: QdrantVectors, qdrant: QdrantServer) -> None:
    with pytest.raises(IndexMismatch, match="4 numbers, this one has 7"):
        async with QdrantVectors(qdrant.url, 7):
            pass


async def test_a_new_collection_is_filled_beside_the_live_one_and_takes_over_at_once(
    vectors: QdrantVectors, qdrant: QdrantServer, client: AsyncQdrantClient
) -> None:
    await vectors.upsert(CHUNKS, [EAST] * 10)
    async with QdrantVectors(qdrant.url, DIMENSIONS, collection="ritbot-better", beside=True) as better:
        await better.upsert(CHUNKS[:3], [NORTH] * 3)
        assert (await better.is_live(), await vectors.is_live()) == (False, True)
        assert await vectors.count() == len(await vectors.dense(EAST, 20)) == 10
        await better.take_over()
        await better.take_over()
        assert (await better.is_live(), await vectors.is_live()) == (True, False)
        assert [hit.score for hit in await better.dense(NORTH, 20)] == pytest.approx([1.0] * 3)
        assert await better.before() == "ritbot-1"
        await better.drop("ritbot-1")
        await better.drop("ritbot-1")
        assert await better.before() is None
    assert [each.name for each in (await client.get_collections()).collections] == ["ritbot-better"]
    async with QdrantVectors(qdrant.url, DIMENSIONS, collection="ritbot-better") as better:
        assert await better.count() == 3


@pytest.mark.parametrize("dimensions", [DIMENSIONS, 7], ids=["same-size", "another-size"])
@pytest.mark.parametrize("dropped", [False, True], ids=["kept", "dropped"])
async def test_who_still_has_the_old_model_is_told_so_and_writes_nothing_wrong_once_another_took_over(
    vectors: QdrantVectors, qdrant: QdrantServer, dimensions: int, dropped: bool
) -> None:
    async with QdrantVectors(qdrant.url, dimensions, collection="ritbot-2", beside=True) as other:
        await other.take_over()
        if dropped:
            await other.drop("ritbot-1")
            with pytest.raises(IndexMismatch, match="another embedding model"):
                await vectors.upsert(CHUNKS, [EAST] * 10)
        else:
            await vectors.upsert(CHUNKS, [EAST] * 10)
        with pytest.raises(IndexMismatch, match="another embedding model"):
            await vectors.dense(EAST, 5)
        with pytest.raises(IndexMismatch, match="another embedding model"):
            await vectors.ids_of("page")
        assert await other.count() == 0
    with pytest.raises(IndexMismatch, match="another embedding model"):
        async with QdrantVectors(qdrant.url, DIMENSIONS):
            pass


async def test_a_return_to_the_collection_before_keeps_it(vectors: QdrantVectors, qdrant: QdrantServer) -> None:
    await vectors.upsert(CHUNKS, [EAST] * 10)
    async with QdrantVectors(qdrant.url, DIMENSIONS, collection="ritbot-2", beside=True) as other:
        await other.take_over()
    async with QdrantVectors(qdrant.url, DIMENSIONS, beside=True) as back:
        assert await back.before() is None
        await back.take_over()
        assert await back.before() == "ritbot-2"
        assert await back.count() == 10
    assert await vectors.count() == len(await vectors.dense(EAST, 20)) == 10


# --- a take-over that is stopped between its steps


@pytest.mark.parametrize("done", ["nothing", "half", "all"])
@pytest.mark.parametrize("step", range(6))
async def test_a_take_over_that_is_killed_at_any_step_is_finished_by_the_next(
    qdrant: QdrantServer, client: AsyncQdrantClient, step: int, done: Literal["nothing", "half", "all"]
) -> None:
    """Of three generations: what the middle one replaced was kept, and goes before the newest takes over. Whoever is
    stopped, questions are answered meanwhile, and afterwards one collection is left and every alias names it."""

    async def generation(number: int, *, keep: bool = False) -> None:
        async with QdrantVectors(qdrant.url, DIMENSIONS, collection=f"ritbot-{number}", beside=True) as vectors:
            await vectors.upsert(CHUNKS[:number], [EAST] * number)
            if not await vectors.is_live() and (before := await vectors.before()):
                await vectors.drop(before)
            await vectors.take_over()
            if not keep and (before := await vectors.before()):
                await vectors.drop(before)

    async with QdrantVectors(qdrant.url, DIMENSIONS, collection="ritbot-1") as first:
        await first.upsert(CHUNKS[:1], [EAST])
    await generation(2, keep=True)
    began = len(qdrant.requests)
    qdrant.die_after(step, "change_aliases", "drop", "upsert", applies=done)
    died = False
    try:
        await generation(3)
    except StoreUnavailable:
        died = True
    qdrant.live_on()
    assert died == (step < 4), qdrant.requests[began:]  # upsert, drop, change_aliases, drop
    live = {each.alias_name: each.collection_name for each in (await client.get_aliases()).aliases}["ritbot"]
    async with QdrantVectors(qdrant.url, DIMENSIONS, collection=live) as answering:
        assert len(await answering.dense(EAST, 20)) == int(live[-1])
    await generation(3)
    assert [each.name for each in (await client.get_collections()).collections] == ["ritbot-3"]
    assert {each.collection_name for each in (await client.get_aliases()).aliases} == {"ritbot-3"}
