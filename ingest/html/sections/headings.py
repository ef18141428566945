"""Which elements are headings, and what their titles are.

A heading is h1-h6 or role=heading, unless its role takes the meaning away, it names a box (a note, a
warning), it is a subtitle in an hgroup, or it is the text of a data table's cell. A heading without visible text makes no section.
Where a section is long, paragraphs that are nothing but a short bold line are headings in it: that is what a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from ingest.html.blocks.formulas import formula
from ingest.html.content.boilerplate import HEADINGS, SCREEN_READER_ONLY, callout, hidden, permalink
from ingest.html.dom import Element, clean
from ingest.html.generators import Profile, Signature
from ingest.html.head import same_words

_TITLE_LINES = frozenset("author authors subtitle corpauthor".split())
"""What pandoc and DocBook write as headings below the title."""
MIN_DIVIDED_CHARACTERS, MIN_BOLD_LINES = 6_000, 3
"""A section of about 1,000 words is divided by its bold lines, if there are so many."""
MAX_BOLD_CHARACTERS, MAX_KEYWORD_LINE_CHARACTERS = 80, 240
_DIVISIONS = frozenset("div section article main body html center font".split())
"""What may stand around a bold line; in an item, a cell or a quotation it heads nothing."""
_SOURCE_LINKS = frozenset("source src code".split())
"""Links beside a name that lead to its code."""
_LABELS = frozenset(
    "overload mlabels mlabel ingroups doc-labels doc-label pred-tag pl-tag tsd-tag phpdocumentor-element__package".split()
)
"""What generators print beside a name: counters, groups, kinds of members."""
_BESIDE = re.compile(r"(?:^|;)\s*+float\s*+:\s*+right", re.IGNORECASE)


_Found = tuple[Element, int, str]
"""An element, its level and its title."""


@dataclass(frozen=True, slots=True)
class Heading:
    """`limit` is the order of the next heading of the same or a higher rank: what stands from there on
    belongs to another section. `box`: what the section ends with, where that is known."""

    element: Element
    level: int
    title: str
    limit: float
    box: Element | None = None


def find(
    elements: Sequence[Element],
    data_cells: frozenset[Element],
    profile: Profile,
    in_contents: frozenset[str] = frozenset(),
) -> dict[Element, Heading]:
    """All headings of the content with a title, in document order. `in_contents`: fragments that the page's contents link to."""
    boxes = _Boxes()
    named = bool(profile.headings or profile.signature)
    found = [
        (element, level, text)
        for before, element in pairwise((elements[0], *elements))
        if (named or element.tag in HEADINGS or "role" in element.attrs)
        and (level := _level(element, profile))
        and linked_page(element, before) is None
        and not _demoted(element, level, elements[0], data_cells, boxes)
        and (text := title(element))
    ]
    as_written = _in_sections(found, elements[0])
    found = _in_boxes(as_written, elements[0], profile)
    boxes_of = {e: _box(e) for (e, level, _), (_, rank, _) in zip(as_written, found, strict=True) if level != rank}
    found = sorted(
        [*found, *_questions(elements, found, in_contents), *_bold_lines(elements, found)],
        key=lambda heading: heading[0].order,
    )
    limits: list[float] = [float("inf")] * len(found)
    open_ones: list[int] = []
    for index, (element, level, _) in enumerate(found):
        while open_ones and found[open_ones[-1]][1] >= level:
            limits[open_ones.pop()] = element.order
        open_ones.append(index)
    return {
        element: Heading(element, level, text, limit, boxes_of.get(element))
        for (element, level, text), limit in zip(found, limits, strict=True)
    }


def _in_sections(found: list[_Found], root: Element) -> list[_Found]:
    """An h1 that begins a section inside a section which an h1 begins is below that (HTML as of 2014, and ExDoc still), and so
    is all that stands in its section."""
    ranked: list[_Found] = []
    begins: dict[Element, tuple[Element, int]] = {}
    for element, level, text in found:
        around = [
            box for box in takewhile(lambda above: above is not root, element.ancestors()) if box.tag == "section"
        ]
        firsts = [begins.setdefault(box, (element, level)) for box in reversed(around)]
        below = sum(one is not other and rank == deeper == 1 for (one, rank), (other, deeper) in pairwise(firsts))
        ranked.append((element, level + below, text))
    return ranked


