"""Definition terms that are addresses, and so begin sections of their own.

Those are signatures (Sphinx), terms that the page's own contents link to, and the terms of a list that gives
every term an id (DocBook, glossaries). Without a definition there is no term. Notes and citations are not terms, and a term that holds a heading leaves
the section to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ingest.html.content.boilerplate import HEADINGS
from ingest.html.dom import Element
from ingest.html.sections.anchors import Targets

_NOTES = frozenset("footnote citation footnotes toc field-list".split())


def address_terms(
    elements: Iterable[Element], targets: Targets, in_contents: frozenset[str]
) -> dict[Element, frozenset[Element]]:
    """For each definition list that has such terms: those. `in_contents`: fragments that the page's
    contents link to."""
    terms: dict[Element, list[Element]] = {}
    lists: list[Element] = []
    defined: set[Element] = set()
    for element in elements:
        while lists and lists[-1].end < element.order:
            lists.pop()
        if element.tag == "dl":
            lists.append(element)
            terms[element] = []
        elif element.tag == "dt" and lists:
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
            chosen = _addresses(own, targets, in_contents)
            if chosen:
                found[listing] = chosen
    return found


def _addresses(terms: list[Element], targets: Targets, in_contents: frozenset[str]) -> frozenset[Element]:
    names = {term: _names(term, targets) for term in terms}
    usable = {t for t in terms if names[t] and t.text and not any(e.tag in HEADINGS for e in t.walk())}
    if len(usable) == len(terms):
        return frozenset(usable)
    return frozenset(t for t in usable if "sig" in t.classes or not in_contents.isdisjoint(names[t]))


def _names(term: Element, targets: Targets) -> list[str]:
    found = list(targets.names(term))
    for inner in term.walk():
        if inner is not term and not found:
            found += targets.names(inner)
    return found
