"""Lists that stand for other text: of a page's own sections, and of the pages below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from ingest.html.content.boilerplate import HEADINGS, furniture, hidden, mostly_links
from ingest.html.dom import Dom, Element
from ingest.html.sections.headings import linked_page

_LISTS = frozenset({"ul", "ol", "dl"})
_GENERATED = frozenset({"toctree-wrapper", "toc", "section-index", "section-toc"})
_LABELS = frozenset(
    "contents|table of contents|table of content|summary|section index|on this page|in this article|in this section|page contents|toc|jump to|index"
    "|目次|目录|本页目录|inhalt|inhaltsverzeichnis|sommaire|table des matières|contenido|índice|содержание|목차".split(
        "|"
    )
)

_ALSO_CHAPTERS = frozenset("summary index contents 目次 sommaire".split())
"""Labels of a table of contents that a chapter with parts of its own may have, too."""
_MAX_WRAPPERS = 4
"""So many elements may begin between a heading and the next one without a word."""
_MAX_LABEL_CHARACTERS = 30
_MIN_LISTED_CHARACTERS = 8
"""Of each link of a box that is no list."""
_INDEXES = frozenset("index índice".split())
"""A page of that name has a row of letters, which is its own."""


def section_links(tree: Dom) -> frozenset[str]:
    """The fragments that the page's own contents link to: in navigation, or in a list of nothing else."""
    found: set[str] = set()
    until = -1
    for element in tree.elements:
        if element.order > until and (furniture(element) or (element.tag in _LISTS and repeats_sections(element))):
            until = element.end
        if element.order <= until and element.tag == "a" and element.get("href").startswith("#"):
            found.add(element.get("href")[1:])
    return frozenset(found)


def repeats_sections(listing: Element) -> bool:
    """A list of two links or more, all of them to places on this page, with no words beside them."""
    links = 0
    stack = [listing]
    while stack:
        element = stack.pop()
        if element.tag == "a":
            if not element.get("href").startswith("#"):
                return False
            links += 1
            continue
        for child in element.children:
            if not isinstance(child, str):
                stack.append(child)
            elif any(char.isalpha() for char in child):
                return False
    return links > 1


def _may_list(box: Element) -> bool:
    """A box of some long links may repeat sections, too (GAPDoc); one of letters is an index's."""
    linked = box.amounts.linked if box.tag == "div" else 0
    links = sum(inner.tag == "a" for inner in box.walk()) if linked * 10 > box.amounts.text * 9 else 0
    return links > 2 and linked >= links * _MIN_LISTED_CHARACTERS


def drop_section_lists(elements: Iterable[Element]) -> bool:
    """Take such lists out of the tree, with the words that announce them; whether there were any."""
    found = set(_outermost((e for e in elements if e.tag in _LISTS or _may_list(e)), repeats_sections))
    for parent in {listing.parent: None for listing in found if listing.parent is not None}:
        kept: list[Element | str] = []
        for child in parent.children:
            if child in found:
                _drop_label(kept)
            else:
                kept.append(child)
        parent.keep(kept)
    return bool(found)


def drop_contents_lines(elements: Sequence[Element]) -> bool:
    """Take out links into the page that stand loose, one a line (groff); whether there were any."""
    dropped = False
    breaks = Counter(element.parent for element in elements if element.tag == "br")
    for parent in [element for element in elements if breaks[element] > 1] if breaks else ():
        kept: list[Element | str] = []
        for leads, line in groupby(parent.children, _leads_into_page):
            found = list(line)
            links = sum(not isinstance(child, str) and child.tag == "a" for child in found)
            if not leads or links < 2 or sum(not isinstance(child, str) for child in found) < 2 * links - 1:
                kept += found
        if len(kept) < len(parent.children):
            parent.keep(kept)
            dropped = True
    return dropped


def _leads_into_page(child: Element | str) -> bool:
    if isinstance(child, str):
        return child.isspace()
    return child.tag == "br" or (child.tag == "a" and child.amounts.text > 0 and child.get("href").startswith("#"))


