"""A page's elements as plain objects: what lexbor parsed, copied once, so that nothing after this module
knows which parser read the page.

Scripts, styles and drawings keep their element but lose what is inside, except JSON and TeX. A declarative
shadow root takes the place of its host's children, which fill its slots, as a browser shows it; ids in
there are dropped, because no URL reaches them. No recursion: depth is bounded by memory only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr picture q rb rt rtc ruby s"
    " samp slot small source span strike strong sub sup svg time tt u var wbr button input math semantics mi mo mn mrow"
    " msup msub mfrac mtext mstyle msqrt munder mover annotation script".split()
)
"""Elements that do not begin a line. Custom elements (with a hyphen in their name) do not either."""

_NO_ATTRIBUTES: dict[str, str] = {}
_NO_CLASSES: frozenset[str] = frozenset()
_READ_SCRIPTS = ("json", "math/tex", "math/mml")
_INVISIBLE = {ord(char): None for char in "\x7f\xad\u061c\u200b\u200e\u200f\u2060\ufeff"} | dict.fromkeys(
    (*range(0x09), *range(0x0E, 0x1C), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)
"""Soft hyphen, zero-width and direction marks. U+200C and U+200D stay: they join letters with meaning."""


class Element:
    """An element. `order` counts elements in document order, `end` is the order of its last descendant;
    `classes` are lower-cased."""

    __slots__ = ("attrs", "children", "classes", "end", "order", "parent", "tag")

    def __init__(self, tag: str, attrs: dict[str, str], parent: Element | None, order: int) -> None:
        self.tag = tag
        self.attrs = attrs
        self.parent = parent
        self.order = order
        self.end = order
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
            stack += [child for child in element.children[::-1] if not isinstance(child, str)]

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
    """White space collapsed, soft hyphens, zero-width and direction marks removed."""
    return " ".join((text if text.isascii() and text.isprintable() else text.translate(_INVISIBLE)).split())


def read(html: str) -> Dom:
    """All elements of a page."""
    source = LexborHTMLParser(html or "<html></html>").root
    if source is None:
        root = Element("html", {}, None, 0)
        return Dom(root, [root])
    root = Element("html", _attributes(source), None, 0)
    copied = [root]
    shadows: list[tuple[Element, Element]] = []
    _copy_below(source, root, copied, shadows)
    if shadows:
        for host, shadow in shadows:
            _compose(host, shadow)
        copied = list(root.walk())
        for order, element in enumerate(copied):
            element.order = element.end = order
            for child in element.elements:
                child.parent = element
    for element in reversed(copied):
        above = element.parent
        if above is not None and above.end < element.end:
            above.end = element.end
    return Dom(root, copied)


def _copy_below(
    source: LexborNode, target: Element, copied: list[Element], shadows: list[tuple[Element, Element]]
) -> None:
    """Copy what is below `source`; every new element is appended to `copied`, which gives it its order."""
    node, parent = source.first_child, target
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
            if tag == "template" and "shadowrootmode" in element.attrs:
                _read_shadow(node, element, parent, shadows)
            else:
                parent.children.append(element)
                copied.append(element)
                inner = _first_inside(node, element)
                if inner is not None:
                    later.append((node.next, parent))
                    node, parent = inner, element
                    continue
        node = node.next


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


def _read_shadow(node: LexborNode, element: Element, host: Element, shadows: list[tuple[Element, Element]]) -> None:
    for fragment in node.template_fragments()[:1]:
        _copy_below(fragment, element, [], shadows)
    for inner in element.walk():
        inner.attrs.pop("id", None)
        if inner.tag == "a":
            inner.attrs.pop("name", None)
    shadows.append((host, element))


def _compose(host: Element, shadow: Element) -> None:
    """Put the shadow tree in the place of the host's children, and those where the slots are."""
    light = host.children
    for slot in [element for element in shadow.walk() if element.tag == "slot"]:
        name = slot.get("name")
        filling = [c for c in light if (c.get("slot") if isinstance(c, Element) else "") == name]
        if filling:
            slot.children = filling
    host.children = [shadow]
    shadow.tag, shadow.attrs, shadow.parent = "div", {}, host
