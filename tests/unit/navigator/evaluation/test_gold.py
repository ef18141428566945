"""What is gold, and P and R of what was read (navigator/evaluation/gold.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.evaluation.gold import (
    Library,
    PrecisionRecall,
    Resolved,
    aggregated,
    in_forest,
    on_page,
    reading,
    resolve,
)
from navigator.evaluation.questions import EvalQuestion, Gold
from tests.unit.navigator.evaluation.made import INSTALL, PAGES, SITE, USE, index, node, outline

ALL = [heading.id for page in PAGES.values() for heading in page.headings]


def found(*gold: Gold) -> Resolved:
    return resolve(EvalQuestion("q", "?", gold=gold), PAGES)


def test_an_alias_of_a_section_finds_it_where_no_section_has_that_anchor_of_its_own() -> None:
    aliases = {USE.key: {"older": node("use#second"), "first": node("use#second")}}
    library = Library(PAGES, aliases)

    def nodes(anchor: str) -> frozenset[str]:
        return library.resolve(EvalQuestion("q", "?", gold=(Gold(USE.key, anchor),))).nodes

    assert [nodes("older"), nodes("first"), nodes("none")] == [{node("use#second")}, {node("use#first")}, frozenset()]
    asked = [EvalQuestion("q", "?", gold=(Gold(USE.key, "older"), Gold(INSTALL.key, "apt"), Gold("no.html", "x")))]
    assert Library(PAGES).without_section(asked) == {USE.key}


def test_a_page_is_all_its_nodes() -> None:
    assert found(Gold(INSTALL.key)).nodes == {heading.id for heading in INSTALL.headings}


@pytest.mark.parametrize("gold", [Gold(INSTALL.key, "linux"), Gold(node=node("install#linux"))])
def test_a_section_is_itself_and_everything_below_it(gold: Gold) -> None:
    below = ("linux", "apt", "ppa", "pip")
    assert found(gold).nodes == {node(f"install#{anchor}") for anchor in below}


def test_the_own_node_of_a_page_has_the_whole_page_below_it() -> None:
    headings = (USE.headings[0], *(replace(heading, parent=None) for heading in USE.headings[1:]))
    for page in (USE, replace(USE, headings=headings)):
        own = EvalQuestion("q", "?", gold=(Gold(node=node("use#")),))
        assert resolve(own, index(page)).nodes == {heading.id for heading in USE.headings}


@pytest.mark.parametrize(
    "name",
    [
        "https://docs.test/guide/install.html",
        "HTTPS://docs.test:443/guide/./install.html?utm_source=x",
        "http://docs.test/guide/install",
        "guide/install.html",
        "/guide/install.html",
        "./install.html",
        "install",
    ],
)
def test_a_page_is_found_by_its_url_or_by_the_end_of_it(name: str) -> None:
    assert found(Gold(name)).items[0].page == INSTALL.key


def test_a_page_is_found_by_the_url_that_it_calls_canonical() -> None:
    page = outline("https://mirror.test/a", canonical="https://docs.test/canonical")
    assert resolve(EvalQuestion("q", "?", gold=(Gold("https://docs.test/canonical"),)), index(page)).complete


def test_an_exact_name_wins_over_a_loose_one() -> None:
    pages = index(outline("guide/a"), outline("guide/a.html"))
    for name in ("guide/a", "guide/a.html"):
        for given_as in (name, f"{SITE}/{name}"):
            gold = resolve(EvalQuestion("q", "?", gold=(Gold(given_as),)), pages)
            assert gold.items[0].page == f"{SITE}/{name}"


def test_a_path_that_ends_several_pages_is_told_not_guessed() -> None:
    pages = index(outline("v1/install.html"), outline("v2/install.html"))
    gold = resolve(EvalQuestion("q", "?", gold=(Gold("install.html"),)), pages)
    assert not gold.complete
    assert gold.missing == (
        "install.html may be https://docs.test/v1/install.html or https://docs.test/v2/install.html: "
        "give its whole URL",
    )


@pytest.mark.parametrize("path", ["stall.html", "other/install.html", "guide/other/install.html"])
def test_a_path_is_the_end_of_a_url_from_a_slash_on(path: str) -> None:
    assert found(Gold(path)).missing == (f"the index has no page {path}",)


@pytest.mark.parametrize(
    ("gold", "told", "page"),
    [
        (Gold("guide/none.html"), "the index has no page guide/none.html", None),
        (Gold("https://docs.test/none"), "the index has no page https://docs.test/none", None),
        (Gold("guide/use.html", "third"), "guide/use.html has no section #third", USE.key),
        (Gold(node="lost"), "no live page has the node lost", None),
        (Gold("::: no name"), "the index has no page ::: no name", None),
    ],
)
def test_gold_that_the_index_does_not_have_is_told(gold: Gold, told: str, page: str | None) -> None:
    resolved = found(gold, Gold(INSTALL.key))
    assert resolved.missing == (told,)
    assert not resolved.complete
    assert [item.page for item in resolved.items if item.gold == gold] == [page]


def test_no_gold_is_not_complete() -> None:
    assert not found().complete


def test_p_is_of_what_was_read_and_r_of_the_gold_items() -> None:
    gold = found(Gold(INSTALL.key, "linux"), Gold(USE.key, "first"))
    read = [node("install#apt"), node("install#pip"), node("install#windows"), node("use#second")]
    assert reading(read, gold) == PrecisionRecall(0.5, 0.5)


def test_a_node_read_twice_is_one_node() -> None:
    gold = found(Gold(INSTALL.key, "apt"))
    assert reading([node("install#apt")] * 3 + [node("use#first")], gold) == PrecisionRecall(0.5, 1.0)


def test_nothing_read_is_zero_of_both() -> None:
    assert reading([], found(Gold(USE.key))) == PrecisionRecall(0.0, 0.0)
    assert PrecisionRecall(0.0, 0.0).f1 == 0.0


def test_f1_is_made_from_the_means() -> None:
    """Not the mean of each question's F1, which is 0.5 here."""
    whole = aggregated([PrecisionRecall(1.0, 1.0), PrecisionRecall(0.5, 0.0)])
    assert whole == PrecisionRecall(0.75, 0.5)
    assert whole.f1 == pytest.approx(0.6)
    assert aggregated([]) is None


