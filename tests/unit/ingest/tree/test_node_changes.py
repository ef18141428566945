"""What a new version of a page means for who kept a section of the old one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, Node, NodeChange
from ingest.tree.node_changes import MAX_PARTS, node_changes


def node(node_id: str, *texts: str, parent: str | None = "page", title: str = "") -> Node:
    return Node(node_id, parent, 2, title or node_id, blocks=tuple(Block("text", text) for text in texts))


PAGE = node("page", "All about pumps.", parent=None)
PRIME = node("prime", "Fill the pump with water first.", "Close the valve before you start it.")
SEAL = node("seal", "Grease the seal once a month.")
WATER, VALVE = PRIME.blocks

CASES = {
    "nothing": ([PAGE, PRIME, SEAL], []),
    "another order": ([PAGE, SEAL, PRIME], []),
    "a new section": ([PAGE, PRIME, node("new", "Keep it dry at night."), SEAL], [NodeChange("page", "extended")]),
    "a new section under another": (
        [PAGE, PRIME, node("new", "Keep it dry.", parent="prime"), node("newer", "Or not.", parent="new"), SEAL],
        [NodeChange("prime", "extended")],
    ),
    "a new section, and other words above it": (
        [node("page", "All of it.", parent=None), PRIME, SEAL, node("new", "Keep it dry.")],
        [NodeChange("page", "changed")],
    ),
    "other words": ([PAGE, PRIME, node("seal", "Grease it twice a month.")], [NodeChange("seal", "changed")]),
    "another title": ([PAGE, PRIME, replace(SEAL, title="The seal")], [NodeChange("seal", "changed")]),
    "another parent": ([PAGE, PRIME, replace(SEAL, parent="prime")], [NodeChange("seal", "moved")]),
    "removed": ([PAGE, PRIME], [NodeChange("seal", "went")]),
    "split": (
        [PAGE, replace(PRIME, blocks=(WATER,)), node("start", VALVE.text), SEAL],
        [NodeChange("page", "extended"), NodeChange("prime", "split", ("start",))],
    ),
    "merged": (
        [PAGE, replace(PRIME, blocks=(*PRIME.blocks, *SEAL.blocks))],
        [NodeChange("prime", "changed"), NodeChange("seal", "went", ("prime",))],
    ),
    "a paragraph moved, edited where it went": (
        [PAGE, replace(PRIME, blocks=(WATER,)), node("seal", *(b.text for b in SEAL.blocks), "Close the valve before it runs.")],
        [NodeChange("prime", "split", ("seal",)), NodeChange("seal", "changed")],
    ),
    "words that another section had before": (
        [PAGE, node("prime", WATER.text), node("seal", "Grease the seal once a month.")],
        [NodeChange("prime", "changed")],
    ),
    "the page went": ([], [NodeChange("page", "went"), NodeChange("prime", "went"), NodeChange("seal", "went")]),
}  # fmt: skip


@pytest.mark.parametrize(("new", "expected"), CASES.values(), ids=CASES.keys())
def test_a_change_is_told_of_each_section_that_is_not_as_it_was(new: list[Node], expected: list[NodeChange]) -> None:
    assert list(node_changes([PAGE, PRIME, SEAL], new)) == expected


def test_a_page_that_moved_as_it_was_moves_its_sections() -> None:
    old = [PAGE, PRIME, SEAL]
    assert [change.kind for change in node_changes(old, old, page_moved=True)] == ["moved"] * 3


@pytest.mark.parametrize(
    ("text", "parts"),
    [("水泵必须先注满水。", ("new",)), ("Yes.", ("new",)), ("", ())],
    ids=["a script without spaces", "a single word", "no word"],
)
def test_words_are_followed_whatever_their_script_and_however_few(text: str, parts: tuple[str, ...]) -> None:
    old = [PAGE, node("was", text, "Something else that stays here.")]
    new = [PAGE, node("was", "Something else that stays here."), node("new", text)]
    assert node_changes(old, new)[1].parts == parts


def test_the_sections_that_have_most_of_the_words_are_named() -> None:
    long = "one two three four five six seven"
    old = [PAGE, node("was", long)]
    some = [node(f"some{n}", "one two three") for n in range(2 * MAX_PARTS)]
    [_, change] = node_changes(old, [PAGE, *some, node("most", long)])
    assert (change.kind, change.parts[0], len(change.parts)) == ("went", "most", MAX_PARTS)


texts = st.lists(st.sampled_from(["The pump is red now.", "It runs by day.", "It rests at night.", "No."]), max_size=3)
versions = st.dictionaries(st.sampled_from("abcd"), texts, max_size=4).map(
    lambda said: [PAGE, *(node(name, *words) for name, words in said.items())]
)


@given(versions, versions)
def test_what_is_told_is_exactly_what_differs(old: list[Node], new: list[Node]) -> None:
    now = {each.id: each for each in new}
    changes = node_changes(old, new)
    extended = {each.parent for each in new if each.id not in {one.id for one in old}}
    touched = [each.id for each in old if now.get(each.id) != each or each.id in extended]
    assert [change.node for change in changes] == touched
    assert {change.node for change in changes if change.kind == "extended"} == extended
    assert all(set(change.parts) <= now.keys() - {change.node} for change in changes)
    assert node_changes(new, new) == ()
