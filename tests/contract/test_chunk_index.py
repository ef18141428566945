"""What every ChunkIndex does (ingest.ports.ChunkIndex). An adapter joins by its line in ADAPTERS."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
import pytest_asyncio

from ingest.errors import IndexMismatch
from ingest.model import Chunk, Scope
from ingest.ports import ChunkIndex, Vector
from ingest.stores.edge import EdgeChunkIndex
from tests.contract.bm25 import bm25

DIMENSIONS = 4
Opener = Callable[[], AbstractAsyncContextManager[ChunkIndex]]


def edge(folder: Path) -> AbstractAsyncContextManager[ChunkIndex]:
    return EdgeChunkIndex(folder / "chunks", DIMENSIONS)


ADAPTERS = [pytest.param(edge, id="edge")]
"""From an empty folder of the test's own to an index of DIMENSIONS; the same folder gives the same index again."""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(params=ADAPTERS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """An index of the test's own, to be opened by the test."""
    return partial(request.param, tmp_path)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ADAPTERS)
async def shared_index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ChunkIndex]:
    async with request.param(tmp_path_factory.mktemp("index")) as index:
        yield index


@pytest_asyncio.fixture(loop_scope="module")
async def index(shared_index: ChunkIndex) -> AsyncIterator[ChunkIndex]:
    """An open and empty index: one for all tests, since making one takes most of a second on a busy disk."""
    yield shared_index
    await shared_index.delete([hit.chunk_id for hit in await shared_index.dense(EAST, 100_000)])
    assert await shared_index.count() == 0


EVERYWHERE = Scope()
EAST, NORTH, UP = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)


def chunk(
    name: object, terms: str = "", *, page: str = "page", site: str = "docs", version: str = "", text: str = ""
) -> Chunk:
    """A chunk whose id and node are made from its name; its text is its name too, if no other is given."""
    identity = str(uuid5(NAMESPACE_URL, str(name)))
    return Chunk(identity, f"node of {name}", page, site, version, "Path > Title", text or str(name), terms)


async def with_terms(index: ChunkIndex, *terms: str, **fields: str) -> list[str]:
    """Put one chunk for each; their ids."""
    chunks = [chunk(number, text, **fields) for number, text in enumerate(terms)]
    await index.upsert(chunks, [EAST] * len(chunks))
    return [chunk.id for chunk in chunks]


async def found(index: ChunkIndex, *terms: str, k: int = 100, scope: Scope = EVERYWHERE) -> list[str]:
    return [hit.chunk_id for hit in await index.words(terms, k, scope)]


def direction(vector: Vector) -> list[float]:
    length = math.hypot(*vector)
    return [value / length for value in vector]


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


async def test_what_was_written_is_there_after_closing_and_opening(opened: Opener) -> None:
    kept, gone = chunk("kept", "a b"), chunk("gone", "a")
    async with opened() as index:
        await index.upsert([kept, gone], [EAST, NORTH])
        await index.delete([gone.id])
    async with opened() as index:
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


# --- dense


async def test_dense_gives_exactly_the_nearest_by_cosine_best_first(index: ChunkIndex) -> None:
    chance = random.Random(7)
    vectors = [[chance.gauss(0, 1) * 10 ** (i % 3) for _ in range(DIMENSIONS)] for i in range(400)]
    chunks = [chunk(i) for i in range(400)]
    await index.upsert(chunks, vectors)
    query = [chance.gauss(0, 1) * 5 for _ in range(DIMENSIONS)]

    def cosine(i: int) -> float:
        return sum(a * b for a, b in zip(direction(query), direction(vectors[i]), strict=True))

    nearest = sorted(range(400), key=cosine, reverse=True)
    hits = await index.dense(query, 30)
    assert [hit.chunk_id for hit in hits] == [chunks[i].id for i in nearest[:30]]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(await index.dense(query, 1000)) == 400


@pytest.mark.parametrize("k", [0, 1, 2, 3])
async def test_no_more_than_k_hits_are_given(index: ChunkIndex, k: int) -> None:
    await with_terms(index, "a", "a b", "a b c")
    assert len(await index.dense(EAST, k)) == k
    assert len(await index.words(["a"], k)) == k


async def test_equal_lists_come_from_equal_questions(index: ChunkIndex) -> None:
    ids = await with_terms(index, *["same words"] * 50)
    assert await index.words(["same"], 50) == await index.words(["same"], 50)
    hits = await index.dense(EAST, 50)
    assert hits == await index.dense(EAST, 50)
    assert {hit.chunk_id for hit in hits} == set(ids)


# --- words


async def test_words_are_ranked_by_bm25(opened: Opener) -> None:
    chance = random.Random(3)
    weights = [1 / n for n in range(1, 9)]
    documents = [" ".join(chance.choices("abcdefgh", weights, k=chance.randint(1, 35))) for _ in range(200)]
    async with opened() as index:
        ids = await with_terms(index, *documents)
        for query in (["a"], ["h"], ["a", "h"], ["h", "g", "f", "none"], list("abcdefgh")):
            scores = bm25(documents, set(query))
            best = max(scores.values())
            hits = await index.words(query, 1000)
            assert {hit.chunk_id: hit.score / hits[0].score for hit in hits} == {
                ids[number]: pytest.approx(score / best, rel=1e-4) for number, score in scores.items()
            }
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_one_of_the_terms_is_enough_and_more_of_them_are_better(index: ChunkIndex) -> None:
    first, second, both, _ = await with_terms(index, "a x", "b x", "a b", "c x")
    assert set(await found(index, "a", "b", "unknown")) == {first, second, both}
    assert (await found(index, "a", "b"))[0] == both


async def test_a_term_asked_for_twice_counts_once(index: ChunkIndex) -> None:
    await with_terms(index, "a x y", "b b", "a", "b z")
    assert await index.words(["a", "b", "a", "a"], 10) == await index.words(["a", "b"], 10)


@pytest.mark.parametrize("terms", [[], [""], ["unknown"], ["%", "*", '"', "AND", "a:b", "("]])
async def test_terms_that_stand_nowhere_find_nothing(index: ChunkIndex, terms: list[str]) -> None:
    await with_terms(index, "a", "", "b")
    assert list(await index.words(terms, 10)) == []


TERMS = [
    "--flag", "-flag", "flag", "Flag", "ORA-00942", "00942", "a.b.c", "a.b", "c++", "c", "c#", ".net", "net", "$HOME",
    "@decorator", "/etc/hosts", "etc", "x=1", "x", "a_b", "_", "a:b", "a*b", "a?", '"q"', "(p)", "\\d+", "~", "!", "^a", "AND",
    "OR", "NOT", "the", "and", "running", "run", "café", "cafe", "cafe\u0301", "straße", "strasse", "İ", "i", "ﬁ", "fi",
    "日本", "本語", "日", "한국", "ไทย", "😀", "👨\u200d👩", "zero\u200bwidth", "width", "<b>", "&amp;", "null", "true", "0", "1e9",
    "w" * 255, "w" * 256, "w" * 5000,
]  # fmt: skip


async def test_terms_are_what_stands_between_white_space_and_nothing_else(index: ChunkIndex) -> None:
    ids = await with_terms(index, *TERMS)
    for term, chunk_id in zip(TERMS, ids, strict=True):
        assert await found(index, term) == [chunk_id]


async def test_all_white_space_between_terms_is_alike(index: ChunkIndex) -> None:
    (one,) = await with_terms(index, "a\tb\nc  d\r\ne")
    for term in "abcde":
        assert await found(index, term) == [one]


async def test_thousands_of_terms_may_be_asked_for(index: ChunkIndex) -> None:
    _, one = await with_terms(index, "other", "needle")
    assert await found(index, *(f"t{i}" for i in range(3000)), "needle") == [one]


# --- scopes


async def test_a_scope_limits_every_search_to_its_sites_and_versions(index: ChunkIndex) -> None:
    places = [("docs", "1"), ("docs", "2"), ("docs", ""), ("api", "1"), ("Ünï côde", "v/2 beta")]
    chunks = [chunk(place, "a", site=place[0], version=place[1]) for place in places]
    await index.upsert(chunks, [EAST] * len(chunks))

    async def inside(sites: set[str] | None, versions: set[str] | None) -> set[tuple[str, str]]:
        scope = Scope(*(None if among is None else frozenset(among) for among in (sites, versions)))
        hits = {hit.chunk_id for hit in await index.dense(EAST, 10, scope)}
        assert set(await found(index, "a", scope=scope)) == hits
        assert await index.count(scope) == len(hits)
        return {place for place, chunk in zip(places, chunks, strict=True) if chunk.id in hits}

    assert await inside(None, None) == set(places)
    assert await inside({"docs"}, None) == {("docs", "1"), ("docs", "2"), ("docs", "")}
    assert await inside(None, {"1"}) == {("docs", "1"), ("api", "1")}
    assert await inside({"docs", "api"}, {"1", "2"}) == {("docs", "1"), ("docs", "2"), ("api", "1")}
    assert await inside({"docs"}, {""}) == {("docs", "")}
    assert await inside({"Ünï côde"}, {"v/2 beta"}) == {("Ünï côde", "v/2 beta")}
    assert await inside({"doc"}, None) == await inside(None, {"v/2"}) == set()
    assert await inside(set(), None) == await inside(None, set()) == set()


async def test_the_best_inside_a_scope_are_found_however_many_are_better_outside(index: ChunkIndex) -> None:
    outside = [chunk(i, "a", site="big") for i in range(300)]
    inside = chunk("inside", "a b c d e f", site="small")
    await index.upsert([*outside, inside], [EAST] * 300 + [UP])
    small = Scope(sites=frozenset({"small"}))
    assert [hit.chunk_id for hit in await index.dense(EAST, 1, small)] == [inside.id]
    assert await found(index, "a", k=1, scope=small) == [inside.id]


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
