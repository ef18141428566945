"""Neighbours of the cases: the same kind of markup as other generators and sites write it."""

from __future__ import annotations

import re

import pytest

from ingest.html.parse import parse
from ingest.model import Page

HERE = "https://docs.example.test/guide/page.html"


def page_of(body: str, head: str = "<title>Page</title>") -> Page:
    document = parse(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode(), HERE)
    assert document.page is not None
    return document.page


def sections(body: str) -> list[tuple[str, str]]:
    """Title and text of each section."""
    return [(node.title, node.text) for node in page_of(f"<main><h1>Top</h1>{body}</main>").nodes]


def code(body: str) -> list[str]:
    page = page_of(f"<main><h1>Top</h1><p>Do this first.</p>{body}</main>")
    return [block.text for node in page.nodes for block in node.blocks if block.kind == "code"]


@pytest.mark.parametrize(
    "listing",
    [
        '<pre><code><span style="white-space:pre;-webkit-user-select:none;user-select:none;color:#7f7f7f">1 </span>cd app\n'
        '<span style="-webkit-user-select: none">2 </span>./run</code></pre>',
        '<pre><span class="linenos">1</span>cd app\n<span class="linenos">2</span>./run</pre>',
        '<pre><code><span class="linenumber react-syntax-highlighter-line-number">1</span>cd app\n'
        '<span class="linenumber react-syntax-highlighter-line-number">2</span>./run</code></pre>',
        '<pre><a data-line-number="1" id="L1" href="#L1">1</a>cd app\n<a data-line-number="2" href="#L2">2</a>./run</pre>',
        '<pre><span class="select-none">$ </span>cd app\n<span class="select-none">$ </span>./run</pre>',
        '<table class="crayon-table"><tr><td class="crayon-nums"><div class="crayon-nums-content"><div class="crayon-num">1'
        '</div><div class="crayon-num">2</div></div></td><td class="crayon-code"><div class="crayon-pre">'
        '<div class="crayon-line"><span>cd</span> app</div><div class="crayon-line">./run</div></div></td></tr></table>',
        '<div class="language-sh line-numbers-mode"><pre><code>cd app\n./run</code></pre>'
        '<div class="line-numbers-wrapper"><span class="line-number">1</span><br><span class="line-number">2</span></div></div>',
        '<table class="rouge-table"><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2</pre></td>'
        '<td class="rouge-code"><pre>cd app\n./run</pre></td></tr></table>',
    ],
    ids=["inline-style", "pygments", "react", "data-attribute", "prompt", "crayon", "vitepress", "rouge"],
)
def test_line_numbers_are_no_code(listing: str) -> None:
    assert code(listing) == ["cd app\n./run"]


def test_numbers_that_are_the_listing_stay() -> None:
    assert code('<pre><span class="line">1</span>\n<span class="line">2</span></pre>') == ["1\n2"]
    assert code('<div class="gutter"><pre>seq 3\n1\n2\n3</pre></div>') == ["seq 3\n1\n2\n3"]


@pytest.mark.parametrize(
    "mark",
    [
        '<b class="conum">(1)</b>',
        '<i class="conum" data-value="1"></i><b>(1)</b>',
        '<i class="conum" data-value="1"></i><b>(1)</b> <i class="conum" data-value="2"></i><b>(2)</b>',
        '<span class="co">1</span>',
    ],
)
def test_callout_marks_leave_a_line_that_a_shell_takes(mark: str) -> None:
    assert code(f"<pre><code>run \\ {mark}\n  -p 80 <b>(x)</b></code></pre>") == ["run \\\n  -p 80 (x)"]


def test_bold_numbers_after_words_are_code() -> None:
    assert code("<pre>f<b>(1)</b></pre>") == ["f(1)"]


