"""Definition terms that begin sections of their own: those that are addresses, and those of long lists.

Addresses are signatures (Sphinx), terms that the page's own contents link to, and the terms of a list that gives
every term an id (DocBook, glossaries). Of a long list (options, variables) nobody reads more than the term that he
looks for, so each is a section, with an address or without. Without a definition there is no term. Notes and citations are not
terms, an index whose terms lead to other pages has none, and a term that holds a heading leaves the section to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from ingest.html.content.boilerplate import HEADINGS, mostly_links
from ingest.html.dom import Element
from ingest.html.sections.anchors import Targets

MIN_LONG_LIST_CHARACTERS = 2_500
"""About 400 words: two to three chunks."""
MIN_LONG_LIST_TERMS = 4
MAX_TERM_CHARACTERS, MIN_TERMS_SHARE = 200, 0.9
"""Longer ones are sentences: a list that has more than a few of them is an interview, or a set of questions."""
MAX_LEADING_SHARE = 0.5
"""Where more of the terms lead to other pages, or most of the list is links, it is an index."""

_NOTES = frozenset("footnote citation footnotes toc field-list".split())


def section_terms(
    elements: Iterable[Element], targets: Targets, in_contents: frozenset[str], cells: Set[Element]
) -> dict[Element, frozenset[Element]]:
    """For each definition list that has such terms: those. `in_contents`: fragments that the page's
    contents link to. `cells`: of data tables, in which no section begins for the length of a list."""
    terms: dict[Element, list[Element]] = {}
    lists: list[Element] = []
    defined: set[Element] = set()
    for element in elements:
        while lists and lists[-1].end < element.order:
            lists.pop()
        if element.tag == "dl":
            lists.append(element)
            terms[element] = []
        elif element.tag == "dt" and lists and element.amounts.text:  # man2html indents by terms without words
            terms[lists[-1]].append(element)
        elif element.tag == "dd" and lists:
            defined.add(lists[-1])
    found = {}
    for listing, own in terms.items():
        if (
            listing in defined
            and listing.classes.isdisjoint(_NOTES)
            and not any("footnote" in name for name in listing.classes)
        ):
            chosen = _addresses(own, targets, in_contents) or _looked_up(listing, own, cells)
            if chosen:
                found[listing] = chosen
    return found


def _addresses(terms: list[Element], targets: Targets, in_contents: frozenset[str]) -> frozenset[Element]:
    names = {term: _names(term, targets) for term in terms}
    usable = {t for t in terms if names[t] and _is_title(t)}
    if len(usable) == len(terms):
        return frozenset(usable)
    return frozenset(t for t in usable if "sig" in t.classes or not in_contents.isdisjoint(names[t]))


def _looked_up(listing: Element, terms: list[Element], cells: Set[Element]) -> frozenset[Element]:
    """All terms of a long list, which stands in no cell."""
    if listing.amounts.text < MIN_LONG_LIST_CHARACTERS or len(terms) < MIN_LONG_LIST_TERMS:
        return frozenset()
    if not cells.isdisjoint(listing.ancestors()):
        return frozenset()
    short = sum(len(term.text) <= MAX_TERM_CHARACTERS for term in terms)
    leading = sum(any(_leads_elsewhere(inner) for inner in term.walk()) for term in terms)
    if short < MIN_TERMS_SHARE * len(terms) or leading > MAX_LEADING_SHARE * len(terms) or mostly_links(listing):
        return frozenset()
    return frozenset(term for term in terms if _is_title(term))


def _is_title(term: Element) -> bool:
    return bool(term.text) and not any(e.tag in HEADINGS for e in term.walk())


def _leads_elsewhere(element: Element) -> bool:
    return element.tag == "a" and element.get("href").partition("#")[0] != ""


def _names(term: Element, targets: Targets) -> list[str]:
    found = list(targets.names(term))
    for inner in term.walk():
        if inner is not term and not found:
            found += targets.names(inner)
    return found
