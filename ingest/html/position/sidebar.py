"""The active entry of a sidebar and the groups around it, where a page shows no trail."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from ingest.html.content.boilerplate import HEADINGS
from ingest.html.dom import Dom, Element, clean
from ingest.html.position.breadcrumbs import Raw

_ACTIVE = frozenset("active current is-active is-current selected md-nav__link--active menu__link--active".split())
_GROUPS = frozenset("li details section dl".split())
_MIN_PART_LINKS = 3
MAX_LABEL_CHARACTERS = 200
"""Of a paragraph in a navigation; a longer one is text."""
_MAX_TRAILS = 50
"""So many of the links that may be the active one are followed up."""
_LABELS = frozenset(("a", "summary", "button", "span", "label", "p", "strong", *HEADINGS))
_TEXT_TAGS = frozenset({"body", "html", "main", "article"})
_SIDE_WORDS = ("sidebar", "sidenav", "side-nav", "nav", "menu", "toctree", "summary", "chapter", "accordion")
_TOP_MENUS = frozenset("navbar navbar-nav navbar-collapse navbar-menu dropdown-menu topnav top-nav topbar".split())
_NO_NAMES = frozenset("table of contents|contents|chapters|navigation|menu|documents|pages|on this page".split("|"))
"""What stands over every sidebar's list names no group."""
_PART_TITLES = frozenset("part-title caption header nav-header sidebar-title sidebar-group-header group-label".split())


def active_trail(tree: Dom, resolve: Callable[[str], str | None], is_self: Callable[[str | None], bool]) -> list[Raw]:
    """The labels of the groups around the sidebar's link to this page, outermost first; the longest of
    all such links' trails."""
    sides = _Sides()
    active = (e for e in tree.tagged("a") if _claims_active(e) or _leads_here(e, resolve, is_self))
    placed = ((link, side) for link in active if (side := sides.around(link)) is not None)
    return max((_groups(link, side) for link, side in islice(placed, _MAX_TRAILS)), key=len, default=[])


def _claims_active(link: Element) -> bool:
    return link.get("aria-current") in ("page", "true")


def _leads_here(link: Element, resolve: Callable[[str], str | None], is_self: Callable[[str | None], bool]) -> bool:
    href = link.get("href")
    return bool(href) and (not href.startswith("#") or not _ACTIVE.isdisjoint(link.classes)) and is_self(resolve(href))


class _Sides:
    """The outermost navigation around each element, found once for all that share it."""

    def __init__(self) -> None:
        self._known: dict[Element, tuple[bool, Element | None]] = {}

    def around(self, link: Element) -> Element | None:
        """None for links in the text and in the page's header."""
        unknown: list[Element] = []
        in_header, side = False, None
        for above in link.ancestors():
            if above.tag in _TEXT_TAGS:
                break
            if above in self._known:
                in_header, side = self._known[above]
                break
            unknown.append(above)
        for above in reversed(unknown):
            in_header = in_header or above.tag == "header"
            side = side or (above if _is_side(above) else None)
            in_header = in_header or _is_top_menu(above)
            self._known[above] = in_header, side
        return None if in_header else side


def _is_side(element: Element) -> bool:
    if element.tag in ("nav", "aside") or element.role == "navigation":
        return True
    names = " ".join((*element.classes, element.get("id").lower()))
    return any(word in names for word in _SIDE_WORDS) and not any(map(_is_prose, element.walk()))


def _is_prose(element: Element) -> bool:
    """What a box that is only called chapter, or with-sidebar, may hold, and no navigation does."""
    return element.tag == "pre" or (element.tag in ("p", "dd") and len(element.text) > MAX_LABEL_CHARACTERS)


def _is_top_menu(element: Element) -> bool:
    """A bar across the page, or what opens from it: its entries are no chapters."""
    return any(name in _TOP_MENUS for name in element.classes)


def _groups(link: Element, side: Element) -> list[Raw]:
    trail: list[Raw] = []
    branch = link
    for above in link.ancestors():
        if above.tag in _GROUPS or ("items" not in above.classes and "group" in " ".join(above.classes)):
            label = _label_before(above, branch)
            if label is None and above.tag == "li" and next(above.elements).tag in ("ul", "ol"):
                label = _own_words(above) or _label_of_previous(above)
            if label is not None and not any(label.name == raw.name for raw in trail[-1:]):
                trail.append(label)
            branch = above
        elif above.tag in ("ul", "ol"):
            label = _part_title(above)
            if label is not None:
                trail.append(label)
        if above is side:
            break
    return [raw for raw in trail[::-1] if raw.name.strip(" :").casefold() not in _NO_NAMES]


def _own_words(item: Element) -> Raw | None:
    """What an item says itself, before the list in it."""
    words = clean("".join(child for child in item.children if isinstance(child, str)))
    return Raw(words, None) if any(char.isalnum() for char in words) else None


def _label_before(group: Element, branch: Element) -> Raw | None:
    """The first label in a group before the branch that leads to the page."""
    until = -1
    for element in group.walk():
        if element.order >= branch.order:
            return None
        if element.order <= until:
            continue
        if element.tag in ("ul", "ol", *_GROUPS) and not element.contains(branch):
            until = element.end
            continue
        if element is not group and element.tag in _LABELS and not element.contains(branch):
            label = _raw(element)
            if label is not None:
                return label
    return None


def _label_of_previous(item: Element) -> Raw | None:
    """Some generators put a chapter's sections into the list item after the chapter's own."""
    before: Element | None = None
    for sibling in item.parent.elements if item.parent is not None else ():
        if sibling is item:
            break
        before = sibling
    link = next((e for e in before.walk() if e.tag == "a"), None) if before is not None else None
    return _raw(link) if link is not None else None


def _part_title(listing: Element) -> Raw | None:
    """The caption directly before a list. A heading before a pair of links names tabs, no part."""
    before: Element | None = None
    for sibling in listing.parent.elements if listing.parent is not None else ():
        if sibling is listing:
            break
        before = sibling
    if before is None:
        return None
    if before.classes.isdisjoint(_PART_TITLES):
        links = sum(element.tag == "a" for element in listing.walk())
        if before.tag not in HEADINGS or links < _MIN_PART_LINKS:
            return None
    return _raw(before)


def _raw(element: Element) -> Raw | None:
    name = element.text
    if not any(char.isalnum() for char in name):
        return None
    link = element if element.tag == "a" else next((e for e in element.walk() if e.tag == "a"), None)
    href = link.get("href") if link is not None else ""
    return Raw(name, None if not href or href.startswith(("#", "javascript:")) else href)
