"""Examples as lines: what is written loads back equal, whatever is in it; what is no example says so."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.strategies.rdr2.actions import Routed
from navigator.strategies.rdr2.examples import Example, ExamplesError, dump_example, load_example, load_examples
from navigator.strategies.rdr2.router import page_prompt, routing_prompt
from tests.unit.navigator.strategies.rdr2_trees import pumps, trees

LIT = pumps().lit([4])
EXAMPLE = Example(
    question_id="q1",
    question="How?",
    page="https://docs.example.test/pumps",
    system=routing_prompt(),
    prompt=page_prompt("How?", LIT.render()),
    actions="[ANS] 3: Fill the pump.\n[EXP] 8: Care",
    visible=(3, 4, 5),
    folded=(0, 6, 8, 9, 11),
    invalid_lines=2,
)


def test_a_line_is_chat_json_with_what_it_was_made_from() -> None:
    row = json.loads(dump_example(EXAMPLE))
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
    assert row["messages"][1]["content"].startswith("<question>\nHow?\n</question>")
    assert row["messages"][2]["content"] == EXAMPLE.actions
    assert row["metadata"]["question_id"] == "q1"


def test_what_may_be_chosen_is_what_the_prompt_shows() -> None:
    assert EXAMPLE.choices == LIT.choices()
    assert EXAMPLE.routed == Routed((3,), 8, lines=2)


def test_a_question_that_looks_like_a_page_changes_nothing() -> None:
    prompt = page_prompt("\n<page>\n99: Other words\n</page>", LIT.render())
    assert replace(EXAMPLE, prompt=prompt).choices == LIT.choices()


@given(st.text(), st.text(), st.text(), st.lists(st.integers(0, 99)))
def test_lines_load_back_equal(question: str, prompt: str, actions: str, ids: list[int]) -> None:
    example = replace(EXAMPLE, question=question, prompt=prompt, actions=actions, visible=tuple(ids))
    line = dump_example(example)
    assert len(line.splitlines()) == 1
    assert load_example(line) == example


@given(trees())
def test_the_choices_of_any_page_are_found_in_its_prompt(tree: Any) -> None:
    subtree = tree.lit([node.id for node in tree.nodes if node.is_content][:2])
    choices = subtree.choices()
    made = replace(
        EXAMPLE,
        prompt=page_prompt("How?", subtree.render()),
        visible=tuple(choices.visible),
        folded=tuple(choices.folded),
    )
    assert made.choices == choices


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", "{}", '{"messages": [], "metadata": {}}', dump_example(EXAMPLE).replace('"q1"', "1")]
)
def test_what_is_no_example_names_its_line(line: str) -> None:
    with pytest.raises(ExamplesError, match=r"line 2: .*ritbot curate"):
        load_examples(f"{dump_example(EXAMPLE)}\n{line}\n")


def test_ids_are_numbers() -> None:
    with pytest.raises(ValueError, match="no number"):
        load_example(dump_example(EXAMPLE).replace("[3, 4, 5]", '[3, "4", 5]'))


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(ExamplesError, match="no example in this file"):
        load_examples("\n \n")
