"""What on a page is furniture: hidden, a control, navigation, or a remark of the site about the page.

Evidence is, in this order: the element's kind and role, the hidden state, names that only a generator gives, how much of
its text is links, and what it says. A word of every day in a class or an id (sidebar, footer, feedback, toc, pagination) only weighs
in: what has headings or sentences of its own under such a name is the author's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from ingest.html.dom import Element

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
FURNITURE_TAGS = frozenset({"nav", "aside", "footer", "dialog", "template", "noscript"})

_NEVER_SHOWN = frozenset(
    "script style noscript template head link meta iframe object embed canvas audio video input select textarea"
    " datalist option optgroup frame frameset noframes progress meter rp title base param map area".split()
)
_JUDGED = FURNITURE_TAGS | _NEVER_SHOWN | {"a", "td"}
"""Kinds of elements that are looked at whatever their names are."""
_FURNITURE_ROLES = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar tablist tooltip"
    " doc-toc doc-pagelist".split()
)
_TAB_PANELS = frozenset(
    "tab-pane tabpanel tab-panel tab-content tabcontent tabbed-block tabbed-content tabs__content tabs-content"
    " sd-tab-content nextra-tabs-panel".split()
)
_WORDS = re.compile(
    r"(?:^|[-_])(?:toc|toctree|tocbot|breadcrumbs?|navbar|topnav|bottomnav|subnav|sidenav|navheader|navfooter|pagination|paginator"
    r"|prevnext|feedback|helpful|copybtn|copybutton"
    r"|(?:copy|clipboard)[-_]?(?:btn|button|code|icon)|edit[-_]?(?:this[-_]?page|page|link|section|source)|editsection"
    r"|page-edit|version-banner|version-warning|page-?meta|page-metadata|related-articles|recent-articles|lastmod|last-?updated|on-?this-?page|table-of-contents"
    r"|skip-?(?:link|nav|to-?content)|back-to-top|print-?only|onlyprint|visible-print|cookie(?:s|-banner|-consent)?"
    r"|share-?(?:links?|buttons?|bar)|social-?(?:links?|share|icons)|viewcode-link|viewcode-back"
    r"|permalink)(?=$|[-_])"
)
_MIN_WRITTEN_CHARACTERS = 20
_MAX_REMARK_CHARACTERS = 600
_MAX_REMARK_ELEMENTS = 300
_MAX_SHORT_REMARK_CHARACTERS = 200
_FRAME = re.compile("footer|sidebar|breadcrumb|navbar|topnav|subnav|sidenav|toc|banner|print")
"""Parts of the frame around the content."""
_SENTENCE_ENDS = (".", "!", "。", "！")
_REMARK = re.compile(
    r"\b(?:this|these) (?:page|article|section|topic|doc|content|information|site|website|guide)s? (?:was|were|is|has been )?"
    r"(?:helpful|useful|last|generated|uses cookies|created|updated)"
    r"|\b(?:was|is|did|does|were) (?:this|it|these|the) ?(?:page|article|section|topic|doc|content|information|answer|guide)?"
    r" ?(?:helpful|useful|help you|answer your)"
    r"|found this (?:helpful|useful)|\bfor your feedback|\b(?:we|site|website) uses? cookies|\blast (?:updated|modified|edited)"
    r"|\b(?:generated|powered|built|created) (?:by|with|using)\b|©|all rights reserved|\bcopyright\b"
    r"|\b(?:viewing|reading|looking at) (?:the )?(?:documentation|docs) (?:for|of)\b"
    r"|\b(?:old|older|outdated|unreleased|unmaintained|latest|development|no longer maintained) version\b"
    r"|no longer (?:actively )?maintained|\bedit this page\b|\bon this page\b",
    re.IGNORECASE,
)
"""What sites say about their pages, in boxes that themes name with words of every day."""
_LINE_NUMBERS = re.compile(
    r"(?:^|[-_])(?:linenos?|linenodiv|linenumbers?|line-?num(?:ber)?s?|ln|lnt|lntd|lnlinks|gutter|ln-numbers|crayon-nums?|blob-num"
    r"|code-annotation-anchor)(?=$|[-_])"
)
_UNSELECTABLE_STYLE = re.compile(r"user-select\s*+:\s*+none", re.IGNORECASE)
_UNSELECTABLE = frozenset("select-none user-select-none unselectable noselect no-select".split())
_MAX_PROMPT_CHARACTERS = 80
_MAX_LAYOUT_CELLS = 8
_MIN_MENU_LINKS, _MAX_MENU_ELEMENTS = 5, 500
_MAX_NUMBERED_ELEMENTS = 20_000
"""A column of line numbers of more elements is not looked at."""
_NOT_FURNITURE = re.compile(r"^(?:has|with|no|without|show|hide|is|toc-backref|js)[-_]?")
_TOKENS = frozenset(
    "page-footer site-footer td-footer site-header page-header-navigation nav-path navelem"
    " md-source-file md-content__button md-skip md-tags"
    " printfooter catlinks pagesection mw-jump-link mw-indicators notable-traits hideme mw-jump"
    " book-summary book-header theme-doc-footer theme-edit-this-page pagination-nav doc-search searchbox"
    " tabbed-labels tabs-list tablist test-arrow out-of-band rightside srclink copy-path mobile-topbar"
    " sub-title method-click-advice method-source-code memsep summary-links conum-legend"
    " clipboard-copy-txt clipboard-copy jp-inputprompt jp-outputprompt input_prompt output_prompt zeroclipboard-container"
    " article-votes article-relatives article-attachments article-sidebar article-vote reaction-picker"
    " sphinxsidebar bs-sidebar wy-breadcrumbs-aside rst-footer-buttons rst-versions top-nav sub-nav navpath"
    " theme-doc-version-badge article-author article-comments article-more-questions tsd-index-group quarto-title-meta gh-header-meta"
    " srstatus ls-toc page-versions edit-this-page skip-nav morelinks"
    " head-ltitle head-vol head-rtitle foot-left foot-date foot-os foot-right rbackgroundlabel".split()
)
"""Names that only a generator or a theme writes, on nothing else."""
_LINK_ROWS = frozenset("pagination paginator prevnext breadcrumb breadcrumbs".split())
"""Words for what consists of links."""
_SHARED_TOKENS = frozenset("footer ad ads advert popover toolbar".split())
_MAX_TAB_PARTS = 100
_LINK_LISTS = frozenset(
    "sidebar menu nav related navigation social share sharing search metadata page-actions dropdown-menu submenu".split()
)
"""Names that furniture and content share: furniture if the text is mostly links."""
_IDS = frozenset(
    "toc tocbot table-of-contents breadcrumbs breadcrumb breadcrumb-section sidebar footer pagination".split()
)
_GENERATED_IDS = frozenset(
    "nav-path side-nav nav-tree titlearea projectname catlinks mw-navigation sitesub contentsub contentsub2 jump-to-nav"
    " sitenotice msearchselectwindow msearchresultswindow msearchbox gtoc mw-panel mw-head footer-wrapper non-canonical"
    " site-user-feedback-footer rustdoc-vars p-lang-btn projectnavigation mbrsel likes-and-labels-container page-details mathjaxlink".split()
)
_ID_WORDS = re.compile(r"(?:user|page|site|doc)-feedback")
SCREEN_READER_ONLY = frozenset(
    "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader-only".split()
)
_PERMALINKS = frozenset(
    "headerlink hash-link header-anchor anchor-link anchorjs-link anchor heading-anchor sl-anchor-link permalink"
    " plugin-anchor subheading-anchor td-heading-self-link heading-link direct-link autolink mark headinganchor".split()
)
_BLOCKS = frozenset(
    "div ul ol section aside details summary p table td span header form dl footer article main center".split()
)
_LINK_CONTROLS = frozenset(
    "test-arrow src srclink viewcode-link viewcode-back edit-link md-content__button mw-jump-link".split()
)
_SITE_LINKS = re.compile(
    r"\W*(?:(?:edit|improve) (?:this (?:page|document|section|article|doc)|page)(?: on [\w. ]+)?|edit on \w+|view (?:page )?source"
    r"|(?:show|view|page) source|suggest (?:an )?edits?|jump to (?:navigation|search|content)|skip to (?:\w+ )?content|new page"
    r"|back to top|print this page|question\? give us feedback|report (?:a|an) (?:issue|bug|problem) (?:with|on) this page)\W*",
    re.IGNORECASE,
)
_MAX_SITE_LINK_CHARACTERS = 50
_CALLOUT = re.compile(
    r"(?:^|[-_])(?:admonition|admonitionblock|alert|callout|note|tip|hint|warning|caution|important|danger|info|aside"
    r"|notice|attention|seealso|topic|footnotes?|footnote-list|system-message)(?=$|[-_]|\d)"
)


def hidden(element: Element) -> bool:
    """Shown to nobody: by attribute, by style, or kept from assistive technology."""
    attrs = element.attrs
    if "hidden" in attrs and attrs["hidden"].strip().lower() != "until-found":
        return True
    if "aria-hidden" in attrs and attrs["aria-hidden"].strip().lower() == "true":
        return True
    style = attrs.get("style")
    return bool(style) and _HIDING_STYLE.search(style or "") is not None


_HIDING_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)


def contents_line(element: Element) -> bool:
    """A line of a table of contents as Word and Google Docs write it: a link into the page, and a page number."""
    if any(name.startswith("msotoc") for name in element.classes):
        return True
    links = [inner for inner in islice(element.walk(), 6) if inner.tag == "a"]
    if len(links) != 1 or not links[0].get("href").startswith("#") or element.end - element.order > 6:
        return False
    beside = [text.strip() for text in element.strings() if text.strip()][1:]
    return links[0].amounts.text + len("".join(beside)) == element.amounts.text and "".join(beside).isdecimal()


def tab_panel(element: Element) -> bool:
    """Content that a reader brings up by its tab: real even while it is hidden."""
    if element.role == "tabpanel" or not element.classes.isdisjoint(_TAB_PANELS):
        return True
    return "aria-labelledby" in element.attrs and "tab" in element.attrs["aria-labelledby"].lower()


def callout(element: Element) -> bool:
    """A box like a note or a warning."""
    return element.role in ("note", "alert") or any(_is_callout(name) for name in element.classes)


def furniture(element: Element, *, by_name: bool = True, opened: bool = False) -> bool:
    """Whether an element, with all that is in it, is no content. Judged without its surroundings.

    `by_name`: whether words of every day in its names count. `opened`: whether a reader can open it if it is
    hidden."""
    if plain(element):
        return tab_labels(element)
    tag = element.tag
    if tag == "a":
        return _site_link(element) or line_numbers(element)
    if tag in _NEVER_SHOWN or tag == "nav" or (tag == "dialog" and "open" not in element.attrs):
        return True
    attrs = element.attrs
    if tag == "td" and _beside_the_page(element):
        return True
    if not attrs:
        return (tag == "aside" and mostly_links(element)) or (tag == "td" and _gutter(element))
    if line_numbers(element) or tab_labels(element):
        return True
    if hidden(element) and not opened:
        return not tab_panel(element)
    role = attrs.get("role")
    if role and role.strip().lower() in _FURNITURE_ROLES:
        return not callout(element)
    if "doc-endnotes" in attrs.get("role", "") or tag in HEADINGS:
        return False
    if tag == "aside":
        return not callout(element) and (mostly_links(element) or _by_name(element, attrs))
    if tag == "span" and "lang" in element.classes and element.parent is not None:
        return any(name.startswith("language-") for name in element.parent.classes)
    return tag in _BLOCKS and (_by_name(element, attrs) if by_name else _named(attrs.get("class", "")))


def plain(element: Element) -> bool:
    """Whether neither its kind nor its attributes say anything about an element, as is true of most: then only what is in it
    can make it furniture."""
    attrs = element.attrs
    if not attrs:
        return element.tag not in _JUDGED
    return len(attrs) == 1 and "class" in attrs and _plain_names(element.tag, attrs["class"])


@lru_cache(maxsize=8192)
def _plain_names(tag: str, names: str) -> bool:
    tokens = frozenset(names.lower().split())
    return tag not in _JUDGED and not (
        "lang" in tokens
        or _named(names)
        or _shared_word(names)
        or _numbers_lines(names)
        or tokens & (_LINK_LISTS | _UNSELECTABLE | _TAB_PANELS)
    )


def tab_labels(element: Element) -> bool:
    """A row of buttons and their labels that choose among what follows."""
    if element.tag != "div":
        return False
    tags = [child.tag for child in islice(element.elements, _MAX_TAB_PARTS)]
    return tags.count("label") > 1 and "input" in tags and set(tags) <= {"input", "label"}


def _site_link(link: Element) -> bool:
    """A link that works on the page or the site, by its class or its words; hidden ones too."""
    if link.attrs and (hidden(link) or not link.classes.isdisjoint(_LINK_CONTROLS)):
        return True
    if len(link.children) > 4 or not link.children:
        return False
    text = link.text
    return len(text) <= _MAX_SITE_LINK_CHARACTERS and _SITE_LINKS.fullmatch(text) is not None


def _by_name(element: Element, attrs: dict[str, str]) -> bool:
    names = attrs.get("class")
    if names and (_named(names) or (_uses_word(element, names) and not written(element, names.lower()))):
        return True
    ident = attrs.get("id", "").lower()
    if ident in _GENERATED_IDS:
        return True
    if (
        ident
        and ((ident in _IDS and element.tag != "section") or _ID_WORDS.search(ident))
        and not written(element, ident)
    ):
        return True
    return _called_link_list(element, ident) and mostly_links(element)


def _called_link_list(element: Element, ident: str) -> bool:
    if not element.classes.isdisjoint(_LINK_LISTS):
        return True
    return ident in _LINK_LISTS and element.tag != "section" and not _is_section(element)


@lru_cache(maxsize=8192)
def _named(names: str) -> bool:
    """Whether a class attribute holds a name that only a generator's furniture has."""
    tokens = names.lower().split()
    return not _TOKENS.isdisjoint(tokens) or {"contents", "topic"} <= set(tokens) or {"ulist", "tabs"} <= set(tokens)


