"""Which questions need no reading."""

import pytest

from navigator.navigator import needs_no_reading


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!",
        "hello",
        "Hi there!",
        "Good morning everyone",
        "Danke",
        "你好",
        "hey ritbot",
        "thanks so much",
        "👋",
    ],
)
def test_a_greeting_or_nothing_needs_no_reading(text: str) -> None:
    assert needs_no_reading(text)


@pytest.mark.parametrize(
    "text",
    [
        "hello world example",
        "how are you configured",
        "hi, how do I install it?",
        "good defaults",
        "thread pools",
        "day",
        "会話",
    ],
)
def test_anything_else_is_a_question(text: str) -> None:
    assert not needs_no_reading(text)
