"""Addresses without end: told by their shape and by what pages say."""

from __future__ import annotations

import pytest

from ingest.sites.traps import MAX_COPIES, MAX_STALE, Traps, shape_of
from ingest.text.likeness import Likeness, likeness


def says(text: str, title: str = "T") -> Likeness:
    return likeness("https://a.test/", title, [text])


@pytest.mark.parametrize(
    ("url", "path", "varied"),
    [
        ("https://a.test/docs/a.html", "a.test/docs/a.html", False),
        ("https://a.test/cal/2026/05", "a.test/cal/0/0", True),
        ("https://a.test/cal/2026-05-01", "a.test/cal/0", True),
        ("https://a.test/list?b=2&a=1", "a.test/list", True),
        ("https://a.test/x;jsessionid=12AB", "a.test/x", True),
        ("https://a.test/(S(lit3py55t21z5v55vlm25s55))/x", "a.test/0/x", True),
        ("https://a.test/3f2b9c0d1e4a/x", "a.test/0/x", True),
        ("https://a.test/python3/x", "a.test/python3/x", False),
        ("https://a.test/a-long-name-with-2-numbers", "a.test/a-long-name-with-2-numbers", False),
    ],
)
def test_a_shape_leaves_out_what_is_counted(url: str, path: str, varied: bool) -> None:
    found, shape = shape_of(url)
    assert (found, bool(shape)) == (path, varied)


def test_a_shape_is_of_names_and_not_of_values() -> None:
    one, other = shape_of("https://a.test/l?a=1&b=2"), shape_of("https://a.test/l?b=9&a=7")
    assert one == other != shape_of("https://a.test/l?a=1")


def test_links_of_copies_lead_on_only_so_often() -> None:
    traps = Traps()
    leads = [traps.note(f"https://a.test/{'x/' * n}index.html", says("one and the same text")) for n in range(25)]
    assert leads == [True] * MAX_COPIES + [False] * (25 - MAX_COPIES)
    assert traps.most_said() == 25
    assert Traps().most_said() == 0
    assert traps.note("https://a.test/other", says("something else altogether"))


def test_a_calendar_is_closed_and_other_paths_are_not() -> None:
    traps = Traps()
    for n in range(MAX_STALE + 1):
        assert not traps.holds(f"https://a.test/cal?month={n}")
        traps.note(f"https://a.test/cal?month={n}", says(f"nothing at all came out in this month, which is {n}"))
    assert traps.holds("https://a.test/cal?month=99")
    assert not traps.holds("https://a.test/other?month=1")
    assert not traps.holds("https://a.test/cal")
    assert Traps(frozenset(traps.closed)).closed == traps.closed


def test_one_page_that_says_something_new_opens_the_count_again() -> None:
    traps = Traps()
    for n in range(3 * MAX_STALE):
        fresh = n % (MAX_STALE - 1) == 0
        text = " ".join(f"w{n}x{k}" for k in range(20)) if fresh else "nothing came out in this month"
        traps.note(f"https://a.test/cal?month={n}", says(text))
    assert not traps.closed