def drop_contents_sections(elements: Sequence[Element]) -> bool:
    """Take out sections that are called contents and hold nothing but links to places on this page, or nothing any more;
    whether there were any below the first of `elements`, which are all of it in document order."""
    root = elements[0]
    titles = [e.text for e in elements if e.tag in HEADINGS]
    if not any(e.tag in HEADINGS and _named_contents(e) for e in elements) and len(set(titles)) == len(titles):
        return False
    dropped: set[Element] = set()
    left = Counter(titles)
    for label, links, following in _sections_of_links(root):
        if left[label.text] > 1 and not links and following is not None and _headed_contents(label, following):
            dropped.add(label)
        left[label.text] -= 1
        if (
            not _named_contents(label)
            or (links and label.text.casefold() in _INDEXES)
            or not all(a.get("href").startswith("#") for a in links)
        ):
            continue
        if (
            links
            or following is None
            or HEADINGS[following.tag] <= HEADINGS[label.tag]
            or _lost_its_list(label, following)
        ):
            until = root.end + 1 if following is None else following.order
            dropped.update([label, *(_outermost_between(link, label.end, until) for link in links)])
    for parent in {element.parent for element in dropped}:
        if parent is not None:
            parent.keep([child for child in parent.children if child not in dropped])
    return bool(dropped)


def _lost_its_list(label: Element, following: Element) -> bool:
    """Whether the list under a heading that can only be of a table of contents was taken out already: elements are missing
    between it and the heading that follows, which is no part of it, deep as it is."""
    return label.text.strip(" :").casefold() not in _ALSO_CHAPTERS and following.order - label.end > _MAX_WRAPPERS


def _headed_contents(label: Element, following: Element) -> bool:
    """Whether a heading stood over a part of the contents that was taken out; the section of that title comes later."""
    named = any(inner.get("id") or inner.get("name") for inner in label.walk())
    named = named or (label.parent is not None and bool(label.parent.get("id")))
    return not named and HEADINGS[following.tag] <= HEADINGS[label.tag] and following.order - label.end > _MAX_WRAPPERS


def _named_contents(heading: Element) -> bool:
    return heading.amounts.text <= _MAX_LABEL_CHARACTERS and heading.text.strip(" :").casefold() in _LABELS


def _sections_of_links(root: Element) -> Iterator[tuple[Element, list[Element], Element | None]]:
    """Headings with no other words than links before the next heading: with those links, and that heading."""
    heading: Element | None = None
    links: list[Element] = []
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if heading is not None and any(char.isalpha() for char in item):
                heading = None
        elif item.tag in HEADINGS:
            if heading is not None:
                yield heading, links, item
            heading, links = item, []
        elif item.tag == "a" and item.amounts.text:
            links.append(item)
        else:
            stack.extend(reversed(item.children))
    if heading is not None:
        yield heading, links, None


def _outermost_between(element: Element, after: int, until: int) -> Element:
    """The largest element around this one that stands wholly between two places of the page."""
    while element.parent is not None and element.parent.order > after and element.parent.end < until:
        element = element.parent
    return element


def _drop_label(before: list[Element | str]) -> None:
    """Take the words that announce a list off the end of what stands before it, with the blanks between."""
    last = next((i for i in reversed(range(len(before))) if not _is_blank(before[i])), None)
    label = before[last] if last is not None else None
    if isinstance(label, Element) and label.text.strip(" :").casefold() in _LABELS:
        del before[last:]


def _is_blank(child: Element | str) -> bool:
    return isinstance(child, str) and not child.strip()


def generated(tree: Dom, area: Element) -> list[Element]:
    """Tables of contents that a generator wrote into the content, outermost ones. Look before pruning."""
    inside = tree.elements[area.order : area.end + 1]
    return list(
        _outermost((e for e in inside if e.classes), lambda e: not e.classes.isdisjoint(_GENERATED) and not hidden(e))
    )


def cards(elements: Sequence[Element]) -> list[Element]:
    """Links with a title of the page they lead to."""
    titles = [e for before, e in pairwise(elements) if e.tag in HEADINGS and linked_page(e, before)]
    links = (next((a for a in (*e.walk(), *e.ancestors()) if a.tag == "a"), e) for e in titles)
    return list(dict.fromkeys(links))  # one link may hold many titles


def link_lists(elements: Sequence[Element]) -> list[Element]:
    """Lists of links, if they are at least half of the content's text."""
    found = list(_outermost((e for e in elements if e.tag in _LISTS), mostly_links))
    listed = sum(element.amounts.text for element in found)
    return found if listed and listed * 2 >= elements[0].amounts.text else []


def _outermost(elements: Iterable[Element], wanted: Callable[[Element], bool]) -> Iterator[Element]:
    until = -1
    for element in elements:
        if element.order > until and wanted(element):
            until = element.end
            yield element
