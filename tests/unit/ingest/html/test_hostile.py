"""No page costs more than its size: every kind of hostile page is read at n and at 4n bytes, and four times the bytes
may take about four times as long."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ingest.html.dom import MAX_ATTRIBUTES, MAX_DEPTH, MAX_ELEMENTS, MAX_OPEN_TAGS, MAX_OPTIONS
from ingest.html.parse import parse
from ingest.model import Document
from tests.fakes.hostile_pages import KINDS, nested

URL = "https://docs.example.test/x/page.html"
BYTES = 12_000
UNNOTICED_SECONDS = 0.3
"""Below this nobody measures growth: it is noise."""
TIMES = 4
MOST_GROWTH = 8.0
"""Linear is 4, quadratic 16."""


def read(html: str) -> Document:
    return parse(html.encode("utf-8", "surrogatepass"), URL, content_type="text/html; charset=utf-8")


def seconds(make: Callable[[int], str], size: int, tries: int = 1) -> float:
    """Processor time; the best of some tries."""
    html = make(size)
    best = float("inf")
    for _ in range(tries):
        start = time.process_time()
        read(html)
        best = min(best, time.process_time() - start)
    return best


def grows(make: Callable[[int], str], size: int = BYTES) -> bool:
    """Whether the cost grows faster than the page; looked at again before that is said."""
    for tries in (1, 3):
        many = seconds(make, TIMES * size, tries)
        if many <= UNNOTICED_SECONDS or many <= MOST_GROWTH * seconds(make, size, tries):
            return False
    return True


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_page_costs_no_more_than_its_size(kind: str) -> None:
    assert not grows(KINDS[kind])


def test_growth_is_noticed() -> None:
    def slow(size: int) -> str:
        time_out = time.process_time() + 0.4 * (size / BYTES / TIMES) ** 2
        while time.process_time() < time_out:
            pass
        return "<p>x"

    def measured(size: int) -> float:
        start = time.process_time()
        slow(size)
        return time.process_time() - start

    assert measured(TIMES * BYTES) > MOST_GROWTH * measured(BYTES)


def reason(html: str) -> str:
    skip = read(html).skip
    assert skip is not None
    return f"{skip.reason}: {skip.detail}"


def test_elements_are_read_to_a_depth_of_500() -> None:
    around = 3  # html, body and the paragraph
    page = read(nested("<div>", "</div>", 1, "<p>Deep words.", MAX_DEPTH - around)).page
    assert page is not None
    assert page.nodes[0].text == "Deep words."
    assert reason(nested("<div>", "</div>", 1, "<p>x", MAX_DEPTH)) == "too_large: elements nested more than 500 deep"


@pytest.mark.parametrize("tag", ["span", "my-thing", "main", "b", "details", "ruby", "dl", "object"])
def test_every_kind_of_element_counts_for_the_depth(tag: str) -> None:
    assert reason(f"<{tag}>" * (MAX_OPEN_TAGS + 1)) == f"too_large: more than {MAX_OPEN_TAGS:,} elements stay open"


def test_elements_that_need_no_end_are_not_taken_for_nested_ones() -> None:
    many = 2 * MAX_OPEN_TAGS
    page = read("<p>x" * many + f"<svg>{'<path d=M0 />' * many}</svg>" + "<img src=x/>" * many).page
    assert page is not None
    assert len(page.nodes[0].blocks) == many


def test_a_page_of_more_elements_than_are_read_is_refused_by_a_look_at_its_tags() -> None:
    page = "x<br>" * (MAX_ELEMENTS + 1)
    start = time.process_time()
    assert reason(page) == f"too_large: more than {MAX_ELEMENTS:,} elements"
    assert time.process_time() - start < 2


def test_attributes_are_counted_before_they_are_parsed() -> None:
    many = " ".join(f"a{i}" for i in range(MAX_ATTRIBUTES))
    assert reason(f"<p {many} x>") == f"too_large: more than {MAX_ATTRIBUTES:,} attributes of one element"
    assert read(f"<p>Words.<svg><path d='{'1 2 ' * MAX_ATTRIBUTES}'/></svg>").page is not None


def test_options_are_counted_before_they_are_parsed() -> None:
    assert reason("<select>" + "<OPTION>" * (MAX_OPTIONS + 1)) == f"too_large: more than {MAX_OPTIONS:,} options"


def test_formatting_that_a_parser_would_open_anew_in_every_paragraph_counts() -> None:
    page = "<p>" + "".join(f"<font a={i}>" for i in range(400)) + "x<p>" * 5_000
    assert reason(page) == f"too_large: more than {MAX_ELEMENTS:,} elements"


def test_bold_left_open_on_every_line_is_read() -> None:
    page = read("<p><b>x<br>" * 3_000).page
    assert page is not None
    assert page.nodes[0].text.split() == ["x"] * 3_000


def test_shadow_roots_in_shadow_roots_are_read_without_recursion() -> None:
    depth = 160  # each is a host, the shadow root's place and a slot
    page = read(
        '<div><template shadowrootmode="open"><slot></slot>' * depth + "<p>Deep.</p>" + "</template>x</div>" * depth
    )
    assert page.page is not None
    assert "Deep." in page.page.nodes[0].text
    deeper = '<div><template shadowrootmode="open"><slot></slot>' * 400 + "</template>x</div>" * 400
    assert reason(deeper) == "too_large: elements nested more than 500 deep"


def test_the_first_slot_of_a_name_takes_what_asks_for_it() -> None:
    html = (
        '<div><template shadowrootmode="open"><p><slot>none</slot></p><p><slot>rest</slot></p>'
        "<p><slot name=a>other</slot></p></template>words <b slot=a>named</b></div>"
    )
    page = read(html).page
    assert page is not None
    assert [block.text for block in page.nodes[0].blocks] == ["words", "rest", "named"]


def test_thirty_comments_before_the_doctype_are_no_obstacle() -> None:
    page = read("<!-- a -->" * 30 + "<!doctype html><title>T</title><p>Words.").page
    assert page is not None
    assert page.title == "T"


@pytest.mark.parametrize("root", ["rss", "svg", "urlset"])
def test_other_xml_is_told_after_any_number_of_comments(root: str) -> None:
    assert (
        reason("<?xml version='1.0'?> " + "<!-- a --> " * 3_000 + f"<{root}>") == "not_html: text/html; charset=utf-8"
    )
