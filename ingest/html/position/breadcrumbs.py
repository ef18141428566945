"""Trails that a page shows: lists and rows of links marked as breadcrumbs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ingest.html.content.boilerplate import HEADINGS, hidden
from ingest.html.dom import Dom, Element

_CURRENT = frozenset("active current is-active breadcrumb-item--active breadcrumbs__item--active".split())
_SIGNS = ">»›→"
_MAX_ROW_CHILDREN = 25
_MAX_BAR_ENTRIES = 8
_NO_TRAILS = frozenset("a li script style svg body html main head bread-crumbs span meta".split())
_TRAILS = frozenset({"navpath", "fqn"})
_ASIDE = frozenset("wy-breadcrumbs-aside footer right switchers".split())


@dataclass(frozen=True, slots=True)
class Raw:
    """A crumb as written. `current`: its markup says that it is the page itself."""

    name: str
    href: str | None
    current: bool = False


def visible_trails(tree: Dom) -> list[list[Raw]]:
    """All trails on the page, marked ones (microdata, RDFa) first, without empty and repeated crumbs."""
    marked: list[Element] = []
    named: list[Element] = []
    rows: list[Element] = []
    bars: list[list[Raw]] = []
    classed = [element for element in tree.elements if element.classes]
    related = [element.order for element in classed if _is_related_item(element)]
    titled = {element.parent for element in classed if _is_subtitle(element)}
    until = -1
    headed = False
    title = next((element.text for element in tree.tagged("h1")), "")
    for element in tree.elements:
        headed = headed or element.tag == "h1"
        if element.order <= until:
            continue
        if not headed and is_trail_row(element):
            rows.append(element)
        if not headed and element.tag == "ul" and (trail := _bar_to_page(element, title)):
            bars.append(trail)
        if not element.attrs:
            continue
        group = marked if _is_marked(element) else named if _is_named(element, related, titled) else None
        if group is not None:
            group.append(element)
            until = element.end
    trails = [_crumbs(container) for container in (*marked, *named) if not _shows_one(container)]
    trails += [_row_crumbs(row) for row in rows] + bars
    return [trail for trail in trails if trail]


def is_trail_row(element: Element) -> bool:
    """A block of links and words with nothing but trail signs between them, like A >> B >> C."""
    if element.tag not in ("p", "div", "nav") or len(element.children) > _MAX_ROW_CHILDREN:
        return False
    words = [child.strip() for child in element.children if isinstance(child, str) and child.strip()]
    if words and words[0] == "–" and next(element.elements, element).text.casefold() == "up":
        del words[0]  # odoc
    links = [child for child in element.elements if child.tag == "a"]
    if sum(1 for _ in element.elements) + bool(words and words[-1].strip(_SIGNS + " ")) < 2:
        return False  # an arrow before a link
    plain = all(child.tag in ("a", "span", "b", "strong", "em", "i") for child in element.elements)
    return bool(links) and plain and bool(words) and all(word[0] in _SIGNS for word in words) and bool(links[0].text)


def _bar_to_page(listing: Element, title: str) -> list[Raw]:
    """The entries of a bar above the title, up to one that is no link and says the page's name (Qt)."""
    items = [item for item in islice(listing.elements, _MAX_BAR_ENTRIES + 1) if item.tag == "li"]
    named = {name for above in islice(listing.ancestors(), 2) for name in (*above.classes, above.get("id").lower())}
    if not 1 < len(items) <= _MAX_BAR_ENTRIES or not any("navigation" in name or "path" in name for name in named):
        return []
    linked = [any(inner.tag == "a" for inner in item.walk()) for item in items]
    for at, item in enumerate(items):
        if not linked[at] and any(linked[:at]) and item.text and f"{title} ".startswith(f"{item.text} "):
            return [*map(_read, items[:at]), Raw(item.text, None, current=True)]
    return []


def _row_crumbs(row: Element) -> list[Raw]:
    found = [
        _read(part) for part in row.elements if part.tag == "a" or any(e.tag == "a" for e in part.elements) or part.text
    ]
    found = [raw for raw in found if raw.name.casefold() != "up"]
    last = row.children[-1]
    if isinstance(last, str) and last.strip(_SIGNS + " \n\t"):
        found.append(Raw(last.strip(_SIGNS + " \n\t"), None))
    return found


def _is_marked(element: Element) -> bool:
    attrs = element.attrs
    return ("itemtype" in attrs and "BreadcrumbList" in attrs["itemtype"]) or (
        "typeof" in attrs and "BreadcrumbList" in attrs["typeof"]
    )


