"""RDR2's trees and subtrees: what is shown when, and that it stays small."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ingest.model import Block
from ingest.ports import OutlineHeading
from navigator.strategies.rdr2 import tree as rdr2
from navigator.strategies.rdr2.tree import Choices, DocumentTree, Subtree
from tests.unit.navigator.strategies.rdr2_trees import blocks, heading, pumps, trees

ID = re.compile(r"^ *([0-9]+):", re.MULTILINE)


def ids_in(shown: str) -> list[int]:
    return [int(number) for number in ID.findall(shown)]


def content(tree: DocumentTree) -> list[int]:
    return [node.id for node in tree.nodes if node.is_content]


def test_ids_are_positions_in_document_order_and_the_root_is_the_page() -> None:
    tree = pumps()
    assert [node.id for node in tree.nodes] == list(range(14))
    assert [node.parent for node in tree.nodes] == [None, 0, 0, 2, 2, 2, 2, 6, 0, 8, 9, 8, 11, 11]
    assert (tree.nodes[0].text, tree.nodes[0].is_content, tree.nodes[0].node_id) == ("Pumps", False, "pumps")
    assert (tree.nodes[4].node_id, tree.nodes[4].block) == ("prime", 1)


def test_a_subtree_begins_with_the_retrieved_blocks_and_their_siblings_under_all_headings() -> None:
    subtree = pumps().lit([4])
    assert subtree.visible == (3, 4, 5)
    assert subtree.render() == (
        "0: Pumps\n"
        "  2: Priming\n"
        "    3: Fill the pump.\n"
        "    4: Open the valve.\n"
        "    5: Start it.\n"
        "    6: In the cold\n"
        "  8: Care\n"
        "    9: Seals\n"
        "    11: Oil"
    )


def test_unfolding_replaces_what_was_visible() -> None:
    subtree = pumps().lit([4]).expanded(11)
    assert subtree.visible == (12, 13)
    assert "3: Fill" not in subtree.render()
    assert subtree.expanded(6).visible == (7,)


def test_a_heading_with_text_unfolds_only_what_stands_directly_under_it() -> None:
    assert pumps().lit([10]).expanded(2).visible == (3, 4, 5)


def test_a_heading_without_text_unfolds_all_sections_below_it() -> None:
    assert pumps().lit([4]).expanded(8).visible == (10, 12, 13)
    assert pumps().lit([10]).expanded(8).visible == (12, 13)


@pytest.mark.parametrize("name", [2, 3])
def test_what_was_seen_or_is_no_heading_cannot_be_unfolded(name: int) -> None:
    with pytest.raises(ValueError, match="nothing is folded"):
        pumps().lit([4]).expanded(name)


def test_without_structure_the_retrieved_blocks_stand_alone() -> None:
    subtree = pumps().alone([5, 3])
    assert subtree.visible == (3, 5)
    assert subtree.render(structure=False) == "3: Fill the pump.\n5: Start it."


def test_line_breaks_do_not_break_a_line_and_marks_are_shown() -> None:
    listing = Block("list", "one\ntwo", marks=("- ", "- "))
    tree = DocumentTree.of(
        [heading("a", None)], {"a": [Block("code", "x = 1\n\n  y = 2\n"), listing, Block("text", " \n ")]}
    )
    assert tree.lit([1]).render() == "0: A\n  1: x = 1 y = 2\n  2: - one - two"


def test_a_huge_block_is_shown_cut_and_its_id_stands_for_the_whole() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": blocks("word " * 500_000)})
    shown = tree.lit([1]).render()
    assert len(shown) < rdr2.MAX_TEXT_CHARACTERS + 50
    assert shown.endswith(" …")
    assert tree.nodes[1].block == 0


def test_a_block_that_begins_with_much_white_space_is_shown() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": blocks(" " * 10_000 + "end")})
    assert tree.lit([1]).render() == "0: A\n  1: …"


def test_a_huge_title_is_cut() -> None:
    tree = DocumentTree.of([heading("a", None, "word " * 10_000)], {})
    assert len(tree.lit([]).render()) < rdr2.MAX_TITLE_CHARACTERS + 50


def test_much_content_is_cut_until_it_fits() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": blocks(*["long " * 400] * 150)})
    shown = tree.lit([1]).render()
    assert len(ids_in(shown)) == 151
    assert len(shown) < rdr2.MAX_SHOWN_CHARACTERS + 150 * 12


def test_of_very_many_siblings_the_nearest_are_shown_and_the_rest_can_be_unfolded() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": blocks(*map(str, range(1000)))})
    subtree = tree.lit([500])
    assert subtree.visible == tuple(range(400, 600))
    two = tree.lit([100, 900]).visible
    assert (two[0], two[100], two[101], two[-1]) == (50, 150, 851, 949)
    later = subtree.expanded(0)
    assert later.visible == tuple(range(1, 201))
    assert later.expanded(0).visible == (*range(201, 400), 600)


def test_a_page_with_very_many_headings_nested_very_deep_is_no_trouble() -> None:
    deep = [OutlineHeading("0", None, 0, "page", None, "page", True)]
    deep += [OutlineHeading(str(n), str(n - 1), n, f"t{n}", None, "heading", True) for n in range(1, 3000)]
    tree = DocumentTree.of(deep, {"2999": blocks("bottom")})
    assert tree.lit([]).expanded(0).visible == (3000,)
    assert len(ids_in(tree.lit([]).render())) == 3000


@given(trees(), st.data())
def test_only_content_is_ever_visible_nothing_twice_and_all_headings_always(
    tree: DocumentTree, data: st.DataObject
) -> None:
    assume(content(tree))
    retrieved = data.draw(st.sets(st.sampled_from(content(tree)), min_size=1))
    subtree = tree.lit(retrieved)
    assert retrieved <= set(subtree.visible)
    assert {tree.nodes[i].parent for i in subtree.visible} == {tree.nodes[i].parent for i in retrieved}
    headings = [node.id for node in tree.nodes if not node.is_content]
    before: set[int] = set()
    while True:
        assert not before & set(subtree.visible)
        before |= set(subtree.visible)
        assert subtree.seen == before
        assert all(tree.nodes[i].is_content for i in subtree.visible)
        assert ids_in(subtree.render()) == sorted([*headings, *subtree.visible])
        folded = [name for name in headings if subtree.unseen(name)]
        assert subtree.choices() == Choices(
            {i: tree.nodes[i].text for i in (*headings, *subtree.visible)},
            frozenset(subtree.visible),
            frozenset(folded),
        )
        if not folded:
            break
        subtree = subtree.expanded(data.draw(st.sampled_from(folded)))
    assert before == set(content(tree))


@given(trees())
def test_the_blocks_below_a_heading_are_those_whose_ancestor_it_is(tree: DocumentTree) -> None:
    def ancestors(node: int) -> set[int]:
        parent = tree.nodes[node].parent
        return set() if parent is None else {parent} | ancestors(parent)

    for node in tree.nodes:
        if not node.is_content:
            assert tree.below(node.id) == tuple(block for block in content(tree) if node.id in ancestors(block))


@given(trees())
def test_indentation_says_depth(tree: DocumentTree) -> None:
    whole = Subtree(tree, tuple(content(tree)), frozenset(content(tree)))
    lines = whole.render().split("\n")
    assert len(lines) == len(tree.nodes)
    for node, line in zip(tree.nodes, lines, strict=True):
        assert line.startswith(f"{rdr2.INDENT * node.depth}{node.id}: ")