@pytest.mark.parametrize(
    ("body", "anchors"),
    [
        ('<h2>A</h2><a id="a" class="anchor" href="#a"></a><p>One.</p><h2>B</h2><p>Two.</p>', ["a", None]),
        ('<div><h2>A</h2><a id="x" class="anchor" href="#x"></a></div><h2 id="b">B</h2>', ["x", "b"]),
        ('<div><h2>A</h2><span><a id="x" class="anchor" href="#x"></a></span></div><p>One.</p><h2>B</h2>', ["x", None]),
        ('<h2>A</h2><a id="b" class="anchor" href="#b"></a><h2>B</h2><p>Two.</p>', [None, "b"]),
        ('<h2>A</h2><a id="a" class="anchor" href="#a"></a><h2>B</h2><p>Two.</p>', ["a", None]),
        ('<h2>A</h2><p>One. <a id="x" href="#x">#</a></p><h2>B</h2>', [None, None]),
    ],
    ids=["flat", "wrapper", "wrapped-link", "before-the-next", "named-after", "later"],
)
def test_a_permalink_after_a_heading_is_its_anchor(body: str, anchors: list[str | None]) -> None:
    page = page_of(f"<main><h1>Top</h1><p>Words.</p>{body}</main>")
    assert [node.anchor for node in page.nodes[1:]] == anchors


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("比较长，\n  用一行", "比较长，用一行"),
        ("使用\nDocker\n部署", "使用 Docker 部署"),
        ("カタ\nカナ", "カタカナ"),
        ("한국어\n문장", "한국어 문장"),
        ("两 词", "两 词"),
        ("<b>比较</b>\n<i>长</i>", "比较长"),
    ],
)
def test_a_source_line_break_in_a_script_without_spaces_is_no_space(written: str, read: str) -> None:
    assert sections(f"<h2>{written}</h2><p>{written}</p>")[1] == (read, read)


def test_a_quoted_heading_with_an_address_is_a_section() -> None:
    assert [title for title, _ in sections("<blockquote><h3>Danger</h3><p>Hot.</p></blockquote>")] == ["Top"]
    assert [title for title, _ in sections('<blockquote><h3 id="d">Danger</h3><p>Hot.</p></blockquote>')] == [
        "Top",
        "Danger",
    ]


@pytest.mark.parametrize(
    "name",
    "toc-content page-with-toc breadcrumbs feedback was-helpful pagination cookie-consent sidebar footer toolbar popover".split(),
)
@pytest.mark.parametrize("attribute", ["class", "id"])
def test_a_word_alone_removes_no_section(name: str, attribute: str) -> None:
    body = f'<div {attribute}="{name}"><h2 id="x">The widget</h2><p>It is shown at the end of each page.</p></div>'
    assert sections(f"<p>Words.</p>{body}")[1:] == [("The widget", "It is shown at the end of each page.")]


@pytest.mark.parametrize(
    "box",
    [
        '<div class="feedback"><h2>Was this page helpful?</h2><p>Tell us what we could do better here.</p></div>',
        '<div class="cookie-banner"><h3>Cookies</h3><p>We use cookies to improve your visit to this site.</p></div>',
        '<div class="toc"><h2>Contents</h2><ul><li><a href="#a">Alpha and more</a></li><li><a href="#b">Beta</a></li></ul></div>',
        '<div class="breadcrumbs"><a href="/">Home</a> / A page with quite a long name.</div>',
        '<div class="footer"><p>Copyright 2024 Acme. All rights reserved.</p></div>',
        '<div class="pagination"><a href="a.html">Previous</a> <a href="b.html">Next</a></div>',
        '<div class="copybtn">Copied!</div>',
    ],
)
def test_what_is_a_words_usual_meaning_goes(box: str) -> None:
    page = page_of(
        f'<div class="body"><h1>Top</h1><p>{"Words of the page. " * 9}</p><h2 id="a">A</h2><p>One.</p></div>{box}'
    )
    assert [node.title for node in page.nodes] == ["Top", "A"]
    assert page.nodes[1].text == "One."


