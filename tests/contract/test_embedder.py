"""What every Embedder does (ingest.ports.Embedder)."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence

import pytest

from ingest.ports import Embedder, Vector

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = [
    "Restart the server with the restart command.",
    "Bananas and apples are sweet fruit.",
    "The cluster autoscaler adds worker nodes under load.",
]


def cosine(one: Vector, other: Vector) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other))


def nearest(vector: Vector, among: Sequence[Vector]) -> int:
    return max(range(len(among)), key=lambda number: cosine(vector, among[number]))


def words(embedder: Embedder, tokens: int) -> str:
    """A text that takes exactly so many tokens."""
    text = "a " * tokens
    assert embedder.count(text) == tokens
    return text


async def test_an_embedder_says_what_it_is(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.dimensions > 1
    assert embedder.window > 16


async def test_each_text_gets_a_vector_of_the_dimensions_in_order(embedder: Embedder) -> None:
    vectors = await embedder.embed([*TEXTS, TEXTS[0]])
    assert [len(vector) for vector in vectors] == [embedder.dimensions] * 4
    assert cosine(vectors[0], vectors[3]) == pytest.approx(1, abs=1e-4)
    for text, vector in zip(TEXTS, vectors, strict=False):
        (alone,) = await embedder.embed([text])
        assert cosine(alone, vector) == pytest.approx(1, abs=1e-4)


async def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert list(await embedder.embed([])) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "x",
        "日本語の文書",
        "🦊\u200d🦊 e\u0301",
        "\x00\ufffd",
        "--flag=ORA-00942",
        "long " * 50_000,
        "w" * 50_000,
    ],
    ids=lambda text: repr(text[:12]),
)
async def test_any_text_gets_a_direction(embedder: Embedder, text: str) -> None:
    (vector,) = await embedder.embed([text])
    for values in (vector, await embedder.embed_query(text)):
        assert len(values) == embedder.dimensions
        assert all(map(math.isfinite, values))
        assert math.hypot(*values) > 0


async def test_a_question_is_nearest_to_the_text_that_answers_it(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert nearest(await embedder.embed_query("how to restart the server"), vectors) == 0
    assert nearest(await embedder.embed_query("are apples sweet"), vectors) == 1
    assert nearest(await embedder.embed_query("when does the autoscaler add nodes"), vectors) == 2


async def test_equal_texts_get_equal_vectors(embedder: Embedder) -> None:
    assert list((await embedder.embed(TEXTS[:1]))[0]) == list((await embedder.embed(TEXTS[:1]))[0])
    assert list(await embedder.embed_query("same")) == list(await embedder.embed_query("same"))


async def test_callers_at_once_each_get_their_own(embedder: Embedder) -> None:
    alone = await embedder.embed(TEXTS)
    together = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS * 3))
    for number, (vector,) in enumerate(together):
        assert cosine(vector, alone[number % 3]) == pytest.approx(1, abs=1e-4)


async def test_the_window_is_read_to_its_last_token_and_no_further(embedder: Embedder) -> None:
    window = words(embedder, embedder.window)
    cut, one, other = await embedder.embed([window, window + "banana", window + "server"])
    assert list(cut) == pytest.approx(list(one), abs=1e-4)
    assert list(cut) == pytest.approx(list(other), abs=1e-4)
    almost = words(embedder, embedder.window - 1)
    one, other = await embedder.embed([almost + "banana", almost + "server"])
    assert list(one) != pytest.approx(list(other), abs=1e-4)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), (" \n ", 0), ("a", 1), ("a a a", 3), ("a, a.", 4)])
async def test_count_is_of_tokens_without_special_ones(embedder: Embedder, text: str, tokens: int) -> None:
    assert embedder.count(text) == tokens


async def test_count_goes_beyond_the_window_and_is_the_same_before_and_after_embedding(embedder: Embedder) -> None:
    text = "a " * (3 * embedder.window)
    before = embedder.count(text)
    await embedder.embed([text])
    assert embedder.count(text) == before == 3 * embedder.window


async def test_count_is_quick(embedder: Embedder) -> None:
    text = "Some words of an ordinary sentence, again and again. " * 2000
    started = time.process_time()
    assert embedder.count(text) > 2000
    assert time.process_time() - started < 3
