"""A page's elements as plain objects: what lexbor parsed, copied once, so that nothing after this module
knows which parser read the page.

Scripts, styles and drawings keep their element but lose what is inside, except JSON and TeX. A declarative
shadow root takes the place of its host's children, which fill its slots, as a browser shows it; ids in
there are dropped, because no URL reaches them.

A page has at most MAX_ELEMENTS elements, at most MAX_DEPTH inside one another. Whoever walks up from each element,
or down into each, takes steps in proportion to the depth, and the depth is bounded here; nothing recurs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr picture q rb rt rtc ruby s"
    " samp slot small source span strike strong sub sup svg time tt u var wbr button input math semantics mi mo mn mrow"
    " msup msub mfrac mtext mstyle msqrt munder mover annotation script".split()
)
"""Elements that do not begin a line. Custom elements (with a hyphen in their name) do not either."""

MAX_DEPTH = 500
"""Elements inside one another. Of 130 real pages of 30 generators the deepest has 38."""
MAX_ELEMENTS = 400_000
"""Of one page; they take up to about 750 MB while it is read. A page of 13,500 sections (6 MB) has 378,000."""
MAX_OPEN_TAGS = 3_000
"""Tags not yet closed, by a count that needs no parser: lexbor's time grows with the square of the depth."""

MAX_OPTIONS = 20_000
"""Of all selects together: lexbor looks at all options of a select whenever it meets one more."""

MAX_ATTRIBUTES = 2_000
"""Of one element: lexbor compares each with all before it."""

