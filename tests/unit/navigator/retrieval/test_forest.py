"""The forest: n best nodes, their ancestors, one tree a page (RIT-RAG section 4)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.ports import Outline, OutlineHeading, SiteAncestor
from navigator.retrieval.forest import Described, Forest, Numbering, below, induce
from navigator.retrieval.toc import render_toc

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def page(key: str, *headings: tuple[str, str | None, str, bool]) -> Outline:
    return Outline(
        key,
        "docs",
        "",
        headings[0][2],
        f"https://d.test/{key}",
        tuple(
            OutlineHeading(i, parent, 1, title, None, "heading", readable) for i, parent, title, readable in headings
        ),
        frozenset(),
        NOW,
    )


GUIDE = page(
    "guide",
    ("g", None, "Guide", True),
    ("g1", "g", "Install", False),
    ("g2", "g1", "Linux", True),
    ("g3", "g1", "Windows", True),
    ("g4", "g", "Upgrade", True),
)
API = page("api", ("a", None, "API", False), ("a1", "a", "open()", True))


def test_a_scored_node_comes_with_all_its_ancestors_and_nothing_else() -> None:
    forest = induce("q", {"g2": 0.5}, [GUIDE], {}, Numbering())
    assert [node.node_id for _, node, _ in forest.walk()] == ["g", "g1", "g2"]


def test_only_readable_nodes_carry_a_number_and_only_hits_a_score() -> None:
    forest = induce("q", {"g2": 0.5}, [GUIDE], {}, Numbering())
    assert [(n.node_id, n.number, n.score) for _, n, _ in forest.walk()] == [
        ("g", 1, None),
        ("g1", None, None),
        ("g2", 2, 0.5),
    ]


def test_pages_come_best_first_and_sections_in_document_order() -> None:
    forest = induce("q", {"g4": 0.2, "g2": 0.1, "a1": 0.9}, [GUIDE, API], {}, Numbering())
    assert [tree.page_key for tree in forest.trees] == ["api", "guide"]
    assert [n.node_id for t, n, _ in forest.walk() if t.page_key == "guide"] == ["g", "g1", "g2", "g4"]


def test_a_number_is_given_once_and_never_reused() -> None:
    numbering = Numbering()
    first = induce("q", {"g2": 0.5}, [GUIDE], {}, numbering)
    second = induce("r", {"a1": 0.5, "g2": 0.4}, [GUIDE, API], {}, numbering)
    numbers = {n.node_id: n.number for f in (first, second) for _, n, _ in f.walk() if n.number}
    assert numbers == {"g": 1, "g2": 2, "a1": 3}
    assert numbering.node(3) == "a1"
    assert numbering.node(99) is None


def test_the_outline_shows_numbers_groups_and_the_place_in_the_site() -> None:
    places = {"guide": (SiteAncestor("Home"), SiteAncestor("Manuals"))}
    forest = induce("q", {"g2": 0.9, "a1": 0.5}, [GUIDE, API], places, Numbering())
    assert render_toc(forest) == "# Home › Manuals\n1: Guide\n - Install\n  2: Linux\n#\n- API\n 3: open()"


def test_the_json_form_has_the_papers_fields() -> None:
    forest = induce("q", {"a1": 0.5}, [API], {"api": (SiteAncestor("Home"),)}, Numbering())
    assert render_toc(forest, "json") == (
        '[{"id": null, "title": "Home", "is_readable": false, "metadata": {}, "nodes": ['
        '{"id": null, "title": "API", "is_readable": false, "metadata": {}, "nodes": ['
        '{"id": 1, "title": "open()", "is_readable": true, "metadata": {}, "nodes": []}]}]}]'
    )


def test_the_outline_says_what_it_does_not_show_and_under_which_number() -> None:
    about = {"g2": Described(120), "g": Described(8, "All of it", ("tool",))}
    forest = induce("q", {"g2": 0.9, "a1": 0.5}, [GUIDE, API], {}, Numbering(), about, counts_hidden=True)
    assert render_toc(forest) == (
        "1: Guide [8w] (All of it; tool) +1 more\n - 2: Install +1 more\n  3: Linux [120w]\n- API\n 4: open()"
    )
    assert render_toc(forest, "titles") == "1: Guide (All of it; tool)\n - Install\n  3: Linux\n- API\n 4: open()"
    assert '"id": null, "title": "Install", "is_readable": false' in render_toc(forest, "json")


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ((), ("Home", "Tune"), "# Home › Tune"),
        (("Home", "Tune"), ("Home", "Serve", "Guides"), "# … › Serve › Guides"),
        (("Home", "Tune", "Guides"), ("Home", "Tune"), "# … › Tune"),
        (("Home",), ("Home", "Tune"), "# … › Tune"),
        (("Home", "Tune"), ("Other",), "# Other"),
        (("Home", "Tune"), ("Home",), "# Home"),
    ],
)
def test_what_pages_one_after_the_other_have_in_common_is_said_once(
    before: tuple[str, ...], now: tuple[str, ...], said: str
) -> None:
    places = {"guide": tuple(map(SiteAncestor, before)), "api": tuple(map(SiteAncestor, now))}
    forest = induce("q", {"g2": 0.9, "a1": 0.5}, [GUIDE, API], places, Numbering())
    assert said in render_toc(forest).split("\n")
    assert f"# {' › '.join(now)}" in render_toc(forest, "titles").split("\n")


@given(st.sets(st.sampled_from(["g", "g1", "g2", "g3", "g4"]), min_size=1))
def test_what_is_shown_and_what_is_said_to_be_hidden_is_the_whole_page(hits: set[str]) -> None:
    forest = induce("q", dict.fromkeys(hits, 1.0), [GUIDE], {}, Numbering(), counts_hidden=True)
    nodes = [node for _, node, _ in forest.walk()]
    assert len(nodes) + sum(node.hidden for node in nodes) == len(GUIDE.headings)
    assert all(node.number is not None for node in nodes if node.readable or node.hidden)


def test_below_a_node_stands_the_upper_level_first_as_much_as_fits() -> None:
    assert below(GUIDE, "g", 9) == ["g1", "g2", "g3", "g4"]
    assert below(GUIDE, "g", 2) == ["g1", "g4"]
    assert below(GUIDE, "g", 3) == ["g1", "g2", "g4"]
    assert below(GUIDE, "g1", 9) == ["g2", "g3"]
    assert below(GUIDE, "g2", 9) == []


def test_an_empty_forest_renders_as_nothing() -> None:
    assert render_toc(Forest("q", ())) == ""
    assert render_toc(Forest("q", ()), "json") == "[]"


@given(st.sets(st.sampled_from(["g", "g1", "g2", "g3", "g4", "a", "a1"]), min_size=1))
def test_the_forest_is_closed_under_parents_and_holds_every_hit(hits: set[str]) -> None:
    scores = {node: 1.0 / (1 + position) for position, node in enumerate(sorted(hits))}
    pages = [p for p in (GUIDE, API) if any(h.id in hits for h in p.headings)]
    forest = induce("q", scores, pages, {}, Numbering())
    shown = {node.node_id for _, node, _ in forest.walk()}
    parents = {h.id: h.parent for p in (GUIDE, API) for h in p.headings}
    assert hits <= shown
    assert all(parents[node] is None or parents[node] in shown for node in shown)
