"""Answers made by hand, Markdown made at random, and what a reader sees of what is sent."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.slack.render.answer_message import Message
from ingest.model import Block
from navigator.answer import Answer, CitedSource, Outcome, Passage, Step, Trace, Usage
from tests.fakes.slack import limits

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SITE = "https://docs.acme.test"
COMMONMARK = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable(["table", "strikethrough"])
COMMONMARK.disable(["reference"])
LIVE = re.compile(
    r"<\s*(?:!\s*(?i:channel|here|everyone|subteam|date)|[@#]\s*[A-Z][A-Z0-9]{3})|(?<!\w)@\s*(?i:channel|here|everyone)\b"
)
STYLE_TAG = re.compile(r"</?(?:br|b|strong|i|em|u|s|del|ins|sub|sup|small|mark|kbd|span|font)/?>", re.IGNORECASE)
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|mailto:|www\.)[^\s<>()|`]+", re.IGNORECASE)


def passage(number: int, *, title: str = "", words: str = "") -> Passage:
    page = f"{SITE}/guide/{(number + 1) // 2}"
    return Passage(
        number=number,
        node_id=f"node-{number}",
        node_hash=f"hash-{number}",
        page_key=page,
        page_url=page,
        link=f"{page}#section-{number}",
        path=("Acme", "Guide", f"Page {(number + 1) // 2}", title or f"Section {number}"),
        blocks=(Block("text", words or f"What section {number} says about the matter, in so many words."),),
        checked_at=NOW - timedelta(minutes=5),
    )


def answer(text: str, passages: int = 3, outcome: Outcome = "answered", **more: Any) -> Answer:
    """An answer that read and cites so many sections, the source numbers being theirs."""
    read = tuple(passage(number) for number in range(1, passages + 1))
    steps = (
        Step("get_toc", "Where is it?", query="scaling", shown="- Guide\n 1: Section 1\n 2: Section 2", seconds=0.2),
        Step("read", "Both matter.", numbers=(1, 2), seconds=0.1),
    )
    sources = tuple(CitedSource(p.number, (p.cite(0),)) for p in read) if outcome == "answered" else ()
    given = {
        "question": "How do I scale?",
        "text": text,
        "outcome": outcome,
        "sources": sources,
        "trace": Trace(steps, (), read, Usage(1200, 300, cost=0.0123), 3, 4.2),
        "model": "scripted",
        "trace_id": "abc123",
        **more,
    }
    return Answer(**given)


def refused(message: Message) -> limits.Refusal | None:
    """What Slack would say to it, posted or put in the place of another."""
    arguments = {"text": message.text, "blocks": list(message.blocks)}
    return limits.first(limits.POST, arguments) or limits.first(limits.UPDATE, arguments)


def markdown_of(messages: Iterable[Message]) -> list[str]:
    return [block["text"] for m in messages for block in m.blocks if block["type"] == "markdown"]


def strings(value: Any) -> list[str]:
    """Everything that a payload says, ids and kinds included."""
    if isinstance(value, dict):
        return [found for one in value.values() for found in strings(one)]
    if isinstance(value, list | tuple):
        return [found for one in value for found in strings(one)]
    return [value] if isinstance(value, str) else []


def read(markdown: str) -> str:
    """The characters that a reader sees, without white space: rendered by the parser's own renderer. Tags that only style
    words are no characters."""
    shown = re.sub(r"<img [^>]*alt=\"([^\"]*)\"[^>]*>", r"\1", COMMONMARK.render(markdown))
    text = UNSEEN.sub("", html.unescape(re.sub(r"<[^>]*>", "", shown)))
    return STYLE_TAG.sub("", re.sub(r"[\s─]+", "", text))


def links(markdown: str) -> list[str]:
    """Where the links of a Markdown document lead."""
    tokens = [
        child for token in COMMONMARK.parse(markdown) for child in token.children or [] if child.type == "link_open"
    ]
    return [str(token.attrs["href"]) for token in tokens]


def fences_closed(markdown: str) -> bool:
    """By Slack's rule, where any three backticks begin or end one, and by CommonMark's."""
    return markdown.count("```") == 2 * sum(token.type == "fence" for token in COMMONMARK.parse(markdown))


def live(payload: Any) -> list[str]:
    """Mentions and broadcasts that Slack could still find; in code only those in angle brackets."""
    found = []
    for text in strings(payload):
        bare = UNSEEN.sub("", text)
        outside = re.sub(r"```.*?```|``.*?``|`[^`]*`", "", bare, flags=re.DOTALL)
        found += [m for m in LIVE.findall(bare) if m.startswith("<")] + LIVE.findall(outside)
    return found


WORD = st.sampled_from(
    "scale the pods with care snake_case_name __init__ 2*3 a*b* _x_ C++ #1 1. 2) - + > --flag ~/.config ~~no~~ <b>bold</b> "
    "&amp; &lt; AT&T [0] items[1] [1] [2] ![x] x|y \\ \\* `code` ``a`b`` `|` **bold** *it* __strong__ ***both*** "
    "**bold.**next café 日本語 😀 :smile: === --- | done. Done! really?".split(" ")
)
LINE = st.lists(WORD, min_size=1, max_size=12).map(" ".join)
PARAGRAPH = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
HEADING = st.tuples(st.integers(1, 6), LINE).map(lambda h: f"{'#' * h[0]} {h[1]}")
CODE_LINE = st.sampled_from(
    ["x = 1", "  if a < b:", "", "`tick`", "a ``` b", "````", "\tdef f(): pass", "# head", "| a |"]
)
FENCE = st.tuples(st.sampled_from(["", "python", "c++ title=x", "~"]), st.lists(CODE_LINE, max_size=12)).map(
    lambda f: f"~~~~~{f[0] if f[0] != '~' else ''}\n" + "\n".join(f[1]) + "\n~~~~~"
)
CELL = st.sampled_from(["a", "b c", "`x`", "**d**", "1 \\| 2", "", "日本", "[1]"])
TABLE = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=5).map(
        lambda rows: "\n".join(
            f"| {' | '.join(row)} |" for row in [["h"] * n, [":-:"] * n, *rows]
        )
    )
)  # fmt: skip


def _indented(text: str, by: str, first: str) -> str:
    return first + text.replace("\n", "\n" + by)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quote = inner.map(lambda text: _indented(text, "> ", "> "))
    bullets = st.lists(inner, min_size=1, max_size=4).map(
        lambda items: "\n".join(_indented(i, "  ", "- ") for i in items)
    )
    numbers = st.lists(inner, min_size=1, max_size=4).map(
        lambda items: "\n\n".join(
            _indented(item, "    ", f"{n:>2}. ".lstrip().ljust(4)) for n, item in enumerate(items, 7)
        )
    )
    return quote | bullets | numbers


BLOCK = st.recursive(PARAGRAPH | HEADING | FENCE | TABLE | st.just("---"), _nested, max_leaves=6)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)
NOISE = st.text(alphabet="ab1 \n\t`*_~[]()<>!#-+.|\\&;:@=\"'é", max_size=200)
"""Anything that a model could write, and what none would; but no letters of scripts without spaces: beside these the product
reads emphasis where CommonMark, which `read` goes by, has none (test_markdown.py)."""


def dumped(messages: Iterable[Message]) -> str:
    return json.dumps([[message.text, message.blocks] for message in messages], ensure_ascii=False)
