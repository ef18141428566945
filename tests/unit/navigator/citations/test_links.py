"""No address leaves that no section holds, by CommonMark's own reading."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ingest.model import Block
from navigator.answer import Passage
from navigator.citations.links import LEFT_OUT, gate_for, gated, without_foreign_links
from navigator.markdown.blocks import markdown_of
from navigator.markdown.parse import parse_markdown
from tests.unit.bot.slack.made import DOCUMENT, NOISE

READ = Passage(
    1,
    "n",
    "h",
    "k",
    "https://docs.test/page",
    "https://docs.test/page#s",
    ("P",),
    (Block("text", "Open http://localhost:8080/ui in a browser."),),
    datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("See [the guide](https://evil.test/x).", "See the guide."),
        ('See [the guide](https://evil.test/a(b)c "title") now.', "See the guide now."),
        ("![logo](https://evil.test/pixel.png) here", "logo here"),
        ("Go to https://evil.test/x.", "Go to (link left out)."),
        ("Go to <https://evil.test/x>.", "Go to (link left out)."),
        ("Write to <mailto:a@evil.test>", "Write to (link left out)"),
        ("Open http://localhost:8080/ui.", "Open http://localhost:8080/ui."),
        ("It is https://docs.test/page#s, [here](https://docs.test/page).",) * 2,
        ("It is https://docs.test/page#other.", "It is (link left out)."),
        ("Run `curl https://any.test/x` now [1].", "Run `curl https://any.test/x` now [1]."),
        ("```\ncurl https://any.test/x\n```", "```\ncurl https://any.test/x\n```"),
        ("Quoted \\[words\\](not a link)", "Quoted \\[words\\](not a link)"),
        ("No link at all [1][2].", "No link at all [1][2]."),
    ],
)
def test_only_addresses_that_were_read_stay(written: str, left: str) -> None:
    assert without_foreign_links(written, [READ]) == left


PASSAGE_ON_GITHUB = replace(READ, blocks=(Block("text", "See https://github.com/acme and http://box.test:8080."),))


@pytest.mark.parametrize(
    ("address", "stays"),
    [
        ("https://github.com/acme", True), ("https://github.com", True), ("https://github.co", False),
        ("https://github.com/ac", True), ("http://box.test", False), ("http://box.test:8080", True), ("ithub.com/acme", False),
    ],
)  # fmt: skip
def test_the_host_of_an_address_that_is_said_is_equal_and_not_contained(address: str, stays: bool) -> None:
    left = address if stays else LEFT_OUT
    assert without_foreign_links(f"Go to {address} now.", [PASSAGE_ON_GITHUB]) == f"Go to {left} now."


FOREIGN = [
    "[x](https://evil.test)", "[x](//evil.test)", "[x](\\\\evil.test)", "[x](&#104;ttps://evil.test)", "[x]( <https://evil.test> )",
    "[x][r]\n\n[r]: https://evil.test", "[r]\n\n[r]: https&#58;//evil.test", "[r]\n\n[r]: https\\://evil.test",
    "[r]\n\n[r]: //evil.test", "[r][]\n\n> [r]:\n> <//evil.test>", "![x](//evil.test/p.png)", "<a@evil.test>", "<https://evil.test>",
    "``a` [x](https://evil.test)", "`a``[x](https://evil.test)`` b`c", "\\`[x](https://evil.test)`", "  ```\n[x](//evil.test)",
    "    ```\n\n[x](https://evil.test)", "- a\n\n      ```\n\n  [x](https://evil.test)", "~~~\na\n~~~\n[x](https://evil.test)",
    "<pre>\n```\n</pre>\n[x](https://evil.test)\n```", "<a href=//evil.test>x</a>", "ht**tps**://evil.test", "https&colon;//evil.test",
    "www.evil.test", "evil.test/x", "[`https://docs.test/page`](https://evil.test)", "[a](https://docs.test/page 'https://evil.test')",
]  # fmt: skip


ADDRESS = re.compile(r"\w:/{2}evil\.test|\bwww\.evil|(?<![/\w.])evil\.test/")


def led(markdown: str) -> set[str]:
    """Where a reader is led: targets, attributes of HTML, and addresses in words that stand together."""
    env: dict[str, dict[str, dict[str, str]]] = {}
    tokens = [t for token in MarkdownIt("commonmark").parse(markdown, env) for t in (token, *(token.children or ()))]
    found = {str(t.attrs.get("href") or t.attrs.get("src")) for t in tokens if t.type in ("link_open", "image")}
    found |= {reference["href"] for reference in env.get("references", {}).values()}
    prose = "".join(
        t.content if t.type in ("text", "html_inline", "html_block") else " " if t.nesting == 0 else "" for t in tokens
    )
    return found | {word for word in prose.split() if ADDRESS.search(word)}


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize(
    "around", ["{}", "See {}, now [1].", "- a\n- {}", "> {}", "**{}**", "Fine.\n\n{}\n\nAlso fine [2]."]
)
def test_no_spelling_of_a_link_leads_elsewhere(foreign: str, around: str) -> None:
    assert led(without_foreign_links(around.format(foreign), [READ])) <= {READ.link, READ.page_url}


PART = st.sampled_from(
    [
        *FOREIGN,
        "`",
        "``",
        "```",
        "~~~",
        "[",
        "](",
        ")",
        "<",
        ">",
        "\n",
        "\n\n",
        "\\",
        "&#58;",
        "//evil.test/",
        "https:",
        "a",
        " ",
    ]
)


@given(st.lists(PART, max_size=12).map("".join) | NOISE)
def test_whatever_is_written_leads_only_where_was_read(text: str) -> None:
    assert led(without_foreign_links(text, [READ])) <= {READ.link, READ.page_url}
    shown = markdown_of(gated(parse_markdown(text), gate_for([READ])))
    assert led(shown) <= {READ.link, READ.page_url}


@given(DOCUMENT)
def test_what_leads_nowhere_stays_as_it_was_written(text: str) -> None:
    assert without_foreign_links(text, [READ]) == text


def test_only_the_block_with_the_foreign_link_is_written_anew() -> None:
    text = "*  One   [1].\n\n[x](https://evil.test) and  more\n\n*  Two [2].\n"
    assert without_foreign_links(text, [READ]) == "*  One   [1].\n\nx and  more\n\n*  Two [2].\n"
