"""Rules that no case of tests/data/html/cases shows."""

from __future__ import annotations

import pytest

from ingest.html.parse import parse
from ingest.html.printed import printed
from ingest.model import Crumb, Node, Page

URL = "https://docs.example.test/guide/page.html"


def page_of(content: str, url: str = URL, head: str = "<title>Page</title>") -> Page:
    page = parse(f"<!doctype html><head>{head}</head><body>{content}".encode(), url).page
    assert page is not None
    return page


def nodes_of(content: str) -> tuple[Node, ...]:
    return page_of(f"<main>{content}</main>").nodes


def outline_of(content: str) -> list[tuple[int, str, str | None, str]]:
    return [(node.level, node.title, node.anchor, node.text) for node in nodes_of(content)]


def skip_of(body: bytes, content_type: str = "text/html", **options: object) -> str | None:
    skip = parse(body, URL, content_type=content_type, **options).skip  # type: ignore[arg-type]
    return skip.reason if skip else None


@pytest.mark.parametrize(
    ("label", "raw", "text"),
    [
        ("gb2312", "简体".encode("gbk"), "简体"),
        ("big5", "繁體".encode("big5hkscs"), "繁體"),
        ("euc-kr", "똠방".encode("cp949"), "똠방"),
        ("x-user-defined", b"caf\xe9", "café"),
        ("iso-8859-9", b"\xdeark\xfd", "Şarkı"),
        ("utf-16", "naïve".encode(), "naïve"),
        ("no-such-label", "naïve".encode(), "naïve"),
    ],
)
def test_labels_mean_what_browsers_take_them_to_mean(label: str, raw: bytes, text: str) -> None:
    body = b"<meta charset=" + label.encode() + b"><main><h1>T</h1><p>" + raw + b"</main>"
    page = parse(body, URL).page
    assert page is not None
    assert page.nodes[0].text == text


def test_a_late_meta_counts_and_one_in_a_comment_does_not() -> None:
    late = b"<head>" + b"<!-- meta charset=utf-8 -->" + b" " * 4000 + b"<meta charset=koi8-r></head>"
    page = parse(late + b"<main><h1>" + "Привет".encode("koi8-r"), URL).page
    assert page is not None
    assert page.nodes[0].title == "Привет"


def test_the_header_beats_the_meta_tag() -> None:
    body = b"<meta charset=utf-8><main><h1>" + "Привет".encode("cp1251")
    page = parse(body, URL, headers={"Content-Type": "text/html; charset=windows-1251"}).page
    assert page is not None
    assert page.nodes[0].title == "Привет"


def test_self_closed_elements_end_in_xhtml() -> None:
    body = (
        b'<html xmlns="http://www.w3.org/1999/xhtml"><body><script src="a.js"/><h1><a id="v"/>Valve</h1><p>Opens.</p>'
    )
    page = parse(body, URL, content_type="application/xhtml+xml").page
    assert page is not None
    assert [(n.title, n.anchor, n.text) for n in page.nodes] == [("Valve", "v", "Opens.")]


def test_a_list_shows_bullets_and_numbers_beside_its_text() -> None:
    (node,) = nodes_of("<h1>L</h1><ol start=3><li>a<p>more</p><ul><li>b</ul><li>c</ol>")
    (block,) = node.blocks
    assert block.kind == "list"
    assert block.text == "a\nmore\nb\nc"
    assert block.shown == "3. a\n   more\n  - b\n4. c"


def test_code_in_a_list_item_is_a_block_and_the_list_goes_on_after_it() -> None:
    (node,) = nodes_of("<h1>L</h1><ol><li>run<pre class='language-sh'>x\n  y\n</pre>then</li><li>stop</li></ol>")
    assert [(b.kind, b.shown, b.language) for b in node.blocks] == [
        ("list", "1. run", None),
        ("code", "x\n  y", "sh"),
        ("list", "   then\n2. stop", None),
    ]


def test_a_table_keeps_rows_as_lines_and_cells_apart() -> None:
    (node,) = nodes_of(
        "<h1>T</h1><table><caption>Sizes</caption><tr><th>A<th>B<tr><td><p>1<p>2<td><ul><li>x<li>y</ul></table>"
    )
    assert [b.text for b in node.blocks] == ["Sizes\nA\tB\n1 2\tx y"]


def test_a_table_that_holds_listings_is_read_cell_by_cell() -> None:
    (node,) = nodes_of("<h1>T</h1><table><tr><td>old<td>new<tr><td><pre>a\n b</pre><td><pre>c\n d</pre></table>")
    assert [b.text for b in node.blocks] == ["old", "new", "a\n b", "c\n d"]


