"""Long sections without headings are cut at what a reader sees as one; what only looks like one stays as it is."""

from __future__ import annotations

import pytest

from ingest.html.parse import parse
from ingest.html.sections.drawn_headings import Part, parts
from ingest.model import Node

PROSE = "Water the pump before it is started for the first time, and wait until no more air comes out of it.\n" * 15
SET_IN = "".join(f"       {line}\n" for line in PROSE.split("\n"))
CODE = "x[i] = f(a, b) + 3; // %d\nif (y == 0) { z += 1; }\n" * 40


def drawn(text: str) -> list[tuple[str, int]]:
    return [(part.title, part.depth) for part in parts(text)]


def nodes_of(body: str) -> list[Node]:
    found = parse(f"<title>T</title><main>{body}</main>".encode(), "https://docs.example.test/t").page
    assert found is not None
    return list(found.nodes)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (
            f"PUMP(1)      User Commands      PUMP(1)\n\nNAME\n       pump - moves water\n\nSYNOPSIS\n{SET_IN}\n"
            f"OPTIONS\n{SET_IN}{SET_IN}{SET_IN}\n\nEXIT STATUS\n{SET_IN}",
            [("NAME", 1), ("SYNOPSIS", 1), ("OPTIONS", 1), ("EXIT STATUS", 1)],
        ),
        (
            f"Pump\n====\n\n{PROSE}\nInstall\n-------\n{PROSE}\nUse it\n------\n\n{PROSE}\nFAQ\n===\n{PROSE}{PROSE}",
            [("Pump", 1), ("Install", 2), ("Use it", 2), ("FAQ", 1)],
        ),
        (
            f"1.  Introduction\n\n   {PROSE}\n\n1.1.  Words\n\n   {PROSE}\n\n2.  Rules\n\n   {PROSE}\n\n10. Security\n\n{PROSE}{PROSE}",
            [("1. Introduction", 1), ("1.1. Words", 2), ("2. Rules", 1), ("10. Security", 1)],
        ),
    ],
    ids=["a manual page", "underlined", "numbered"],
)
def test_a_long_text_is_cut_at_the_headings_that_are_drawn_in_it(text: str, headings: list[tuple[str, int]]) -> None:
    first, *rest = parts(text)
    assert [(part.title, part.depth) for part in rest] == headings
    assert (first.title, first.depth) == ("", 0)
    assert all(part.text.strip() for part in rest)
    kept = " ".join(f"{part.title}\n{part.text}" for part in (first, *rest)).split()
    assert [word for word in kept if set(word) - set("=-")] == [word for word in text.split() if set(word) - set("=-")]


@pytest.mark.parametrize(
    "text",
    [
        f"NAME\n  pump\n\nUSE\n{SET_IN}\n\nEND\n  x",
        "\n\n".join(f"{n}. Do this thing\n{CODE}" for n in range(8)),
        f"BEGIN\n  {CODE}{CODE}{CODE}\n\nCOMMIT\n  {CODE}\n\nEND\n  {CODE}",
        f"1. Close it.\n\n2. Open it:\n\n3. Wait for it,\n\n{PROSE * 5}",
        "1. One\n2. Two\n3. Three\n4. Four\n\n" + PROSE * 5,
        "1. Introduction ........ 1\n\n2. Rules ........ 4\n\n3. End ........ 9\n\n" + PROSE * 5,
        f"Only one\n========\n\n{PROSE * 5}",
    ],
    ids=["short", "code", "a script", "sentences", "a list", "a table of contents", "one heading"],
)
def test_what_only_looks_like_headings_leaves_a_text_whole(text: str) -> None:
    assert parts(text) == [Part("", 0, text)]


def test_the_parts_of_a_text_are_sections_under_the_one_that_it_stands_in() -> None:
    text = f"Intro.\n\nNAME\n  pump\n\nOPTIONS\n{SET_IN * 4}\n\nSEE ALSO\n  other"
    nodes = nodes_of(
        f"<h1>T</h1><h2 id=m>Manual</h2><p>As it is printed:</p><pre>{text}</pre><h2 id=n>Next</h2><p>End.</p>"
    )
    titles = [(node.title, node.level, node.parent, node.anchor) for node in nodes]
    assert titles[1:] == [
        ("Manual", 2, "0", "m"),
        ("NAME", 3, "1", None),
        ("OPTIONS", 3, "1", None),
        ("SEE ALSO", 3, "1", None),
        ("Next", 2, "0", "n"),
    ]
    assert [block.text for block in nodes[1].blocks] == ["As it is printed:", "Intro."]


