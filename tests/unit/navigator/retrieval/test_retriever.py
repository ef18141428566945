"""Fusion and node scores."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ingest.ports import Hit
from navigator.retrieval.retriever import RECIPES, Chunks, Recipe, below_text, best_nodes, chosen, fuse
from tests.unit.navigator.retrieval.test_forest import API, GUIDE

FOUND_ON = {"guide": GUIDE, "api": API}


def hits(*pairs: tuple[str, str]) -> list[Hit]:
    return [Hit(chunk, node, "page", 1.0) for chunk, node in pairs]


def test_fusion_adds_reciprocal_ranks_with_kappa_60() -> None:
    fused = fuse([hits(("a", "n"), ("b", "n")), hits(("b", "n"), ("c", "m"))], 60)
    assert [(h.chunk_id, h.score) for h in fused] == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]


def test_a_node_scores_as_its_best_chunk() -> None:
    scored = [Hit("a", "n", "p", 0.2), Hit("b", "m", "p", 0.5), Hit("c", "n", "p", 0.7)]
    assert best_nodes(scored, 50) == {"n": 0.7, "m": 0.5}


def test_the_plain_recipe_is_the_papers() -> None:
    plain = Recipe(n=50, chunks_per_node=4, kappa=60, page_share=0.0, cover=False, links_share=1.0, tail=0.0)
    assert RECIPES["plain"] == plain
    found = Chunks((Hit("1", "g2", "guide", 0.4), Hit("2", "g", "guide", 0.3), Hit("3", "a1", "api", 0.2)), FOUND_ON)
    assert chosen(found, replace(RECIPES["plain"], n=2)) == {"g2": 0.4, "g": 0.3}


def test_our_recipe_gives_no_place_to_an_ancestor_and_lets_a_page_speak() -> None:
    found = Chunks((Hit("1", "a1", "api", 0.4), Hit("2", "g2", "guide", 0.39), Hit("3", "g", "guide", 0.3)), FOUND_ON)
    assert list(chosen(found, replace(Recipe(), n=2))) == ["g2", "a1", "g"]
    assert list(chosen(found, replace(Recipe(), n=1))) == ["g2"]
    assert list(chosen(found, replace(Recipe(), n=2, page_share=0.0))) == ["a1", "g2", "g"]
    assert chosen(Chunks((), {}), Recipe()) == {}


def test_links_alone_stand_below_text_with_a_share_of_their_score() -> None:
    index = replace(GUIDE, headings=tuple(replace(h, links_only=h.id == "g2") for h in GUIDE.headings))
    found = Chunks(
        (Hit("1", "g2", "guide", 0.4), Hit("2", "g", "guide", 0.3), Hit("3", "a1", "api", 0.1)),
        {"guide": index, "api": API},
    )
    assert [(hit.node_id, hit.score) for hit in below_text(found, 0.5)] == [("g", 0.3), ("g2", 0.2), ("a1", 0.1)]
    assert below_text(found, 1.0) == found.hits


def test_our_recipe_leaves_out_the_tail_that_nothing_backs_and_the_papers_does_not() -> None:
    hits = (Hit("1", "a1", "api", 0.4), Hit("2", "g2", "guide", 0.3), Hit("3", "g4", "guide", 0.3))
    found = Chunks(hits, FOUND_ON, frozenset({"a1", "g2"}))
    assert set(chosen(found, Recipe())) == {"a1", "g2"}
    assert set(chosen(found, RECIPES["plain"])) == {"a1", "g2", "g4"}


def test_k_follows_n() -> None:
    assert Recipe().k == 200
    assert Recipe(n=10).k == 40


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=3))
def test_fusion_holds_every_chunk_once_and_is_sorted(lists: list[list[str]]) -> None:
    fused = fuse([hits(*((c, c) for c in ranked)) for ranked in lists], 60)
    assert {h.chunk_id for h in fused} == {c for ranked in lists for c in ranked}
    assert len({h.chunk_id for h in fused}) == len(fused)
    assert [h.score for h in fused] == sorted((h.score for h in fused), reverse=True)
