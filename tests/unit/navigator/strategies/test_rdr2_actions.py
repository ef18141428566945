"""What a router may write: lenient in form, strict in what counts, and everything else counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.strategies.rdr2.actions import Action, Routed, first_words, grounded, kinds, parse_action, read_actions
from navigator.strategies.rdr2.tree import DocumentTree, Subtree
from tests.unit.navigator.strategies.rdr2_trees import ANY_TEXT, blocks, heading, pumps, trees

LIT = pumps().lit([4]).choices()
"""Visible are 3, 4 and 5; 6, 8, 9, 11 and the root can be unfolded."""


def test_actions_are_read_a_line_each() -> None:
    routed = read_actions("[ANS] 5: Start it.\n[ANS] 3: Fill the\n[EXP] 6: In the cold", LIT)
    assert routed == Routed((3, 5), 6, lines=3)


def test_blocks_come_in_document_order_however_many_there_are() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": blocks(*["word"] * 2000)})
    reply = "\n".join(f"[ANS] {block}: word" for block in (1499, 7, 1300, 1600))
    assert read_actions(reply, tree.alone(range(1, 2001)).choices()).selected == (7,)
    assert read_actions(reply, tree.lit([1400]).choices()).selected == (1300, 1499)


def test_refusing_stands_alone() -> None:
    assert read_actions("[REF]", LIT) == Routed(refused=True, lines=1)
    mixed = read_actions("[REF]\n[ANS] 3: Fill the", LIT)
    assert (mixed.selected, mixed.refused, mixed.invalid_lines) == ((3,), False, ("REF: not alone",))
    useless = read_actions("[REF]\n[ANS] 9: Seals", LIT)
    assert (useless.refused, len(useless.invalid_lines)) == (True, 1)


@pytest.mark.parametrize(
    "line",
    [
        "[ANS] 3: Fill the pump.",
        "  [ans]   3 :   fill THE pump",
        "- [ANS] 3: Fill the pump",
        "1. [ANS] 3: Fill",
        "**[ANS]** 3: Fill",
        "`[ANS] 3: Fill`",
        "[ ANS ] 3 - “Fill the pump”",
        "[ANS] [3]: Fill …",
        "[ANS] id 3: Fill".replace("id ", "#"),
        "[ANS] 3. Fill the pump...",
        "```text\n[ANS] 3: Fill the\n```",
        "[ANS] 3: Fill\r\n",
    ],
)
def test_the_form_of_a_line_may_vary(line: str) -> None:
    assert read_actions(line, LIT) == Routed((3,), lines=1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[ANS] 2: Priming", "a heading"),
        ("[ANS] 12: Change the oil", "not shown"),
        ("[ANS] 99: Fill", "not shown"),
        ("[ANS] 3: Pour the pump", "other words"),
        ("[ANS] 3: ill the pump", "other words"),
        ("[ANS] 3: Fill the pump. And run", "other words"),
        ("[ANS] 3", "other words"),
        ("[ANS] 3: …", "other words"),
        ("[EXP] 2: Priming", "nothing is folded"),
        ("[EXP] 4: Open the", "no heading"),
        ("[EXP] 6: In the heat", "other words"),
        ("[ANS] Fill the pump", "no action"),
        ("[ANS] -3: Fill the pump", "no action"),
        ("[ANS] 99999999999999999999: Fill", "no action"),
        ("[READ] 3: Fill the pump", "no action"),
        ("I take [ANS] 3: Fill the pump", "no action"),
        ("Fill the pump with water.", "no action"),
    ],
)
def test_what_does_not_count_is_invalid_and_the_rest_survives(line: str, reason: str) -> None:
    routed = read_actions(f"{line}\n[ANS] 5: Start it", LIT)
    assert (routed.selected, routed.expand, routed.lines, routed.collapsed) == ((5,), None, 2, False)
    assert len(routed.invalid_lines) == 1
    assert reason in routed.invalid_lines[0]


def test_one_heading_a_round_the_first_that_counts() -> None:
    routed = read_actions("[EXP] 2: Priming\n[EXP] 11: Oil\n[EXP] 6: In the\n[EXP] 11: Oil", LIT)
    assert (routed.expand, len(routed.invalid_lines)) == (11, 2)


def test_where_nothing_may_be_unfolded_it_is_not() -> None:
    routed = read_actions("[EXP] 11: Oil", LIT, may_expand=False)
    assert (routed.expand, len(routed.invalid_lines), routed.collapsed) == (None, 1, False)


@pytest.mark.parametrize(("reply", "lines"), [("", 0), (" \n\t\n", 0), ("```\n```", 0), ("The valve.\nOpen it.", 2)])
def test_a_reply_without_any_action_is_collapsed(reply: str, lines: int) -> None:
    routed = read_actions(reply, LIT)
    assert (routed.collapsed, routed.lines, len(routed.invalid_lines)) == (True, lines, lines)


def test_a_block_taken_twice_counts_once() -> None:
    assert read_actions("[ANS] 3: Fill\n[ANS] 3: Fill the", LIT) == Routed((3,), lines=2)


@pytest.mark.parametrize(
    "reply", ["[ANS] 3: Fill\n" * 100_000, "(" * 2_000_000, "[ANS] " + "9" * 500_000, "[" * 99_999]
)
def test_a_huge_reply_is_read_in_part(reply: str) -> None:
    assert read_actions(reply, LIT).lines <= 500


def test_words_without_letters_are_compared_sign_by_sign() -> None:
    tree = DocumentTree.of([heading("a", None)], {"a": [Block("code", "{ }"), *blocks("--- ---", "中文 文档")]})
    subtree = tree.lit([1]).choices()
    assert read_actions("[ANS] 1: { }\n[ANS] 2: ---\n[ANS] 3: 中文", subtree).selected == (1, 2, 3)
    assert read_actions("[ANS] 1: ( )\n[ANS] 2: ***\n[ANS] 3: 文档", subtree).selected == ()


def test_accents_ligatures_and_quotes_do_not_matter() -> None:
    assert grounded("Uber die Einführung", "Über die „Einfuhrung“")
    assert grounded("first office", "ﬁrst oﬃce hours")
    assert not grounded("Ober die", "Über die")


def test_actions_are_counted_by_kind() -> None:
    assert kinds([Routed((1, 2), 3), Routed(refused=True), Routed()]) == {"ANS": 2, "EXP": 1, "REF": 1}


def test_a_line_has_the_form_of_an_action_or_not() -> None:
    assert parse_action("[exp] 4: Seals") == Action("EXP", 4, " Seals")
    assert parse_action("[REF] 4") == Action("REF")
    assert parse_action("[EXP]") is None


@given(ANY_TEXT, st.data())
def test_every_beginning_of_a_text_is_grounded_in_it(text: str, data: st.DataObject) -> None:
    line = " ".join(text.split())
    beginning = line[: data.draw(st.integers(1, 30))]
    assert grounded(beginning, line) or not line
    assert grounded(first_words(line), line)


@given(trees(), st.data())
def test_what_counts_written_again_reads_as_the_same(tree: DocumentTree, data: st.DataObject) -> None:
    content = [node.id for node in tree.nodes if node.is_content]
    retrieved: set[int] = data.draw(st.sets(st.sampled_from(content))) if content else set()
    subtree = tree.lit(retrieved)
    choices = subtree.choices()
    folded = sorted(choices.folded)
    selected: set[int] = data.draw(st.sets(st.sampled_from(subtree.visible))) if subtree.visible else set()
    expand = data.draw(st.sampled_from([None, *folded]))
    chosen = Routed(tuple(sorted(selected)), expand, refused=not selected and expand is None)
    again = read_actions(chosen.written(choices), choices)
    assert (again.selected, again.expand, again.refused, again.invalid_lines) == (
        chosen.selected,
        expand,
        chosen.refused,
        (),
    )


@given(trees(), st.lists(st.sampled_from(["[ANS] ", "[EXP] ", "[REF]", "1", "0", ": ", "\n", "-", "x"]), max_size=30))
def test_whatever_is_written_every_line_counts_or_is_invalid(tree: DocumentTree, parts: list[str]) -> None:
    subtree: Subtree = tree.lit([node.id for node in tree.nodes if node.is_content][:1])
    reply = "".join(parts)
    routed = read_actions(reply, subtree.choices())
    lines = [line for line in reply.split("\n") if line.strip()]
    assert routed.lines == len(lines)
    assert len(routed.invalid_lines) <= len(lines)
    assert set(routed.selected) <= set(subtree.visible)
    assert routed.expand is None or subtree.unseen(routed.expand)
    assert not (routed.refused and (routed.selected or routed.expand is not None))
    assert routed.collapsed == (not any(parse_action(line) for line in lines))
