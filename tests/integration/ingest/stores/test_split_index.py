"""Two stores as one ChunkIndex: a failure between them, and how near it comes to the embedded one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from ingest.errors import StoreUnavailable
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.model import Chunk, PageEvent, Site
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from tests.contract.chunks import DIMENSIONS, EAST, chunk, found
from tests.fakes.between import Between, answer
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.site import START, PagesFetcher, ParseHere, TickingClock, html
from tests.servers.opensearch import OpenSearch as Node
from tests.servers.qdrant import own_name

PUMPS = "https://docs.example.test/pumps.html"


@pytest.fixture
def between(opensearch: Node) -> Iterator[Between]:
    with Between(opensearch.url) as between:
        yield between


@pytest.fixture
async def words(between: Between) -> AsyncIterator[OpenSearchWords]:
    """A refusal is an error at once."""
    async with OpenSearch(between.url, patience=0.0) as server, OpenSearchWords(server, own_name()) as words:
        yield words


@pytest.fixture
async def vectors(qdrant: str) -> AsyncIterator[QdrantVectors]:
    async with QdrantVectors(qdrant, DIMENSIONS, own_name()) as vectors:
        yield vectors


@pytest.fixture
async def index(vectors: QdrantVectors, words: OpenSearchWords) -> AsyncIterator[SplitChunkIndex]:
    async with SplitChunkIndex(vectors, words) as index:
        yield index


# --- a failure between the two


async def test_a_chunk_that_only_one_store_has_is_there_to_be_written_again_or_swept(
    index: SplitChunkIndex, between: Between
) -> None:
    one = chunk("one", "alpha")
    between.next("_bulk", answer(503))
    with pytest.raises(StoreUnavailable, match="503"):
        await index.upsert([one], [EAST])
    assert await index.ids_of("page") == {one.id: ""}
    assert set(await index.vectors([one.input_hash])) == {one.input_hash}
    await index.upsert([one], [EAST])
    assert await index.ids_of("page") == {one.id: one.input_hash}
    assert await found(index, "alpha") == [one.id]


async def test_what_a_deletion_left_in_one_store_is_swept_by_doing_it_again(
    index: SplitChunkIndex, vectors: QdrantVectors, words: OpenSearchWords
) -> None:
    gone, stays = chunk("gone", "alpha"), chunk("stays", "alpha")
    for half in (words, vectors):
        await index.upsert([gone, stays], [EAST, EAST])
        await half.delete([gone.id])
        assert await index.ids_of("page") == {gone.id: "", stays.id: stays.input_hash}
        await index.delete(await index.ids_of("page"))
        assert await index.ids_of("page") == {}
        assert await index.count() == 0


async def test_a_write_is_carried_to_its_end_though_its_caller_gives_up(index: SplitChunkIndex) -> None:
    one = chunk("one", "alpha")
    writing = asyncio.create_task(index.upsert([one], [EAST]))
    await asyncio.sleep(0)
    writing.cancel()
    await index.delete([chunk("another").id, one.id])
    assert await index.ids_of("page") == {}
    with pytest.raises(asyncio.CancelledError):
        await writing


async def test_a_page_whose_event_failed_between_the_stores_is_whole_after_the_next_try(
    vectors_of_64: QdrantVectors, words: OpenSearchWords, between: Between, tmp_path: Path
) -> None:
    page = html("Pumps", "<p>Pumps move water.</p><h2 id='seal'>Seals</h2><p>Grease the seal.</p>")
    embedder = HashingEmbedder()
    async with SplitChunkIndex(vectors_of_64, words) as index, SqliteTreeStore(tmp_path / "trees.sqlite") as trees:
        site = Site("docs", "https://docs.example.test/")
        indexer = Indexer(
            site,
            trees=trees,
            index=index,
            embedder=embedder,
            reader=PageReader(site, PagesFetcher({PUMPS: page}), ParseHere()),
            clock=TickingClock(),
            sizes=Sizes.fit(embedder.window, 60, 20),
        )
        event = PageEvent(PUMPS, "docs", 1, "changed", PUMPS, START)
        between.next("_bulk", answer(503))
        with pytest.raises(StoreUnavailable):
            await indexer.handle(event)
        assert await trees.get(PUMPS) is None
        assert set((await index.ids_of(PUMPS)).values()) == {""}
        outcome = await indexer.handle(event)
        stored = await trees.get(PUMPS)
        assert stored is not None
        assert (outcome.kind, outcome.embedded) == ("new", 0)
        held = await index.ids_of(PUMPS)
        assert set(held) == set(stored.record.chunk_ids)
        assert "" not in held.values()
        assert len(await found(index, "seal")) == 1


# --- beside the embedded index


VOCABULARY = [f"word{number}" for number in range(3000)]
WEIGHTS = [1 / (number + 10) for number in range(3000)]
WIDTH = 64


@pytest.fixture
async def vectors_of_64(qdrant: str) -> AsyncIterator[QdrantVectors]:
    async with QdrantVectors(qdrant, WIDTH, own_name()) as vectors:
        yield vectors


def corpus(chance: random.Random) -> tuple[list[Chunk], list[list[float]]]:
    """2,000 chunks of 10 to 200 words, common and rare, in 200 pages."""
    texts = (" ".join(chance.choices(VOCABULARY, WEIGHTS, k=chance.randint(10, 200))) for _ in range(2000))
    chunks = [chunk(number, text, page=f"p{number % 200}") for number, text in enumerate(texts)]
    return chunks, [[chance.gauss(0, 1) for _ in range(WIDTH)] for _ in chunks]


async def test_both_columns_find_the_same_by_meaning_and_nearly_the_same_by_words(
    vectors_of_64: QdrantVectors, words: OpenSearchWords, tmp_path: Path
) -> None:
    chance = random.Random(11)
    chunks, places = corpus(chance)
    async with (
        SplitChunkIndex(vectors_of_64, words) as split,
        EdgeChunkIndex(tmp_path / "chunks", WIDTH) as embedded,
    ):
        for index in (split, embedded):
            await index.upsert(chunks, places)
            # What was replaced or deleted still counts in Lucene's statistics for a while.
            await index.upsert(chunks[:100], places[:100])
            await index.delete([chunk.id for chunk in chunks[1950:]])
        for _ in range(20):
            place = [chance.gauss(0, 1) for _ in range(WIDTH)]
            theirs, ours = await embedded.dense(place, 200), await split.dense(place, 200)
            assert [hit.chunk_id for hit in ours] == [hit.chunk_id for hit in theirs]
            assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-5)
        for _ in range(40):
            question = chance.choices(VOCABULARY, WEIGHTS, k=chance.randint(2, 8))
            best = [{hit.chunk_id for hit in await index.words(question, 50)} for index in (embedded, split)]
            assert len(best[0] & best[1]) >= 0.9 * len(best[0])
