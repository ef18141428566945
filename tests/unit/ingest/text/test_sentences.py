"""Sentences: borders in several languages, and that nothing is lost or moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.text.sentences import WINDOW_CHARACTERS, sentences


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Ask Dr. Smith, e.g. by mail. ", "Version v1.2.3 is out!  ", "See Fig. 3? ", "Done"]),
        ("de-AT", ["Das gilt z.B. für Äpfel. ", "Ja!"]),
        ("zh", ["安装程序。", "请先停止服务！", "然后再启动"]),
        ("xx", ["One thing. ", "Another thing."]),
    ],
)
def test_a_text_is_cut_where_its_language_ends_sentences(language: str, expected: list[str]) -> None:
    assert sentences("".join(expected), language) == expected


def test_a_line_break_ends_a_sentence_and_stays_with_it() -> None:
    assert sentences("Name\tValue\nport\t8080\n\n  host") == ["Name\tValue\n", "port\t8080\n\n  ", "host"]


def test_white_space_at_the_start_stays_with_the_first_sentence() -> None:
    assert sentences("\n  One. Two.") == ["\n  One. ", "Two."]


@pytest.mark.parametrize("blank", [" ", "\n\n", " \u3000\n"])
def test_white_space_alone_is_one_piece(blank: str) -> None:
    assert sentences(blank) == [blank]


def test_no_text_has_no_sentences() -> None:
    assert sentences("") == []


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\x85"])
def test_wide_white_space_after_an_initial_does_no_harm(space: str) -> None:
    text = f"Written by J{space}. K{space}. Rowling. Yes."
    assert "".join(sentences(text)) == text


def test_what_has_no_utf8_does_no_harm() -> None:
    assert sentences("Odd \ud800 one. Two.") == ["Odd \ud800 one. ", "Two."]


def test_a_sentence_is_not_cut_by_the_window_through_which_it_is_seen() -> None:
    parts = [
        f"This is sentence number {number} of a rather long paragraph. "
        for number in range(3 * WINDOW_CHARACTERS // 50)
    ]
    assert sentences("".join(parts)) == parts


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["“a. ", "(a. b", "\n", ".", "é. ", "a"])
def test_a_huge_text_takes_seconds_at_most(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert "".join(sentences(text)) == text


PIECES = [
    "a",
    "B",
    " ",
    " ",
    ".",
    ". ",
    "! ",
    "?",
    "\n",
    "\t",
    "\r\n",
    "“",
    "”",
    "(",
    ")",
    "'",
    "e.g. ",
    "J. ",
    "é",
    "😀",
    "。",
]


@given(
    st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, "\u00a0", "\u3000", "\u2028", "\u0301"])).map("".join)),
    st.sampled_from("en de fr es it ru el ja zh ko th hi am ar xx".split()),
)
def test_sentences_joined_are_the_text(text: str, language: str) -> None:
    found = sentences(text, language)
    assert "".join(found) == text
    assert all(found)
    assert not any(sentence[0].isspace() for sentence in found[1:])
    assert not any("\n" in sentence.strip() for sentence in found)