def test_a_footer_around_the_content_needs_an_address_to_be_a_section() -> None:
    body = f"<h1>Top</h1><p>{'Words of the page. ' * 9}</p>"
    company = '<div class="footer"><h4>About Acme</h4><p>We have made things for people since 1999.</p></div>'
    assert [node.title for node in page_of(body + company).nodes] == ["Top"]
    section = '<div class="footer" id="about-acme"><h4>About Acme</h4><p>We have made things since 1999.</p></div>'
    assert [node.title for node in page_of(body + section).nodes] == ["Top", "About Acme"]


def test_names_do_not_count_where_they_would_leave_nothing() -> None:
    page = page_of(
        '<main><h1>Index</h1><div class="toc"><ul><li>alpha command</li><li>beta command</li></ul></div></main>'
    )
    assert "alpha command" in page.nodes[0].text


@pytest.mark.parametrize(
    "body",
    [
        '<h3>How long?</h3><div style="display: none"><p>Six weeks.</p></div>',
        '<h3>Terms</h3><div class="faq-answer" hidden><p>Six weeks.</p></div>',
        '<h3 onclick="t()">Terms</h3><div hidden><p>Six weeks.</p></div>',
        '<h3><a data-toggle="collapse" href="#c">Terms</a></h3><div id="c" style="display:none"><p>Six weeks.</p></div>',
        '<p>Ask.</p><a role="button" aria-controls="c">More</a><div id="c" aria-hidden="true"><p>Six weeks.</p></div>',
        "<dl><dt>How long</dt><dd hidden>Six weeks.</dd></dl>",
        '<button aria-expanded="false">More</button><div hidden><p>Six weeks.</p></div>',
        '<div class="accordion-header">More</div><div class="accordion-panel" style="display:none">Six weeks.</div>',
        "<x-tabs><section hidden>Six weeks.</section></x-tabs>",
        '<div data-os="mac">Mac.</div><div data-os="linux" hidden>Six weeks.</div>',
        '<div aria-labelledby="tab-2" hidden>Six weeks.</div>',
        "<details><summary>How long?</summary><p>Six weeks.</p></details>",
    ],
)
def test_what_a_click_opens_is_content(body: str) -> None:
    assert "Six weeks." in sections(f"<p>Words.</p>{body}")[-1][1]


@pytest.mark.parametrize(
    "body",
    [
        '<p>Words.</p><div style="display:none"><p>Six weeks.</p></div>',
        "<h3>Terms</h3><div hidden><p>Six weeks.</p></div><p>Five.</p>",
        '<button onclick="copy()">Copy</button><div hidden>Six weeks.</div>',
        '<button aria-controls="m">Menu</button><ul id="m" hidden><li><a href="a.html">Six weeks.</a></li></ul>',
        '<button aria-controls="d">Ask us now</button><div id="d" role="dialog" hidden><p>Six weeks.</p></div>',
        '<div class="row">Row.</div><div class="row" hidden>Six weeks.</div>',
        "<x-app><div hidden>Six weeks.</div></x-app>",
    ],
)
def test_what_nothing_opens_stays_hidden(body: str) -> None:
    assert "Six weeks." not in str(sections(f"<p>Words.</p>{body}"))


def test_a_button_that_opens_a_panel_is_its_title() -> None:
    body = (
        '<button aria-controls="c" aria-expanded="false">How long?</button><div id="c" hidden><p>Six weeks.</p></div>'
    )
    assert sections(body)[0][1] == "How long?\nSix weeks."