def _is_named(element: Element, related: Sequence[int], titled: set[Element | None]) -> bool:
    """`related`: the orders of the entries of navigation lines, rising. `titled`: what has a child called a subtitle."""
    if element.tag in _NO_TRAILS:
        return False
    attrs, classes = element.attrs, element.classes
    labelled = "aria-label" in attrs and "breadcrumb" in attrs["aria-label"].casefold()
    if labelled or ("id" in attrs and "breadcrumb" in attrs["id"].casefold()) or _called_breadcrumbs(classes):
        return not _is_section(element)
    if attrs.get("id") == "nav-path" or not classes.isdisjoint(_TRAILS) or element in titled:
        return True
    return "related" in classes and bisect_right(related, element.end) > bisect_left(related, element.order)


@lru_cache(maxsize=4096)
def _called_breadcrumbs(classes: frozenset[str]) -> bool:
    return any("breadcrumb" in name and not name.startswith(("has-", "no-", "with-")) for name in classes)


def _is_section(element: Element) -> bool:
    """A heading, or what has one of its own, of that name is about breadcrumbs; the page's title may end a trail."""
    return element.tag in HEADINGS or (element.amounts.headed and not element.amounts.titled)


def _shows_one(container: Element) -> bool:
    """An example of a trail in the documentation of such things: its links lead nowhere."""
    hrefs = [
        element.get("href").strip() for element in container.walk() if element.tag == "a" and "href" in element.attrs
    ]
    return bool(hrefs) and all(href in ("", "#") for href in hrefs)


def _is_subtitle(element: Element) -> bool:
    """Where javadoc writes a class's package, until JDK 14 and since."""
    if "sub-title" in element.classes:
        return True
    return "subtitle" in element.classes and element.parent is not None and "header" in element.parent.classes


def _is_related_item(element: Element) -> bool:
    """Sphinx marks the ancestors among the entries of its navigation line."""
    return element.tag == "li" and any(name.startswith("nav-item") for name in element.classes)


def _crumbs(container: Element) -> list[Raw]:
    items = [e for e in _entries(container) if e.classes.isdisjoint(_ASIDE)]
    if any(_is_related_item(e) for e in items):
        items = [e for e in items if _is_related_item(e)]
    found: list[Raw] = []
    for item in items:
        raw = _read(item)
        if raw.href is None and raw.name.endswith(":"):
            continue  # "You are here:"
        if any(char.isalnum() for char in raw.name) and (not found or found[-1].name != raw.name or raw.current):
            found.append(raw)
    return found


def _entries(container: Element) -> Sequence[Element]:
    """The outermost list's items; without a list the marked items, else what stands in a row."""
    inside = list(_visible(container))
    first_list = next((e for e in inside if e.tag in ("ul", "ol")), None)
    if first_list is not None:
        return [e for e in first_list.elements if e.tag == "li" and not hidden(e)]
    marked = [
        e for e in inside if "itemListElement" in e.get("itemprop").split() or e.get("property") == "itemListElement"
    ]
    if marked:
        return marked
    if "fqn" in container.classes:
        return [e for e in inside if e.tag == "a"]
    subtitles = [e for e in container.elements if _is_subtitle(e)]
    if subtitles:
        return subtitles
    row = container
    while len(inner := [e for e in row.elements if not hidden(e)]) == 1 and inner[0].tag != "a":
        row = inner[0]
    return [e for e in row.elements if not hidden(e)]


def _visible(container: Element) -> Iterator[Element]:
    until = -1
    for element in container.walk():
        if element.order > until:
            if element is not container and hidden(element) and element.tag != "svg":
                until = element.end
            else:
                yield element


def _read(item: Element) -> Raw:
    link = item if item.tag == "a" else next((e for e in item.walk() if e.tag == "a" and e.get("href")), None)
    named = next((e for e in item.walk() if "name" in e.get("itemprop").split() or e.get("property") == "name"), None)
    source = named or link or item
    if link is not None and _is_subtitle(item):
        source = link
    name = source.get("content") if source.tag == "meta" else _own_text(source)
    if not any(char.isalnum() for char in name):
        name = _label(link or item)
    current = any(e.get("aria-current") in ("page", "true", "location") for e in item.walk())
    current = current or (link is None and not item.classes.isdisjoint(_CURRENT)) or "nav-item-this" in item.classes
    return Raw(name.strip(" »›>/|·"), link.get("href") if link is not None else None, current)


def _own_text(element: Element) -> str:
    """The text without lists inside (menus of siblings) and without what is hidden."""
    parts: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.tag not in ("ul", "ol", "script", "style", "svg") and not hidden(item):
            stack.extend(reversed(item.children))
    return " ".join("".join(parts).split())


def _label(element: Element) -> str:
    """What names a crumb that is only an icon."""
    for inner in element.walk():
        name = inner.get("aria-label") or inner.get("alt") or inner.get("title")
        if name.strip():
            return name
    return ""