_CUT_OFF = frozenset({"svg", "style", "script"})
"""What is inside these is not read, except JSON and TeX."""
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NO_ATTRIBUTES: dict[str, str] = {}
_NO_CLASSES: frozenset[str] = frozenset()
_READ_SCRIPTS = ("json", "math/tex", "math/mml")
_INVISIBLE = {ord(char): None for char in "\x7f\xad\u061c\u200b\u200e\u200f\u2060\ufeff"} | dict.fromkeys(
    (*range(0x09), *range(0x0E, 0x1C), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)
"""Soft hyphen, zero-width and direction marks. U+200C and U+200D stay: they join letters with meaning."""


_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{4000,}+")
"""What may hold too many attributes."""
_VALUE = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_OPTION = re.compile("<option", re.IGNORECASE)
_TAG = re.compile(r"<(/?+)([a-zA-Z][^\s/>]*+)")
_NEVER_OPEN = frozenset(
    "area base basefont bgsound br col command embed frame hr image img input keygen link meta param source track wbr"
    " html head body p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rb rt rtc rp".split()
)
"""Void elements, and those that a parser closes before the next of their kind."""
_REOPENED = frozenset("b big code em font i nobr s small strike strong tt u".split())
"""Formatting that was left open: a parser opens it anew in every block that follows."""
_MAX_ALIKE = 3
"""So many equal ones are opened anew (HTML section 13.2.4.3)."""


_WIDE = "\u2e80-\u2fff\u3001-\u312f\u31a0-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff"
"""Han, Kana and Bopomofo with their punctuation; not Hangul, which is written with spaces."""
_BREAK_IN_WIDE = re.compile(rf"(?<=[{_WIDE}])\s++(?=[{_WIDE}])")


class TooComplex(ValueError):
    """A page has more elements than are read, or deeper ones. The message says which."""


class Amounts(NamedTuple):
    """How much is in an element: characters of text, those of them in links, and whether there is a title (h1), any heading
    with words outside links, navigation (nav), and a link, be it without words."""

    text: int
    linked: int
    titled: bool
    headed: bool
    navigates: bool
    leads: bool


_amounts = partial(tuple.__new__, Amounts)  # what Amounts._make is, without its check: one for each element of a page


class Element:
    """An element. `order` counts elements in document order, `end` is the order of its last descendant;
    `depth` that of its ancestors; `classes` are lower-cased."""

    __slots__ = ("_amounts", "attrs", "children", "classes", "depth", "end", "order", "parent", "tag")

    def __init__(self, tag: str, attrs: dict[str, str], parent: Element | None, order: int) -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.order = order
        self.end = order
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._amounts: Amounts | None = None
        self.children: list[Element | str] = []
        names = attrs.get("class") if attrs else None
        self.classes = _classes(names) if names else _NO_CLASSES

    def get(self, name: str) -> str:
        return self.attrs.get(name, "")

    @property
    def role(self) -> str:
        return self.attrs.get("role", "").strip().lower()

    @property
    def elements(self) -> Iterator[Element]:
        """Child elements."""
        return (child for child in self.children if not isinstance(child, str))

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order. What the caller takes out of `children`
        before the next step is not visited."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            for child in reversed(element.children):
                if not isinstance(child, str):
                    stack.append(child)

    def ancestors(self) -> Iterator[Element]:
        """Nearest first, itself left out."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def contains(self, other: Element) -> bool:
        """Whether `other` is this element or below it."""
        return self.order <= other.order <= self.end

    def strings(self) -> Iterator[str]:
        """All text below, in document order."""
        stack: list[Element | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
            else:
                stack.extend(reversed(item.children))

    @property
    def amounts(self) -> Amounts:
        """What is in the element, text without the blanks around it. Each element is counted when the page is read, and again
        only after something below it was taken out."""
        if self._amounts is None:
            uncounted = [self]
            for element in uncounted:
                for child in element.children:
                    if not isinstance(child, str) and child._amounts is None:
                        uncounted.append(child)
            for element in reversed(uncounted):
                element.count()
        assert self._amounts is not None
        return self._amounts

    def count(self) -> None:
        """Count what is in the element, of which all children are counted."""
        text = linked = 0
        titled, headed, navigates, leads = self.tag == "h1", False, self.tag == "nav", self.tag == "a"
        for child in self.children:
            if isinstance(child, str):
                text += len(child.strip())
            elif (below := child._amounts) is not None:
                text += below[0]
                linked += below[1]
                titled = titled or below[2]
                headed = headed or below[3]
                navigates = navigates or below[4]
                leads = leads or below[5]
        headed = headed or (self.tag in _TITLES and text > linked)
        self._amounts = _amounts((text, text if self.tag == "a" else linked, titled, headed, navigates, leads))

    def keep(self, children: list[Element | str]) -> None:
        """Take all other children out of the tree."""
        self.children = children
        counted: Element | None = self
        while counted is not None and counted._amounts is not None:
            counted._amounts = None
            counted = counted.parent

    @property
    def inline(self) -> bool:
        """Whether text before and after the element stays on one line with it."""
        return self.tag in INLINE or "-" in self.tag

    @property
    def text(self) -> str:
        """All text below, white space collapsed."""
        return clean("".join(self.strings()))


class Dom:
    """A page as it was read: `root`, and all its `elements` in document order."""

    def __init__(self, root: Element, elements: list[Element]) -> None:
        self.root = root
        self.elements = elements
        self._tagged: dict[str, list[Element]] = {}
        for element in elements:
            self._tagged.setdefault(element.tag, []).append(element)

    def tagged(self, *tags: str) -> list[Element]:
        """Elements with one of these names, in document order."""
        if len(tags) == 1:
            return self._tagged.get(tags[0], [])
        found = [element for tag in tags for element in self._tagged.get(tag, ())]
        return sorted(found, key=lambda element: element.order)

    @property
    def body(self) -> Element:
        """The body; the root where there is none (a frameset)."""
        return next(iter(self.tagged("body")), self.root)


@lru_cache(maxsize=4096)
def _classes(names: str) -> frozenset[str]:
    return frozenset(names.lower().split())


def clean(text: str) -> str:
    """White space collapsed, soft hyphens, zero-width and direction marks removed. A line break of the source between
    two characters of a script without spaces is none (CSS Text 3, section 4.1.3)."""
    words = " ".join(text.split())
    if not words.isprintable():
        text = text.translate(_INVISIBLE)
        words = " ".join(text.split())
    if text.isascii() or "\n" not in text:
        return words
    return " ".join(_BREAK_IN_WIDE.sub(lambda blanks: "" if "\n" in blanks[0] else blanks[0], text).split())


def read(html: str) -> Dom:
    """All elements of a page. Raises TooComplex, and MemoryError where lexbor, too, gets no memory."""
    if any(len(_VALUE.sub("", tag[0]).split()) > MAX_ATTRIBUTES for tag in _LONG_TAG.finditer(html)):
        raise TooComplex(f"more than {MAX_ATTRIBUTES:,} attributes of one element")
    _check_tags(html)
    try:
        source = LexborHTMLParser(html or "<html></html>").root
    except SelectolaxError as error:  # an HTML parser takes any text, and fails for memory alone
        raise MemoryError(str(error)) from error
    if source is None:
        root = Element("html", {}, None, 0)
        return Dom(root, [root])
    root = Element("html", _attributes(source), None, 0)
    copied, shadows = _copied(source, root)
    if shadows:
        copied = _composed(root, shadows)
    for element in reversed(copied):
        above = element.parent
        if above is not None and above.end < element.end:
            above.end = element.end
        element.count()
    return Dom(root, copied)


def _check_tags(html: str) -> None:
    """Refuse what would cost the parser itself too much, by a look at the tags alone.

    The count errs where tags stand in scripts and comments, and by elements that end themselves: it only bounds
    what lexbor is given, and is no measure of the page."""
    if html.count("<") <= MAX_OPEN_TAGS:
        return
    if sum(1 for _ in _OPTION.finditer(html)) > MAX_OPTIONS:
        raise TooComplex(f"more than {MAX_OPTIONS:,} options")
    depth = elements = drawings = reopened = end = 0
    plain: Counter[str] = Counter()
    for match in _TAG.finditer(html):
        closing, name = match.groups()
        tag = name.lower()
        if tag in _NEVER_OPEN:
            elements += 0 if closing else 1 + reopened
            continue
        step = -1 if closing else 1
        if tag in _REOPENED:
            plain[tag] = max(plain[tag] + step, 0)
            bare = html.startswith(">", match.end())
            if closing or not bare or plain[tag] <= _MAX_ALIKE:
                reopened = max(reopened + step, 0)
        elif not closing:
            elements += reopened
        if tag in ("svg", "math"):
            drawings = max(drawings + step, 0)
        elif drawings and not closing:
            end = end if end > match.end() else html.find(">", match.end()) % len(html)
            if html[end - 1] == "/":
                elements += 1
                continue
        if closing:
            depth -= depth > 0
            continue
        elements += 1
        depth += 1
        if depth > MAX_OPEN_TAGS:
            raise TooComplex(f"more than {MAX_OPEN_TAGS:,} elements stay open")
        if elements > MAX_ELEMENTS:
            break
    if elements > MAX_ELEMENTS:
        raise TooComplex(f"more than {MAX_ELEMENTS:,} elements")


def _copied(source: LexborNode, root: Element) -> tuple[list[Element], list[tuple[Element, Element]]]:
    """What is below `source`, copied below `root`: the elements in document order, and hosts with their shadow roots,
    outer ones first. Of a host's shadow roots the first counts."""
    copied = [root]
    shadows: dict[Element, Element] = {}
    node, parent = source.first_child, root
    later: list[tuple[LexborNode | None, Element]] = []
    while node is not None or later:
        if node is None:
            node, parent = later.pop()
            continue
        tag = node.tag
        if tag == "-text":
            parent.children.append(node.text_content or "")
        elif tag is not None and tag[0] != "-":
            element = Element(tag, _attributes(node), parent, len(copied))
            if element.depth >= MAX_DEPTH:
                raise TooComplex(f"elements nested more than {MAX_DEPTH} deep")
            copied.append(element)
            if len(copied) > MAX_ELEMENTS:
                raise TooComplex(f"more than {MAX_ELEMENTS:,} elements")
            if tag == "template" and "shadowrootmode" in element.attrs and parent not in shadows:
                shadows[parent] = element
                inner = next((fragment.first_child for fragment in node.template_fragments()), None)
            else:
                parent.children.append(element)
                inner = _first_inside(node, element) if tag in _CUT_OFF else node.first_child
            if inner is not None:
                later.append((node.next, parent))
                node, parent = inner, element
                continue
        node = node.next
    return copied, list(shadows.items())


def _composed(root: Element, shadows: list[tuple[Element, Element]]) -> list[Element]:
    """The elements in the order in which a browser shows them, shadow trees in the place of their hosts' children."""
    for _, shadow in shadows:
        for inner in shadow.walk():
            inner.attrs.pop("id", None)
            if inner.tag == "a":
                inner.attrs.pop("name", None)
    for host, shadow in shadows:
        _compose(host, shadow)
    composed = []
    for order, element in enumerate(root.walk()):
        composed.append(element)
        element.order = element.end = order
        if element.depth >= MAX_DEPTH:
            raise TooComplex(f"elements nested more than {MAX_DEPTH} deep")
        for child in element.elements:
            child.parent = element
            child.depth = element.depth + 1
    return composed


def _first_inside(node: LexborNode, element: Element) -> LexborNode | None:
    """Where reading goes on below `element`; None where there is nothing to read."""
    tag = element.tag
    if tag == "svg":
        _name_drawing(node, element)
        return None
    if tag == "style" or (tag == "script" and not any(kind in element.get("type") for kind in _READ_SCRIPTS)):
        return None
    return node.first_child


def _attributes(node: LexborNode) -> dict[str, str]:
    given = node.attributes
    if not given:
        return _NO_ATTRIBUTES
    if None in given.values():
        return {name: value or "" for name, value in given.items()}
    return given  # type: ignore[return-value]  # no None is left


def _name_drawing(node: LexborNode, element: Element) -> None:
    title = node.css_first("title")
    if title is not None and not element.get("aria-label"):
        element.attrs = {**element.attrs, "aria-label": title.text()}


def _compose(host: Element, shadow: Element) -> None:
    """Put the shadow tree in the place of the host's children, and those where the slots are: the first slot of a name
    takes all that ask for it. Outer hosts come first, so that `shadow` holds its own slots and no inner tree's."""
    fillings: dict[str, list[Element | str]] = {}
    for child in host.children:
        fillings.setdefault(child.get("slot") if isinstance(child, Element) else "", []).append(child)
    for slot in [element for element in shadow.walk() if element.tag == "slot"]:
        slot.children = fillings.pop(slot.get("name"), slot.children)
    host.children = [shadow]
    shadow.tag, shadow.attrs, shadow.parent = "div", {}, host
