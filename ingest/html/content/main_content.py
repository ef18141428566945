"""Where a page's content is, and what in there is not content.

The content area is main (or role=main), the one article in it if that holds all headings, else the one
article, else whatever holds the page's prose. Furniture inside it is taken out of the tree, and so are
lists that only repeat the page's own headings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, takewhile

from ingest.html.blocks.formulas import formula
from ingest.html.content.boilerplate import (
    FURNITURE_TAGS,
    HEADINGS,
    callout,
    contents_line,
    furniture,
    hidden,
    mostly_links,
    plain,
    tab_labels,
)
from ingest.html.content.closing_remarks import drop_closing_remarks
from ingest.html.content.disclosure import Siblings
from ingest.html.content.site_remarks import site_remark, way_line
from ingest.html.content.toc_lists import drop_contents_lines, drop_contents_sections, drop_section_lists
from ingest.html.dom import Dom, Element
from ingest.html.generators import Profile
from ingest.html.position.breadcrumbs import is_trail_row

_MIN_PROSE_CHARACTERS = 40
"""Outside links; from here on a paragraph counts as prose."""
_MIN_LEFT = 10
"""If less than one in so many characters is left where words in names count, they do not count on this page."""
_MAX_LOOSE = 60
"""Pieces of a line that stands loose between blocks."""
_MAX_EYEBROW_CHARACTERS = 60
_PROSE_TAGS = frozenset("p pre li dd blockquote td".split())
_PARTS = frozenset({"article", "section"})
_MENU_NAMES = frozenset({"navigation", "sidebar", "menu"})
_MENUS = frozenset("table ul ol p div center".split())
_MAX_MENU_CHARACTERS = 600
_FORMULA_TAGS = frozenset("math script mjx-container img".split())
_CONTAINERS = frozenset("div section td center form body html".split())


def content_area(tree: Dom, profile: Profile) -> Element:
    """The element that holds the content. Nothing is changed."""
    if profile.content:
        for element in tree.elements:
            if element.get("id") == profile.content or (element.tag == "div" and profile.content in element.classes):
                return element
    mains = _outermost(e for e in tree.elements if e.tag == "main" or ("role" in e.attrs and e.role == "main"))
    if mains:
        main = mains[0] if len(mains) == 1 else max(mains, key=lambda main: main.amounts.text)
        articles = _outermost(e for e in tree.tagged("article") if main.contains(e))
        return articles[0] if len(articles) == 1 and _holds_headings(tree, articles[0], main) else main
    for named in (tree.tagged("article"), (e for e in tree.elements if e.get("itemprop") == "articleBody")):
        found = _outermost(named)
        if len(found) == 1 and _holds_headings(tree, found[0], tree.body):
            return found[0]
    return _prose_area(tree.body)


def prune(root: Element, controlled: frozenset[str]) -> list[Element]:
    """Take furniture out of the tree below `root`; `root` and what is left below it, in document order.

    `controlled`: ids of panels that a control in the content opens, which are content even while hidden."""
    whole_body = root.tag not in ("main", "article") and root.role != "main"
    cuts = _Cuts(root, _holders_of_title(root), controlled, whole_body, by_name=True)
    if not whole_body and cuts.left * _MIN_LEFT < _own_text(root) - cuts.left:
        unnamed = _Cuts(root, _holders_of_title(root), controlled, whole_body, by_name=False)
        if cuts.left * _MIN_LEFT < unnamed.left:
            cuts = unnamed
    for element, children in cuts.kept:
        element.keep(children)
    elements = list(root.walk())
    for drop in (
        _drop_menus_before_title,
        _drop_link_columns,
        _drop_eyebrow,
        drop_section_lists,
        drop_contents_lines,
        drop_contents_sections,
        drop_closing_remarks,
    ):
        if drop(elements):
            elements = list(root.walk())
    return elements


class _Cuts:
    """What is left of each element below `root` that loses something, before anything is taken out; `left`: how many
    characters of text outside headings and links."""

    def __init__(
        self, root: Element, holders: set[Element], controlled: frozenset[str], whole_body: bool, *, by_name: bool
    ) -> None:
        self.kept: list[tuple[Element, list[Element | str]]] = []
        self.left = _own_text(root)
        stack = [root]
        while stack:
            element = stack.pop()
            if element is not root and formula(element) is not None:
                continue
            children: list[Element | str] = []
            siblings = Siblings(element, controlled)
            for child in element.children:
                if isinstance(child, str):
                    children.append(child)
                    if not child.isspace():
                        siblings.before = None
                elif child in holders or not _dropped(child, siblings, whole_body, by_name):
                    children.append(child)
                    siblings.before = child
                    if child.end > child.order:
                        stack.append(child)
                    if child.tag in HEADINGS:
                        self.left -= _own_text(child)
                else:
                    self.left -= _own_text(child)
                    if _is_target(child):
                        children.append(child)
                        self.kept.append((child, []))
            if element.tag in _CONTAINERS:
                children = _without_way_lines(children)
            if len(children) < len(element.children):
                self.kept.append((element, children))


def _without_way_lines(children: list[Element | str]) -> list[Element | str]:
    """Without the lines that lead to other pages and stand loose between blocks (groff, LaTeX2HTML)."""
    if not any(not isinstance(child, str) and child.tag == "a" for child in children):
        return children
    kept: list[Element | str] = []
    for loose, line in groupby(children, lambda child: isinstance(child, str) or child.inline):
        found = list(line)
        if not loose or len(found) > _MAX_LOOSE or not way_line(found):
            kept += found
    return kept


def _own_text(element: Element) -> int:
    return element.amounts.text - element.amounts.linked


# Each takes something out of the tree below the first of `elements`, which are all of it in document order, and tells
# whether it did.


def _drop_menus_before_title(elements: Sequence[Element]) -> bool:
    """Before the first heading, what says where the page is (a row of links with signs between them) or where else to go."""
    until = -1
    title = next((element for element in elements if element.tag in HEADINGS), None)
    for element in elements:
        if element.order <= until:
            continue
        if element is title:
            break
        if is_trail_row(element) or (title is not None and element.end < title.order and _is_menu(element, title)):
            element.keep([])
            until = element.end
    return until >= 0


def _is_menu(element: Element, title: Element) -> bool:
    """Nothing but links to other pages in one line; above an h1 also a list or a table of mostly links."""
    if element.tag not in _MENUS or element.amounts.text > _MAX_MENU_CHARACTERS:
        return False
    inside = list(element.walk())
    links = [inner for inner in inside if inner.tag == "a" and (inner.amounts.text or any(inner.elements))]
    if not links or any(link.get("href").partition("#")[0] == "" for link in links):
        return False
    if title.tag == "h1" and len(links) > 2 and mostly_links(element) and element.tag != "p":
        return True
    if sum(inner.tag in ("li", "dt", "tr") for inner in inside) > 1 or not mostly_links(element):
        return False
    linked = {inner for link in links for inner in link.walk()}
    beside = (child for inner in inside if inner not in linked for child in inner.children if isinstance(child, str))
    return not any(char.isalnum() for text in beside for char in text)


def _drop_eyebrow(elements: Sequence[Element]) -> bool:
    """The few words that stand above the page's title in its own header say what kind of page it is, or its group."""
    root = elements[0]
    headings = [element for element in elements if element.tag in ("h1", "h2")]
    title = min(headings, key=lambda element: element.tag, default=None)
    if title is None:
        return False
    line = [title, *takewhile(lambda above: above is not root, title.ancestors())]
    header = next((e for e in line if e.tag in ("header", "hgroup") or "header" in e.classes), None)
    if header is None:
        return False
    within = line[: line.index(header) + 1]
    before = [child for above in within for child in above.elements if child.end < title.order and child.amounts.text]
    if sum(child.amounts.text for child in before) > _MAX_EYEBROW_CHARACTERS:
        return False
    for child in before:
        child.keep([])
    return bool(before)


