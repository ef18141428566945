"""The active entry of a sidebar and the groups around it, where a page shows no trail."""

from __future__ import annotations

from collections.abc import Callable

from ingest.html.content.boilerplate import HEADINGS
from ingest.html.dom import Dom, Element
from ingest.html.position.breadcrumbs import Raw

_ACTIVE = frozenset("active current is-active is-current selected md-nav__link--active menu__link--active".split())
_GROUPS = frozenset("li details section dl".split())
_FEW_LINKS = 3
_LABELS = frozenset(("a", "summary", "button", "span", "label", "p", "strong", *HEADINGS))
_SIDE_WORDS = ("sidebar", "sidenav", "side-nav", "nav", "menu", "toctree", "summary", "chapter", "accordion")
_PART_TITLES = frozenset("part-title caption header nav-header sidebar-title group-label".split())


def active_trail(tree: Dom, resolve: Callable[[str], str | None], is_self: Callable[[str | None], bool]) -> list[Raw]:
    """The labels of the groups around the sidebar's link to this page, outermost first; the longest of
    all such links' trails."""
    best: list[Raw] = []
    for element in tree.tagged("a"):
        if not (_claims_active(element) or _leads_here(element, resolve, is_self)):
            continue
        side = _side(element)
        if side is not None:
            trail = _groups(element, side)
            if len(trail) > len(best):
                best = trail
    return best


def _claims_active(link: Element) -> bool:
    return link.get("aria-current") in ("page", "true")


def _leads_here(link: Element, resolve: Callable[[str], str | None], is_self: Callable[[str | None], bool]) -> bool:
    href = link.get("href")
    return bool(href) and (not href.startswith("#") or not _ACTIVE.isdisjoint(link.classes)) and is_self(resolve(href))


def _side(link: Element) -> Element | None:
    """The outermost navigation around a link; None for links in the text and in the page's header."""
    found = None
    for above in link.ancestors():
        if above.tag in ("body", "html", "main", "article"):
            break
        if above.tag == "header":
            return None
        names = " ".join((*above.classes, above.get("id").lower()))
        if above.tag in ("nav", "aside") or above.role == "navigation" or any(word in names for word in _SIDE_WORDS):
            found = above
    return found


def _groups(link: Element, side: Element) -> list[Raw]:
    trail: list[Raw] = []
    branch = link
    for above in link.ancestors():
        if above.tag in _GROUPS or ("items" not in above.classes and "group" in " ".join(above.classes)):
            label = _label_before(above, branch)
            if label is None and above.tag == "li" and next(above.elements).tag in ("ul", "ol"):
                label = _label_of_previous(above)
            if label is not None and not any(label.name == raw.name for raw in trail[-1:]):
                trail.append(label)
            branch = above
        elif above.tag in ("ul", "ol"):
            label = _part_title(above)
            if label is not None:
                trail.append(label)
        if above is side:
            break
    return trail[::-1]


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
        if before.tag not in HEADINGS or links < _FEW_LINKS:
            return None
    return _raw(before)


def _raw(element: Element) -> Raw | None:
    name = element.text
    if not any(char.isalnum() for char in name):
        return None
    link = element if element.tag == "a" else next((e for e in element.walk() if e.tag == "a"), None)
    href = link.get("href") if link is not None else ""
    return Raw(name, None if not href or href.startswith(("#", "javascript:")) else href)
