"""Which nodes make the forest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.retrieval.node_selection import best, boost_by_page, cover_ancestors, without_tail

TREE: dict[str, str | None] = {
    "root": None, "a": "root", "a1": "a", "a2": "a", "b": "root", "b1": "b", "other": None, "o1": "other",
}  # fmt: skip
PAGE = dict.fromkeys(TREE, "p") | {"other": "q", "o1": "q"}

scorings = st.dictionaries(st.sampled_from(sorted(TREE)), st.floats(0.01, 1))


def ancestors(node: str) -> set[str]:
    parent = TREE[node]
    return set() if parent is None else {parent, *ancestors(parent)}


def lowest(nodes: set[str]) -> set[str]:
    return nodes - {above for node in nodes for above in ancestors(node)}


def test_ties_go_by_node_id() -> None:
    assert list(best({"b": 1.0, "a": 1.0, "c": 2.0}, 2)) == ["c", "a"]


def test_a_page_of_which_more_was_found_speaks_for_its_sections() -> None:
    scores = {"o1": 0.5, "a": 0.5, "b": 0.5}
    assert list(best(boost_by_page(scores, PAGE, 0.15), 3)) == ["a", "b", "o1"]
    assert boost_by_page(scores, PAGE, 0.15) == pytest.approx({"a": 1.15, "b": 1.15, "o1": 1 + 0.15 / 2})


def test_no_more_than_three_sections_speak_for_a_page() -> None:
    four = boost_by_page({"a": 1.0, "a1": 1.0, "b": 1.0, "o1": 1.0}, PAGE, 0.3)
    five = boost_by_page({"a": 1.0, "a1": 1.0, "a2": 1.0, "b": 1.0, "o1": 1.0}, PAGE, 0.3)
    assert four["o1"] == five["o1"]


def test_a_page_alone_never_lifts_a_section_above_one_twice_as_good() -> None:
    scores = {"o1": 1.0, "a": 0.5, "b": 0.5, "a1": 0.5}
    assert max(boost_by_page(scores, PAGE, 0.15).items(), key=lambda pair: pair[1])[0] == "o1"


def test_a_found_ancestor_takes_no_place() -> None:
    assert list(cover_ancestors({"a1": 3, "a": 2.5, "root": 2.2, "b": 2, "o1": 1}, TREE, 2)) == ["a1", "a", "root", "b"]


def test_a_section_gives_its_place_back_when_one_below_it_is_found_later() -> None:
    assert list(cover_ancestors({"a": 3, "b": 2, "a1": 1}, TREE, 2)) == ["a", "b", "a1"]
    assert list(cover_ancestors({"a": 3, "b": 2, "a1": 1, "a2": 0.5}, TREE, 2)) == ["a", "b", "a1"]


def test_nothing_found_makes_nothing() -> None:
    assert boost_by_page({}, {}, 0.15) == {}
    assert cover_ancestors({}, {}, 50) == {}


@given(scorings, st.integers(1, 5))
def test_covering_takes_the_longest_run_of_best_nodes_that_n_nodes_bring_along(
    scores: dict[str, float], n: int
) -> None:
    ranked = list(best(scores, len(scores)))
    found = list(cover_ancestors(scores, TREE, n))
    assert found == ranked[: len(found)]
    assert len(lowest(set(found))) <= n
    assert len(found) >= min(n, len(ranked))
    if len(found) < len(ranked):
        assert len(lowest({*found, ranked[len(found)]})) > n


@given(scorings, st.floats(0, 1))
def test_a_better_section_of_the_same_page_stays_better(scores: dict[str, float], share: float) -> None:
    lifted = boost_by_page(scores, PAGE, share)
    assert lifted.keys() == scores.keys()
    for one in scores:
        for other in scores:
            if PAGE[one] == PAGE[other] and scores[one] > scores[other]:
                assert lifted[one] >= lifted[other]


def test_where_scores_fall_off_what_no_search_backs_is_left_out() -> None:
    scores = {"a": 1.0, "b": 0.6, "c": 0.3, "d": 0.2}
    assert without_tail(scores, {"a", "c", "d"}, 0.25) == {"a": 1.0, "c": 0.3}
    assert without_tail(scores, set(scores), 0.0) == scores
    assert without_tail({}, set(), 0.25) == {}


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 2)), st.floats(0, 1))
def test_the_best_stays_and_so_does_the_order(scores: dict[str, float], share: float) -> None:
    order = sorted(scores, key=lambda node: -scores[node])
    kept = without_tail({node: scores[node] for node in order}, set(scores), share)
    assert [*kept] == order[: len(kept)]
    assert bool(kept) is bool(scores)