def _in_boxes(found: list[_Found], root: Element, profile: Profile) -> list[_Found]:
    """What stands in an article is of that article: a heading in it that would end the section around the article is below
    the article's own heading (Erlang's h3 "Types" of a function, an h4 under an h3)."""
    ranked: list[_Found] = []
    own: dict[Element, tuple[int, int]] = {}
    open_ones: list[int] = []
    for element, level, text in found:
        rank = level
        for box in takewhile(lambda above: above is not root, element.ancestors()):
            if box.tag != "article" and profile.box not in box.classes:
                continue
            first, around = own.get(box, (0, 0))
            if rank <= first and (around >= rank or box.tag != "article"):
                rank = first + 1
        while open_ones and open_ones[-1] >= rank:
            open_ones.pop()
        for box in takewhile(lambda above: above is not root, element.ancestors()):
            own.setdefault(box, (rank, open_ones[-1] if open_ones else 0))
        open_ones.append(rank)
        ranked.append((element, rank, text))
    return ranked


def _box(heading: Element) -> Element | None:
    """The box that a heading of a wrong rank begins, with the text that belongs to it (Erlang's "Types" of a function, whose
    description follows)."""
    box = heading.parent
    if box is None or box.tag == "article" or next(box.elements) is not heading:
        return None
    return box if box.amounts.text > heading.amounts.text else None


def without_masthead(found: Mapping[Element, Heading], page_title: str) -> dict[Element, Heading]:
    """All but an h1 that names the site above the page's title: the only one, with the title right below it. It is taken out
    of the page."""
    top = [heading for heading in found.values() if heading.level == 1]
    first, second = (*islice(found.values(), 2), None, None)[:2]
    if first is None or second is None or top != [first] or second.element.order != first.element.end + 1:
        return dict(found)
    if not same_words(second.title, page_title) or same_words(first.title, page_title) or _named(first.element):
        return dict(found)
    if first.element.parent is not None:
        first.element.parent.keep([child for child in first.element.parent.children if child is not first.element])
    return {element: heading for element, heading in found.items() if heading is not first}


def _questions(elements: Sequence[Element], found: Sequence[_Found], in_contents: frozenset[str]) -> Iterator[_Found]:
    """Bold lines with an address that the page's contents link to, each before its answer in one paragraph."""
    levels = {element: level for element, level, _ in found}
    current = min(levels.values(), default=2) - 1
    for element in elements if in_contents else ():
        current = levels.get(element, current)
        if element.tag != "a" or (element.get("id") or element.get("name")) not in in_contents or element.get("href"):
            continue
        words = [child for child in element.children if not isinstance(child, str) or not child.isspace()]
        bold = len(words) == 1 and not isinstance(words[0], str) and words[0].tag in ("b", "strong")
        if bold and element.parent is not None and element.parent.tag in ("p", "div") and _begins(element):
            yield element, current + 1, title(element)


def _begins(element: Element) -> bool:
    """Whether nothing stands before an element in the one around it."""
    siblings = element.parent.children if element.parent is not None else ()
    return next((child for child in siblings if not isinstance(child, str) or not child.isspace()), None) is element


def _bold_lines(elements: Sequence[Element], found: Sequence[_Found]) -> Iterator[_Found]:
    """Of each long section the bold lines, a level below its heading; before the first heading, on the level of the highest. An
    address right behind another line is another form of that command, and text."""
    bold = {element for element in elements if element.tag in ("p", "div") and _is_bold_line(element)}
    if len(bold) < MIN_BOLD_LINES:
        return
    levels = {element: level for element, level, _ in found}
    current, size = min(levels.values(), default=2) - 1, 0
    lines: list[_Found] = []
    last: Element | None = None
    for element in elements:
        if element in levels:
            yield from _dividing(lines, size)
            current, size, lines, last = levels[element], 0, [], None
        own = sum(len(child) for child in element.children if isinstance(child, str) and not child.isspace())
        size += own
        if element in bold:
            if last is None or not any(map(_named, element.walk())):
                lines.append((element, current + 1, title(element)))
            last = element
        elif own and last is not None and element.order > last.end:
            last = None
    yield from _dividing(lines, size)


