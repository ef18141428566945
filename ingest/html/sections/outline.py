"""The content of a page as sections in document order: one walk, which meets every text once.

A heading begins a section that lasts until the next one; its parent is the nearest earlier heading of a
smaller level. A definition lasts until its dd ends, then the section around it goes on; a heading inside
a dd hangs under the definition, a later one never does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace

from ingest.html.blocks.code import language, listing
from ingest.html.blocks.formulas import formula
from ingest.html.blocks.tables import Key, Tables
from ingest.html.blocks.writer import Writer
from ingest.html.content.boilerplate import SCREEN_READER_ONLY, permalink
from ingest.html.dom import Element
from ingest.html.head import same_words
from ingest.html.sections import anchors
from ingest.html.sections.drawn_headings import Part, parts
from ingest.html.sections.headings import Heading, note_mark, title
from ingest.html.sections.nesting import Section, Sections

_CODE = frozenset("pre listing xmp plaintext".split())
_TABLE_PARTS = frozenset({"tr", "caption", "td", "th"})
_WORD = re.compile(r"\w++")
_LINKS_ONLY = 4
"""So many times as many characters in links as beside them are a section of links."""
_MAX_POINTING_CHARACTERS = 40
"""Longer text is not asked whether it only points to links."""
_POINTERS = frozenset("see also and or the more related used by of in to for up next previous jump".split())
"""Words that lead to links and say nothing."""
_MAX_TWICE_CHARACTERS = 200
_BACK_SIGNS = frozenset("↩︎⏎^↑↵ ")


@dataclass(frozen=True, slots=True)
class OutlineInput:
    """What was found out about the content before the walk. `opened`: ids of panels in it that a control opens."""

    headings: dict[Element, Heading]
    terms: dict[Element, frozenset[Element]]
    tables: Tables
    targets: anchors.Targets
    opened: frozenset[str]


@dataclass(slots=True)
class _Terms:
    """An open list of terms that begin sections. `orders`: where the terms directly in it stand, rising. `naming`: a term has begun
    and its dd has not; `names`: what leads to it so far."""

    own: frozenset[Element]
    orders: list[int]
    naming: bool = False
    names: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Keyed:
    """The open table whose rows are sections. `grouped`: a row that names others has begun; `header`: of the row being read."""

    table: Element
    grouped: bool = False
    header: str = ""


def outline(root: Element, plan: OutlineInput, page_title: str) -> list[Section]:
    """The sections of the content; the first is the page's own. A single h1 that nothing stands before is
    the page's own section, and so is a single topmost heading of another level that says the page's title;
    else that is a section of level 0 with `page_title`."""
    return _Outline(root, plan, page_title).sections.all


def links_only(section: Section) -> bool:
    """Whether a section is a list of links to what stands elsewhere."""
    if not section.blocks or not section.linked:
        return False
    said = sum(map(_said_characters, section.beside))
    return said * _LINKS_ONLY <= section.linked


def _said_characters(text: str) -> int:
    """How many characters beside links say something."""
    if len(text) > _MAX_POINTING_CHARACTERS:
        return len(text)
    return sum(len(word) for word in _WORD.findall(text) if word.casefold() not in _POINTERS)


class _Outline:
    def __init__(self, root: Element, plan: OutlineInput, page_title: str) -> None:
        self._plan = plan
        self.sections = Sections(page_title)
        self._top_level = min((heading.level for heading in plan.headings.values()), default=1)
        tops = {heading.title for heading in plan.headings.values() if heading.level == self._top_level}
        self._single_top = len(tops) == 1
        self._writer = Writer(self.sections.current.blocks)
        self._terms: list[_Terms] = []
        self._lists: list[Element] = []
        self._tables: list[Element] = []
        self._keyed: _Keyed | None = None
        self._before: list[Element] = []
        self._late: list[Element] = []
        self._boxed: dict[Element, Section] = {}
        self._unnamed: Element | None = None
        self._sign: Element | None = None
        self._links = 0
        self._begun = False
        self._nested: Section | None = None
        self._seen = 0
        self._walk(root)
        self._writer.end()
        page = self.sections.all[0]
        if (
            page.blocks
            and not page.level
            and page.blocks[0].kind == "text"
            and same_words(page.blocks[0].text, page.title)
        ):
            del page.blocks[0]  # the title, written as a paragraph (Word, Google Docs)

    def _walk(self, root: Element) -> None:
        self._note_id(root)
        if not root.inline:
            self._open(root)
        open_elements = [(root, 0, iter(root.children))]
        while open_elements:
            element, seen, children = open_elements[-1]
            for child in children:
                if isinstance(child, str):
                    self._text(child)
                elif self._enter(child):
                    self._links += _leads(child)
                    open_elements.append((child, self._seen, iter(child.children)))
                    break
            else:
                open_elements.pop()
                self._leave(element, seen)

    def _text(self, text: str) -> None:
        self._writer.text(text)
        if text and not text.isspace():
            self._passed()
            self._count(text)

    def _count(self, text: str) -> None:
        section = self.sections.current
        if self._links:
            section.linked += len(text)
        else:
            section.beside.append(text)

    def _note_id(self, element: Element) -> None:
        if element.attrs and ("id" in element.attrs or (element.tag == "a" and "name" in element.attrs)):
            self._before.append(element)

    def _enter(self, element: Element) -> bool:
        """Whether the walk goes on inside the element."""
        heading = self._plan.headings.get(element)
        if heading is not None:
            self._heading(heading)
            return False
        if element in self._plan.tables.keys:
            self._key(element, self._plan.tables.keys[element])
            return False
        tag = element.tag
        if tag == "dt" and self._terms and element in self._terms[-1].own:
            self._term(element)
            return False
        self._note_id(element)
        if element.inline:
            return self._enter_inline(element)
        if (
            tag in _CODE
            or "crayon-pre" in element.classes
            or ("fragment" in element.classes and any("line" in e.classes for e in element.elements))
        ):
            self._code(element)
            return False
        if element.classes and self._formula(element):
            return False
        self._open(element)
        return True

    def _enter_inline(self, element: Element) -> bool:
        tag = element.tag
        if self._formula(element):
            return False
        if tag == "img":
            self._image(element)
        if tag == "button" and self._asks(element):
            self._writer.end_paragraph()
            return True
        if tag in ("img", "button", "svg", "script", "source"):
            return False
        if tag == "a" and (permalink(element) or _back_link(element)):
            self._before.extend(e for e in element.walk() if e is not element and e.get("id"))
            if self._unnamed is not None and self._sign is None:
                self._sign = element
            return False
        if tag == "rt":
            self._writer.text("(")
        if not element.classes and not element.attrs and tag != "sup":
            return True
        if not element.classes.isdisjoint(SCREEN_READER_ONLY):
            around = element.parent
            said_twice = around is not None and around.amounts.text == element.amounts.text * 2 <= _MAX_TWICE_CHARACTERS
            if around is not None and said_twice and around.text == element.text * 2:
                return False  # said again for those who see
            return not any(above.tag in ("a", "button", "figcaption") for above in element.ancestors())
        return not note_mark(element)

    def _asks(self, button: Element) -> bool:
        """Whether a button is the title of the panel that it opens."""
        panel = button.get("aria-controls") or button.get("data-bs-target").removeprefix("#")
        return panel in self._plan.opened and button.role != "tab" and " " in button.text

    def _formula(self, element: Element) -> bool:
        found = formula(element)
        if found is None:
            return False
        tex, alone = found
        if tex:
            self._passed()
            if alone:
                self._writer.math(tex)
            else:
                self._writer.text(tex)
        return True

    def _image(self, element: Element) -> None:
        alt = element.get("alt").strip()
        if (" " in alt or not alt.isascii()) and not alt.startswith("data:"):
            self._writer.image(alt)

    def _code(self, element: Element) -> None:
        text, named = listing(element), language(element)
        above = self.sections.current.level
        for part in parts(text) if not named and not self._tables else [Part("", 0, text)]:
            if part.depth:
                self._writer.end()
                self.sections.heading(above + part.depth, part.title)
                self._writer.turn_to(self.sections.current.blocks)
            if part.text.strip():
                self._passed()
            self._writer.code(part.text, named)
            self._count(part.text)

    def _open(self, element: Element) -> None:
        tag, writer = element.tag, self._writer
        if tag == "br":
            writer.line_break()
        elif tag in ("ul", "ol", "menu"):
            writer.open_list("ol" if tag == "ol" else "ul", _start(element))
        elif tag == "dl":
            self._open_terms(element)
        elif tag in ("li", "dt", "dd"):
            self._open_item(element)
        elif tag == "blockquote":
            writer.open_quote()
        elif tag == "table":
            self._tables.append(element)
            if self._is_data(element):
                writer.open_table()
            else:
                writer.end_paragraph()
        elif tag in _TABLE_PARTS:
            self._open_table_part(element)
        else:
            writer.end_paragraph()

    def _leave(self, element: Element, seen: int) -> None:
        self._links -= _leads(element)
        if self._unnamed is not None and self._unnamed.parent is element:
            self._take_sign()
        if seen != self._seen:
            while self._before and self._before[-1].order > element.order:
                self._late.append(self._before.pop())
        if element in self._boxed:
            self.sections.end_heading(self._boxed.pop(element))
            self._writer.turn_to(self.sections.current.blocks)
        tag, writer = element.tag, self._writer
        if element.inline:
            if tag == "rt":
                writer.text(")")
            elif tag == "button":
                writer.end_paragraph()
        elif tag in ("ul", "ol", "menu"):
            writer.close_list()
        elif tag == "dl":
            self._close_terms(element)
        elif tag == "blockquote":
            writer.close_quote()
        elif tag == "table":
            self._tables.pop()
            self._close_keyed(element)
            if self._is_data(element):
                writer.close_table()
            else:
                writer.end_paragraph()
        elif tag in _TABLE_PARTS:
            if tag == "tr":
                self._end_keyed_row()
            if not self._tables or self._tables[-1] not in self._plan.tables.lines:
                writer.end_paragraph()
        elif tag != "br":
            writer.end_paragraph()

    def _is_data(self, table: Element) -> bool:
        return table not in self._plan.tables.layout and table not in self._plan.tables.lines

    def _open_table_part(self, element: Element) -> None:
        table = self._tables[-1] if self._tables else None
        if table in self._plan.tables.lines:
            self._writer.text(" ")
        elif table is None or not self._is_data(table):
            self._writer.end_paragraph()
        elif element.tag in ("tr", "caption"):
            self._writer.row()
        else:
            self._writer.cell()

    def _heading(self, heading: Heading) -> None:
        self._writer.end()
        if self._sign is not None and not anchors.named_after(self._sign, self.sections.current.title):
            self._sign = None
        self._take_sign()
        sections = self.sections
        first = len(sections.all) == 1 and not sections.current.blocks
        if self._repeats(heading):
            self._repeat_title(heading)
            return
        if first and self._names_page(heading):
            named = sections.current.title
            longer = same_words(named, heading.title) and len(named) > len(heading.title)
            sections.title_page(heading.level, named if longer else heading.title)
        else:
            sections.heading(heading.level, heading.title)
        self._begin(heading.element, heading.limit)
        if heading.box is not None:
            self._boxed[heading.box] = sections.current

    def _repeats(self, heading: Heading) -> bool:
        """Whether a heading says the title directly above it again: the page's, or that of a section it would be in."""
        above = self.sections.current
        if above.blocks or above.kind == "definition" or not same_words(heading.title, above.title):
            return False
        if above is self._nested or not self._begun or not above.level:  # of level 0 no heading has said the title yet
            return False
        return above is self.sections.all[0] or heading.level > above.level

    def _repeat_title(self, heading: Heading) -> None:
        """A section that is nested in itself is one, with the addresses of both."""
        page = self._nested = self.sections.current
        anchor, aliases = anchors.choose(heading.element, self._before, heading.limit, self._plan.targets)
        names = dict.fromkeys(name for name in (page.anchor, *page.aliases, anchor, *aliases) if name)
        named = (name for name in names if same_words(name, page.title))
        page.anchor = next(named, next(iter(names), None))
        page.aliases = [name for name in names if name != page.anchor]
        self._passed()
        self._writer.turn_to(page.blocks)

    def _names_page(self, heading: Heading) -> bool:
        if not self._single_top or heading.level != self._top_level:
            return False
        return heading.level == 1 or same_words(heading.title, self.sections.all[0].title)

    def _begin(self, title_element: Element, limit: float) -> None:
        """The section that has just begun gets its address, and what follows."""
        section = self.sections.current
        section.anchor, section.aliases = anchors.choose(title_element, self._before, limit, self._plan.targets)
        if section.anchor is None:  # roffit's stand at the end of the paragraph before
            late = [sign for sign in self._late if _named_after(sign, section.title)]
            section.anchor = next((name for sign in late for name in self._plan.targets.names(sign)), None)
        self._begun = True
        self._passed()
        self._unnamed = title_element if section.anchor is None else None
        self._writer.turn_to(section.blocks)

    def _passed(self) -> None:
        """Words were met: what follows is named by what follows."""
        self._take_sign()
        self._before.clear()
        self._late.clear()
        self._seen += 1

    def _take_sign(self) -> None:
        """The permalink between a title without an address and its words, or the end of the box around both, is the
        title's. One that only the next title follows belongs to that, unless it says this title's name."""
        sign, self._unnamed, self._sign = self._sign, None, None
        if sign is not None:
            section = self.sections.current
            names = list(self._plan.targets.names(sign))
            self._before = [element for element in self._before if element is not sign]
            section.anchor, section.aliases = (names[0], names[1:]) if names else (None, [])

    def _open_terms(self, element: Element) -> None:
        self._lists.append(element)
        own = self._plan.terms.get(element)
        if own is None:
            self._writer.open_list("dl")
            return
        self._writer.end_paragraph()
        self.sections.open_list()
        self._terms.append(_Terms(own, [e.order for e in element.elements if e.tag == "dt"]))

    def _close_terms(self, element: Element) -> None:
        self._lists.pop()
        if element not in self._plan.terms:
            self._writer.close_list()
            return
        self._terms.pop()
        self.sections.close_list()
        self._writer.turn_to(self.sections.current.blocks)

    def _term(self, term: Element) -> None:
        terms = self._terms[-1]
        if terms.naming:
            self._further_term(term)
            return
        terms.naming = True
        self.sections.definition(title(term))
        following = bisect_right(terms.orders, term.order)
        self._begin(term, terms.orders[following] if following < len(terms.orders) else self._lists[-1].end + 1)
        section = self.sections.current
        terms.names = {section.anchor or "", *section.aliases}

    def _further_term(self, term: Element) -> None:
        """Another name of the definition that has just begun: its words are text, its ids aliases."""
        anchor, aliases = anchors.choose(term, self._before, term.end + 1, self._plan.targets)
        known = self._terms[-1].names
        fresh = [name for name in (anchor, *aliases) if name and name not in known]
        self.sections.current.aliases += fresh
        known.update(fresh)
        self._writer.text(title(term))
        self._writer.end_paragraph()
        self._passed()

    def _key(self, cell: Element, key: Key) -> None:
        """The key of a row begins the row's section; a name of rows, the section around theirs."""
        if self._keyed is None:
            self._keyed = _Keyed(key.table)
            self.sections.open_list()
        if key.group and self._keyed.grouped:
            self.sections.close_list()
        self.sections.definition(title(cell))
        self._begin(cell, (cell.parent or cell).end + 1)
        if key.group:
            self.sections.open_list()
        self._keyed.grouped = self._keyed.grouped or key.group
        self._keyed.header = key.header

    def _end_keyed_row(self) -> None:
        if self._keyed is not None:
            blocks = self.sections.current.blocks
            self._writer.turn_to(blocks)
            blocks[:] = [replace(block, header=self._keyed.header) for block in blocks]

    def _close_keyed(self, table: Element) -> None:
        if self._keyed is not None and self._keyed.table is table:
            for _ in range(1 + self._keyed.grouped):
                self.sections.close_list()
            self._keyed = None
            self._writer.turn_to(self.sections.current.blocks)

    def _open_item(self, element: Element) -> None:
        if element.tag == "li" or not self._belongs(element):
            self._writer.item(element.tag)
            return
        self._writer.end_paragraph()
        self._terms[-1].naming = False
        if element.tag == "dt" and element.amounts.text:
            self.sections.end_definition()
            self._writer.turn_to(self.sections.current.blocks)

    def _belongs(self, element: Element) -> bool:
        """Whether a dt or dd is the innermost open list of section terms' own."""
        return bool(self._terms and self._lists) and self._plan.terms.get(self._lists[-1]) is self._terms[-1].own


def _named_after(sign: Element, title: str) -> bool:
    return any(anchors.named_after(sign, name) for name in (title, title.partition(" ")[0]))


def _back_link(link: Element) -> bool:
    """The way back from a note."""
    if link.role == "doc-backlink" or any("backref" in name or "reversefootnote" in name for name in link.classes):
        return "#" in link.get("href") and not any(c.isalpha() for c in link.text)
    return link.get("href").startswith("#") and bool(link.text) and set(link.text) <= _BACK_SIGNS


def _leads(element: Element) -> bool:
    return element.tag == "a" and bool(element.get("href"))


def _start(element: Element) -> int:
    start = element.get("start").strip()
    return int(start) if start.isdecimal() and len(start) < 7 else 1
