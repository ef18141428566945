"""Whether the words that a link lands on still stand on its page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block, Node
from ingest.urls import cite_link
from navigator.citations.linked_words import linked_words, words_stand

URL = "https://docs.example.test/pumps.html"
SAID = "Fill the pump, slowly, with water first – it needs 5 l."


def page(*texts: str) -> list[Node]:
    return [Node("n", None, 0, "Pumps", blocks=tuple(Block("text", text) for text in texts))]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (URL, []),
        (f"{URL}#prime", []),
        (f"{URL}#:~:text=Fill%20the%20pump", [("fill the pump",)]),
        (f"{URL}#prime:~:text=Fill,first", [("fill", "first")]),
        (f"{URL}#:~:text=before-,Fill,first,-after", [("fill", "first")]),
        (f"{URL}#:~:text=a%2Cb&text=c", [("a,b",), ("c",)]),
        (f"{URL}#:~:selector(type=x)", []),
        (f"{URL}#:~:text=", []),
    ],
)
def test_the_words_of_a_link_are_read(url: str, words: list[tuple[str, ...]]) -> None:
    assert linked_words(url) == words


@pytest.mark.parametrize(
    ("texts", "stands"),
    [
        ((SAID,), True),
        (("Something else.", SAID.replace(" ", "\u00a0\n")), True),
        ((SAID.replace("first", "last"),), True),
        ((SAID.replace("Fill", "Prime"),), False),
        ((), False),
    ],
    ids=["as it was", "elsewhere", "between its ends", "changed", "went"],
)
def test_a_citation_whose_ends_stand_leads_to_them(texts: tuple[str, ...], stands: bool) -> None:
    [words] = linked_words(f"{URL}#:~:text=Fill%20the%20pump,it%20needs%205%20l.")
    assert words_stand(words, page(*texts)) == stands


def test_the_last_words_stand_behind_the_first() -> None:
    assert words_stand(("one", "two"), page("One, two."))
    assert not words_stand(("two", "one"), page("One, two."))


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1), min_size=2, max_size=30)
)
def test_what_was_just_cited_stands(words: list[str]) -> None:
    text = " ".join(words)
    for found in linked_words(cite_link(URL, text, text)):
        assert words_stand(found, page(text))