def _dividing(lines: Sequence[_Found], size: int) -> Sequence[_Found]:
    names = {name for _, _, name in lines}
    return lines if size >= MIN_DIVIDED_CHARACTERS and MIN_BOLD_LINES <= len(lines) == len(names) else ()


def _is_bold_line(element: Element) -> bool:
    """A bold name that is all of its line, or that is an address and begins a short one (a keyword before its arguments)."""
    if not any(child.tag in ("b", "strong") for child in islice(element.elements, 1)):
        return False
    words = [child for child in element.children if not isinstance(child, str) or not child.isspace()]
    bold = words[0] if words and not isinstance(words[0], str) else None
    if bold is None or not 0 < bold.amounts.text <= MAX_BOLD_CHARACTERS:
        return False
    if len(words) > 1 or any(inner.tag == "a" for inner in bold.walk()):
        shaped = element.amounts.text <= MAX_KEYWORD_LINE_CHARACTERS and any(map(_named, bold.walk()))
    else:
        shaped = bold.text[-1] not in ".:;,…"
    return (
        shaped
        and any(map(str.isalpha, bold.text))
        and "title" not in element.classes
        and not any(inner.tag in ("br", "code") for inner in bold.walk())
        and all(above.tag in _DIVISIONS and not callout(above) for above in element.ancestors())
    )


def title(element: Element) -> str:
    """The words of a heading or a term without permalink signs, buttons, note marks and edit links.

    Where nothing is left, the words of its links and buttons (a title wholly inside a self link, the button of
    an accordion), else what names its picture."""
    for keep_controls in (False, True):
        text = clean("".join(_words(element, keep_controls))).removeprefix(": ")  # texinfo's, after an empty category
        if text:
            return text
    return clean(" ".join(_picture_names(element)))


def _level(element: Element, profile: Profile) -> int:
    """1-6 and beyond (aria-level has no upper end), 0 for what is no heading."""
    if element.attrs:
        role = element.attrs.get("role")
        if role:
            if role in ("presentation", "none"):
                return 0
            if role == "heading":
                level = element.get("aria-level").strip()
                return max(1, int(level)) if level.isdecimal() and len(level) < 3 else HEADINGS.get(element.tag, 2)
        for name, rank in profile.headings.items():
            if name in element.classes:
                return rank
    if profile.signature and _signs(element, profile.signature):
        return profile.signature.level
    return HEADINGS.get(element.tag, 0)


def _signs(element: Element, signature: Signature) -> bool:
    if (signature.tag and element.tag != signature.tag) or (
        signature.css_class and signature.css_class not in element.classes
    ):
        return False
    return any(_named(e) and (e.get("id") or e.get("name")).startswith(signature.names) for e in element.walk())


def _demoted(element: Element, level: int, root: Element, data_cells: frozenset[Element], boxes: _Boxes) -> bool:
    own_id = bool(element.get("id"))
    if not own_id and not element.classes.isdisjoint(_TITLE_LINES):
        return True
    if "date" in element.classes and element.parent is not None and element.parent.get("id") == "header":
        return True
    for above in element.ancestors():
        if "titlepage" in above.classes and "title" not in element.classes:
            return True
        if above.tag == "hgroup":
            top = boxes.top(above)
            return top is not None and top < (level, element.order)
        if not own_id and (above.attrs or above.tag == "blockquote") and boxes.name(above) is element:
            return True
        if above in data_cells:
            return not own_id and not any(_named(inner) for inner in element.walk())
        if above is root or above.tag in ("pre", "button", "figcaption"):
            return above is not root
    return False


