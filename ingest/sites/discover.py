"""Finding the pages of a site, and handing them out to whoever visits them.

    frontier = await discover(site, fetcher, known=keys)

    async def worker() -> None:                     # as many as you like, side by side
        async for url in frontier:
            links: Sequence[str] = ()
            try:
                links = await visit(url)
            finally:
                frontier.done(url, links)

A folder is listed; a website gives its sitemap (the configured one, the start if it is one, those in
robots.txt, sitemap.xml beside the start, then at the root), else its links are followed from the start.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal, Self
from urllib.parse import urljoin

import structlog

from ingest.counted import counted, verb
from ingest.errors import FetchFailed, IngestError, SiteUnusable
from ingest.model import Site
from ingest.ports import Fetcher
from ingest.sites.folder import list_pages, what_it_holds
from ingest.sites.robots import robots_url, sitemaps_in
from ingest.sites.scope import base_url, in_scope
from ingest.sites.sitemap import SitemapListing, read_sitemaps
from ingest.sites.traps import Traps
from ingest.text.likeness import Likeness, alike
from ingest.urls import page_key, resolve, same_page

log = structlog.get_logger()

Source = Literal["folder", "sitemap", "links"]
_SITEMAP_ENDINGS = (".xml", ".xml.gz", "sitemap.txt")


class Frontier:
    """The pages of a site that are still to be visited: an async iterator of page keys, each given once.

    Any number of tasks may iterate over the same object. It ends for all of them when nothing is waiting
    and every page given has been reported `done`; a page never reported keeps the others waiting.

    `source` says where the pages come from; `complete`, whether the source could be read whole (with
    `links` never known); `lastmods`, by page key, what the source says of each page's last change ("": nothing),
    which is a hint; `warnings` are sentences for the operator.
    """

    def __init__(
        self,
        site: Site,
        source: Source,
        pages: Iterable[str] | Mapping[str, str | None],
        *,
        known: Iterable[str] = (),
        handled: Iterable[str] = (),
        complete: bool = True,
        doubted: bool = False,
        warnings: Iterable[str] = (),
        astray: bool = False,
        traps: frozenset[str] = frozenset(),
    ) -> None:
        """`known` and `handled` as in `discover`. `doubted`: nobody vouches for the list; it is given up for links
        once these lead to more pages than it holds (Read the Docs lists each version's first page only). `astray`: the
        site's own list led nowhere. `traps`: shapes of addresses that are known to lead nowhere."""
        self.astray = astray
        self.traps = Traps(traps)
        self.source: Source = source
        self.complete = complete and source != "links"
        self.warnings: list[str] = []
        self._site = site
        self._secure = site.start.startswith("https://")
        marks = pages if isinstance(pages, Mapping) else {}
        self.lastmods = {self._key(page): marks.get(page) or "" for page in pages}
        self._doubted = doubted
        self._handled = tuple(handled)
        self._seen = set() if source == "links" else {same_page(key) for key in self._handled}
        self._waiting: deque[str] = deque()
        self._in_work: set[str] = set()
        self._known: frozenset[str] = frozenset()
        self._ends: set[str] = set()
        self._first_said: Likeness | None = None
        self._unlisted: dict[str, None] = {}
        self._linked_from: dict[str, str] = {}
        self._news = asyncio.Event()
        self._full = False
        for warning in warnings:
            self._warn(warning)
        self._listed = sum(self._offer(page) for page in pages)
        self._known = frozenset(map(self._key, known := list(known)))
        self._known_beyond = sum(self._offer(page) for page in known)

    @property
    def found(self) -> int:
        """How many pages are known by now: waiting, in work, done, or handled before."""
        return len(self._seen)

    @property
    def trapped(self) -> bool:
        """Whether links led to addresses without end."""
        return self.source == "links" and bool(self.traps.closed or self._ends)

    def done(self, url: str, links: Iterable[str] = ()) -> None:
        """The visit to `url` has ended, well or not; `links` are the addresses found there. They count
        only where pages are found by links, and as evidence against a doubted sitemap."""
        if url in self._ends:
            links = ()
        if self.source == "links":
            for link in links:
                if in_scope(self._site, link) and self._offer(link):
                    self._linked_from[same_page(link)] = url
        elif self._doubted and len(self._unlisted) <= self._site.max_pages:
            self._unlisted.update(
                (link, None) for link in links if in_scope(self._site, link) and not self._is_seen(link)
            )
        self._in_work.discard(url)
        self._news.set()

    def linked_from(self, key: str) -> str | None:
        """The page whose link led here first; None where it was listed, or is known."""
        return self._linked_from.get(same_page(key))

    def note(self, url: str, says: Likeness, is_page: bool = True) -> None:
        """What the page at `url` says, before it is reported `done`. Where it `is_page` not, the site says so of any address:
        if the first page says it too, as a start may, its links lead on for ever."""
        closed = len(self.traps.closed)
        self._first_said = self._first_said or (says if is_page else None)
        leads_back = not is_page and self._first_said is not None and alike(says, self._first_said)
        if not self.traps.note(url, says) or leads_back:
            self._ends.add(url)
        if self.source == "links" and (len(self.traps.closed) > closed or (len(self._ends) == 1 and url in self._ends)):
            self._warn(
                f"Pages at addresses like {url} say what others said; such addresses are not followed further. Leave them"
                " out by exclude."
            )

    def follow_links(self) -> None:
        """No page is where the site's list says: from the start, its links are followed."""
        self._warn(
            f"The sitemap of site {self._site.name} lists {counted(self._listed, 'address', 'addresses')}, and none of them is a page; links are"
            f" followed from {self._site.start} instead. Mend the sitemap, or name another as sitemap of this site."
        )
        self.source, self.complete, self.astray = "links", False, True
        for page in (self._site.start, *self._unlisted):
            self._offer(page)

    async def visit_all(self, visit: Callable[[str], Awaitable[Iterable[str]]], workers: int) -> None:
        """Visit every page, `workers` side by side; `visit` gives the links found. Its first error ends all visits and
        is raised."""

        async def worker() -> None:
            async for url in self:
                links: Iterable[str] = ()
                try:
                    links = await visit(url)
                finally:
                    self.done(url, links)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(worker())
        except* IngestError as errors:
            raise errors.exceptions[0] from None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while (url := self._next()) is None:
            if self._in_work:
                self._news.clear()
                await self._news.wait()
            elif not self._turn_to_links():
                raise StopAsyncIteration
        self._in_work.add(url)
        return url

    def _next(self) -> str | None:
        while self._waiting:
            url = self._waiting.popleft()
            if self.source != "links" or url in self._known or not self.traps.holds(url):
                return url
        return None

    def _turn_to_links(self) -> bool:
        """Whether a list that proved to be no list of the pages was given up, and there is more to visit."""
        beyond = len(self._unlisted) + self._known_beyond
        if self.source == "links" or not self._unlisted or beyond <= self._listed:
            return False
        self._warn(
            f"The sitemap of site {self._site.name} lists {counted(self._listed, 'page')}, which {verb(self._listed, 'links', 'link')} to {beyond} more;"
            " links are followed instead. Set sitemap for this site if the list is right."
        )
        self.source, self.complete = "links", False
        self._seen -= {same_page(page) for page in self._handled}
        for page in (*self._handled, *self._unlisted):
            self._offer(page)
        return bool(self._waiting)

    def _offer(self, url: str) -> bool:
        """Put a page in the queue, unless it has been there."""
        key = self._key(url)
        if self._is_seen(key):
            return False
        if len(self._seen) >= self._site.max_pages:
            self._cut_off()
            return False
        self._seen.add(same_page(key))
        self._waiting.append(key)
        return True

    def _key(self, url: str) -> str:
        """What a site that starts on https names by http is asked for by https: it is the same page, and login headers
        may go with it."""
        return same_page(url) if self._secure else page_key(url)

    def _is_seen(self, url: str) -> bool:
        return same_page(url) in self._seen

    def _cut_off(self) -> None:
        if not self._full:
            self._full, self.complete = True, False
            self._warn(
                f"Site {self._site.name} has more than {self._site.max_pages:,} pages; the rest is left out. Raise max_pages,"
                " or narrow the site by include and exclude."
            )

    def _warn(self, warning: str) -> None:
        self.warnings.append(warning)
        log.warning("site_warning", site=self._site.name, warning=warning)


async def discover(
    site: Site,
    fetcher: Fetcher,
    *,
    known: Iterable[str] = (),
    handled: Iterable[str] = (),
    traps: frozenset[str] = frozenset(),
) -> Frontier:
    """Find out where the pages of a site are listed.

    `known`: page keys of the site that are in the store. On the web they are visited too, listed or not, since only
    a page's own 404 tells that it is gone; of a folder the list tells. `handled`: pages that an interrupted crawl
    has been through; they are not given again, except by links, where only they tell how to go on. `traps` as in Frontier.

    Raises SiteUnusable where there is no page at all, or the sitemap that the site names lists none at all.
    Where it lists only addresses outside the site, links are followed, from the folder of the start where that is the sitemap.
    """
    if site.is_folder:
        listed = await asyncio.to_thread(list_pages, site)
        pages = {url: changed for url, changed in listed.items() if in_scope(site, url)}
        if not pages:
            raise SiteUnusable(
                f"Site {site.name}: its folder {site.start} {await asyncio.to_thread(what_it_holds, site)}."
            )
        return Frontier(site, "folder", pages, handled=handled)
    known = [key for key in known if in_scope(site, key)]
    named = _named_sitemap(site)
    listing = await read_sitemaps(site, fetcher, [named]) if named else await _find_sitemaps(site, fetcher)
    if named and not listing.pages and not listing.outside:
        raise SiteUnusable(_no_page_of(site, f"Sitemap {named}", listing))
    if listing.pages:
        return Frontier(
            site,
            "sitemap",
            listing.pages,
            known=known,
            handled=handled,
            complete=not listing.warnings,
            doubted=not named,
            warnings=listing.warnings,
            traps=traps,
        )
    start = base_url(site) if named == site.start else site.start
    if listing.outside:
        what = f"Sitemap {named}" if named else "Its sitemap"
        listing.warnings.append(f"{_no_page_of(site, what, listing)} Links are followed from {start} instead.")
    astray = listing.outside > 0
    return Frontier(site, "links", [start], known=known, warnings=listing.warnings, astray=astray, traps=traps)


def _named_sitemap(site: Site) -> str | None:
    if site.sitemap:
        return resolve(site.start, site.sitemap) or site.sitemap
    return site.start if page_key(site.start).endswith(_SITEMAP_ENDINGS) else None


async def _find_sitemaps(site: Site, fetcher: Fetcher) -> SitemapListing:
    """The first of the usual places that lists pages of the site. That a guessed sitemap.xml is not there is
    no fault; that one which robots.txt names cannot be read is worth a warning."""
    in_robots = await _in_robots(site, fetcher)
    guesses = dict.fromkeys([urljoin(base_url(site), "sitemap.xml"), urljoin(site.start, "/sitemap.xml")])
    tried = SitemapListing()
    for urls in (in_robots, *([guess] for guess in guesses if guess not in in_robots)):
        listing = await read_sitemaps(site, fetcher, urls)
        if listing.pages:
            listing.warnings[:0] = tried.warnings
            return listing
        tried.outside += listing.outside
        if urls is in_robots:
            tried.warnings += listing.warnings
    return tried


async def _in_robots(site: Site, fetcher: Fetcher) -> list[str]:
    address = robots_url(site.start)
    try:
        lines = sitemaps_in(await fetcher.fetch(address))
    except FetchFailed as failure:
        log.info("robots_not_read", site=site.name, why=str(failure))
        return []
    return [url for line in lines if (url := resolve(address, line))]


def _no_page_of(site: Site, what: str, listing: SitemapListing) -> str:
    reasons = f" ({'; '.join(listing.warnings)})" if listing.warnings else ""
    return f"{what} lists {counted(listing.outside, 'address', 'addresses')}, none of them a page of site {site.name} under {base_url(site)}{reasons}."
