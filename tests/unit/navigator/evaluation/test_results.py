"""Lines of a run and back (navigator/evaluation/results.py)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.answer import Usage
from navigator.evaluation.results import (
    Contender,
    JudgeVerdict,
    Result,
    dump_contender,
    dump_result,
    load_result,
)
from tests.unit.navigator.evaluation.made import answer
from tests.unit.navigator.test_codec import answers

usages = st.builds(Usage, st.integers(0, 9), st.integers(0, 9), cost=st.none() | st.floats(0, 1))
results = st.builds(
    Result,
    question_id=st.text(max_size=9),
    contender=st.text(max_size=9),
    answer=answers,
    verdict=st.none() | st.builds(JudgeVerdict, st.booleans(), st.text(max_size=9), usages),
    nuggets=st.none() | st.lists(st.booleans(), max_size=3).map(tuple),
    grades=st.dictionaries(st.text(max_size=5), st.integers(0, 10), max_size=3),
    judge_usage=usages,
)
numbers = st.none() | st.integers(0, 100)

FULL = Result(
    "q", "rit", answer("Yes. [1]", ["use#first"]), JudgeVerdict(True, "so it is"), (True, False), {"diversity": 7}
)


@given(results)
def test_a_result_is_one_line_that_loads_back_equal(result: Result) -> None:
    line = dump_result(result)
    assert "\n" not in line
    assert load_result(line) == load_result(line.encode()) == result


def test_fields_of_a_later_version_are_passed_over() -> None:
    row: dict[str, Any] = json.loads(dump_result(FULL))
    row["later"] = row["verdict"]["later"] = row["answer"]["trace"]["later"] = [1]
    assert load_result(json.dumps(row)) == FULL


def test_a_line_of_an_older_version_lacks_what_has_a_default() -> None:
    row = json.loads(dump_result(FULL))
    for key in ("verdict", "nuggets", "grades", "judge_usage"):
        del row[key]
    assert load_result(json.dumps(row)) == Result("q", "rit", FULL.answer)


@pytest.mark.parametrize("kept", [0, 1, 30, -1])
def test_a_torn_line_raises_value_error(kept: int) -> None:
    with pytest.raises(ValueError, match="validation error"):
        load_result(dump_result(FULL)[:kept])


def test_a_line_of_another_kind_raises_value_error() -> None:
    with pytest.raises(ValueError, match="validation error"):
        load_result(dump_contender(Contender("q", "rit")))
