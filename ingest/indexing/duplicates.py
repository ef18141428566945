"""Duplicates: one page under several URLs, and which of them is kept. The others become its aliases.

Pages are duplicates only if their contents agree; rel=canonical and the form of the URL then decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ingest.model import Page
from ingest.ports import TreeStore
from ingest.urls import page_key, preferred


async def duplicates_of(
    trees: TreeStore, site: str, version: str, page: Page, moved_from: str | None = None
) -> list[str]:
    """The other live pages with exactly this content; not the one that is just moving here."""
    duplicates = await trees.duplicates(site, version, page.content_hash)
    return [key for key in duplicates if key not in (page.key, moved_from)]


async def original(trees: TreeStore, page: Page, duplicates: Sequence[str]) -> str:
    """The key of the page that is kept: the one that most of them name as canonical, else the one whose URL is of
    the preferred form. All of them come to the same answer."""
    if not duplicates:
        return page.key
    others = [stored.record.page for key in duplicates if (stored := await trees.get(key))]
    named = (p.claims.canonical for p in (page, *others) if p and p.claims.canonical)
    votes = Counter(key for key in map(page_key, named) if key in (page.key, *duplicates))
    most = max(votes.values(), default=0)
    return preferred([key for key in (page.key, *duplicates) if votes[key] == most])
