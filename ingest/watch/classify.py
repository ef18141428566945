"""What a look at a page means, given what is indexed of it. Pure.

The comparison is with the tree that is indexed, never with bytes, validators, or what was last sent: a new
navigation bar is no change, and a change whose event was lost is found again.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ingest.indexing.page_reader import PageReading
from ingest.model import PageRecord
from ingest.urls import page_key

_GONE_FOR_GOOD = 410
_SAID_BY_THE_PAGE = frozenset({"noindex"})
"""Reasons not to index by which a live page goes at once."""
_SOMETHING_ELSE = frozenset({"soft_404", "needs_javascript", "empty", "not_html"})
"""Reasons that tell of a broken deployment as often as of the page."""


class Classification(NamedTuple):
    """`same`: the index is right. `changed`: the indexer should look. `missed`: nothing is there, for now; `gone`: it is
    sure, for `reason`. `turned`: something is there that is not the page. `moved`: look at where it went first."""

    kind: Literal["same", "changed", "missed", "turned", "gone", "moved"]
    reason: str = ""


SAME, CHANGED = Classification("same"), Classification("changed")


def classify(record: PageRecord | None, reading: PageReading, first: str | None = None) -> Classification:
    """`first`: of the live pages with exactly the content that was read, and this one, the key that is kept."""
    live = record is not None and record.state == "live"
    if reading.kind == "unmodified":
        return SAME
    if reading.kind == "moved":
        arrived = record is not None and record.state == "moved" and record.target == page_key(reading.target or "")
        return SAME if arrived else Classification("moved")
    if reading.page is not None:
        return SAME if record is not None and _is_indexed(record, reading, first) else CHANGED
    reason = reading.reason or reading.kind
    if not live:
        return SAME if _is_noted(record, reading) else CHANGED
    if reading.kind == "skipped":
        if reason in _SAID_BY_THE_PAGE:
            return Classification("gone", reason)
        return Classification("turned" if reason in _SOMETHING_ELSE else "missed", reason)
    if reading.target:
        return Classification("gone", f"redirects to {reading.target}, where nothing is ({reason})")
    return Classification("gone" if reading.status == _GONE_FOR_GOOD else "missed", reason)


def _is_indexed(record: PageRecord, reading: PageReading, first: str | None) -> bool:
    if first is not None and first != record.key:
        return record.state == "alias" and record.target == first
    return record.page is not None and reading.page is not None and record.page.hash == reading.page.hash


def _is_noted(record: PageRecord | None, reading: PageReading) -> bool:
    """Whether what keeps the page out is on record already. A page never heard of that is not there needs no record."""
    if reading.kind == "skipped":
        return record is not None and record.state == "skipped" and record.reason == reading.reason
    return record is None or record.state in ("gone", "moved")
