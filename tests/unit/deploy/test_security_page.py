"""The limits that the manual's security page states are those that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.html.dom import MAX_DEPTH, MAX_ELEMENTS
from ingest.indexing.parse_process import MAX_MEGABYTES, MAX_SECONDS
from ingest.model import Site
from ingest.sites.fetch import MAX_HOPS
from ingest.sites.inflate import MAX_MEMBERS
from ingest.sites.robots import MAX_ROBOTS_BYTES
from ingest.sites.sitemap import (
    MAX_INDEX_DEPTH,
    MAX_SITEMAP_BYTES,
    MAX_SITEMAP_ELEMENTS,
    MAX_SITEMAP_ENTRIES,
    MAX_SITEMAPS,
)
from tests.fakes.hostile_pages import KINDS

PAGE = (Path(__file__).resolve().parents[3] / "deploy" / "manual" / "security.md").read_text(encoding="utf-8")
SITE = Site("docs", "https://docs.example.test/")


@pytest.mark.parametrize(
    "stated",
    [
        f"a page has at most {SITE.max_bytes // 1_000_000} MB",
        f"a request takes at most {SITE.timeout:.0f} seconds",
        f"at most {MAX_HOPS} redirects",
        f"of a `robots.txt`, {MAX_ROBOTS_BYTES // 1024} KiB are read",
        f"at most {MAX_MEMBERS:,} members",
        f"at most {MAX_INDEX_DEPTH} levels and {MAX_SITEMAPS:,} files",
        f"at most {MAX_SITEMAP_BYTES // 1024**2} MiB unpacked, {MAX_SITEMAP_ELEMENTS:,} elements and {MAX_SITEMAP_ENTRIES:,} addr",
        f"more than {MAX_ELEMENTS:,} elements",
        f"nested more than {MAX_DEPTH} deep",
        f"more than {MAX_SECONDS:.0f} seconds of processor time, or more than {MAX_MEGABYTES:,} MB",
        f"more than {len(KINDS) // 100 * 100} kinds of hostile pages",
    ],
)
def test_a_limit_is_stated_as_it_holds(stated: str) -> None:
    assert stated in PAGE