def test_a_heading_alone_in_its_row_divides_the_table() -> None:
    assert outline_of(
        "<h1>T</h1><table><tr><td>a<td>b<tr><td colspan=2><h2 id=m>More</h2><tr><td>c<td>d</table><p>end</p>"
    ) == [(1, "T", None, "a\tb"), (2, "More", "m", "c\td\nend")]


def test_a_definition_ends_with_its_list() -> None:
    assert outline_of(
        "<h1>C</h1><dl><dt id=k>Kite</dt><dd>Flies.<h3>Tail</h3><p>Long.</dd></dl><p>After.</p><h2>Next</h2><p>n"
    ) == [
        (1, "C", None, "After."),
        (2, "Kite", "k", "Flies."),
        (3, "Tail", None, "Long."),
        (2, "Next", None, "n"),
    ]


def test_a_heading_in_a_definition_is_raised_below_it_and_a_later_one_does_not_hang_there() -> None:
    nodes = nodes_of("<h1>C</h1><h3>S</h3><dl><dt id=k>K<dd><h2>In</h2>t</dl><h4>Later</h4>")
    assert [(n.title, n.level, n.parent) for n in nodes] == [
        ("C", 1, None),
        ("S", 3, "0"),
        ("K", 4, "1"),
        ("In", 5, "2"),
        ("Later", 4, "1"),
    ]


def test_several_terms_of_one_definition_are_one_section() -> None:
    nodes = nodes_of("<h1>C</h1><dl><dt id=a>open</dt><dt id=b>close</dt><dd>Moves.</dd></dl>")
    assert [(n.title, n.anchor, n.aliases, n.text) for n in nodes[1:]] == [("open", "a", ("b",), "close\nMoves.")]


def test_of_a_mixed_list_only_the_terms_that_the_contents_link_to_are_sections() -> None:
    page = page_of(
        "<nav><a href='#a'>A</a></nav><main><h1>C</h1><dl><dt id=a>A<dd>1<dt id=b>B<dd>2<dt>C<dd>3</dl></main>"
    )
    assert [(n.title, n.text) for n in page.nodes] == [("C", "B\n2\nC\n3"), ("A", "1")]


def test_postgresql_settings_are_sections_with_their_own_address() -> None:
    nodes = nodes_of(
        "<div class=sect1 id=CONN><h2 class=title>20.3. Connections</h2><dl class=variablelist>"
        "<dt id=GUC-LISTEN-ADDRESSES><span class=term><code>listen_addresses</code> (<code>string</code>)"
        " <a id=id-1 class=indexterm></a></span> <a href='#GUC-LISTEN-ADDRESSES' class=id_link>#</a></dt>"
        "<dd><p>Where to listen.</dd></dl></div>"
    )
    assert [(n.title, n.level, n.anchor, n.aliases, n.kind) for n in nodes[1:]] == [
        ("20.3. Connections", 2, "CONN", (), "heading"),
        ("listen_addresses (string)", 3, "GUC-LISTEN-ADDRESSES", ("id-1",), "definition"),
    ]


def test_columns_of_links_in_a_layout_table_are_no_content() -> None:
    page = page_of("<table><tr><td><a href=a>A</a><a href=b>B</a></td><td><h1>T</h1><p>Hello.</td></tr></table>")
    assert [(n.level, n.title, n.text) for n in page.nodes] == [(1, "T", "Hello.")]


def test_footnotes_are_no_definitions_and_their_marks_no_words() -> None:
    (node,) = nodes_of(
        "<h1>F<sup><a href='#n'>1</a></sup></h1><p>Oil it<sup id=r><a href='#n'>1</a></sup>."
        "<dl class=footnote><dt id=n>1<dd>Weekly. <a href='#r'>↩</a></dl>"
    )
    assert node.title == "F"
    assert node.text == "Oil it.\n1\nWeekly."


def test_squared_stays_squared() -> None:
    (node,) = nodes_of("<h1>x<sup>2</sup></h1><p>m<sup>3</sup></p>")
    assert (node.title, node.text) == ("x2", "m3")


def test_a_heading_that_is_a_card_names_a_page_and_the_page_lists_it() -> None:
    page = page_of("<main><h1>All</h1><a href='a.html'><h2>Alpha</h2><p>First.</p></a></main>")
    assert [(n.title, n.text) for n in page.nodes] == [("All", "Alpha\nFirst.")]
    assert page.claims.lists == ("https://docs.example.test/guide/a.html",)


