"""Answers as JSON and back (navigator/codec.py)."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator import codec
from navigator.answer import Answer, CitedSource, Passage

PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    int: st.integers(-(2**62), 2**62),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC)),
    NoneType: st.none(),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of ours, every field of it drawn: one that is added later is drawn too."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: values(hints[field.name]) for field in fields(hint)})
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of(*map(values, args))
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(values(args[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, args))
    raise TypeError(f"no strategy for {hint}")


answers = values(Answer)

READ = Passage(
    1,
    "n",
    "h",
    "k",
    "https://docs.test/page",
    "https://docs.test/page#s",
    ("Page", "Section"),
    (Block("list", "one\ntwo", None, ("- ", "- ")), Block("code", "a\tb\r\n", "sh")),
    datetime(2026, 1, 1, 12, 30, 0, 123456, tzinfo=UTC),
    "1.2",
)
ANSWER = Answer("Why?", "Because. [1]", "answered", (CitedSource(1, (READ.cite(0), READ.cite(1))),), (READ,))


@given(answers)
def test_an_answer_comes_back_equal_and_hashable(answer: Answer) -> None:
    back = codec.load_answer(codec.dump_answer(answer))
    assert back == answer
    assert hash(back) == hash(answer)


def test_what_comes_back_can_be_cited_again_and_keeps_its_time_zone() -> None:
    back = codec.load_answer(codec.dump_answer(ANSWER))
    assert back.nearest[0].cite(0) == ANSWER.sources[0].first
    assert back.sources[0].first.checked_at.utcoffset() == READ.checked_at.utcoffset()


def test_unknown_fields_are_passed_over_at_every_depth() -> None:
    def later(value: Any) -> Any:
        if isinstance(value, dict):
            return {"of_a_later_version": [1], **{name: later(field) for name, field in value.items()}}
        return [later(item) for item in value] if isinstance(value, list) else value

    data = json.dumps(later(json.loads(codec.dump_answer(ANSWER)))).encode()
    assert codec.load_answer(data) == ANSWER


@pytest.mark.parametrize("data", [b"", b"{}", b"null", b"[]", b"\xff", b'{"question": 1', b'{"question": "q"}'])
def test_bytes_that_are_no_answer_raise_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="validation error"):
        codec.load_answer(data)


def test_text_that_is_not_unicode_raises_value_error() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        codec.dump_answer(Answer("half a pair: \ud83d", "", "not_found"))
