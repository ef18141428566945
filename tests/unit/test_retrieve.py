"""Fusion and node scores."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.ports import Hit
from navigator.retrieve import Recipe, best_nodes, fuse


def hits(*pairs: tuple[str, str]) -> list[Hit]:
    return [Hit(chunk, node, "page", 1.0) for chunk, node in pairs]


def test_fusion_adds_reciprocal_ranks_with_kappa_60() -> None:
    fused = fuse([hits(("a", "n"), ("b", "n")), hits(("b", "n"), ("c", "m"))], 60)
    assert [(h.chunk_id, h.score) for h in fused] == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]


def test_a_node_scores_as_its_best_chunk() -> None:
    scored = [Hit("a", "n", "p", 0.2), Hit("b", "m", "p", 0.5), Hit("c", "n", "p", 0.7)]
    assert best_nodes(scored, 50) == {"n": 0.7, "m": 0.5}


def test_k_follows_n() -> None:
    assert Recipe().k == 200
    assert Recipe(n=10).k == 40


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=3))
def test_fusion_holds_every_chunk_once_and_is_sorted(lists: list[list[str]]) -> None:
    fused = fuse([hits(*((c, c) for c in ranked)) for ranked in lists], 60)
    assert {h.chunk_id for h in fused} == {c for ranked in lists for c in ranked}
    assert len({h.chunk_id for h in fused}) == len(fused)
    assert [h.score for h in fused] == sorted((h.score for h in fused), reverse=True)