def _drop_link_columns(elements: Sequence[Element]) -> bool:
    """In a table that places the page's columns, those of links beside the ones with a title."""
    holders: dict[Element, set[Element]] = {}
    for title in [element for element in elements if element.tag == "h1"]:
        inner = title
        for above in title.ancestors():
            if above.tag == "tr":
                holders.setdefault(above, set()).add(inner)
            if above.tag == "tr" or above is elements[0]:
                break
            inner = above
    for row, cells in holders.items():
        row.keep([c for c in row.children if isinstance(c, str) or c in cells or not mostly_links(c)])
    return bool(holders)


def _dropped(element: Element, siblings: Siblings, whole_body: bool, by_name: bool) -> bool:
    tag = element.tag
    if (tag in _FORMULA_TAGS or element.classes) and formula(element) is not None:
        return False
    if tag == "p" and contents_line(element):
        return True
    if tag == "footer":
        return element.parent is None or element.parent.tag not in ("blockquote", "figure")
    if tag in ("header", "aside") and whole_body and not any(a.tag in _PARTS for a in element.ancestors()):
        return not (_title_header(element) if tag == "header" else callout(element))
    if plain(element):
        return tab_labels(element) or site_remark(element)
    opened = bool(element.attrs) and hidden(element) and siblings.opens(element)
    return furniture(element, by_name=by_name and not opened, opened=opened) or site_remark(element)


