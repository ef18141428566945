"""Where a page's content is, and what in there is not content.

The content area is main (or role=main), the one article in it if that holds all headings, else an article, else
whatever holds the page's prose. Furniture inside it is taken out of the tree, and so are lists that only
repeat the page's own headings.
"""

from __future__ import annotations

from collections.abc import Iterable

from ingest.html.chrome import HEADINGS, furniture, hidden, mostly_links, permalink, tab_panel
from ingest.html.dom import Element
from ingest.html.generators import Profile

_PROSE = 40
"""Characters outside links from which on a paragraph counts as prose."""
_PROSE_TAGS = frozenset("p pre li dd blockquote td".split())
_CONTENTS_TITLES = frozenset(
    "contents|table of contents|on this page|in this article|on this page:|page contents|in this section|contents:|toc"
    "|jump to|目次|目录|本页目录|inhalt|inhaltsverzeichnis|sommaire|contenido|indice|índice|содержание|오브젝트".split("|")
)


def content_area(html: Element, profile: Profile) -> Element:
    """The element that holds the content. Nothing is changed."""
    if profile.content:
        for element in html.walk():
            if element.get("id") == profile.content:
                return element
    shown = list(_shown(html))
    mains = [e for e in _outermost(shown, lambda e: e.tag == "main" or e.role == "main") if not _empty(e)]
    if mains:
        main = max(mains, key=_length)
        return _only_article(main) or main
    body = next((e for e in html.elements if e.tag == "body"), html)
    articles = [e for e in _outermost(shown, lambda e: e.tag == "article") if not _empty(e)]
    if len(articles) == 1 and _holds_titles(articles[0], body):
        return articles[0]
    marked = [e for e in shown if e.get("itemprop") == "articleBody"]
    if len(marked) == 1 and _holds_titles(marked[0], body):
        return marked[0]
    return _prose_area(body, profile)


def prune(root: Element, controlled: frozenset[str]) -> None:
    """Take furniture out of the tree below `root`. `controlled`: ids of panels that a control in the
    content opens, which are content even while hidden."""
    kept = _holders_of_titles(root)
    in_body = root.tag in ("body", "html") or not any(e.tag in ("main", "article") for e in (root, *root.ancestors()))
    for element in root.walk():
        if not element.children:
            continue
        element.children = [
            child
            for child in element.children
            if isinstance(child, str) or child in kept or not _dropped(child, controlled, in_body)
        ]
    _drop_onpage_contents(root)


def controlled_panels(html: Element) -> frozenset[str]:
    """Ids of what tabs and accordion buttons (a button in a heading) show and hide."""
    found: set[str] = set()
    for element in html.walk():
        if element.attrs and "aria-controls" in element.attrs:
            in_heading = any(above.tag in HEADINGS for above in element.ancestors())
            if element.role == "tab" or in_heading:
                found.update(element.get("aria-controls").split())
    return frozenset(found)


def _dropped(element: Element, controlled: frozenset[str], in_body: bool) -> bool:
    tag = element.tag
    if tag == "script" and "math/tex" in element.get("type"):
        return False
    if "katex" in element.get("class") or tag == "math" or "mathjax" in element.get("class").lower():
        return False
    if tag == "footer" and element.parent is not None and element.parent.tag not in ("blockquote", "figure"):
        return True
    if tag == "header" and in_body and not any(a.tag in ("article", "section", "main") for a in element.ancestors()):
        return not _title_header(element)
    if hidden(element) and element.get("id") in controlled:
        return False
    return furniture(element)


def _title_header(header: Element) -> bool:
    """A header that holds the page's title and no navigation."""
    inside = list(header.walk())
    return any(e.tag == "h1" for e in inside) and not any(e.tag == "nav" for e in inside) and not mostly_links(header)


def _shown(html: Element) -> Iterable[Element]:
    """Elements outside hidden ones, in document order."""
    until = -1
    for element in html.walk():
        if element.order <= until:
            continue
        if element.tag in ("template", "noscript", "head") or (element.attrs and hidden(element)):
            until = element.end
            continue
        yield element


def _outermost(elements: Iterable[Element], wanted: "object") -> list[Element]:
    found: list[Element] = []
    for element in elements:
        if wanted(element) and not (found and found[-1].contains(element)):  # type: ignore[operator]
            found.append(element)
    return found
