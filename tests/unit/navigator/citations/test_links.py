"""No address leaves that no section holds."""

from datetime import UTC, datetime

import pytest

from ingest.model import Block
from navigator.answer import Passage
from navigator.citations.links import without_foreign_links

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
        ("It is https://docs.test/page#other.", "It is https://docs.test/page#other."),
        ("Run `curl https://any.test/x` now [1].", "Run `curl https://any.test/x` now [1]."),
        ("```\ncurl https://any.test/x\n```", "```\ncurl https://any.test/x\n```"),
        ("Quoted \\[words\\](not a link)", "Quoted \\[words\\](not a link)"),
        ("No link at all [1][2].", "No link at all [1][2]."),
    ],
)
def test_only_addresses_that_were_read_stay(written: str, left: str) -> None:
    assert without_foreign_links(written, [READ]) == left