@pytest.mark.parametrize(
    "listing", ["<pre><code class=language-c>{}</code></pre>", "<table><tr><td>1<td><pre>{}</pre></table>"]
)
def test_a_listing_of_a_language_and_one_in_a_table_stay_whole(listing: str) -> None:
    text = f"NAME\n  pump\n\nOPTIONS\n{SET_IN * 4}\n\nSEE ALSO\n  other"
    assert len(nodes_of(f"<h1>T</h1>{listing.format(text)}")) == 1


LINE = "<p><b>{}</b></p>" + f"<p>{PROSE * 2}</p>"
TOPICS = ["Where is it", "What does it cost", "How to return it?"]


@pytest.mark.parametrize(
    "line",
    [LINE, LINE.replace("b>", "strong>"), LINE.replace("<p><b>", "<div> <b>").replace("</b></p>", "</b> </div>")],
)
def test_bold_lines_divide_a_long_section(line: str) -> None:
    nodes = nodes_of(f"<h1>T</h1><h2>Shop</h2><p>In short.</p>{''.join(map(line.format, TOPICS))}<h2>End</h2><p>x</p>")
    assert [(n.title, n.level, n.parent) for n in nodes[2:-1]] == [(topic, 3, "1") for topic in TOPICS]
    assert [(n.title, n.parent) for n in nodes[-1:]] == [("End", "0")]


def test_bold_lines_of_a_page_without_a_heading_stand_under_the_page() -> None:
    nodes = nodes_of("".join(map(LINE.format, TOPICS)))
    assert [(n.title, n.parent) for n in nodes] == [("T", None), *((topic, "0") for topic in TOPICS)]


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"<p><b>{topic}</b></p><p>Short.</p>" for topic in TOPICS),
        "".join(map(LINE.format, TOPICS[:2])),
        "".join(f"<p><b>{topic}</b> and more</p><p>{PROSE * 2}</p>" for topic in TOPICS),
        "".join(f"<p><b>{topic}:</b></p><p>{PROSE * 2}</p>" for topic in TOPICS),
        "".join(f"<p><b><a href=p.html>{topic}</a></b></p><p>{PROSE * 2}</p>" for topic in TOPICS),
        f"<ul>{''.join(f'<li><p><b>{topic}</b></p><p>{PROSE * 2}</p>' for topic in TOPICS)}</ul>",
        "".join(f"<div class=example><p class=title><b>{topic}</b></p><p>{PROSE * 2}</p></div>" for topic in TOPICS),
        "".join(f"<p><b>Note</b></p><p>{PROSE * 2}</p>" for topic in TOPICS),
    ],
    ids=["short", "two", "in a sentence", "announcing", "links", "items", "titles of boxes", "said again"],
)
def test_other_bold_words_are_text(body: str) -> None:
    assert len(nodes_of(f"<h1>T</h1>{body}")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "<a name={n}></a><div class=keyword><b><a name={n}></a><a href='#{n}'>{n}</a></b> <span>&lt;text&gt;</span></div>",
        "<p><strong id={n}>{n}</strong> &lt;text&gt;</p>",
        "<p><b><a name={n}>{n}</a></b></p>",
    ],
    ids=["haproxy-dconv", "an id", "alone"],
)
def test_a_bold_name_that_is_an_address_heads_what_follows_whatever_it_takes(line: str) -> None:
    names = ("balance", "bind", "maxconn")
    words = " &lt;text&gt;" if "text" in line else ""
    other = "<p><b id=again>again</b> [check]</p>"  # another form of the same keyword
    body = "".join(line.format(n=n) + other * (n == "bind") + f"<p>{PROSE}</p>" * 2 for n in names)
    nodes = nodes_of(f"<h1>T</h1><h2 id=k>Keywords</h2>{body}")
    assert [(node.title, node.level, node.anchor) for node in nodes[2:]] == [
        (name + words.replace("&lt;", "<").replace("&gt;", ">"), 3, name) for name in names
    ]
    assert nodes[3].blocks[0].text == "again [check]"


@pytest.mark.parametrize(
    "line",
    ["<p><b>{n}</b> takes a text</p>", "<ul><li><p><b id={n}>{n}</b> text</p></ul>", "<p>The <b id={n}>{n}</b></p>"],
)
def test_a_bold_name_in_a_sentence_or_an_item_heads_nothing(line: str) -> None:
    body = "".join(line.format(n=n) + f"<p>{PROSE}</p>" * 2 for n in ("balance", "bind", "maxconn"))
    assert len(nodes_of(f"<h1>T</h1><h2 id=k>Keywords</h2>{body}")) == 2
