"""What a page says about its place: the trail of its ancestors, and the pages that it lists as its contents.

Sources, best first: breadcrumbs (schema.org JSON-LD, and lists marked as breadcrumbs by microdata, RDFa, label, class or
a generator's own habit), the link rel=up, the active entry of a sidebar. A visible trail that
holds the JSON-LD one and more wins over it: generators leave unlinked groups out of the latter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from ingest.html.dom import Dom, Element, clean
from ingest.html.head import Resolver, unnumbered
from ingest.html.position.breadcrumbs import Raw, visible_trails
from ingest.html.position.sidebar import active_trail
from ingest.model import Claims, Crumb

_MAX_JSON_LD_CHARACTERS = 1_000_000
"""Of a page's blocks together; read, they take up to forty times their size."""
_MAX_ALTERNATES = 5
"""Trails kept beside the best one."""
_KINDS = frozenset("class module interface struct enum trait package namespace function type object method".split())
"""What API references put before the name of a page's subject."""
_MAX_CRUMBS = 100
"""A longer row is no trail: no reader goes down a hundred pages."""


class PagePlace:
    """Where a page is: resolves its links and knows which of them lead to the page itself."""

    def __init__(self, url: str, resolve_link: Resolver, canonical: str, titles: Sequence[str]) -> None:
        self.resolve = resolve_link
        self._own = {_loose(u) for u in (url, canonical)}
        self._titles = {_plain(unnumbered(text)) for text in titles if text}
        self._titles |= {_plain(text.rpartition("::")[2]) for text in titles if "::" in text}
        self._titles |= {
            _plain(name) for kind, _, name in (text.partition(" ") for text in titles) if kind.casefold() in _KINDS
        }

    def is_self(self, url: str | None) -> bool:
        return url is not None and _loose(url) in self._own

    def is_below(self, url: str | None) -> bool:
        """Whether the page's address begins with this one."""
        return url is not None and any(own.startswith(_loose(url).rstrip("?") + "/") for own in self._own)

    def is_title(self, text: str) -> bool:
        return _plain(unnumbered(text)) in self._titles


@dataclass(frozen=True, slots=True)
class OfferedTrails:
    """The trails on a page as written: from its JSON-LD, and those it shows."""

    linked_data: list[list[Raw]]
    shown: list[list[Raw]]


def offered(tree: Dom) -> OfferedTrails:
    """Read the trails, before furniture is taken out of the page."""
    return OfferedTrails(_json_ld(tree), visible_trails(tree))


def claims(tree: Dom, trails: OfferedTrails, place: PagePlace, lists: tuple[str, ...]) -> Claims:
    """The best trail that the page offers, and the others beside it."""
    best = _best(tree, trails, place, lists)
    written = [_crumb(raw, place) for raw in _short([*trails.linked_data, *trails.shown])]
    others = dict.fromkeys(trail for trail in _without_self(written, place, data=False) if trail)
    rest = (trail for trail in others if not (_holds(trail, best.trail) or _holds(best.trail, trail)))
    return replace(best, alternates=tuple(islice(rest, _MAX_ALTERNATES)))


def _best(tree: Dom, trails: OfferedTrails, place: PagePlace, lists: tuple[str, ...]) -> Claims:
    offers = [_crumb(raw, place) for raw in _short(trails.linked_data)]
    offers.sort(key=lambda trail: _likely(trail, place), reverse=True)
    linked_data = _without_self(offers, place, data=True)
    shown = _without_self([_crumb(raw, place) for raw in _short(trails.shown)], place, data=False)
    best = next((trail for trail in linked_data if trail), ())
    longer = next((trail for trail in shown if trail), ())
    if len(longer) > len(best) and _holds(longer, best):
        best = longer
    if best:
        return Claims(best, "breadcrumb", lists)
    up = _up(tree, place)
    if up is not None:
        return Claims((up,), "up", lists)
    side = _without_self([_crumb(active_trail(tree, place.resolve, place.is_self), place)], place, data=False)[0]
    return Claims(side, "sidebar", lists) if side else Claims((), "none", lists)


def _short(trails: Sequence[list[Raw]]) -> list[list[Raw]]:
    return [trail for trail in trails if len(trail) <= _MAX_CRUMBS]


def _crumb(raws: Sequence[Raw], place: PagePlace) -> list[tuple[Crumb, bool]]:
    """Crumbs, each with whether its markup calls it the current page."""
    made = []
    for raw in raws:
        name = clean(raw.name)
        if any(char.isalnum() for char in name):
            made.append((Crumb(name, _address(raw.href, place)), raw.current))
    return made


def _address(href: str | None, place: PagePlace) -> str | None:
    url = place.resolve(href) if href else None
    return url.partition("#")[0] if url else None


