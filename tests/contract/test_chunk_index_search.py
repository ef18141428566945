"""How every ChunkIndex searches (ingest.ports.ChunkIndex): by meaning, by words, within a scope."""

from __future__ import annotations

import random

import pytest

from ingest.model import Scope
from ingest.ports import ChunkIndex
from tests.contract.bm25 import bm25
from tests.contract.chunks import DIMENSIONS, EAST, UP, chunk, direction, found, with_terms
from tests.contract.conftest import OpenIndex

pytestmark = pytest.mark.asyncio(loop_scope="module")


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


async def test_words_are_ranked_by_bm25(open_index: OpenIndex) -> None:
    chance = random.Random(3)
    weights = [1 / n for n in range(1, 9)]
    documents = [" ".join(chance.choices("abcdefgh", weights, k=chance.randint(1, 35))) for _ in range(200)]
    async with open_index() as index:
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


async def test_terms_are_counted_in_the_chunks_that_hold_them(index: ChunkIndex) -> None:
    first, *_ = await with_terms(index, "a b a", "a ORA-00942 --flag", f"a {'x' * 300} язык", "b")
    asked = ["a", "b", "ORA-00942", "--flag", "x" * 300, "язык", "A", "ora", "none", "a"]
    assert await index.occurrences(asked) == dict(zip(asked, [3, 2, 1, 1, 1, 1, 0, 0, 0, 3], strict=True))
    assert await index.occurrences([]) == {}
    await index.delete([first])
    assert await index.occurrences(["a", "b"]) == {"a": 2, "b": 1}


async def test_a_thousand_terms_are_counted_at_once(index: ChunkIndex) -> None:
    await with_terms(index, "t1 t1500", "t1")
    counts = await index.occurrences(f"t{n}" for n in range(1600))
    assert len(counts) == 1600
    assert {term: count for term, count in counts.items() if count} == {"t1": 2, "t1500": 1}


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
        assert await index.occurrences(["a"], scope) == {"a": len(hits)}
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
