"""Finding and fetching the pages of a site that a real server serves."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import Counter

import pytest

from ingest.errors import FetchFailed
from ingest.model import Site
from ingest.sites.discover import Frontier, discover
from ingest.sites.fetch import HttpFetcher
from ingest.urls import resolve
from tests.fakes.docsite import DocSite, fails_first, gzipped, page, redirect, slow, status


async def visit_all(frontier: Frontier, fetcher: HttpFetcher, workers: int = 4) -> dict[str, int]:
    """Page key -> status, 0 where it could not be fetched."""
    statuses: dict[str, int] = {}

    async def worker() -> None:
        async for url in frontier:
            links: list[str] = []
            try:
                fetched = await fetcher.fetch(url)
                statuses[url] = fetched.status
                hrefs = re.findall(r'href="([^"]*)"', fetched.body.decode())
                links = [link for href in hrefs if (link := resolve(fetched.url, href))]
            except FetchFailed:
                statuses[url] = 0
            finally:
                frontier.done(url, links)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return statuses


def link(*hrefs: str) -> str:
    return "".join(f'<a href="{href}">x</a>' for href in hrefs)


async def test_links_are_followed_through_a_site_with_all_its_faults() -> None:
    async with DocSite() as docs:
        docs.pages |= {
            "/robots.txt": page("User-agent: *\nDisallow: /docs/private", content_type="text/plain"),
            "/docs/": link("a", "b#x", "gone", "moved", "private", "../blog/", "http://localhost/docs/", "logo.png"),
            "/docs/a": link("/docs/", "b", "c/d"),
            "/docs/b": slow(0.05, link("late")),
            "/docs/c/d": status(410),
            "/docs/late": fails_first(1, status(503), page(link("a"))),
            "/docs/moved": redirect("/docs/target", 301),
            "/docs/target": "T",
        }
        site = Site(name="docs", start=docs.url("/docs/"), allow_private=True)
        async with HttpFetcher(site, user_agent="ritbot/0", sleep=asyncio.sleep) as fetcher, asyncio.timeout(20):
            frontier = await discover(site, fetcher, known=[docs.url("/docs/orphan")])
            statuses = await visit_all(frontier, fetcher)
        expected = {
            "": 200,
            "a": 200,
            "b": 200,
            "gone": 404,
            "moved": 200,
            "private": 0,
            "c/d": 410,
            "late": 200,
            "orphan": 404,
        }
        assert statuses == {docs.url(f"/docs/{path}"): code for path, code in expected.items()}
        asked = Counter(docs.paths())
        assert asked.pop("/docs/late") == 2
        assert set(asked.values()) == {1}
        assert not {"/docs/private", "/blog/", "/docs/logo.png"} & set(asked)


@pytest.mark.parametrize("packed_twice", [False, True])
async def test_a_packed_sitemap_that_robots_txt_names_is_read_however_it_is_sent(packed_twice: bool) -> None:
    async with DocSite() as docs:
        listed = "".join(f"<url><loc>{docs.url(path)}</loc></url>" for path in ("/a", "/b", "/logo.png"))
        packed = gzip.compress(
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'.encode()
        )
        body = gzipped(packed) if packed_twice else page(packed, content_type="application/x-gzip")
        docs.pages |= {"/robots.txt": "Sitemap: /maps/all.xml.gz", "/maps/all.xml.gz": body, "/a": "A"}
        site = Site(name="docs", start=docs.url("/"), allow_private=True)
        async with HttpFetcher(site, user_agent="ritbot/0") as fetcher:
            statuses = await visit_all(await discover(site, fetcher), fetcher)
        assert statuses == {docs.url("/a"): 200, docs.url("/b"): 404}