def _without_self(
    trails: Sequence[list[tuple[Crumb, bool]]], place: PagePlace, *, data: bool
) -> list[tuple[Crumb, ...]]:
    """Without the crumbs at the end that are the page itself (in linked data the last item without an address always
    is), and without the page as its own ancestor; a crumb that is repeated counts once."""
    result = []
    for trail in trails:
        kept = list(trail)
        last = len(kept)
        while kept:
            crumb, current = kept[-1]
            unlinked = crumb.url is None
            end_of_data = data and unlinked and len(kept) == last
            if current or place.is_self(crumb.url) or end_of_data or (unlinked and place.is_title(crumb.title)):
                kept.pop()
            else:
                break
        result.append(tuple(dict.fromkeys(crumb for crumb, _ in kept if not place.is_self(crumb.url))))
    return result


def _likely(trail: Sequence[tuple[Crumb, bool]], place: PagePlace) -> tuple[bool, int]:
    """Of several trails: the one that ends in this page, then the one with the most addresses above the page's."""
    return bool(trail) and place.is_self(trail[-1][0].url), sum(place.is_below(crumb.url) for crumb, _ in trail)


def _holds(longer: Sequence[Crumb], shorter: Sequence[Crumb]) -> bool:
    """Whether `shorter` is a subsequence of `longer`, by address or title."""
    rest = iter(longer)
    return all(any(_same(crumb, other) for other in rest) for crumb in shorter)


def _same(one: Crumb, other: Crumb) -> bool:
    if one.url is not None and one.url == other.url:
        return True
    return _plain(one.title) == _plain(other.title)


def _up(tree: Dom, place: PagePlace) -> Crumb | None:
    """The link rel=up (its older name is parent; DocBook's sign is the access key u), named by its title or by a
    link to the same page."""
    for element in tree.tagged("link", "a"):
        rels = element.get("rel").lower().split()
        if "up" in rels or "parent" in rels or (element.get("accesskey") == "u" and _in_page_header(element)):
            url = _address(element.get("href"), place)
            if url is not None and not place.is_self(url):
                name = clean(element.get("title")) or _name_of(tree, url, place)
                return Crumb(name or url.rstrip("/").rpartition("/")[2], url)
    return None


def _in_page_header(link: Element) -> bool:
    return any(name.startswith("nav") for above in link.ancestors() for name in above.classes)


def _name_of(tree: Dom, url: str, place: PagePlace) -> str:
    for element in tree.tagged("a"):
        if element.get("href") and _address(element.get("href"), place) == url:
            name = element.text
            if name and name.casefold() not in ("up", "parent", "back", "index", "contents"):
                return name
    return ""


def _json_ld(tree: Dom) -> list[list[Raw]]:
    """All BreadcrumbLists in the page's JSON-LD, wherever they are nested; broken blocks are skipped."""
    found = []
    left = _MAX_JSON_LD_CHARACTERS
    for element in tree.tagged("script"):
        if "ld+json" in element.get("type").lower():
            block = "".join(element.strings())
            left -= len(block)
            if left < 0:
                break
            try:
                data = json.loads(block)
            except (ValueError, RecursionError):
                continue
            found += [_items(entity) for entity in _entities(data) if _is_a(entity, "BreadcrumbList")]
    return [trail for trail in found if trail]


def _entities(data: Any) -> Iterator[dict[str, Any]]:
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict):
            yield value
            stack.extend(reversed([inner for inner in value.values() if isinstance(inner, list | dict)]))


def _is_a(entity: dict[str, Any], kind: str) -> bool:
    types = entity.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.rpartition("/")[2] == kind for name in names)


def _items(entity: dict[str, Any]) -> list[Raw]:
    listed = entity.get("itemListElement")
    listed = listed if isinstance(listed, list) else [listed]
    placed = []
    for index, item in enumerate(listed):
        if not isinstance(item, dict):
            continue
        target = item.get("item")
        inner = target if isinstance(target, dict) else {}
        name = item.get("name") or inner.get("name") or ""
        href = target if isinstance(target, str) else inner.get("@id") or inner.get("url") or item.get("url")
        placed.append(
            (_position(item.get("position"), index), Raw(unescape(str(name)), href if isinstance(href, str) else None))
        )
    placed.sort(key=lambda pair: pair[0])
    return [raw for _, raw in placed]


def _position(value: Any, index: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float(index + 1)


def _loose(url: str) -> str:
    """An address without what may differ between two spellings of one page."""
    return _loose_page(url.partition("#")[0])


@lru_cache(maxsize=4096)  # a sidebar is the same on all pages of a site
def _loose_page(url: str) -> str:
    parts = urlsplit(url)
    path = parts.path
    for ending in ("index.html", "index.htm", ".html", ".htm"):
        path = path.removesuffix(ending)
    return f"{(parts.hostname or '').removeprefix('www.')}{path.rstrip('/')}?{parts.query}"


def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def listed_pages(listings: Sequence[Element], place: PagePlace) -> tuple[str, ...]:
    """The pages that lists of links name, outermost entries only, in document order."""
    found: dict[str, None] = {}
    for listing in listings:
        until = -1
        for element in listing.walk():
            if element.order <= until:
                continue
            if element.tag == "a" and element.get("href"):
                url = _address(element.get("href"), place)
                if url is None or place.is_self(url):
                    continue
                found[url] = None
                entry = next((a for a in element.ancestors() if a.tag in ("li", "dt", "dd") or a is listing), listing)
                until = entry.end if entry is not listing else -1
    return tuple(found)
