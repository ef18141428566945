"""ingest.urls.cite_link: links that land on the quoted words, by the text fragment specification."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.urls import cite_link

NODE = "https://docs.example.test/guide#install"
LONG = (
    "Ray Serve is a scalable model serving library for building online inference APIs, and it is well-known & loved by"
    " people who deploy models in production."
)


def terms_of(link: str) -> list[str]:
    """The terms of the link's text directive, decoded; [] without one."""
    directive = link.partition(":~:text=")[2]
    return [unquote(term) for term in directive.split(",")] if directive else []


def lands(terms: list[str], lines: list[str]) -> bool:
    """Whether a browser finds the terms: each inside one line, from word border to word border, the second after
    the first."""
    at_line, at_char = 0, 0
    for term in terms:
        for number in range(at_line, len(lines)):
            start = at_char if number == at_line else 0
            if found := re.compile(rf"(?<!\w){re.escape(term)}(?!\w)").search(lines[number], start):
                at_line, at_char = number, found.end()
                break
        else:
            return False
    return True


def test_a_short_quote_is_one_exact_term() -> None:
    assert cite_link(NODE, "Run pip install ray first.", "Run pip install ray first.") == (
        NODE + ":~:text=Run%20pip%20install%20ray%20first."
    )


def test_a_long_one_runs_from_its_first_words_to_its_last() -> None:
    start, end = terms_of(cite_link(NODE, LONG, LONG))
    assert LONG.startswith(start + " ")
    assert LONG.endswith(" " + end)
    assert len(start) + len(end) < len(LONG)


def test_characters_with_a_meaning_in_a_directive_are_encoded() -> None:
    link = cite_link(NODE, "use --dry-run, a&b and 100% of #1", "use --dry-run, a&b and 100% of #1")
    assert link.partition("text=")[2] == "use%20%2D%2Ddry%2Drun%2C%20a%26b%20and%20100%25%20of%20%231"


def test_a_link_without_a_fragment_gets_an_empty_one() -> None:
    assert cite_link("https://a.test/p", "Some words here", "Some words here").startswith(
        "https://a.test/p#:~:text=Some"
    )


def test_several_blocks_run_from_the_first_to_the_last() -> None:
    link = cite_link(NODE, "First install the package.\nThen go on.", "Start it now.\nStop it with Ctrl-C later.")
    assert terms_of(link) == ["First install the package.", "Stop it with Ctrl-C later."]


def test_no_term_crosses_a_line_a_cell_or_wide_space() -> None:
    table = "Name\tWhat the port is for\nPort\t6379    is the default of it"
    assert terms_of(cite_link(NODE, table, table)) == ["What the port is for", "is the default of it"]


@pytest.mark.parametrize("text", ["", "   ", "OK", "a\tb\nc\td", "— … !!! ???? ———————", "1 2 3"])
def test_blocks_without_words_to_rely_on_leave_the_node_link(text: str) -> None:
    assert cite_link(NODE, text, text) == NODE


def test_where_one_end_has_no_words_the_other_counts_alone() -> None:
    assert terms_of(cite_link(NODE, "Install the package first", "ok")) == ["Install the package first"]
    assert terms_of(cite_link(NODE, "ok", "Install the package first")) == ["Install the package first"]


def test_a_word_longer_than_a_term_is_never_cut() -> None:
    assert cite_link(NODE, "x" * 500, "x" * 500) == NODE
    assert terms_of(cite_link(NODE, "x" * 500 + " and then some words", "y")) == ["and then some words"]


def test_japanese_needs_no_spaces_and_breaks_at_punctuation() -> None:
    text = (
        "これは最初の文です。"
        + "次の文はもう少し長くて、いくつかの節から成ります。" * 3
        + "最後の文がここで終わります。"
    )
    start, end = terms_of(cite_link(NODE, text, text))
    assert text.startswith(start)
    assert start[-1] in "。、"
    assert text.endswith(end)
    assert text[-len(end) - 1] in "。、"


def test_one_endless_chinese_clause_still_gets_its_first_and_last_characters() -> None:
    text = "安装" * 200
    start, end = terms_of(cite_link(NODE, text, text))
    assert text.startswith(start)
    assert text.endswith(end)
    assert 10 <= len(start) <= 24


@given(st.lists(st.text(alphabet="ab1-,&.é \t", max_size=120), min_size=1, max_size=4).map("\n".join))
def test_the_terms_are_found_in_the_text_and_the_link_stays_short(text: str) -> None:
    link = cite_link(NODE, text, text)
    cells = [cell for line in text.split("\n") for cell in re.split(r"\t|\s{2,}", line)]
    assert lands(terms_of(link), cells)
    assert len(link) < len(NODE) + 1200
    assert re.fullmatch(r"[!-~]*", link)
    assert len(terms_of(link)) <= 2


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_give_a_link_to_the_node(first: str, last: str) -> None:
    assert cite_link(NODE, first, last).startswith(NODE)
