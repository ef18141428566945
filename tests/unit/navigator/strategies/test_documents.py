"""Which document PageIndex opens, by numbers worked by hand, and what of its contents it shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.ports import Hit, Outline, OutlineHeading, SiteAncestor
from navigator.retrieval.forest import Forest, Numbering, induce
from navigator.retrieval.toc import OutlineForm, render_toc
from navigator.strategies.documents import best_document, doc_score, fewer_levels, fitting, subtree_of, whole
from tests.fakes.turns import READ_AT


def hit(page: str, score: float, chunk: str = "") -> Hit:
    return Hit(chunk or f"{page}-{score}", f"{page}-node", page, score)


def outline(key: str, *headings: tuple[str, int]) -> Outline:
    """Headings as (title, level), each under the nearest one above it of a higher level."""
    made: list[OutlineHeading] = [OutlineHeading(f"{key}/0", None, 0, key, None, "page", True)]
    for number, (title, level) in enumerate(headings, start=1):
        parent = next(other for other in reversed(made) if other.level < level)
        made.append(OutlineHeading(f"{key}/{number}", parent.id, level, title, None, "heading", True))
    return Outline(key, "docs", "", key, key, tuple(made), frozenset(), READ_AT)


def forest_of(*pages: Outline, scores: dict[str, float]) -> Forest:
    return induce("q", scores, pages, {}, Numbering())


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.8], 0.8 / 2**0.5),
        ([0.6, 0.6], 1.2 / 3**0.5),
        ([0.5, 0.5, 0.5], 0.75),
        ([0.9, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3], 1.0),
        ([], 0.0),
    ],
)
def test_the_score_of_a_document_is_the_sum_of_its_chunks_over_the_root_of_their_number_and_one(
    scores: list[float], expected: float
) -> None:
    assert doc_score(scores) == pytest.approx(expected)


def test_two_fair_chunks_outweigh_one_good_one_and_many_poor_ones_do_not() -> None:
    one = [hit("a", 0.8)]  # 0.566
    two = [hit("b", 0.6, "1"), hit("b", 0.6, "2")]  # 0.693
    many = [hit("c", 0.15, str(n)) for n in range(15)]  # 2.25 / 4 = 0.563
    by_page = {key: (key,) for key in "abc"}
    assert best_document([*one, *two, *many], by_page) == ("b",)
    assert best_document([*one, *many], by_page) == ("a",)


def test_chunks_of_all_pages_of_a_sub_tree_count_together() -> None:
    found = [hit("a", 0.8), hit("b", 0.6), hit("c", 0.6)]
    assert best_document(found, {"a": ("a",), "b": ("sub",), "c": ("sub",)}) == ("sub",)


def test_equal_documents_go_by_their_ids_and_no_hits_pick_none() -> None:
    assert best_document([hit("b", 0.5), hit("a", 0.5)], {"a": ("a",), "b": ("b",)}) == ("a",)
    assert best_document([], {}) is None


def test_pages_under_one_place_are_one_document_and_a_page_under_none_is_alone() -> None:
    guide, named = SiteAncestor("Guide", "https://d/guide"), SiteAncestor("Guide")
    assert subtree_of("p", "docs", "", [guide]) == subtree_of("q", "docs", "", [guide])
    different = [
        subtree_of("p", "docs", "", [guide]),
        subtree_of("p", "docs", "", [named]),
        subtree_of("p", "docs", "v2", [guide]),
        subtree_of("p", "other", "", [guide]),
        subtree_of("p", "docs", "", [guide, named]),
        subtree_of("p", "docs", "", []),
        subtree_of("q", "docs", "", []),
    ]
    assert len(set(different)) == len(different)


def test_every_section_is_shown_and_pages_that_were_not_found_stand_behind() -> None:
    first, second = outline("a", ("A1", 1)), outline("b", ("B1", 1))
    scores = whole([first, second], {"b/1": -0.1})
    assert scores == {"a/0": -0.1, "a/1": -0.1, "b/0": -0.1, "b/1": -0.1}
    shown = forest_of(first, second, scores=whole([first, second], {"b/1": 0.4}))
    assert [tree.page_key for tree in shown.trees] == ["b", "a"]
    assert render_toc(shown) == "1: b\n 2: B1\n3: a\n 4: A1"


def test_levels_go_from_below_and_what_was_found_stays() -> None:
    page = outline("a", ("A", 1), ("A1", 2), ("A1a", 3), ("B", 1), ("B1", 2))
    shown = [sorted(scores) for scores in fewer_levels(page, {"a/3": 0.5})]
    assert shown == [["a/0", "a/1", "a/3", "a/4"], ["a/0", "a/3"], ["a/3"]]
    narrow = list(fewer_levels(page, {"a/3": 0.5}))[-1]
    assert render_toc(forest_of(page, scores=narrow)) == "1: a\n 2: A\n  3: A1\n   4: A1a"


@pytest.mark.parametrize("form", ["outline", "json"])
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 400))
def test_as_many_of_the_best_pages_are_shown_as_fit(form: OutlineForm, sizes: list[int], limit: int) -> None:
    pages = [outline(f"page{n}", *[("Section", 1)] * size) for n, size in enumerate(sizes)]
    found = {f"page{n}/0": 1.0 - n / 10 for n in range(len(pages))}
    forest = forest_of(*pages, scores=whole(pages, found))
    kept = fitting(forest, form, limit)
    assert kept.trees == forest.trees[: len(kept.trees)]
    assert len(kept.trees) == 1 or len(render_toc(kept, form)) <= limit
    if len(kept.trees) < len(forest.trees):
        more = Forest("q", forest.trees[: len(kept.trees) + 1])
        assert len(render_toc(more, form)) > limit
