"""Sitemaps (sitemaps.org protocol 0.9): XML, index files, gzip and plain text."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import fromstring

from ingest.errors import FetchFailed
from ingest.model import Site
from ingest.ports import Fetched, Fetcher
from ingest.sites.inflate import TooLarge, gunzip, is_gzip
from ingest.sites.scope import in_scope
from ingest.urls import page_key, preferred, resolve, same_page

_DEEPEST = 5
_MOST_FILES = 1000
_MOST_UNPACKED = 52_428_800
"""Bytes of one file, unpacked: the protocol's own limit."""
_BOM = b"\xef\xbb\xbf"


class SitemapEntry(NamedTuple):
    """`url` is absolute; `lastmod` as written: a hint, for servers often err in it."""

    url: str
    lastmod: str | None


class Sitemap(NamedTuple):
    """One file: the pages it lists, or, of an index, the sitemaps."""

    is_index: bool
    entries: tuple[SitemapEntry, ...]


@dataclass(slots=True)
class SitemapListing:
    """What a site's sitemaps list together. `outside` counts the addresses that are no pages of the site,
    `fetched` the files; `warnings` are sentences for the operator."""

    outside: int = 0
    fetched: int = 0
    warnings: list[str] = field(default_factory=list)
    _entries: dict[str, SitemapEntry] = field(default_factory=dict)

    @property
    def pages(self) -> dict[str, str | None]:
        """Page key -> lastmod, in the order listed; http and https are one page, given once."""
        return dict(self._entries.values())

    def add(self, entry: SitemapEntry) -> None:
        name = same_page(entry.url)
        known = self._entries.get(name)
        self._entries[name] = entry if known is None or preferred((known.url, entry.url)) != known.url else known

    def __len__(self) -> int:
        return len(self._entries)


async def read_sitemaps(site: Site, fetcher: Fetcher, urls: Iterable[str]) -> SitemapListing:
    """Read the sitemaps at `urls` and those that they name, each once, at most 5 levels deep and 1,000 in all.

    Stops once it holds more than the site's `max_pages`. A file that cannot be had or is no sitemap gives
    a warning; the others still count.
    """
    listing = SitemapListing()
    waiting = deque((url, 0) for url in urls)
    seen: set[str] = set()
    while waiting and len(listing) <= site.max_pages:
        url, depth = waiting.popleft()
        if (name := same_page(url)) in seen:
            continue
        if depth > _DEEPEST or len(seen) == _MOST_FILES:
            listing.warnings.append(
                f"Sitemap {url} was left out: too deep an index, or more than {_MOST_FILES} sitemaps"
            )
            continue
        seen.add(name)
        listing.fetched += 1
        try:
            sitemap = await _load(fetcher, url)
        except (FetchFailed, ValueError) as error:
            listing.warnings.append(f"Sitemap {url} was not read: {error}")
            continue
        if sitemap.is_index:
            waiting.extend((entry.url, depth + 1) for entry in sitemap.entries)
        else:
            _take(site, listing, sitemap)
    return listing


def _take(site: Site, listing: SitemapListing, sitemap: Sitemap) -> None:
    for url, lastmod in sitemap.entries:
        if len(listing) > site.max_pages:
            return
        if in_scope(site, url):
            listing.add(SitemapEntry(page_key(url), lastmod))
        else:
            listing.outside += 1


async def _load(fetcher: Fetcher, url: str) -> Sitemap:
    fetched = await fetcher.fetch(url)
    if fetched.status != 200:
        raise ValueError(f"the server answered with status {fetched.status}")
    return await asyncio.to_thread(parse_sitemap, fetched)


def parse_sitemap(fetched: Fetched) -> Sitemap:
    """Pure. Raises ValueError, with what it is instead, for all that is no sitemap."""
    body = fetched.body
    if is_gzip(body):
        try:
            body = gunzip(body, _MOST_UNPACKED)
        except TooLarge:
            raise ValueError(f"it unpacks to more than {_MOST_UNPACKED:,} bytes") from None
    body = body.removeprefix(_BOM).lstrip()
    if not body:
        raise ValueError("it is empty")
    if not body.startswith(b"<"):
        return _parse_text(fetched.url, body.decode("utf-8", "replace"))
    if body[:14].lower() == b"<!doctype html" or b"<html" in body[:2000].lower():
        raise ValueError("it is an HTML page, not a sitemap")
    try:
        root = fromstring(body)
    except (ParseError, ValueError, LookupError) as error:
        raise ValueError(f"it is not well-formed XML ({error})") from error
    kind = _local_name(root)
    if kind not in ("urlset", "sitemapindex"):
        raise ValueError(f"it is an XML file of another kind, <{kind}>")
    return Sitemap(kind == "sitemapindex", tuple(_entries(fetched.url, map(_loc_and_lastmod, root))))


def _parse_text(base: str, text: str) -> Sitemap:
    lines = [line.strip() for line in text.splitlines()]
    entries = tuple(_entries(base, ((line, None) for line in lines if line.startswith(("http://", "https://")))))
    if not entries:
        raise ValueError("it is no XML, and no line of it is an address")
    return Sitemap(False, entries)


def _entries(base: str, found: Iterable[tuple[str | None, str | None]]) -> Iterable[SitemapEntry]:
    for loc, lastmod in found:
        if loc and (url := resolve(base, loc)):
            yield SitemapEntry(url, lastmod)


def _loc_and_lastmod(entry: Element) -> tuple[str | None, str | None]:
    texts = {_local_name(child): (child.text or "").strip() for child in entry}
    return texts.get("loc"), texts.get("lastmod") or None


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
