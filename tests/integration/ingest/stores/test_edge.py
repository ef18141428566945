"""The Qdrant Edge shard as a store: exact BM25 through deletes and reopening, group commit, killed writers."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from ingest.errors import FolderBusy, StoreUnavailable
from ingest.model import Chunk, Scope
from ingest.stores.embedded.chunks import EdgeChunkIndex
from tests.contract.bm25 import bm25

ROOT = Path(__file__).resolve().parents[4]
EAST = [1.0, 0.0]

WRITER = """
import asyncio, sys
from pathlib import Path
from ingest.stores.embedded.chunks import EdgeChunkIndex
from tests.integration.ingest.stores.test_edge import EAST, chunk

async def main():
    first = int(sys.argv[2])
    async with EdgeChunkIndex(Path(sys.argv[1]), 2) as index:
        for number in range(first, first + 1000):
            chunks = [chunk(f"{number}-{i}", f"n{number}", page=f"p{number}") for i in range(20)]
            await asyncio.gather(index.upsert(chunks, [EAST] * 20), index.delete([chunks[0].id]))
            print(number, flush=True)

asyncio.run(main())
"""


def chunk(name: str, terms: str = "", page: str = "page", version: str = "") -> Chunk:
    return Chunk(str(uuid5(NAMESPACE_URL, name)), f"node of {name}", page, "docs", version, "", name, terms)


def damage(folder: Path) -> None:
    for state in folder.glob("segments/*/segment.json"):
        state.write_text("garbage")


def blocks(folder: Path) -> int:
    """What the shard's data take on the disk, in blocks."""
    return sum(file.stat().st_blocks for file in (folder / "segments").rglob("*"))


def killed_writer(folder: Path, first: int) -> list[int]:
    """Let another process write pages from `first` on, kill it, and give the numbers it was told are written."""
    command = [sys.executable, "-c", WRITER, str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(8)]
        writer.kill()
        return told + [int(line) for line in writer.stdout if line.endswith("\n")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "chunks" / "model"


@pytest.fixture
async def index(folder: Path) -> AsyncIterator[EdgeChunkIndex]:
    async with EdgeChunkIndex(folder, 2) as index:
        yield index


async def test_bm25_is_exact_through_overwriting_deleting_reopening_and_vacuum(folder: Path) -> None:
    chance = random.Random(11)
    alive: dict[str, Chunk] = {}

    async def check(index: EdgeChunkIndex) -> None:
        held = [chunk for chunk in alive.values() if chunk.terms]
        for query in ({"a"}, {"p", "none"}, set("abcdefghijklmnop")):
            expected = {
                held[number].id: pytest.approx(score, rel=1e-4)
                for number, score in bm25([chunk.terms for chunk in held], query).items()
            }
            assert {hit.chunk_id: hit.score for hit in await index.words(sorted(query), 10_000)} == expected
            scoped = await index.words(sorted(query), 10_000, Scope(versions=frozenset({"1"})))
            inside = {chunk.id for chunk in held if chunk.version == "1"}
            assert {hit.chunk_id: hit.score for hit in scoped} == {i: s for i, s in expected.items() if i in inside}

    for written_before in (False, True):
        async with EdgeChunkIndex(folder, 2) as index:
            if written_before:
                await check(index)
            names = [str(chance.randrange(3000)) for _ in range(1600)]
            written = [
                chunk(name, " ".join(chance.choices("abcdefghijklmnop", k=chance.randint(0, 40))), version=name[0])
                for name in dict.fromkeys(names)
            ]
            await index.upsert(written, [EAST] * len(written))
            alive |= {chunk.id: chunk for chunk in written}
            gone = set(chance.sample(sorted(alive), 500))
            await index.delete(gone)
            alive = {i: chunk for i, chunk in alive.items() if i not in gone}
            await check(index)


async def test_opening_gives_back_the_room_of_deleted_chunks(folder: Path) -> None:
    chunks = [chunk(str(number), f"t{number} " + "word " * 50) for number in range(4000)]
    async with EdgeChunkIndex(folder, 2) as index:
        await index.upsert(chunks, [EAST] * 4000)
        await index.delete([chunk.id for chunk in chunks[100:]])
    before = blocks(folder)
    async with EdgeChunkIndex(folder, 2) as index:
        assert await index.count() == 100
        assert [hit.chunk_id for hit in await index.words(["t7"], 9)] == [chunks[7].id]
    assert blocks(folder) < before / 2


async def test_a_second_opener_is_refused_and_harms_nothing(folder: Path, index: EdgeChunkIndex) -> None:
    await index.upsert([chunk("one", "a")], [EAST])
    for _ in range(2):
        with pytest.raises(FolderBusy, match="open in another process"):
            async with EdgeChunkIndex(folder, 2):
                pass
    assert len(await index.words(["a"], 9)) == 1


async def test_searches_find_their_turn_while_thousands_of_chunks_are_written(index: EdgeChunkIndex) -> None:
    chunks = [chunk(str(number), "a") for number in range(5000)]
    writing = asyncio.create_task(index.upsert(chunks, [EAST] * 5000))
    await asyncio.sleep(0.01)
    await index.dense(EAST, 5)
    assert await index.count() < 5000
    assert not writing.done()
    await writing
    assert await index.count() == 5000


async def test_a_write_that_fails_fails_alone(index: EdgeChunkIndex) -> None:
    bad = Chunk("no uuid", "n", "p", "docs", "", "", "", "")
    results = await asyncio.gather(
        index.upsert([chunk("one", "a")], [EAST]),
        index.upsert([bad], [EAST]),
        index.upsert([chunk("two", "a")], [EAST]),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), StoreUnavailable, type(None)]
    assert len(await index.words(["a"], 9)) == 2