@given(
    st.sets(st.sampled_from(ALL)),
    st.lists(st.sampled_from(ALL).map(lambda name: Gold(node=name)), min_size=1, max_size=4),
)
def test_p_and_r_are_shares_and_reading_all_gold_finds_all_of_it(read: set[str], gold: list[Gold]) -> None:
    resolved = found(*gold)
    each = reading(read, resolved)
    assert 0 <= each.precision <= 1
    assert 0 <= each.recall <= 1
    assert (each.precision > 0) == (each.recall > 0) == bool(read & resolved.nodes)
    assert reading(resolved.nodes, resolved) == PrecisionRecall(1.0, 1.0)


def test_forest_at_n_counts_a_gold_section_that_is_above_one_of_the_best_nodes() -> None:
    gold = found(Gold(INSTALL.key, "linux"))
    ranked = [node("use#first"), node("install#windows"), node("install#apt")]
    assert [in_forest(ranked, n, gold) for n in (1, 2, 3, 50)] == [0.0, 0.0, 1.0, 1.0]
    assert in_forest([node("install#linux")], 1, found(Gold(INSTALL.key, "apt"))) == 0.0


def test_forest_at_n_of_several_sections_is_the_share_of_them() -> None:
    gold = found(Gold(INSTALL.key, "apt"), Gold(USE.key, "first"))
    assert in_forest([node("use#first")], 1, gold) == 0.5


def test_forest_at_n_needs_a_section_that_is_there() -> None:
    assert in_forest([], 1, found(Gold(INSTALL.key))) is None
    assert in_forest([], 1, found(Gold(USE.key, "lost"))) is None
    assert in_forest([], 1, found()) is None


def test_page_at_n_counts_gold_pages_that_hold_one_of_the_best_nodes() -> None:
    gold = found(Gold(INSTALL.key, "apt"), Gold(USE.key))
    ranked = [node("install#windows"), node("use#second")]
    assert [on_page(ranked, n, gold, PAGES) for n in (0, 1, 2)] == [0.0, 0.5, 1.0]


def test_page_at_n_needs_the_pages_but_not_the_sections() -> None:
    assert on_page([node("use#")], 1, found(Gold(USE.key, "lost")), PAGES) == 1.0
    assert on_page([], 1, found(Gold("lost.html"), Gold(USE.key)), PAGES) is None
    assert on_page([], 1, found(), PAGES) is None


def test_a_large_library_answers_quickly() -> None:
    pages = index(*(outline(f"part{i % 50}/page{i}.html", ("a", None)) for i in range(5000)))
    library = Library(pages)
    asked = [EvalQuestion(str(i), "?", gold=(Gold(f"page{i}.html", "a"),)) for i in range(5000)]
    assert all(library.resolve(question).complete for question in asked)
