"""Where the pages of one site hang: one tree a site, from what all its pages claim (DESIGN "From page to
tree"). Pure; the same pages in any order give the same tree.

A page hangs under the first of these that is there:
 1. its own trail, whichever way the page states it (breadcrumb, rel=up, sidebar): the nearest crumb that
    is a page of the site, with the crumbs below it that are not (names without link, links elsewhere)
    as containers in between;
 2. a contents page that lists it: of several the one that shares the longest URL path with it, then the
    smallest key; never a page that by its URL lies below it;
 3. the page at the longest proper prefix of its URL path (/guide/ or /guide/index.html of /guide/x.html);
 4. the site itself: then it has no ancestors.
What stands above the parent is the parent's own affair, so that no page appears at two places.

Claims may run in circles. Each circle loses its weakest claim (breadcrumb before up before sidebar before
contents page before URL path), of equally weak ones that of the smallest page key, and the page that
made it takes its next best one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import urlsplit

from ingest.model import Page
from ingest.ports import SiteAncestor
from ingest.urls import equivalent, page_key

MAX_ANCESTORS = 16
"""A page has at most so many ancestors; one that would have more hangs beside its lowest ancestors."""

_WEAKNESS = {"breadcrumb": 0, "up": 1, "sidebar": 2, "none": 2}
_LISTED = 3
_BELOW_URL = 4


@dataclass(frozen=True, slots=True)
class _Claim:
    """A page hangs under the page `parent` (None: under the site), below the containers `between`."""

    parent: str | None
    between: tuple[SiteAncestor, ...]
    weakness: int


_UNDER_SITE = _Claim(None, (), 5)
_Find = Callable[[str], str | None]


def place(pages: Iterable[Page], aliases: Mapping[str, str] | None = None) -> dict[str, tuple[SiteAncestor, ...]]:
    """The ancestors of each page by page key, root first, the page itself left out. The pages' nodes are not
    looked at. `aliases`: page keys that stand for a page, each with the key of that page."""
    by_key = {page.key: page for page in sorted(pages, key=lambda page: page.key)}
    loosely = cache(partial(_name, normal=equivalent))
    find = _finder(by_key, aliases or {}, loosely)
    paths = {key: _path(loosely(key)) for key in by_key}
    listing = _listing_pages(by_key, paths, find)
    at_path: dict[tuple[str, ...], str] = {}
    for key, path in paths.items():
        at_path.setdefault(path, key)

    def claims(page: Page) -> Iterator[_Claim]:
        yield from _trail_claims(page, find)
        if page.key in listing:
            yield _Claim(listing[page.key], (), _LISTED)
        path = paths[page.key]
        prefixes = (path[:length] for length in range(len(path) - 1, 0, -1))
        yield from (_Claim(at_path[prefix], (), _BELOW_URL) for prefix in prefixes if prefix in at_path)

    return _ancestors(by_key, _without_circles({key: claims(page) for key, page in by_key.items()}))


def _finder(pages: Mapping[str, Page], aliases: Mapping[str, str], loosely: Callable[[str], str]) -> _Find:
    """From a URL to the key of the page that it names. A page is named by its key, by an alias, by its URL and
    canonical URL where no other page has the same, and by the spellings that usually serve one page."""
    claimed: dict[str, set[str]] = {}
    for page in pages.values():
        for url in (page.url, page.canonical):
            claimed.setdefault(url if url in pages else _name(url), set()).add(page.key)
    names = {name: min(keys) for name, keys in claimed.items() if len(keys) == 1}
    names |= {alias: target for alias, target in aliases.items() if target in pages}
    names |= {key: key for key in pages}
    spellings: dict[str, str] = {}
    for name in dict.fromkeys((*pages, *sorted(names))):
        spellings.setdefault(loosely(name), names[name])
    spellings.pop("", None)
    names.pop("", None)

    @cache
    def find(url: str) -> str | None:
        return names.get(_name(url)) or spellings.get(loosely(url))

    return find


def _name(url: str, normal: Callable[[str], str] = page_key) -> str:
    """Empty for what is no page address."""
    try:
        return normal(url)
    except ValueError:
        return ""


def _path(loose: str) -> tuple[str, ...]:
    """Host, folders and name of a page by its looser key: a folder's index page has the folder's path, /x.html that of /x."""
    parts = urlsplit(loose)
    query = [f"?{parts.query}"] if parts.query else []
    return (parts.netloc, *filter(None, parts.path.split("/")), *query)


def _listing_pages(pages: Mapping[str, Page], paths: Mapping[str, tuple[str, ...]], find: _Find) -> dict[str, str]:
    """For each page that contents pages list, the best of them."""
    best: dict[str, tuple[int, str]] = {}
    for lister, page in pages.items():
        for listed in map(find, page.claims.lists):
            if listed is None or listed == lister:
                continue
            shared = _shared(paths[lister], paths[listed])
            lister_below = shared == len(paths[listed]) < len(paths[lister])
            if not lister_below and (listed not in best or (-shared, lister) < best[listed]):
                best[listed] = (-shared, lister)
    return {listed: lister for listed, (_, lister) in best.items()}


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many steps two paths have in common from the start."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _trail_claims(page: Page, find: _Find) -> Iterator[_Claim]:
    """Under the nearest crumb that is a page; failing that (a circle) under the next nearest, and so on."""
    weakness = _WEAKNESS[page.claims.source]
    containers: tuple[SiteAncestor, ...] = ()
    for crumb in reversed(page.claims.trail):
        key = find(crumb.url) if crumb.url else None
        if key is None:
            containers = (SiteAncestor(crumb.title, url=crumb.url), *containers)
        elif key != page.key:
            yield _Claim(key, containers, weakness)
    if containers:
        yield _Claim(None, containers, weakness)


def _without_circles(claims: Mapping[str, Iterator[_Claim]]) -> dict[str, _Claim]:
    """The best claim of each page that closes no circle. Keys come sorted, best claims first."""
    chosen = {key: next(own, _UNDER_SITE) for key, own in claims.items()}
    settled: set[str] = set()
    for start in claims:
        way: dict[str, None] = {}
        key: str | None = start
        while key is not None and key not in settled:
            if key in way:
                steps = list(way)
                circle = steps[steps.index(key) :]
                key = min(circle, key=lambda page: (-chosen[page].weakness, page))
                chosen[key] = next(claims[key], _UNDER_SITE)
                way = dict.fromkeys(steps[: steps.index(key)])
            way[key] = None
            key = chosen[key].parent
        settled.update(way)
    return chosen


def _ancestors(pages: Mapping[str, Page], chosen: Mapping[str, _Claim]) -> dict[str, tuple[SiteAncestor, ...]]:
    placed: dict[str, tuple[SiteAncestor, ...]] = {}
    for start in pages:
        way: list[str] = []
        key: str | None = start
        while key is not None and key not in placed:
            way.append(key)
            key = chosen[key].parent
        for page in reversed(way):
            claim = chosen[page]
            above = () if claim.parent is None else (*placed[claim.parent], _as_place(pages[claim.parent]))
            placed[page] = (*above, *claim.between)[:MAX_ANCESTORS]
    return placed


def _as_place(page: Page) -> SiteAncestor:
    return SiteAncestor(page.title, page.key, page.canonical)
