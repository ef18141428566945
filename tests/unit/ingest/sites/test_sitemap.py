"""ingest.sites.sitemap: which pages sitemaps list, and what happens where they are none."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from contextlib import nullcontext

import pytest

from ingest.errors import Blocked, FetchFailed
from ingest.model import Site
from ingest.ports import Fetched
from ingest.sites.sitemap import (
    MAX_SITEMAP_BYTES,
    MAX_SITEMAP_ENTRIES,
    MAX_SITEMAPS,
    SitemapListing,
    parse_sitemap,
    read_sitemaps,
)
from tests.unit.ingest.sites.shelf import Shelf

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
ROOT = "https://docs.example.test/"
SITE = Site(name="docs", start=ROOT)


def urlset(*locs: str, ns: str = NS) -> str:
    return f"<urlset {ns}>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


def index(*locs: str) -> str:
    return f"<sitemapindex {NS}>" + "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs) + "</sitemapindex>"


async def read(files: dict[str, bytes | str | int | FetchFailed], site: Site = SITE) -> tuple[SitemapListing, Shelf]:
    shelf = Shelf({ROOT + path: body for path, body in files.items()})
    return await read_sitemaps(site, shelf, [ROOT + next(iter(files))]), shelf


async def test_an_index_that_lists_itself_ends_and_each_page_is_given_once() -> None:
    listing, shelf = await read(
        {
            "sitemap_index.xml": '<?xml version="1.0" encoding="UTF-8"?>\n'
            + index(ROOT + "sitemap_index.xml", ROOT + "a.xml", f" {ROOT}b.xml "),
            "a.xml": urlset(ROOT, ROOT + "guide/?a=1&amp;b=2", "http://docs.example.test/"),
            "b.xml": index(ROOT + "sitemap_index.xml"),
        }
    )
    assert list(listing.pages) == [ROOT, ROOT + "guide/?a=1&b=2"]
    assert listing.fetched == len(shelf.asked) == 3
    assert listing.warnings == []


async def test_https_is_kept_where_both_are_listed_at_the_place_of_the_first() -> None:
    listing, _ = await read({"s.xml": urlset("http://docs.example.test/a", ROOT + "b", ROOT + "a")})
    assert list(listing.pages) == [ROOT + "a", ROOT + "b"]


async def test_lastmod_is_kept_as_written() -> None:
    body = f"<urlset {NS}><url><loc>{ROOT}a</loc><lastmod> 2025-07-01 </lastmod></url><url><loc>{ROOT}b</loc></url></urlset>"
    listing, _ = await read({"s.xml": body})
    assert listing.pages == {ROOT + "a": "2025-07-01", ROOT + "b": None}


@pytest.mark.parametrize(
    "body",
    [
        urlset(ROOT + "a", ns=""),
        urlset(ROOT + "a", ns='xmlns="https://www.example.test/another"'),
        f'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>{ROOT}a</s:loc></s:url></s:urlset>',
        "\ufeff\n  " + urlset(ROOT + "a"),
        urlset("/a"),
        f"<urlset {NS}><!-- c --><url><loc><![CDATA[{ROOT}a]]></loc><image><loc>{ROOT}pic</loc></image></url><url/></urlset>",
        gzip.compress(urlset(ROOT + "a").encode()),
        f"{ROOT}a\r\n\r\n",
        f"\ufeff{ROOT}a",
        f'<?xml version="1.0" encoding="ISO-8859-1"?>{urlset(ROOT + "a")}'.encode("latin-1"),
    ],
    ids=["no-namespace", "other-namespace", "prefix", "bom-and-space", "relative", "cdata-and-images", "gzip", "text",
         "text-with-bom", "latin-1"],
)  # fmt: skip
async def test_every_way_of_writing_one_is_read(body: bytes | str) -> None:
    listing, _ = await read({"s.xml": body})
    assert list(listing.pages) == [ROOT + "a"]
    assert listing.warnings == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<!DOCTYPE html><html><body>Not found</body></html>", "an HTML page"),
        ("\n<html lang=en><p>Oops", "an HTML page"),
        ("", "empty"),
        ("<urlset><url>", "not well-formed"),
        ("<rss><channel/></rss>", "another kind, <rss>"),
        ("{}", "no line of it is an address"),
        (gzip.compress(b"x" * 100, mtime=0)[:-9], "cut short"),
        (
            '<!DOCTYPE x [<!ENTITY e "boom">]><urlset><url><loc>&e;</loc></url></urlset>',
            "Entities",
        ),
        (
            '<?xml version="1.0"?><!DOCTYPE u [<!ENTITY e "boom">]><urlset><url><loc>&e;</loc></url></urlset>',
            "Entities",
        ),
        ('<?xml version="1.0"?><!DOCTYPE u [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset>&e;</urlset>', "Entities"),
        ('<?xml version="1.0" encoding="x-unknown"?><urlset/>', "not well-formed"),
        (404, "status 404"),
        (FetchFailed("the answer broke off"), "broke off"),
        (Blocked("cdn.test is not on the hosts of site docs"), "not on the hosts"),
    ],
)
async def test_what_is_no_sitemap_gives_a_warning_that_says_what_it_is(
    body: bytes | str | int | FetchFailed, why: str
) -> None:
    listing, _ = await read(
        {"index.xml": index(ROOT + "bad.xml", ROOT + "good.xml"), "bad.xml": body, "good.xml": urlset(ROOT)}
    )
    assert list(listing.pages) == [ROOT]
    [warning] = listing.warnings
    assert warning.startswith(f"Sitemap {ROOT}bad.xml was not read: ")
    assert re.search(why, warning)


async def test_a_bomb_is_not_unpacked() -> None:
    listing, _ = await read({"s.xml.gz": gzip.compress(b" " * 60_000_000, 1)})
    assert "unpacks to more than" in listing.warnings[0]


async def test_what_is_outside_the_site_is_counted_and_left_out() -> None:
    listing, _ = await read({"s.xml": urlset("http://localhost:8000/", ROOT + "logo.png", ROOT + "a")})
    assert list(listing.pages) == [ROOT + "a"]
    assert listing.outside == 2


async def test_an_endless_chain_of_indexes_ends() -> None:
    class Endless(Shelf):
        async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None):  # type: ignore[no-untyped-def]
            self.files[url] = index(f"{ROOT}{len(self.asked)}.xml")
            return await super().fetch(url)

    shelf = Endless({})
    listing = await read_sitemaps(SITE, shelf, [ROOT + "s.xml"])
    assert len(shelf.asked) < 10
    assert "left out" in listing.warnings[-1]


async def test_a_long_list_is_read_until_it_is_known_to_be_too_long() -> None:
    site = Site(name="docs", start=ROOT, max_pages=3)
    listing, shelf = await read(
        {"i.xml": index(ROOT + "a.xml", ROOT + "b.xml"), "a.xml": urlset(*(f"{ROOT}{n}" for n in range(50)))}, site
    )
    assert len(listing.pages) == 4
    assert ROOT + "b.xml" not in shelf.asked


async def test_an_index_of_indexes_of_very_many_files_ends_with_one_warning() -> None:
    class Endless(Shelf):
        async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
            self.files[url] = index(*(f"{ROOT}{len(self.asked)}-{n}.xml" for n in range(100)))
            return await super().fetch(url)

    shelf = Endless({})
    listing = await read_sitemaps(SITE, shelf, [ROOT + "s.xml"])
    assert len(shelf.asked) == MAX_SITEMAPS
    assert listing.warnings == [
        f"{100 * MAX_SITEMAPS - MAX_SITEMAPS + 1:,} sitemaps were left out: too deep in indexes, or more than 1,000"
    ]


async def test_files_that_cannot_be_read_are_one_warning_and_a_number() -> None:
    listing, _ = await read({"i.xml": index(*(f"{ROOT}{n}.xml" for n in range(300)))})
    assert listing.warnings == [
        f"Sitemap {ROOT}0.xml was not read: the server answered with status 404",
        "299 more sitemaps were not read either",
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"<urlset {NS}>" + "<url><loc>/a</loc></url>" * (MAX_SITEMAP_ENTRIES + 1) + "</urlset>",
        (ROOT + "\n") * (MAX_SITEMAP_ENTRIES + 1),
    ],
    ids=["entries", "lines"],
)
def test_a_file_of_more_addresses_than_are_read_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="it lists more than 100,000 addresses"):
        parse_sitemap(Fetched(ROOT + "s.xml", 200, body.encode()))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"<urlset {NS}>" + "<a/>" * (MAX_SITEMAP_BYTES // 4 - 20) + "</urlset>", "more than 1,000,000 elements"),
        (f"<urlset {NS}>" + "<a>" * (MAX_SITEMAP_BYTES // 3 - 20), "more than 1,000,000 elements"),
        ("\n" * 50_000_000 + "x", "no line of it is an address"),
        (ROOT + "\n" + "\n" * 50_000_000 + "<", ""),
    ],
    ids=["elements", "depth", "empty lines", "an address and empty lines"],
)  # fmt: skip
def test_a_file_that_says_too_much_fills_no_memory(body: str, why: str) -> None:
    """50 KB of gzip unpack to it; what is kept beside the unpacked bytes is bounded."""
    packed = gzip.compress(body.encode(), 1)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=why) if why else nullcontext():
            parse_sitemap(Fetched(ROOT + "s.xml", 200, packed))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * MAX_SITEMAP_BYTES + 50_000_000


async def test_an_address_longer_than_any_is_no_address() -> None:
    listing, _ = await read({"s.xml": urlset(ROOT + "a" * 10_000, ROOT + "b")})
    assert list(listing.pages) == [ROOT + "b"]
