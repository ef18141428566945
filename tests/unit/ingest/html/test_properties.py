"""What holds for any page: hypothesis writes pages, honest and broken ones."""

from __future__ import annotations

import re
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from ingest.html.parse import parse
from ingest.html.printed import printed
from ingest.model import Page

URL = "https://docs.example.test/guide/page.html"
TAGS = (
    "h1 h2 h3 h6 p div section ul ol li dl dt dd table tr td th pre code a span blockquote b i br img details summary"
    " main article aside nav header footer template math svg ruby rt hgroup select button form title caption sup"
).split()
ATTRIBUTES = ["", " id=a", " id=b", " class=note", " class=sig", " href='#a'", " name=c", " hidden", " role=heading"]

soup = st.lists(
    st.one_of(
        st.sampled_from([f"<{tag}{attribute}>" for tag in TAGS for attribute in ATTRIBUTES]),
        st.sampled_from([f"</{tag}>" for tag in TAGS]),
        st.text(max_size=8),
    ),
    max_size=40,
).map("".join)


def check_tree(page: Page) -> None:
    level = {node.id: node.level for node in page.nodes}
    assert [node.id for node in page.nodes] == [str(i) for i in range(len(page.nodes))]
    assert page.nodes[0].parent is None
    anchors = [node.anchor for node in page.nodes if node.anchor is not None]
    assert len(anchors) == len(set(anchors))
    for node in page.nodes[1:]:
        assert node.parent is not None
        assert int(node.parent) < int(node.id)
        assert level[node.parent] < node.level
    for node in page.nodes:
        assert node.title == " ".join(node.title.split())
        for block in node.blocks:
            assert block.text.strip()
            assert not block.marks or len(block.marks) == len(block.text.split("\n"))


@given(st.binary(max_size=400))
def test_no_bytes_raise(body: bytes) -> None:
    for content_type in ("", "text/html", "text/html; charset=utf-16", "application/xhtml+xml; charset=x"):
        document = parse(body, URL, content_type=content_type)
        assert (document.page is None) is (document.skip is not None)
        printed(document, URL)


@given(soup)
def test_no_soup_raises_and_every_tree_is_a_tree(html: str) -> None:
    document = parse(html.encode("utf-8", "surrogatepass"), URL, content_type="text/html; charset=utf-8", status=404)
    assert (
        parse(html.encode("utf-8", "surrogatepass"), URL, content_type="text/html; charset=utf-8", status=404)
        == document
    )
    if document.page is not None:
        check_tree(document.page)


words = st.integers(min_value=0, max_value=10**6).map(lambda n: f"w{n:07d}")
inline = words.flatmap(
    lambda w: st.sampled_from([w, f"<b>{w}</b>", f"<code>{w}</code> ", f"<a href=x.html>{w}</a>", f"{w}<br>"])
)


def wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def around(text: str) -> st.SearchStrategy[str]:
        return st.sampled_from(
            [
                f"<p>{text}</p>",
                f"<div id=d>{text}</div>",
                f"<ul><li>{text}</li><li>{text}</li></ul>",
                f"<ol><li>{text}</li></ol>",
                f"<dl><dt>term</dt><dd>{text}</dd></dl>",
                f"<dl><dt id=t>term</dt><dd>{text}</dd></dl>",
                f"<table><tr><td>{text}</td><td>cell</td></tr><tr><td>{text}</td><td>cell</td></tr></table>",
                f"<blockquote>{text}</blockquote>",
                f"<pre>{text}\n {text}</pre>",
                f"<h2>{text}</h2>",
                f"<h3 id=h>{text}</h3>{text}",
                f"<details><summary>{text}</summary>{text}</details>",
                f"<section id=s><h4>{text}</h4>{text}</section>",
            ]
        )

    return st.lists(inner, min_size=1, max_size=4).map(" ".join).flatmap(around)


def numbered(html: str) -> str:
    """Every word another: a title that is said again right under itself is one section."""
    numbers = count()
    return re.sub(r"w\d{7}", lambda _: f"w{next(numbers):07d}", html)


content = st.lists(st.recursive(inline, wrapped, max_leaves=8), min_size=1, max_size=6).map("\n".join).map(numbered)


@given(content)
def test_every_word_of_the_content_is_in_the_tree_as_often_as_on_the_page(html: str) -> None:
    page = parse(f"<main>{html}</main>".encode(), URL, content_type="text/html", status=404).page
    assert page is not None
    check_tree(page)
    said = " ".join(f"{node.title if node.kind != 'page' or node.level else ''} {node.text}" for node in page.nodes)
    pattern = re.compile(r"w\d{7}|\bterm\b|\bcell\b")
    assert sorted(pattern.findall(said)) == sorted(pattern.findall(re.sub(r"<[^>]*>", " ", html)))


@given(content, st.text("abcdef0123456789", min_size=4, max_size=12))
def test_navigation_and_build_marks_change_nothing(html: str, mark: str) -> None:
    plain = parse(f"<body><main>{html}</main></body>".encode(), URL, status=404)
    dressed = parse(
        f"<body data-build={mark} class=v-{mark}><header><nav>Menu {mark}</nav></header><main data-v-{mark}>{html}</main>"
        f"<aside class=sidebar><ul><li>{mark}</ul></aside><footer>{mark}</footer><script src=/{mark}.js></script>".encode(),
        URL,
        status=404,
    )
    assert plain.page is not None
    assert dressed.page is not None
    assert dressed.page.nodes == plain.page.nodes
