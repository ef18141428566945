"""What a reader opens with a click is content, though the page hides it at first: the answer under a question, the panel
that a button names, a custom element's parts before its script runs, one language of several.

What nothing on the page opens stays hidden from everybody.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from ingest.html.content.boilerplate import HEADINGS, mostly_links
from ingest.html.dom import Dom, Element

_OPENERS = re.compile(
    r"toggle|accordion|collaps|question|faq|expand|spoiler|disclos|trigger|(?:^|[-_])tabs?(?=$|[-_])|switch"
)
"""In the names of what opens something."""
_PANELS = re.compile(
    r"answer|accordion|collaps|toggle|panel|faq|details|expand|spoiler|disclos|(?:^|[-_])(?:content|body)$"
)
"""In the names of what is opened."""
_WIDGETS = re.compile(_OPENERS.pattern + r"|code|lang|details")
_CHOICES = (
    "data-lang", "data-language", "data-code-lang", "data-tab", "data-tab-id", "data-os", "data-platform", "data-sdk",
    "data-framework", "data-option", "data-variant", "data-version", "data-value", "data-name",
)  # fmt: skip
_STATES = frozenset(
    "active current selected show shown hidden hide is-active is-hidden inactive visible d-none".split()
)
_NO_PANELS = frozenset("menu listbox dialog alertdialog tooltip search navigation status".split())
_MAX_LOOKED_AT = 50
"""Elements in a panel among which a listing is looked for, and in an opener a button."""
_MIN_QUESTION_WORDS = 3
_MAX_OPENER_ELEMENTS = 50
_MAX_OPENER_CHARACTERS = 300


def controlled_panels(tree: Dom) -> frozenset[str]:
    """Ids of what tabs, buttons and links show and hide."""
    found: set[str] = set()
    for element in tree.elements:
        attrs = element.attrs
        if not attrs:
            continue
        if "aria-controls" in attrs and (
            element.tag in ("button", "a", "summary")
            or element.role in ("tab", "button")
            or any(above.tag in HEADINGS for above in element.ancestors())
        ):
            found.update(attrs["aria-controls"].split())
        if (attrs.get("data-bs-toggle") or attrs.get("data-toggle")) in ("collapse", "tab", "pill"):
            target = attrs.get("data-bs-target") or attrs.get("data-target") or attrs.get("href") or ""
            found.add(target.removeprefix("#"))
    return frozenset(found - {""})


class Siblings:
    """The children of one element, met in order; tells which of the hidden ones a reader can open. `before`: the last that was
    met and is shown, None after words."""

    __slots__ = ("_alike", "_controlled", "_parent", "before")

    def __init__(self, parent: Element, controlled: frozenset[str]) -> None:
        self._parent = parent
        self._controlled = controlled
        self.before: Element | None = None
        self._alike: Counter[tuple[str, frozenset[str], str]] | None = None

    def opens(self, panel: Element) -> bool:
        """Whether a hidden child is opened by a control, by what stands before it, or by what is around it."""
        if panel.role in _NO_PANELS or panel.tag in ("a", "span", "svg", "img"):
            return False
        if panel.get("id") in self._controlled and panel.get("id"):
            return not mostly_links(panel)
        if self.before is not None and _opens(self.before, panel):
            return True
        if "-" in self._parent.tag and _WIDGETS.search(self._parent.tag):
            return True
        return self._is_one_of_several(panel)

    def _is_one_of_several(self, panel: Element) -> bool:
        if self._alike is None:
            self._alike = Counter(_kind(child) for child in self._parent.elements if child.attrs)
        kind = _kind(panel)
        if self._alike[kind] < 2:
            return False
        return bool(kind[2]) or (bool(kind[1]) and any(e.tag == "pre" for e in islice(panel.walk(), _MAX_LOOKED_AT)))


def _kind(element: Element) -> tuple[str, frozenset[str], str]:
    """What versions of one thing have in common: tag, classes, and the attribute that tells them apart."""
    choice = next((name for name in _CHOICES if name in element.attrs), "")
    return element.tag, element.classes - _STATES, choice


def _opens(before: Element, panel: Element) -> bool:
    if before.end - before.order > _MAX_OPENER_ELEMENTS or before.amounts.text > _MAX_OPENER_CHARACTERS:
        return False
    if before.tag == "dt":
        return panel.tag == "dd"
    if before.tag in HEADINGS or before.role == "heading":
        text = before.text
        return _can_open(before) or text.endswith(("?", "？", ":")) or _named(panel, _PANELS)
    if before.tag in ("button", "summary") or before.role == "button":
        return _can_open(before) and (
            "aria-expanded" in before.attrs or len(before.text.split()) >= _MIN_QUESTION_WORDS
        )
    return _named(before, _OPENERS) and _named(panel, _PANELS)


def _can_open(element: Element) -> bool:
    return any(
        "onclick" in inner.attrs or "aria-expanded" in inner.attrs or _named(inner, _OPENERS)
        for inner in islice(element.walk(), _MAX_LOOKED_AT)
    )


def _named(element: Element, words: re.Pattern[str]) -> bool:
    return any(words.search(name) is not None for name in element.classes)
