"""What a page's URL gives now: its tree, the reason why there is none, or where it went.

The one way a page is read, by the watcher that decides whether it changed and by the indexer that keeps
it, so that both see the same content in the same bytes. Where notes are given, as the indexer does, long sections are
split as the notes say (ingest.tree.induced_headings), which is no change of content.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Literal
from urllib.parse import urljoin

from ingest.errors import FetchFailed, PageTooLarge
from ingest.model import Document, Page, Site
from ingest.notes import Notes, outlines_of
from ingest.ports import Fetched, Fetcher, PageParser
from ingest.retry import retry_after
from ingest.sites.scope import base_url, in_scope
from ingest.text.likeness import Likeness, alike, brief
from ingest.tree.induced_headings import divisible, split
from ingest.urls import equivalent, page_key

MAX_MOVES_FOLLOWED = 5
"""So many pages that lead on to another are followed; beyond that they lead nowhere."""
MAX_REMEMBERED_PAGES = 256
"""Readings that are kept where one is read by two: enough for what 16 workers have in hand and for the new pages of a site,
which wait until it is known which of them are old ones that moved."""
MAX_REMEMBERED_CHARACTERS = 200_000
"""Of one page: a longer one is fetched again, so that all together stay within some 50 MB."""

_NOT_MODIFIED = 304
_GONE = (404, 410)
_PASSING = (302, 303, 307)


@dataclass(frozen=True, slots=True)
class PageReading:
    """`page`: `page` is there, with ordinals for ids. `skipped`: `reason` is a SkipReason. `missing`: 404, 410 (`status`)
    or a redirect to nowhere; `target` is where redirects led to before. `moved`: to the URL `target`.
    `unmodified`: the server says that nothing changed since the validators sent. `links` are absolute. `passing`: it moved
    for now only (302, 303, 307), as to a form to sign in. `likeness` is that of what was shown, indexed or not; `stands_in`:
    what it may stand in for the page as."""

    kind: Literal["page", "skipped", "missing", "moved", "unmodified"]
    status: int
    page: Page | None = None
    reason: str | None = None
    detail: str = ""
    target: str | None = None
    links: tuple[str, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    passing: bool = False
    likeness: Likeness | None = None
    stands_in: str | None = None

    @property
    def seen(self) -> str | None:
        """What was shown, in brief: enough to know it again."""
        return brief(self.likeness) if self.likeness else None


Destination = tuple[str, PageReading]
"""The key where a page that moved is now, and what that gives."""


class PageReader:
    """Reads the pages of one site. `chance` gives addresses that cannot exist, by which the first reading learns what the
    site answers for a page that is not there; None: that is not asked. `remember`: so many of the last whole readings are
    given again to who reads the page again, as the indexer does what the watcher has just read."""

    def __init__(
        self,
        site: Site,
        fetcher: Fetcher,
        parser: PageParser,
        *,
        chance: random.Random | None = None,
        notes: Notes | None = None,
        remember: int = 0,
    ) -> None:
        self._site = site
        self._fetcher = fetcher
        self._parser = parser
        self._chance = chance
        self._notes = notes
        self._remember = remember
        self._remembered: OrderedDict[str, PageReading] = OrderedDict()
        self._probing = asyncio.Lock()
        self._probed = chance is None or site.is_folder
        self._nowhere: tuple[Likeness, ...] = ()
        starts = () if site.is_folder else (site.start, base_url(site))
        self._starts = frozenset(map(equivalent, starts))

    async def read(
        self, key: str, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> PageReading:
        """`key` is the page's; validators make the request conditional. Raises FetchFailed also for an answer that
        says nothing about the page (a login that is wanted, a redirect without an address, an empty body, a check of the
        browser), and where reading it costs more than a page may."""
        if key in self._remembered and not (etag or last_modified):
            return self._remembered[key]
        reading = await self._read_now(key, url, etag, last_modified)
        if self._remember and reading.kind != "unmodified" and _characters(reading) <= MAX_REMEMBERED_CHARACTERS:
            self._remembered[key] = reading
            if len(self._remembered) > self._remember:
                self._remembered.popitem(last=False)
        return reading

    async def destination(self, target: str) -> Destination | None:
        """The key where a page that moved to `target` is now, and what that gives. None if it is no page of the site."""
        for _ in range(MAX_MOVES_FOLLOWED):
            if not in_scope(self._site, target):
                return None
            key = page_key(target)
            reading = await self.read(key, target)
            if reading.kind != "moved" or reading.target is None:
                return key, reading
            target = reading.target
        return None

    async def probe(self) -> None:
        """Learn anew what the site answers for pages that are not there: servers give one thing for files, another for
        directories."""
        self._probed = True
        if self._chance is not None and not self._site.is_folder:
            names = ["".join(self._chance.choices(ascii_lowercase, k=24)) for _ in range(2)]
            answers = [await self._answer(f"{names[0]}.html"), await self._answer(f"{names[1]}/")]
            self._nowhere = tuple(answer for answer in answers if answer)

    def is_nowhere(self, said: Likeness) -> bool:
        """Whether the site says so of any address."""
        return any(alike(said, nowhere) for nowhere in self._nowhere)

    async def _answer(self, name: str) -> Likeness | None:
        try:
            answer = await self._fetcher.fetch(urljoin(base_url(self._site), name))
            return (await self._parse(answer)).likeness if answer.status == 200 and not answer.hops else None
        except FetchFailed:
            return None

    async def _read_now(self, key: str, url: str, etag: str | None, last_modified: str | None) -> PageReading:
        async with self._probing:
            if not self._probed:
                await self.probe()
        try:
            fetched = await self._fetcher.fetch(url, etag=etag, last_modified=last_modified)
        except PageTooLarge as error:
            return PageReading("skipped", 200, reason="too_large", detail=str(error))
        redirected = page_key(fetched.url) != key
        if fetched.status == _NOT_MODIFIED and (etag or last_modified):
            # Where it led elsewhere, the validators were answered by a page that they are not of.
            return (
                await self._read_now(key, url, None, None) if redirected else PageReading("unmodified", _NOT_MODIFIED)
            )
        if fetched.status in _GONE:
            target = fetched.url if redirected else None
            return PageReading("missing", fetched.status, reason=f"HTTP {fetched.status}", target=target)
        if not 200 <= fetched.status < 300:
            raise FetchFailed(f"{url} answered with status {fetched.status}")
        if redirected:
            passing = any(status in _PASSING for _, status in fetched.hops)
            return PageReading("moved", fetched.status, target=fetched.url, passing=passing)
        if not fetched.body.strip() and not self._site.is_folder:
            raise FetchFailed(f"{url} answered with status {fetched.status} and an empty body")
        document = await self._parse(fetched)
        notice = None if self._site.is_folder else document.interstitial  # nothing stands before a file
        if notice and notice.sure:
            raise FetchFailed(
                f"{url} answered with {notice.what} instead of the page; have the site let ritbot in, or set headers for it",
                retry_after(fetched.headers),
            )
        reading = replace(self._read(key, fetched, document), stands_in=notice.what if notice else None)
        return replace(reading, page=await self._outlined(reading.page)) if reading.page else reading

    async def _outlined(self, page: Page) -> Page:
        long = divisible(page.nodes) if self._notes else []
        return split(page, await outlines_of(self._notes, {n.own_hash for n in long})) if self._notes and long else page

    def _read(self, key: str, fetched: Fetched, document: Document) -> PageReading:
        skip, page = document.skip, document.page
        if skip is not None and skip.reason == "redirect":
            if skip.redirect_to is None:
                return PageReading("missing", fetched.status, reason="redirect to nowhere")
            return PageReading("moved", fetched.status, target=skip.redirect_to)
        if page is None:
            reason, detail = (skip.reason, skip.detail) if skip else ("empty", "")
            return PageReading(
                "skipped",
                fetched.status,
                reason=reason,
                detail=detail,
                links=_followed(document),
                likeness=document.likeness,
            )
        if document.likeness and equivalent(key) not in self._starts and self.is_nowhere(document.likeness):
            detail = "nearly the same answer as for an address that does not exist"
            return PageReading("skipped", fetched.status, reason="soft_404", detail=detail, likeness=document.likeness)
        return PageReading(
            "page",
            fetched.status,
            likeness=document.likeness,
            page=_citable(replace(page, key=key)),
            links=(*_followed(document), page.canonical),
            etag=fetched.headers.get("etag"),
            last_modified=fetched.headers.get("last-modified"),
        )

    async def _parse(self, fetched: Fetched) -> Document:
        return await self._parser.parse(
            fetched.body,
            fetched.url,
            status=fetched.status,
            content_type=fetched.content_type,
            headers=fetched.headers,
            index_noindex=self._site.index_noindex,
            max_bytes=self._site.max_bytes,
            site_hosts=frozenset(self._site.hosts),
        )


def _citable(page: Page) -> Page:
    """The page with the URL that citations use. A canonical URL elsewhere on the site may stand for other
    content (Antora's points to the newest version): it is not believed until that page proves equal, and
    then this page is its alias. A folder's pages may name where they are published."""
    published = page.url.startswith("file:") and page.canonical.startswith(("http://", "https://"))
    if published or page_key(page.canonical) == page_key(page.url):
        return page
    return replace(page, canonical=page.url, claims=replace(page.claims, canonical=page.canonical))


def _characters(reading: PageReading) -> int:
    return sum(len(node.text) for node in reading.page.nodes) if reading.page else 0


def _followed(document: Document) -> tuple[str, ...]:
    """The links that the page does not ask to leave alone."""
    return () if document.nofollow else document.links
