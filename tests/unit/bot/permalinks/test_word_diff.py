"""Word diffs that people can read."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.permalinks.word_diff import MAX_COMPARED_PARTS, block_diff, word_diff
from ingest.model import Block
from tests.fakes.editions import texts

TEXT = st.text(st.sampled_from("ab cd\n.,é二三"), max_size=60)


def marked(before: str, after: str) -> str:
    """[-removed-]{+added+}."""
    signs = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(signs[span.kind].format(span.text) for span in word_diff(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("The port is 7070.", "The port is 8080.", "The port is [-7070-]{+8080+}."),
        ("Set it.", "Set it and restart.", "Set [-it-]{+it and restart+}."),
        ("Gone.", "", "[-Gone.-]"),
        ("", "New.", "{+New.+}"),
        ("Same.", "Same.", "Same."),
        ("", "", ""),
        ("端口是七千。", "端口是八千。", "端口是[-七-]{+八+}千。"),
        ("use --old-flag now", "use --new-flag now", "use --[-old-]{+new+}-flag now"),
    ],
)
def test_words_are_compared(before: str, after: str, shown: str) -> None:
    assert marked(before, after) == shown


@given(TEXT, TEXT)
def test_both_texts_can_be_read_from_it(before: str, after: str) -> None:
    spans = word_diff(before, after)
    assert "".join(span.text for span in spans if span.kind != "added") == before
    assert "".join(span.text for span in spans if span.kind != "removed") == after


@given(st.lists(TEXT.filter(bool), max_size=6), st.lists(TEXT.filter(bool), max_size=6))
def test_every_block_of_either_text_is_there_once_in_order(before: list[str], after: list[str]) -> None:
    found = block_diff(texts(*before), texts(*after))
    for said, other in ((before, "added"), (after, "removed")):
        shown = ["".join(span.text for span in block.spans if span.kind != other) for block in found]
        assert [text for text in shown if text] == said


def test_an_edited_block_is_one_and_another_in_its_place_are_two() -> None:
    edited = block_diff(texts("A.", "Set the port to 7070."), texts("A.", "Set the port to 8080."))
    assert [block.changed for block in edited] == [False, True]
    replaced = block_diff(texts("Set the port to 7070."), texts("Nothing of this remains here"))
    assert [[span.kind for span in block.spans] for block in replaced] == [["removed"], ["added"]]


def test_another_kind_of_block_is_another_block() -> None:
    found = block_diff(texts("pump start"), (Block("code", "pump start"),))
    assert [(block.kind, block.spans[0].kind) for block in found] == [("text", "removed"), ("code", "added")]


@pytest.mark.parametrize("unit", ["a ", "a b ", "x\n"])
def test_long_and_monotonous_texts_take_no_time(unit: str) -> None:
    begun = time.process_time()
    before, after = unit * MAX_COMPARED_PARTS, unit * (MAX_COMPARED_PARTS - 7) + "end"
    word_diff(before, after)
    word_diff(before * 50, after * 50)
    assert time.process_time() - begun < 5


def test_a_text_of_very_many_edited_blocks_takes_no_time_and_loses_none() -> None:
    begun = time.process_time()
    before, after = ([" ".join(f"{'ab'[n % 2]}{k * (n % 13 == k)}" for n in range(590))] * 400 for k in (1, 2))
    found = block_diff(texts(*before), texts(*after))
    assert time.process_time() - begun < 10
    assert "".join(span.text for block in found for span in block.spans if span.kind != "added") == "".join(before)
    assert "".join(span.text for block in found for span in block.spans if span.kind != "removed") == "".join(after)