REMARKS = [
    '<div class="flex"><p>Last updated <time>2 months ago</time></p></div>',
    "<p>Updated over a week ago</p>",
    "<p>Written by Jane Doe</p>",
    "<div>Written by Jane Doe. Updated yesterday</div>",
    "<p>Last modified on March 5, 2024 by Jane Doe</p>",
    "<p>Created by Jane Doe, last modified by John Roe on Jan 05, 2024</p>",
    "<p>This page was last edited on 5 May 2024, at 12:00.</p>",
    "<span>3 min read</span>",
    "<div><span>1,204 views</span> <span>3 comments</span></div>",
    "<div><p>Was this page helpful?</p><span>Yes</span><span>No</span></div>",
    "<div><h3>Did this answer your question?</h3><span>😞</span><span>😐</span></div>",
    "<p>12 out of 15 found this helpful</p>",
    "<p>Did this page help you?</p>",
    "<p>Have more questions? Submit a request</p>",
    "<p>Thank you for your feedback!</p>",
    "<div><a href='a.html'><span>Previous</span><span>Install</span></a><a href='b.html'><span>Next</span><b>Run</b></a></div>",
    "<p><a href='b.html' rel='next'>Run it</a></p>",
    "<div><a href='b.html'>Next: Run it</a></div>",
    "<p>Zuletzt aktualisiert am 5. Mai 2024</p>",
    "<p>最終更新日: 2024-01-05</p>",
    "<div>2 minute(s) read</div>",
    "<div>5 min read · 1,204 views · May 5, 2024</div>",
    "<div><span>May 5, 2024</span>&nbsp;·&nbsp;3 min&nbsp;·&nbsp;Jane Doe</div>",
    "<div><time>Last updated on May 5, 2024</time></div>",
    "<div>4.5 out of 5 stars (12 votes)</div>",
    "<div><span>Share this article</span> <a href='https://twitter.com/x'>Twitter</a> <a href='https://facebook.com/x'>Facebook</a></div>",
    "<div>Sorry we couldn't be helpful. Help us improve this article with your feedback.</div>",
    "<div id='likes-and-labels-container'><ul><li>No labels</li></ul></div>",
    "<div id='pagination'><a href='a.html'>Install</a> <a href='b.html'>Run</a></div>",
    "<h2 id='ms--feedback'>Feedback</h2>",
    "<section><h3>Related Articles</h3><ul><li><a href='a.html'>Keys</a></li><li><a href='b.html'>Locks</a></li></ul></section>",
]


@pytest.mark.parametrize("remark", REMARKS)
def test_what_changes_by_itself_is_no_content(remark: str) -> None:
    assert sections(f"<p>Press the button.</p><h2>Undo</h2><p>Press again.</p>{remark}") == [
        ("Top", "Press the button."),
        ("Undo", "Press again."),
    ]


@pytest.mark.parametrize(
    "words",
    [
        "<p>Updated the parser in 3.1.</p>",
        "<p>The field is last updated when a vote is counted.</p>",
        "<p>Pages are written by the compiler.</p>",
        "<p>Was this helpful? is what the widget asks, and it stores stars.</p>",
        "<p>Next, run the command.</p>",
        "<ul><li><a href='iter.next.html'>next</a></li><li><a href='iter.map.html'>map</a></li></ul>",
        "<pre>Last updated 2 months ago</pre>",
        "<table><tr><th>Field</th><th>Shows</th></tr><tr><td>age</td><td><p>2 months ago</p></td></tr></table>",
        "<p>You may help.</p>",
        "<p>5 minutes</p>",
        "<p>Version of 2024</p>",
        "<p>Share the link on <a href='t.html'>Twitter</a>, then wait.</p>",
        "<p>Jane Doe · 2024 · Paris</p>",
    ],
)
def test_words_about_such_things_are_content(words: str) -> None:
    assert len(sections(f"<p>Press.</p>{words}")[0][1]) > len("Press.") + 4


def test_a_title_that_is_said_again_under_it_is_one_node() -> None:
    page = page_of('<main><h1 id="a">Install</h1><h2 id="b">Install</h2><p>Run it.</p><h2 id="c">More</h2></main>')
    assert [(node.level, node.title, node.anchor, node.aliases, node.text) for node in page.nodes] == [
        (1, "Install", "a", ("b",), "Run it."),
        (2, "More", "c", (), ""),
    ]
    words_between = page_of("<main><h1>Install</h1><p>First.</p><h2>Install</h2><p>Run it.</p></main>")
    assert [node.title for node in words_between.nodes] == ["Install", "Install"]