async def test_a_caller_who_gives_up_takes_nobody_along(index: EdgeChunkIndex) -> None:
    writes = [asyncio.create_task(index.upsert([chunk(str(n), f"t{n}")], [EAST])) for n in range(9)]
    await asyncio.sleep(0)
    for write in writes[::2]:
        write.cancel()
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [n % 2 == 0 for n in range(9)]
    assert all([await index.words([f"t{n}"], 1) for n in range(1, 9, 2)])
    await index.upsert([chunk("later", "later")], [EAST])


async def test_closing_waits_for_what_is_being_written(folder: Path) -> None:
    async with EdgeChunkIndex(folder, 2) as index:
        writes = [asyncio.create_task(index.upsert([chunk(str(n), "a")], [EAST])) for n in range(9)]
        await asyncio.sleep(0)
    await asyncio.gather(*writes)
    async with EdgeChunkIndex(folder, 2) as index:
        assert await index.count() == 9


async def test_an_index_that_is_not_open_says_so(folder: Path) -> None:
    index = EdgeChunkIndex(folder, 2)
    with pytest.raises(StoreUnavailable, match="is not open"):
        await index.count()
    async with index:
        pass
    with pytest.raises(StoreUnavailable, match="is not open"):
        await index.upsert([chunk("one")], [EAST])


async def test_a_shard_whose_making_was_cut_short_is_made_anew(folder: Path) -> None:
    unfinished = folder.with_name("model.new")
    (unfinished / "segments").mkdir(parents=True)
    (unfinished / "segments" / "half").write_text("")
    async with EdgeChunkIndex(folder, 2) as index:
        assert await index.count() == 0
    assert not unfinished.exists()


async def test_a_damaged_shard_says_what_to_do_and_is_not_touched(folder: Path) -> None:
    async with EdgeChunkIndex(folder, 2) as index:
        await index.upsert([chunk("one", "a")], [EAST])
    damage(folder)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="move that folder away and run `ritbot reconcile --repair`"):
            async with EdgeChunkIndex(folder, 2):
                pass


async def test_a_folder_of_other_dimensions_is_refused(folder: Path) -> None:
    async with EdgeChunkIndex(folder, 2):
        pass
    with pytest.raises(StoreUnavailable, match="expected vector size 3, but got 2"):
        async with EdgeChunkIndex(folder, 3):
            pass


async def test_all_that_a_killed_process_was_told_is_written_is_there(folder: Path) -> None:
    told: list[int] = []
    for _ in range(2):
        told += killed_writer(folder, first=told[-1] + 2 if told else 0)
        async with EdgeChunkIndex(folder, 2) as index:
            for number in told:
                ids = {chunk(f"{number}-{i}").id for i in range(1, 20)}
                assert set(await index.ids_of(f"p{number}")) == ids
                assert {hit.chunk_id for hit in await index.words([f"n{number}"], 100)} == ids
            assert await index.count() - 19 * len(told) <= 40
            assert len(await index.dense(EAST, 100_000)) == await index.count()
