"""How alike two pages are, whatever differs on every answer of a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.text.likeness import MAX_BRIEF_PAIRS, MAX_PAIRS, Likeness, alike, brief, is_edit, is_known, likeness

LONG = "Close the main valve first, then open the drain and wait until nothing flows any more from the {}."


def page(text: str, title: str = "Guide", url: str = "https://a.test/docs/pump.html") -> Likeness:
    return likeness(url, title, [title, text])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ray ID: 8f3b2c9d1e4a", "Ray ID: 91aa02bc77fe"),
        ("request 1234567 at 2026-05-01T10:00:01Z", "request 7654321 at 2026-05-02T11:10:09Z"),
        ("seen on 2026-05-01 10:00:07", "seen on 2027-06-02 11:10:09"),
        ("from 10.0.0.1", "from 192.168.7.12"),
    ],
)
def test_ids_and_times_do_not_count(one: str, other: str) -> None:
    assert page(one) == page(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Part 1", "Part 2"), ("Port 8080", "Port 9090"), ("pumps", "valves"), ("版本一", "版本二")]
)
def test_words_and_numbers_of_the_text_count(one: str, other: str) -> None:
    assert page(one) != page(other)


@pytest.mark.parametrize("named", ["{url}", "{path}", "{file}"])
def test_a_pages_own_address_does_not_count(named: str) -> None:
    def echo(name: str) -> Likeness:
        url = f"https://a.test/docs/{name}.html?q=a.b"
        told = {"url": url, "path": f"/docs/{name}.html", "file": f"{name}.html"}
        return page(f"The page {named.format(**told)} is being worked on.", url=url)

    assert echo("pump") == echo("valve")


def test_a_bare_word_of_the_address_is_a_word_of_the_text() -> None:
    assert page("All about pump", url="https://a.test/pump") != page("All about valve", url="https://a.test/valve")


def test_with_one_title_a_line_may_differ_and_without_it_hardly_anything() -> None:
    one, other = page(LONG.format("pump")), page(LONG.format("valve"))
    assert alike(one, other)
    assert not alike(one, other._replace(title="Another"))
    assert not alike(one, page("Something else is said here, at some length, of other things."))


@given(st.text(max_size=400), st.text(max_size=400))
def test_likeness_is_mutual_and_of_a_page_with_itself(one: str, other: str) -> None:
    first, second = page(one), page(other)
    assert alike(first, first)
    assert alike(first, second) == alike(second, first)
    assert is_known(first, brief(first))
    assert len(first.pairs) <= MAX_PAIRS


def test_what_is_kept_in_brief_knows_the_text_again_and_no_other() -> None:
    many = page(" ".join(f"word{n} of" for n in range(400)), title="A title " * 40)
    assert len(brief(many).split(" ")) <= MAX_BRIEF_PAIRS + 100
    assert is_known(many, brief(many))
    assert not is_known(page("quite another text"), brief(many))


def test_an_edited_page_holds_its_old_text_and_a_replaced_one_does_not() -> None:
    old = page(LONG.format("pump"))
    assert is_edit(page(LONG.format("pump") + " It takes ten minutes. Then close the drain."), old)
    assert not is_edit(page("Sign in to go on. Your name and your password, please."), old)


def test_a_long_page_holds_a_long_text_that_grew() -> None:
    text = " ".join(f"step {n} is turned by hand" for n in range(600))
    assert is_edit(page(f"{text} and nothing else was added"), page(text))
