"""What a look at a page means (ingest/watch/classify.py)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ingest.indexing.page_reader import PageReading
from ingest.model import Block, Node, Page, PageRecord
from ingest.watch.classify import classify

KEY = "https://docs.example.test/a"
OTHER = "https://docs.example.test/b"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = Page(KEY, KEY, KEY, "A", (Node("0", None, 1, "A", blocks=(Block("text", "Text."),)),))
LIVE = PageRecord(KEY, "docs", "live", 1, NOW, NOW, page=replace(PAGE, nodes=(replace(PAGE.nodes[0], id="lasting"),)))
ALIAS = PageRecord(KEY, "docs", "alias", 1, NOW, NOW, target=OTHER)
MOVED = PageRecord(KEY, "docs", "moved", 1, NOW, NOW, target=OTHER)
GONE = PageRecord(KEY, "docs", "gone", 1, NOW, NOW, reason="HTTP 404")
SKIPPED = PageRecord(KEY, "docs", "skipped", 1, NOW, NOW, reason="noindex")

SAME_TREE = PageReading("page", 200, PAGE)
OTHER_TREE = PageReading("page", 200, replace(PAGE, title="B"))
NOT_FOUND = PageReading("missing", 404, reason="HTTP 404")
GONE_FOR_GOOD = PageReading("missing", 410, reason="HTTP 410")
ERROR_PAGE = PageReading("missing", 404, reason="HTTP 404", target=OTHER)
NOINDEX = PageReading("skipped", 200, reason="noindex")
SOFT_404 = PageReading("skipped", 200, reason="soft_404")
SHELL = PageReading("skipped", 200, reason="needs_javascript")
TO_OTHER = PageReading("moved", 200, target=OTHER + "#top")


@pytest.mark.parametrize(
    ("record", "reading", "verdict"),
    [
        (LIVE, PageReading("unmodified", 304), "same"),
        (None, SAME_TREE, "changed"),
        (LIVE, SAME_TREE, "same"),
        (LIVE, OTHER_TREE, "changed"),
        (GONE, SAME_TREE, "changed"),
        (SKIPPED, SAME_TREE, "changed"),
        (MOVED, SAME_TREE, "changed"),
        (ALIAS, SAME_TREE, "changed"),
        (None, NOT_FOUND, "same"),
        (GONE, NOT_FOUND, "same"),
        (MOVED, NOT_FOUND, "same"),
        (ALIAS, NOT_FOUND, "changed"),
        (SKIPPED, NOT_FOUND, "changed"),
        (LIVE, NOT_FOUND, "missed"),
        (LIVE, GONE_FOR_GOOD, "gone"),
        (LIVE, ERROR_PAGE, "gone"),
        (LIVE, NOINDEX, "gone"),
        (LIVE, SOFT_404, "turned"),
        (LIVE, SHELL, "turned"),
        (None, NOINDEX, "changed"),
        (SKIPPED, NOINDEX, "same"),
        (SKIPPED, SHELL, "changed"),
        (GONE, SOFT_404, "changed"),
        (None, TO_OTHER, "moved"),
        (LIVE, TO_OTHER, "moved"),
        (MOVED, TO_OTHER, "same"),
        (MOVED, PageReading("moved", 200, target=KEY + "/elsewhere"), "moved"),
        (ALIAS, TO_OTHER, "moved"),
    ],
)
def test_what_a_look_means_for_what_is_indexed(record: PageRecord | None, reading: PageReading, verdict: str) -> None:
    assert classify(record, reading, KEY).kind == verdict


def test_a_copy_is_right_as_the_alias_of_the_page_that_is_kept() -> None:
    assert classify(ALIAS, SAME_TREE, OTHER).kind == "same"
    assert classify(ALIAS, SAME_TREE, OTHER + "/third").kind == "changed"
    assert classify(LIVE, SAME_TREE, OTHER).kind == "changed"


def test_the_reason_names_the_error_page_that_a_redirect_leads_to() -> None:
    assert classify(LIVE, ERROR_PAGE).reason == f"redirects to {OTHER}, where nothing is (HTTP 404)"
    assert classify(LIVE, GONE_FOR_GOOD).reason == "HTTP 410"
