"""Vectors of chunks that were just removed (ingest/indexing/vector_cache.py)."""

from ingest.indexing.projection import VectorCache


def test_what_was_kept_is_there_and_nothing_else() -> None:
    spare = VectorCache()
    spare.keep({"a": [1.0], "b": [2.0]})
    assert spare.among(["b", "c"]) == {"b": [2.0]}


def test_only_the_last_ones_are_kept() -> None:
    spare = VectorCache(most=2)
    for name in "abc":
        spare.keep({name: [1.0]})
    assert set(spare.among("abc")) == {"b", "c"}