def test_an_accordion_button_is_a_title_and_its_closed_panel_is_content() -> None:
    assert outline_of(
        "<h1>Q</h1><h2 id=q1><button aria-expanded=false aria-controls=p1>Why?</button></h2><div id=p1 hidden>So.</div>"
    ) == [(1, "Q", None, ""), (2, "Why?", "q1", "So.")]


def test_closed_details_are_content() -> None:
    assert outline_of("<h1>D</h1><details><summary><h2 id=s>More</h2></summary>Inside.</details>") == [
        (1, "D", None, ""),
        (2, "More", "s", "Inside."),
    ]


def test_a_shadow_tree_shows_its_slots_and_its_ids_lead_nowhere() -> None:
    assert outline_of(
        "<h1>S</h1><x-box><template shadowrootmode=open><h2 id=in>Box</h2><slot></slot>!</template>light</x-box>"
    ) == [(1, "S", None, ""), (2, "Box", None, "light!")]


def test_ruby_readings_are_kept_apart_from_the_words() -> None:
    (node,) = nodes_of(
        "<h1><ruby>漢字<rt>かんじ</rt></ruby></h1><p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>。"
    )
    assert (node.title, node.text) == ("漢字", "漢字(かんじ)。")


def test_an_image_speaks_only_where_nothing_else_does() -> None:
    (node,) = nodes_of(
        "<h1>I</h1><p><a href=x><img alt='How it flows' src=a></a></p><p>Words <img alt='a small icon' src=b></p>"
    )
    assert node.text == "How it flows\nWords"


def test_a_noscript_sentence_and_an_iframe_are_no_content() -> None:
    assert outline_of("<h1>N</h1><noscript>Turn it on.</noscript><iframe>old</iframe><p>yes") == [(1, "N", None, "yes")]


def test_a_visually_hidden_heading_of_content_is_a_heading() -> None:
    assert outline_of("<h1>V</h1><section><h2 class=sr-only id=f>Footnotes</h2><ol><li>One.</ol></section>") == [
        (1, "V", None, ""),
        (2, "Footnotes", "f", "One."),
    ]


def test_a_note_with_a_heading_is_text() -> None:
    assert outline_of("<h1>A</h1><div class=warning><h3>Warning</h3><p>Hot.</p></div>") == [
        (1, "A", None, "Warning\nHot.")
    ]


def test_a_wrapper_around_several_sections_is_no_anchor() -> None:
    assert [n.anchor for n in nodes_of("<h1 id=t>W</h1><div id=both><h2>A</h2>a<h2>B</h2>b</div>")] == ["t", None, None]


def test_trail_from_a_row_of_signs_and_it_is_no_text() -> None:
    page = page_of("<p><a href='/'>Docs</a> &gt;&gt; <a href='/ops/'>Ops</a> &gt;&gt; Cache</p><h1>Cache</h1><p>Fast.")
    assert page.breadcrumb == (
        Crumb("Docs", "https://docs.example.test/"),
        Crumb("Ops", "https://docs.example.test/ops/"),
    )
    assert [(n.level, n.title, n.text) for n in page.nodes] == [(1, "Cache", "Fast.")]


def test_trail_from_rel_up() -> None:
    page = page_of("<h1>Sin</h1><p>t", head="<title>Sin</title><link rel=up href='functions.html' title='Functions'>")
    assert page.claims.source == "up"
    assert page.breadcrumb == (Crumb("Functions", "https://docs.example.test/guide/functions.html"),)


def test_a_row_of_spans_is_a_trail() -> None:
    page = page_of(
        "<div class='nextra-breadcrumb'><a href='/d'>Docs</a><svg></svg><span>Adv</span><span>Page</span></div><h1>Page</h1>"
    )
    assert [c.title for c in page.breadcrumb] == ["Docs", "Adv"]


def test_contents_pages_list_their_pages_outermost_only() -> None:
    page = page_of(
        "<main><h1>Guide</h1><div class=toctree-wrapper><ul><li><a href=a.html>A</a><ul><li><a href=a1.html>A1</a></ul>"
        "<li><a href=b.html>B</a></ul></div></main>"
    )
    assert page.claims.lists == tuple(f"https://docs.example.test/guide/{name}.html" for name in "ab")
    assert page.nodes[0].text == ""


