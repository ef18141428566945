"""Sitemaps (sitemaps.org protocol 0.9): XML, index files, gzip and plain text.

They are strangers' files: each is read as a stream within limits of bytes, elements and entries, and what waits to be read
is bounded too, so that a few kilobytes of gzip, or an index of indexes, fill no memory.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.ElementTree import DefusedXMLParser

from ingest.errors import FetchFailed
from ingest.model import Site
from ingest.ports import Fetched, Fetcher
from ingest.sites.inflate import TooLarge, gunzip, is_gzip
from ingest.sites.scope import in_scope
from ingest.urls import page_key, preferred, resolve, same_page

MAX_INDEX_DEPTH = 5
"""Indexes inside indexes."""
MAX_SITEMAPS = 1_000
"""Files of one site, read or waiting to be."""
MAX_SITEMAP_BYTES = 52_428_800
"""Of one file, unpacked: the protocol's own limit."""
MAX_SITEMAP_ELEMENTS = 1_000_000
"""Of one file: the protocol's 50,000 addresses, each in four languages with what else is said of it."""
MAX_SITEMAP_ENTRIES = 100_000
"""Addresses of one file: twice what the protocol allows."""
_MAX_FIELD_CHARACTERS = 8_192
"""Of one address as written; the protocol allows 2,048."""
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]++")


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


class _Waiting:
    """The sitemaps still to be read, each once, outer ones first. `left_out` counts what there was no room for."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._queue: deque[tuple[str, int]] = deque()
        self._named: set[str] = set()
        self.left_out = 0
        self.add(urls, 0)

    def add(self, urls: Iterable[str], depth: int) -> None:
        for url in urls:
            if (name := same_page(url)) in self._named:
                continue
            if depth > MAX_INDEX_DEPTH or len(self._named) == MAX_SITEMAPS:
                self.left_out += 1
                continue
            self._named.add(name)
            self._queue.append((url, depth))

    def __bool__(self) -> bool:
        return bool(self._queue)

    def next(self) -> tuple[str, int]:
        return self._queue.popleft()


async def read_sitemaps(site: Site, fetcher: Fetcher, urls: Iterable[str]) -> SitemapListing:
    """Read the sitemaps at `urls` and those that they name, each once, at most 5 levels deep and 1,000 in all.

    Stops once it holds more than the site's `max_pages`. Files that cannot be had or are no sitemaps give
    a warning; the others still count.
    """
    listing = SitemapListing()
    waiting = _Waiting(urls)
    unread: list[str] = []
    while waiting and len(listing) <= site.max_pages:
        url, depth = waiting.next()
        listing.fetched += 1
        try:
            sitemap = await _load(fetcher, url)
        except (FetchFailed, ValueError) as error:
            unread.append(f"Sitemap {url} was not read: {error}")
            continue
        if sitemap.is_index:
            waiting.add((entry.url for entry in sitemap.entries), depth + 1)
        else:
            _take(site, listing, sitemap)
    listing.warnings += unread[:1]
    if len(unread) > 1:
        listing.warnings.append(f"{len(unread) - 1} more sitemaps were not read either")
    if waiting.left_out:
        listing.warnings.append(
            f"{waiting.left_out:,} sitemaps were left out: too deep in indexes, or more than {MAX_SITEMAPS:,}"
        )
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
            body = gunzip(body, MAX_SITEMAP_BYTES)
        except TooLarge:
            raise ValueError(f"it unpacks to more than {MAX_SITEMAP_BYTES:,} bytes") from None
    body = body.removeprefix(_BOM).lstrip()
    if not body:
        raise ValueError("it is empty")
    if not body.startswith(b"<"):
        return _parse_text(fetched.url, body)
    if body[:14].lower() == b"<!doctype html" or b"<html" in body[:2000].lower():
        raise ValueError("it is an HTML page, not a sitemap")
    reader = _XmlReader(fetched.url)
    parser = DefusedXMLParser(target=reader)
    try:
        parser.feed(body)
        parser.close()
    except _NoSitemap:
        raise
    except (ParseError, ValueError, LookupError) as error:
        raise ValueError(f"it is not well-formed XML ({error})") from error
    return Sitemap(reader.is_index, tuple(reader.entries))


class _NoSitemap(ValueError):
    """A file is no sitemap, or more than one may be."""


class _Entries(list[SitemapEntry]):
    """What a file lists. Raises _NoSitemap where that is more than a file may."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def note(self, loc: str | None, lastmod: str | None = None) -> None:
        if not loc or len(loc) > _MAX_FIELD_CHARACTERS or not (url := resolve(self._base, loc)):
            return
        if len(self) == MAX_SITEMAP_ENTRIES:
            raise _NoSitemap(f"it lists more than {MAX_SITEMAP_ENTRIES:,} addresses")
        self.append(SitemapEntry(url, lastmod))


class _XmlReader:
    """What the XML parser calls, element by element: no tree is built. The root is at depth 1, entries at 2, their fields
    at 3; a field is the text before any element in it."""

    def __init__(self, base: str) -> None:
        self.is_index = False
        self.entries = _Entries(base)
        self._depth = 0
        self._elements = 0
        self._fields: dict[str, str] = {}
        self._field = ""
        self._pieces: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._elements > MAX_SITEMAP_ELEMENTS:
            raise _NoSitemap(f"it has more than {MAX_SITEMAP_ELEMENTS:,} elements")
        name = _local_name(tag)
        if self._depth == 1:
            if name not in ("urlset", "sitemapindex"):
                raise _NoSitemap(f"it is an XML file of another kind, <{name}>")
            self.is_index = name == "sitemapindex"
        elif self._depth == 2:
            self._fields = {}
        self._end_field()
        if self._depth == 3 and name in ("loc", "lastmod"):
            self._field, self._pieces = name, []

    def data(self, text: str) -> None:
        if self._pieces is not None:
            self._pieces.append(text)

    def end(self, tag: str) -> None:
        self._end_field()
        if self._depth == 2:
            self.entries.note(self._fields.get("loc"), self._fields.get("lastmod") or None)
        self._depth -= 1

    def close(self) -> None:
        """The file ends."""

    def _end_field(self) -> None:
        if self._pieces is not None:
            self._fields[self._field] = "".join(self._pieces).strip()
            self._pieces = None


def _parse_text(base: str, body: bytes) -> Sitemap:
    entries = _Entries(base)
    for line in _LINE.finditer(body):
        address = line[0][: _MAX_FIELD_CHARACTERS + 1].decode("utf-8", "replace").strip()
        if address.startswith(("http://", "https://")):
            entries.note(address)
    if not entries:
        raise ValueError("it is no XML, and no line of it is an address")
    return Sitemap(False, tuple(entries))


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2]
