"""Slack's markups and Block Kit as the page of `make play` shows them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.slack import limits
from tests.play import rendering
from tests.play.markup import markdown, mrkdwn
from tests.play.standin import ANSWER, BELOW, REASON, WAY

NAMES = {"U1": "Ada", "C1": "general", "S1": "docs-team"}
TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("*bold* _italic_ ~gone~", "<strong>bold</strong> <em>italic</em> <s>gone</s>"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("先に*給水*を、「*弁*」を", "先に*給水*を、「*弁*」を"),
        ("`a * b * c`", "<code>a * b * c</code>"),
        ("```\nx &lt; y\n*z*\n```", "<pre><code>x &lt; y\n*z*</code></pre>"),
        ("a &amp; b &lt;c&gt;", "a &amp; b &lt;c&gt;"),
        ("<@U1> in <#C1>", '<span class="mention">@Ada</span> in <span class="mention">#general</span>'),
        ("<!here> <!subteam^S1>", '<span class="mention">@here</span> <span class="mention">@docs-team</span>'),
        ("<!date^1^{date}|today>", "today"),
        (
            "*<https://a.example/?x=1&amp;y=2|a &lt; b>*",
            '<strong><a href="https://a.example/?x=1&amp;y=2" target="_blank" rel="noopener">a &lt; b</a></strong>',
        ),
        ("<javascript:alert(1)|here>", "here"),
        ("&gt; one\n&gt; two\nthree", "<blockquote>one<br>two</blockquote>three"),
        ("one\ntwo", "one<br>two"),
    ],
)
def test_slacks_own_markup_is_shown(source: str, html: str) -> None:
    assert mrkdwn(source, NAMES) == html


def test_markdown_is_shown_with_tables_code_and_links_that_open_beside() -> None:
    html = markdown(ANSWER + "\n[docs](https://a.example/) <b>raw</b> ![picture](https://a.example/p.png)")
    tags = Tags(html)
    assert {"table", "pre", "code", "ul", "strong", "a"} <= tags.names
    assert not tags.names & {"b", "img"}
    assert ("target", "_blank") in tags.attributes
    assert ("class", "right") in tags.attributes
    assert "style" not in {name for name, _ in tags.attributes}


def test_a_link_to_a_script_is_no_link() -> None:
    assert "href" not in markdown("[a](javascript:alert(1)) [b](data:text/html,x) [c](file:///etc/passwd)")


@given(st.text(alphabet="<>&\"'`*_~|!@#[]()\n abjs:/", max_size=60))
def test_no_text_becomes_a_tag_or_an_attribute_of_its_own(text: str) -> None:
    for html in (markdown(text), mrkdwn(text, NAMES)):
        tags = Tags(html)
        assert tags.names <= TAGS
        assert {name for name, _ in tags.attributes} <= {"href", "target", "rel", "class", "start"}
        assert all(
            value.startswith(("http://", "https://", "mailto:")) for name, value in tags.attributes if name == "href"
        )


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def entry(**element: Any) -> dict[str, Any]:
    return {"type": "input", "block_id": "b", "label": plain("Sites"), "element": {"action_id": "a", **element}}


OPTIONS = [{"text": plain(name), "value": name.lower()} for name in ("One", "Two")]


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"type": "header", "text": plain("A & B")}, "A & B"),
        ({"type": "table", "rows": [[{"type": "raw_text", "text": "<i>"}], [{"type": "raw_number", "value": 3}]]}, "<i>3"),
        ({"type": "task_card", "task_id": "1", "title": "Read", "status": "complete"}, "✓Read"),
        ({"type": "plan", "title": "Plan", "tasks": []}, "Plan"),
        ({"type": "alert", "text": plain("Careful"), "level": "warning"}, "Careful"),
        ({"type": "section", "text": plain("A"), "fields": [plain("B")]}, "AB"),
        ({"type": "context", "elements": [plain("A"), plain("B")]}, "A B"),
        (
            {
                "type": "rich_text",
                "elements": [
                    {"type": "rich_text_list", "style": "bullet", "elements": [
                        {"type": "rich_text_section", "elements": [
                            {"type": "text", "text": "a", "style": {"bold": True}},
                            {"type": "user", "user_id": "U1"},
                            {"type": "link", "url": "https://a.example", "text": "b"},
                        ]},
                    ]},
                ],
            },
            "aAdab",
        ),
    ],
)  # fmt: skip
def test_every_block_says_what_it_holds(block: dict[str, Any], shown: str) -> None:
    assert Tags(rendering.blocks([block], NAMES)).text == shown


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ({"type": "plain_text_input", "initial_value": '"x"'}, ("value", '"x"')),
        ({"type": "plain_text_input", "multiline": True}, ("rows", "4")),
        ({"type": "static_select", "options": OPTIONS, "initial_option": OPTIONS[1]}, ("value", "two")),
        ({"type": "multi_static_select", "options": OPTIONS}, ("multiple", "")),
        ({"type": "checkboxes", "options": OPTIONS, "initial_options": OPTIONS}, ("checked", "")),
        ({"type": "radio_buttons", "options": OPTIONS}, ("type", "radio")),
    ],
)
def test_every_input_has_a_field_that_names_its_block_and_action(
    element: dict[str, Any], expected: tuple[str, str]
) -> None:
    tags = Tags(rendering.blocks([entry(**element)], NAMES, {"b": "Wrong."}))
    assert ("name", "b a") in tags.attributes
    assert expected in tags.attributes
    assert tags.text.endswith("Wrong.")


def test_the_stand_in_posts_nothing_that_slack_would_refuse() -> None:
    assert limits.first(limits.POST, {"text": "a", "blocks": [{"type": "markdown", "text": ANSWER}, *BELOW]}) is None
    assert limits.first(limits.VIEW, {"view": REASON}) is None
    assert limits.first(limits.VIEW, {"view": WAY}) is None