@pytest.mark.parametrize(
    ("href", "url", "canonical"),
    [
        ("/3.12/a.html", "https://docs.example.test/3.11/a.html", "https://docs.example.test/3.11/a.html"),
        ("/latest/a/", "https://docs.example.test/v1.2/a/", "https://docs.example.test/v1.2/a/"),
        ("https://www.docs.example.test/a", "https://docs.example.test/a?x=1", "https://www.docs.example.test/a"),
        ("https://docs.example.test/a.html", "file:///srv/site/a.html", "https://docs.example.test/a.html"),
        ("https://other.example/a", "https://docs.example.test/a#b", "https://docs.example.test/a"),
    ],
)
def test_a_canonical_of_another_version_or_host_is_not_this_page(href: str, url: str, canonical: str) -> None:
    page = page_of("<h1>A</h1>t", url=url, head=f"<title>A</title><link rel=canonical href='{href}'>")
    assert page.canonical == canonical


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"%PDF-1.7 <html>", "text/html", "not_html"),
        (b"\x89PNG\r\n", "", "not_html"),
        (b'{"a": "<p>"}', "application/json", "not_html"),
        (b'{"a": 1}', "", "not_html"),
        (b"plain words", "", "not_html"),
        (b"# Notes\n<br>", "text/plain", "not_html"),
        (b"<p>an example", "text/plain", "not_html"),
        (b"<!doctype html><h1>T</h1>words", "text/plain", None),
        (b"<?xml version='1.0'?><rss><channel>", "text/xml", "not_html"),
        (b"", "text/html", "empty"),
        (b"<html><body><nav>Menu</nav></body>", "text/html", "empty"),
        (b"<h1>T</h1>words", "", None),
        (b"<h1>T</h1>words", "application/xhtml+xml", None),
    ],
)
def test_what_is_no_page_says_why(body: bytes, content_type: str, reason: str | None) -> None:
    assert skip_of(body, content_type) == reason


def test_a_page_over_the_limit_is_too_large() -> None:
    assert skip_of(b"<h1>T</h1>" + b"x" * 100, max_bytes=50) == "too_large"


def test_robots_in_the_header_count_and_those_for_others_do_not() -> None:
    body = b"<main><h1>T</h1><p>words"
    assert skip_of(body, headers={"x-robots-tag": "noindex"}) == "noindex"
    assert skip_of(body, headers={"X-Robots-Tag": "otherbot: noindex, nofollow"}) is None
    assert skip_of(body, headers={"X-Robots-Tag": "none"}, index_noindex=True) is None
    assert parse(body, URL, headers={"X-Robots-Tag": "none"}).nofollow


def test_a_slow_refresh_on_a_page_with_content_is_no_redirect() -> None:
    words = b"word " * 80
    assert skip_of(b"<meta http-equiv=refresh content='5;url=/x'><h1>T</h1>" + words) is None
    assert skip_of(b"<meta http-equiv=refresh content='5;url=/x'><h1>T</h1>Moved.") == "redirect"
    assert skip_of(b"<meta http-equiv=refresh content='0'><h1>T</h1>Ticker.") is None


def test_a_missing_page_answered_as_missing_can_still_be_read() -> None:
    body = b"<title>404 Not found</title><h1>Not found</h1><p>Sorry."
    assert skip_of(body) == "soft_404"
    assert skip_of(body, status=404) is None


def test_links_keep_their_fragments_for_print_and_lose_them_for_crawling() -> None:
    document = parse(
        b"<main><h1>T</h1><a href='b#x'>b</a><a href='b#y'>b</a><a href='#z'>z</a><a href='mailto:a@b'>m", URL
    )
    assert document.links == ("https://docs.example.test/guide/b",)
    assert printed(document, URL)["links"] == [
        "https://docs.example.test/guide/b#x",
        "https://docs.example.test/guide/b#y",
    ]


def test_hostile_nesting_is_skipped_at_once() -> None:
    document = parse(b"<div>" * 500_000 + b"x", "https://d.test/p", content_type="text/html")
    assert document.skip is not None
    assert document.skip.reason == "too_large"


def test_a_single_topmost_heading_that_says_the_pages_title_is_the_pages_node() -> None:
    body = b"<title>20.3. Ports</title><body><h2 id='p'>20.3. Ports</h2><p>Text.</p><h3>One</h3><p>x</p></body>"
    page = parse(body, "https://d.test/p", content_type="text/html").page
    assert page is not None
    assert [(n.level, n.title, n.anchor, n.parent) for n in page.nodes] == [
        (2, "20.3. Ports", "p", None),
        (3, "One", None, "0"),
    ]
