"""Long sections split under induced titles: not a word changes, no block moves, and the content stays the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, Node, Page, plain
from ingest.notes import InducedOutline
from ingest.tree.induced_headings import (
    MAX_INDUCED_TITLE_CHARACTERS,
    MAX_TITLES,
    MIN_BLOCKS,
    divisible,
    same_tree,
    split,
    wrong,
)
from ingest.tree.node_identity import assign

TITLES = st.text("abc d", min_size=1, max_size=9).filter(str.strip)


def blocks(count: int, first: int = 0) -> tuple[Block, ...]:
    return tuple(
        Block("text", f"Sentence {number} says something of its own.") for number in range(first, first + count)
    )


def page(*nodes: Node) -> Page:
    return Page("https://d.test/p", "https://d.test/p", "https://d.test/p", "Page", nodes)


LONG = Node("1", "0", 2, "Long", "long", blocks=blocks(12))
PAGE = page(Node("0", None, 1, "Page", kind="page", blocks=blocks(1, 90)), LONG, Node("2", "0", 2, "After"))
OUTLINE = InducedOutline((("Install", 2), ("Use", 7)))


def divided(outline: InducedOutline = OUTLINE, of: Page = PAGE) -> Page:
    return split(of, {node.own_hash: outline for node in of.nodes})


def test_each_title_holds_its_run_of_blocks_and_the_first_blocks_stay() -> None:
    assert [(n.id, n.parent, n.level, n.title, len(n.blocks), n.kind) for n in divided().nodes] == [
        ("0", None, 1, "Page", 1, "page"),
        ("1", "0", 2, "Long", 2, "heading"),
        ("1/0", "1", 3, "Install", 5, "induced"),
        ("1/1", "1", 3, "Use", 5, "induced"),
        ("2", "0", 2, "After", 0, "heading"),
    ]
    assert all(n.anchor is None and not n.aliases for n in divided().nodes if n.kind == "induced")


def test_a_section_whose_first_block_has_a_title_keeps_no_text() -> None:
    nodes = divided(InducedOutline((("Install", 0), ("Use", 7)))).nodes
    assert [n.readable for n in nodes] == [True, False, True, True, False]


@st.composite
def split_pages(draw: st.DrawFn) -> tuple[Page, dict[str, InducedOutline]]:
    nodes = [Node("0", None, 0, "Page", kind="page", blocks=blocks(draw(st.integers(0, 30))))]
    for number in range(1, draw(st.integers(1, 5))):
        parent = draw(st.sampled_from(nodes))
        made = blocks(draw(st.integers(0, 30)), 100 * number)
        nodes.append(Node(str(number), parent.id, parent.level + 1, draw(TITLES), blocks=made))
    outlines = {}
    for node in nodes:
        firsts = sorted(draw(st.sets(st.integers(0, 40), max_size=MAX_TITLES + 2)))
        outlines[node.own_hash] = InducedOutline(tuple((draw(TITLES), first) for first in firsts))
    return page(*nodes), outlines


@given(split_pages())
def test_every_block_stays_in_its_place_and_in_one_section(made: tuple[Page, dict[str, InducedOutline]]) -> None:
    before, outlines = made
    after = split(before, outlines)
    assert [b for n in after.nodes for b in n.blocks] == [b for n in before.nodes for b in n.blocks]
    assert plain(after.nodes) == list(before.nodes)
    assert (after.hash, after.content_hash) == (before.hash, before.content_hash)
    assert len({n.id for n in after.nodes}) == len(after.nodes)
    assert all(n.parent in {above.id for above in after.nodes[:at]} for at, n in enumerate(after.nodes) if at)
    whole = divisible(before.nodes)
    fitting = [n for n in whole if not wrong(outlines[n.own_hash], len(n.blocks))]
    assert sum(n.kind == "induced" for n in after.nodes) == sum(len(outlines[n.own_hash].titles) for n in fitting)


@given(split_pages())
def test_ids_last_from_the_whole_page_to_the_split_one_and_back(made: tuple[Page, dict[str, InducedOutline]]) -> None:
    before, outlines = made
    first = assign(before, None, "p", 1)
    after = assign(split(before, outlines), first.nodes, "p", 2)
    assert after.nodes[0].id == first.nodes[0].id
    again = assign(split(before, outlines), after.nodes, "p", 3)
    assert again == after
    assert assign(before, after.nodes, "p", 4).nodes[0].id == first.nodes[0].id


def test_a_section_that_something_stands_under_or_that_is_short_is_left_whole() -> None:
    short = replace(LONG, blocks=blocks(MIN_BLOCKS - 1))
    for whole in (
        page(PAGE.nodes[0], short),
        page(replace(PAGE.nodes[0], blocks=blocks(12)), replace(LONG, blocks=())),
    ):
        assert divisible(whole.nodes) == []
        assert divided(of=whole) == whole


def test_a_section_is_not_split_twice() -> None:
    after = divided(InducedOutline((("Install", 0), ("Use", 6))))
    assert divisible(after.nodes) == []
    assert divided(of=after) == after


@pytest.mark.parametrize(
    "titles",
    [
        [("Only one", 3)],
        [(f"Part {n}", n) for n in range(MAX_TITLES + 1)],
        [("Before", -1), ("Use", 3)],
        [("Install", 2), ("Beyond", 12)],
        [("Install", 7), ("Use", 2)],
        [("Install", 2), ("Use", 2)],
        [("Install", 2), (" ", 7)],
        [("Install", 2), ("Two\nlines", 7)],
        [("Install", 2), ("x" * (MAX_INDUCED_TITLE_CHARACTERS + 1), 7)],
    ],
)
def test_an_outline_that_does_not_fit_is_known_and_passed_over(titles: list[tuple[str, int]]) -> None:
    outline = InducedOutline(tuple(titles))
    assert wrong(outline, 12)
    assert divided(outline) == PAGE


def test_an_outline_without_titles_says_that_a_section_is_best_left_whole() -> None:
    assert wrong(InducedOutline(()), 12) is None
    assert divided(InducedOutline(())) == PAGE


def test_pages_split_otherwise_are_not_the_same_tree() -> None:
    other = divided(InducedOutline((("Install", 2), ("Use it", 7))))
    assert same_tree(divided(), divided())
    assert not same_tree(PAGE, divided())
    assert not same_tree(divided(), other)
    assert not same_tree(PAGE, replace(PAGE, title="Other"))


def test_a_changed_word_under_an_induced_title_is_a_change_of_the_page() -> None:
    nodes = divided().nodes
    edited = replace(nodes[3], blocks=(Block("text", "Other words."), *nodes[3].blocks[1:]))
    assert replace(PAGE, nodes=(*nodes[:3], edited, nodes[4])).hash != PAGE.hash
