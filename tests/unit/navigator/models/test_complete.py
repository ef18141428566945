"""JSON out of what a model wrote."""

from __future__ import annotations

import pytest

from navigator.models.complete import object_in


@pytest.mark.parametrize(
    "reply",
    [
        '{"a": [1, "}"]}',
        'Here it is:\n```json\n{"a": [1, "}"]}\n```\nAnything else?',
        'In {braces} first, then {"a": [1, "}"]} and {"b": 2}',
        '\n\n[{"a": [1, "}"]}]',
    ],
)
def test_the_first_object_is_found_in_whatever_surrounds_it(reply: str) -> None:
    assert object_in(reply) == {"a": [1, "}"]}


def test_a_line_break_inside_a_text_is_forgiven() -> None:
    assert object_in('{"a": "one\ntwo"}') == {"a": "one\ntwo"}


@pytest.mark.parametrize(
    "reply", ["", "I am sorry.", '{"a": "cut off', "[1, 2]", "{" * 5_000, '{"a":' * 5_000, "{'a': 1}"]
)
def test_a_reply_without_an_object_is_told(reply: str) -> None:
    with pytest.raises(ValueError, match="holds no JSON object"):
        object_in(reply)