def test_a_page_without_a_title_is_called_by_its_address() -> None:
    untitled = page_of("<main><p>Words of the page.</p></main>", "<title>&lt;no title&gt; &#8212; Acme docs</title>")
    assert untitled.title == "page"
    headed = page_of("<main><h2>One</h2><p>Words.</p><h2>Two</h2></main>", "<title>&lt;no title&gt; - Acme</title>")
    assert headed.title == "One"


CLOSING = [
    "<div>Was this helpful? <a href='/sales'>Contact sales</a> or ask in the forum.</div>",
    "<p>Except as otherwise noted, the content of this page is licensed under the <a href='l.html'>CC BY 4.0</a> licence.</p>",
    "<div><h3>Try Acme Cloud</h3><p>Run it without servers.</p><a href='/t'>Start your free trial</a></div>",
    "<section><p>Still have questions? <a href='/c'>Ask the community</a>.</p></section>",
    "<hr><p><font size='-1'>This document was generated on <i>May 1, 2024</i> using <a href='t'>texi2html</a>.</font></p>",
    "<hr>This document was created by <a href='m'>man2html</a>, using the manual pages.<br>Time: 10:00:00 GMT",
    "<hr><address>Jane Doe 2024-05-01</address>",
    "<div><div>Found a mistake? <a href='i'>Tell us</a>.</div><div>© 2024 Acme</div></div>",
    "<p>The documentation for this class was generated from the following file:</p>",
]


@pytest.mark.parametrize("remark", CLOSING)
def test_what_a_site_says_under_every_text_is_no_content(remark: str) -> None:
    assert sections(f"<p>Press the button.</p><h2 id='u'>Undo</h2><p>Press again.</p>{remark}") == [
        ("Top", "Press the button."),
        ("Undo", "Press again."),
    ]


@pytest.mark.parametrize(
    "end",
    [
        "<h2>Contact</h2><p>Write to us.</p><p>Contact sales for a price.</p>",
        "<h2>Questions</h2><p>Still have questions? Write to us.</p>",
        "<h2>License</h2><p>The rules.</p><p>Licensed under MIT.</p>",
        "<p>Need help? Run <code>acme help</code>.</p>",
        "<p>Generated by the compiler, a file of this kind holds every symbol of the program with its address, its size and the place in the source where it was defined.</p>",
        "<div>Was this helpful? asks the widget.</div><p>It stores stars.</p>",
    ],
)
def test_the_last_words_of_an_author_stay(end: str) -> None:
    words = " ".join(f"{title} {text}" for title, text in sections(f"<p>Press.</p>{end}"))
    assert re.sub(r"\W", "", re.sub("<[^>]*>", "", end)) in re.sub(r"\W", "", words)


PROSE = "The list of conditions is gone through from the top, and what the first that holds says is done. " * 3


@pytest.mark.parametrize("name", ["chapter", "with-sidebar", "summary-page", "nav-layout"])
def test_a_box_that_is_called_like_a_navigation_but_holds_prose_is_none(name: str) -> None:
    entry = f'<li><p><span>require</span>: {PROSE}</p><ul><li><a href="page.html">above</a></li></ul></li>'
    page = page_of(f'<div class="{name}"><h2 id="one">Access</h2><p>{PROSE}</p><ul>{entry}</ul></div>')
    assert page.breadcrumb == ()


def test_a_list_of_chapters_is_one() -> None:
    entry = '<li><span>Running</span><ul><li><a href="page.html">Access</a></li></ul></li>'
    page = page_of(f'<ol class="chapter">{entry}</ol><main><h1 id="one">Access</h1><p>{PROSE}</p></main>')
    assert [crumb.title for crumb in page.breadcrumb] == ["Running"]
