"""Numbers of things, as a sentence says them."""

from __future__ import annotations

import pytest

from ingest.counted import counted, verb


@pytest.mark.parametrize(
    ("count", "words", "told"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (2, ("page",), "2 pages"),
        (1200, ("page",), "1,200 pages"),
        (1, ("address", "addresses"), "1 address"),
        (3, ("address", "addresses"), "3 addresses"),
    ],
)
def test_a_number_and_its_noun_agree(count: int, words: tuple[str, ...], told: str) -> None:
    assert counted(count, *words) == told


def test_so_does_the_verb() -> None:
    assert [verb(count, "is", "are") for count in (0, 1, 2)] == ["are", "is", "are"]