def _is_target(element: Element) -> bool:
    """Whether links may lead to an inline element, which stays, then, without what it shows."""
    return element.tag in ("a", "span") and bool(element.get("id") or element.get("name"))


def _title_header(header: Element) -> bool:
    """A header that holds the page's title and no navigation."""
    inside = header.amounts
    return inside.titled and not inside.navigates and not mostly_links(header)


def _holders_of_title(root: Element) -> set[Element]:
    """The elements around the page's title, where names alone would make them furniture."""
    holders: set[Element] = set()
    never, furnished = cache(_never_content), cache(furniture)  # titles share what is around them
    for element in root.walk():
        if element.tag != "h1":
            continue
        above = [a for a in element.ancestors() if root.contains(a) and a is not root]
        if any(never(a) for a in above):
            continue
        if not any(furnished(a) for a in above):
            return set()
        holders = holders or set(above)
    return holders


def _never_content(element: Element) -> bool:
    menu = not _MENU_NAMES.isdisjoint({element.get("id").lower(), *element.classes}) and mostly_links(element)
    return menu or element.tag in FURNITURE_TAGS or element.role == "navigation" or hidden(element)


def _outermost(elements: Iterable[Element]) -> list[Element]:
    """Those that are shown and have text, but none inside another."""
    found: list[Element] = []
    for element in elements:
        if not (found and found[-1].contains(element)) and _is_shown(element):
            found.append(element)
    return found


def _is_shown(element: Element) -> bool:
    around = any(e.tag in ("template", "noscript") or hidden(e) for e in (element, *element.ancestors()))
    return not around and any(not text.isspace() for text in element.strings())


def _holds_headings(tree: Dom, part: Element, whole: Element) -> bool:
    """No heading that could be content stands in `whole` outside `part`."""
    for heading in tree.tagged(*HEADINGS):
        if whole.contains(heading) and not part.contains(heading) and not mostly_links(heading):
            around = [above for above in heading.ancestors() if whole.contains(above) and above is not whole]
            if not any(_is_around(element) for element in (heading, *around)):
                return False
    return True


def _plausible(root: Element) -> Iterator[Element]:
    """Elements outside furniture, in document order; headers of the whole page count as furniture."""
    until = -1
    for element in root.walk():
        if element.order <= until:
            continue
        if element is not root and _is_around(element):
            until = element.end
        else:
            yield element


def _is_around(element: Element) -> bool:
    """Furniture, judged as part of a whole page."""
    tag = element.tag
    if tag == "header":
        return not _title_header(element)
    return tag == "footer" or furniture(element) or (tag == "aside" and not callout(element))


def _prose_area(body: Element) -> Element:
    """The smallest element around all prose and headings outside furniture; the body if there is little."""
    solid = [e for e in _plausible(body) if _is_prose(e)]
    if len(solid) < 2:
        return body
    first, last = solid[0], max(solid, key=lambda e: e.end)
    for above in first.ancestors():
        if above.contains(last) and above.tag in _CONTAINERS:
            return above
    return body


def _is_prose(element: Element) -> bool:
    if element.tag in HEADINGS:
        return not mostly_links(element)
    if element.tag not in _PROSE_TAGS:
        return False
    own = sum(len(child.strip()) for child in element.children if isinstance(child, str))
    return own >= _MIN_PROSE_CHARACTERS or (element.tag == "pre" and element.amounts.text >= _MIN_PROSE_CHARACTERS)