def linked_page(element: Element, before: Element) -> str | None:
    """Where a title leads that is nothing but a link to another page: it names that page, not a section.
    None for all others, also for a title that has an address of its own. `before`: the element before it in document
    order, which may be that address (old texinfo's titles lead back to the table of contents)."""
    if _named(before) and before.tag in ("a", "span") and not before.amounts.text:
        return None
    if any(_named(e) for e in element.walk()) or (element.parent is not None and element.parent.get("id")):
        return None
    card = next((above for above in element.ancestors() if above.tag == "a"), None)
    links = [card] if card is not None else [e for e in element.walk() if e.tag == "a"]
    if len(links) != 1 or links[0].get("href").partition("#")[0] == "":
        return None
    return links[0].get("href") if card is not None or links[0].text == element.text else None


class _Boxes:
    """What holds headings: notes, warnings and quotes with the headings that name them, and hgroups. Each is looked at once for
    all headings in it."""

    def __init__(self) -> None:
        self._names: dict[Element, Element | None] = {}
        self._tops: dict[Element, tuple[int, int] | None] = {}

    def name(self, element: Element) -> Element | None:
        """The heading with which a box begins; None for what is no box."""
        if element not in self._names:
            box = callout(element) or element.tag == "blockquote"
            self._names[element] = _first_heading_in(element) if box else None
        return self._names[element]

    def top(self, hgroup: Element) -> tuple[int, int] | None:
        """Level and order of the first of its highest headings."""
        if hgroup not in self._tops:
            ranks = [(HEADINGS[e.tag], e.order) for e in hgroup.elements if e.tag in HEADINGS]
            self._tops[hgroup] = min(ranks, default=None)
        return self._tops[hgroup]


def _first_heading_in(box: Element) -> Element | None:
    """None if other words come first."""
    for inner in box.walk():
        if inner.tag in HEADINGS or inner.role == "heading":
            return inner
        if any(isinstance(child, str) and not child.isspace() for child in inner.children):
            return None
    return None


def _named(element: Element) -> bool:
    return bool(element.get("id") or (element.tag == "a" and element.get("name")))


def note_mark(element: Element) -> bool:
    """A raised number or sign that leads to a note."""
    if element.role == "doc-noteref" or not element.classes.isdisjoint(_NOTE_MARKS):
        return True
    if element.tag != "sup":
        return False
    inner = list(element.elements)
    loose = clean("".join(child for child in element.children if isinstance(child, str)))
    return (
        bool(inner)
        and not loose.strip("[](),; ")
        and all(e.tag == "a" and e.get("href").startswith("#") and len(e.text.strip("[]()")) <= 3 for e in inner)
    )


_NOTE_MARKS = frozenset("footnote-ref footnote-reference footnoteref noteref fn-ref fn-bracket".split())


def _words(element: Element, keep_controls: bool) -> Iterable[str]:
    stack: list[Element | str] = list(reversed(element.children))
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        tag = item.tag
        tex = formula(item)
        if tex is not None:
            yield tex[0]
        elif tag == "br":
            yield " "
        elif _is_aside(item, keep_controls):
            continue
        elif item.inline:
            stack.extend(reversed(item.children))
        else:
            stack.append(" ")
            stack.extend(reversed(item.children))
            stack.append(" ")


def _is_aside(item: Element, keep_controls: bool) -> bool:
    """What stands in a heading without being part of its words."""
    if hidden(item) or item.tag in ("rt", "rp", "script", "style", "img", "svg") or note_mark(item):
        return True
    if keep_controls:
        return False
    if item.tag == "a":
        toggles = item.get("href") == "#" and "toggle" in item.get("class")
        return permalink(item) or toggles or item.text.strip("[]").casefold() in _SOURCE_LINKS
    if "style" in item.attrs and _BESIDE.search(item.attrs["style"]):
        return True
    return item.tag == "button" or not item.classes.isdisjoint(SCREEN_READER_ONLY | _LABELS)


def _picture_names(element: Element) -> Iterable[str]:
    for inner in element.walk():
        if inner.tag in ("img", "svg", "picture") and not hidden(inner):
            name = inner.get("alt") or inner.get("aria-label")
            if name.strip():
                yield name
