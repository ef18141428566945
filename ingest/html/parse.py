"""HTML to a page: its tree, its claims about its place, its links, or the reason why it gives none. Pure.

bytes -> text (decode) -> elements (dom) -> content area (content) -> sections (outline) -> Page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from urllib.parse import urldefrag

from ingest.html import decode, dom, generators, head, indexability
from ingest.html.blocks import tables
from ingest.html.content import disclosure, main_content, toc_lists
from ingest.html.dom import Dom, Element
from ingest.html.head import Resolver
from ingest.html.interstitial import interstitial
from ingest.html.position import page_claims
from ingest.html.sections import definitions, headings
from ingest.html.sections.anchors import Targets
from ingest.html.sections.nesting import Section
from ingest.html.sections.outline import OutlineInput, links_only, outline
from ingest.model import Document, Node, Page, Skip
from ingest.text.likeness import Likeness, likeness
from ingest.urls import page_key, resolve


def parse(
    body: bytes,
    url: str,
    *,
    status: int = 200,
    content_type: str = "",
    headers: Mapping[str, str] = {},
    key: str | None = None,
    index_noindex: bool = False,
    max_bytes: int = 10_000_000,
    site_hosts: frozenset[str] = frozenset(),
) -> Document:
    """Read one page as it was answered from `url` (absolute http, https or file).

    `headers`: response headers; their content type counts where `content_type` is empty. `key`: the page
    key, made of `url` where not given. `index_noindex`: the owner's wish wins over the page's. `site_hosts`: further hosts
    that a canonical address may name. Never raises on any bytes; raises ValueError if `url` is no page address and no key is given."""
    key = page_key(url) if key is None else key
    content_type = content_type or next((v for k, v in headers.items() if k.lower() == "content-type"), "")
    if len(body) > max_bytes:
        return Document(None, Skip("too_large", f"{len(body)} bytes, the limit is {max_bytes}"))
    text = decode.decode(body, content_type)
    if not indexability.is_html(body, text, content_type):
        return Document(None, Skip("not_html" if body.strip() else "empty", content_type))
    try:
        tree = dom.read(decode.as_html(text, content_type))
    except dom.TooComplex as error:
        return Document(None, Skip("too_large", str(error)))
    resolve_link = cache(partial(resolve, head.base_url(tree, url)))
    wishes = indexability.robots(tree, headers)
    links = _links(tree, resolve_link, url)
    page = _page(tree, url, resolve_link, key, site_hosts)
    skip = indexability.redirect(tree, resolve_link, url, page)
    if skip is None and wishes.noindex and not index_noindex:
        skip = Skip("noindex", "the page asks not to be indexed")
    if skip is None:
        skip = indexability.nothing_to_read(tree, page, status)
    plain = tuple(dict.fromkeys(link.partition("#")[0] for link in links))
    stands_in = interstitial(tree, text, headers, page)
    return Document(None if skip else page, skip, plain, wishes.nofollow, links, _likeness(tree, url, page), stands_in)


def _shorten_own_links(area: Element, resolve_link: Resolver, url: str) -> None:
    """Links into the page itself by its file's name (GAPDoc, qdoc, LaTeX2HTML) are written like those without."""
    own = urldefrag(url).url
    name = own.rpartition("/")[2]
    for link in (element for element in area.walk() if element.tag == "a" and name):
        path, sign, fragment = link.get("href").partition("#")
        if sign and path.endswith(name) and resolve_link(link.get("href")) == f"{own}#{fragment}":
            link.attrs = {**link.attrs, "href": f"#{fragment}"}


def _likeness(tree: Dom, url: str, page: Page) -> Likeness:
    """A title that was made of the address says nothing of the page."""
    if page.title != head.name_in_address(url) or any(e.text for e in tree.tagged("title", "h1", "h2", "h3")):
        return page.likeness
    return likeness(url, "", (text for n in page.nodes for text in (n.title if n.level else "", n.text)))


def _page(tree: Dom, url: str, resolve_link: Resolver, key: str, site_hosts: frozenset[str]) -> Page:
    canonical = head.canonical(tree, url, resolve_link, site_hosts)
    targets = Targets(tree)
    profile = generators.profile(tree, targets)
    trails = page_claims.offered(tree)
    in_contents = toc_lists.section_links(tree) if tree.tagged("dl", "b", "strong") else frozenset()
    shown_title = generators.shown_title(tree, profile)
    area = main_content.content_area(tree, profile)
    _shorten_own_links(area, resolve_link, url)
    generated = toc_lists.generated(tree, area)
    controlled = disclosure.controlled_panels(tree)
    elements = main_content.prune(area, controlled)
    known_tables = tables.classify(elements)
    found = headings.find(elements, frozenset(known_tables.cells), profile, in_contents)
    names = [h.title for h in sorted(found.values(), key=lambda h: h.level)]
    title = headings.title(shown_title) if shown_title is not None else head.page_title(tree, names, url)
    title = title or head.name_in_address(url)
    found = headings.without_masthead(found, title)
    terms = definitions.section_terms(elements, targets, in_contents, known_tables.cells)
    opened = controlled.intersection(e.attrs["id"] for e in elements if "id" in e.attrs)
    sections = outline(area, OutlineInput(found, terms, known_tables, targets, opened), title)
    title = sections[0].title
    place = page_claims.PagePlace(url, resolve_link, canonical, (title, *names[:1]))
    lists = page_claims.listed_pages(generated or toc_lists.cards(elements) or toc_lists.link_lists(elements), place)
    claims = page_claims.claims(tree, trails, place, lists)
    return Page(key, url, canonical, title, _nodes(sections), claims, head.language(tree))


def _nodes(sections: Sequence[Section]) -> tuple[Node, ...]:
    return tuple(
        Node(
            id=str(position),
            parent=None if section.parent is None else str(section.parent),
            level=section.level,
            title=section.title,
            anchor=section.anchor,
            aliases=tuple(section.aliases),
            blocks=tuple(section.blocks),
            kind=section.kind,
            links_only=links_only(section),
        )
        for position, section in enumerate(sections)
    )


def _links(tree: Dom, resolve_link: Resolver, url: str) -> tuple[str, ...]:
    """Absolute links to other pages, fragments kept, in document order, each once."""
    own = urldefrag(url).url
    elements = tree.tagged("a", "area", "frame", "iframe")
    hrefs = dict.fromkeys(e.get("src" if e.tag in ("frame", "iframe") else "href") for e in elements)
    found = dict.fromkeys(resolve_link(href) for href in hrefs if href)
    return tuple(target for target in found if target is not None and target.partition("#")[0] != own)