def _uses_word(element: Element, names: str) -> bool:
    """Whether a class attribute holds a word that furniture and the subjects of documentation share. A cell is not
    furniture for its looks (`pagination-centered`), nor is a row of links without a link."""
    word = _shared_word(names)
    return bool(word) and element.tag != "td" and (word not in _LINK_ROWS or element.amounts.linked > 0)


@lru_cache(maxsize=8192)
def _shared_word(names: str) -> str:
    """Empty where there is none."""
    tokens = names.lower().split()
    found = (_WORDS.search(token) for token in tokens if not _NOT_FURNITURE.match(token))
    words = [match[0].strip("-_") for match in found if match is not None]
    return next((word for word in words if word not in _LINK_ROWS), None) or next(
        (token for token in tokens if token in _SHARED_TOKENS), words[0] if words else ""
    )


def written(element: Element, called: str) -> bool:
    """Whether an author wrote what is in the element, whatever it is called: it has more than links, and a heading with
    words under it, or sentences; and it is no remark of the site about its pages. Around the content, what is called by
    a part of the page's frame has to be a section with an address."""
    amounts = element.amounts
    own = amounts.text - amounts.linked
    if own <= amounts.linked or own < _MIN_WRITTEN_CHARACTERS:
        return False
    if amounts.titled:
        return True
    if _FRAME.search(called) and not any(above.tag in ("main", "article", "section") for above in element.ancestors()):
        return amounts.headed and _is_section(element)
    if amounts.text > _MAX_REMARK_CHARACTERS or element.end - element.order > _MAX_REMARK_ELEMENTS:
        return amounts.headed
    text = element.text
    remark = _REMARK.search(text)
    if remark and (len(text) <= _MAX_SHORT_REMARK_CHARACTERS or remark.start() <= _MAX_SHORT_REMARK_CHARACTERS // 2):
        return False
    return amounts.headed or (not _FRAME.search(called) and text.endswith(_SENTENCE_ENDS))


def _is_section(box: Element) -> bool:
    """Whether it begins with a heading that has an id, or that the box's own id is made of."""
    heading = next((e for e in islice(box.walk(), _MAX_REMARK_ELEMENTS) if e.tag in HEADINGS), None)
    if heading is None:
        return False
    own = "".join(char for char in heading.text.casefold() if char.isalnum())
    name = "".join(char for char in box.get("id").casefold() if char.isalnum())
    return bool(heading.get("id")) or (bool(own) and name.startswith(own))


@lru_cache(maxsize=8192)
def _is_callout(name: str) -> bool:
    return _CALLOUT.search(name) is not None


def line_numbers(element: Element) -> bool:
    """Numbers beside the lines of a listing: nothing but digits, in what calls itself so or what no reader can select;
    there prompts count as well. None of it belongs into a shell."""
    attrs = element.attrs
    if element.tag == "td" and _gutter(element):
        return True
    if not attrs:
        return False
    named = "class" in attrs and _numbers_lines(attrs["class"])
    unselectable = not element.classes.isdisjoint(_UNSELECTABLE) or (
        "style" in attrs and _UNSELECTABLE_STYLE.search(attrs["style"]) is not None
    )
    if not (named or unselectable or "data-line-number" in attrs or "data-linenumber" in attrs):
        return False
    if element.end - element.order > _MAX_NUMBERED_ELEMENTS or element.tag in ("pre", "code", "table", "body"):
        return False
    text = "".join(element.strings())
    if not any(char.isalnum() for char in text) or all(word.isdecimal() for word in text.split()):
        return named or _in_code(element)
    return unselectable and len(text) <= _MAX_PROMPT_CHARACTERS and "\n" not in text and _in_code(element)


def _beside_the_page(cell: Element) -> bool:
    """A cell of a page that is laid out by a table of one row: a menu beside the text, or pictures that lead elsewhere beside
    the page's title."""
    row = cell.parent
    if row is None or cell.amounts.headed or cell.amounts.titled or cell.amounts.linked * 5 < cell.amounts.text * 4:
        return False
    cells = list(islice(row.elements, _MAX_LAYOUT_CELLS))
    rows = list(islice(row.parent.elements, 2)) if row.parent is not None else []
    if len(cells) < 2 or len(rows) > 1:
        return False
    links = sum(e.tag == "a" for e in islice(cell.walk(), _MAX_MENU_ELEMENTS))
    if not cell.amounts.text:
        return links > 0 and any(other.amounts.titled for other in cells)
    most = max(other.amounts.text - other.amounts.linked for other in cells)
    return links >= _MIN_MENU_LINKS and most >= cell.amounts.text


def _gutter(cell: Element) -> bool:
    """A cell of nothing but a listing of numbers, beside one with the listing."""
    row, inner = cell.parent, next(cell.elements, None)
    if row is None or inner is None or inner.tag != "pre" or inner.end > inner.order + 2:
        return False
    cells = list(islice(row.elements, 3))
    beside = next(cells[1].elements, None) if len(cells) == 2 and cells[0] is cell else None
    return beside is not None and beside.tag == "pre" and all(word.isdecimal() for word in inner.text.split())


@lru_cache(maxsize=8192)
def _numbers_lines(names: str) -> bool:
    return any(_LINE_NUMBERS.search(name) is not None for name in names.lower().split())


def _in_code(element: Element) -> bool:
    return any(above.tag in ("pre", "code") or "crayon-table" in above.classes for above in element.ancestors())


def mostly_links(element: Element) -> bool:
    """Half of the text or more is links, or there is none."""
    amounts = element.amounts
    return amounts.linked * 2 >= amounts.text


def permalink(link: Element) -> bool:
    """A link's sign to the section it stands in: it points into a page and has no word of its own."""
    if not link.classes.isdisjoint(_PERMALINKS):
        return True
    return "#" in link.get("href") and not _says_something(link)


def _says_something(link: Element) -> bool:
    stack = [link]
    while stack:
        element = stack.pop()
        if element.tag in ("img", "code") or not element.classes.isdisjoint(SCREEN_READER_ONLY) or hidden(element):
            if element.tag in ("img", "code") and not hidden(element):
                return True
            continue
        for child in element.children:
            if not isinstance(child, str):
                stack.append(child)
            elif any(char.isalnum() for char in child):
                return True
    return False
