"""What a site says under the text of every page without marking it: whom to ask or to pay, the licence, what wrote the page.

Such blocks are the same on all pages, and still each page is judged by itself, by place and words. Comparing pages would
make a tree depend on which pages were read before it and in which order; a new wording would be one more text
of every page until enough of them had been seen, and so be embedded with all of them, once when it comes and once when it is
learned; and what many pages truly say alike ("Requires version 2") would be lost. So only the end of the content is looked at,
only short blocks without code, tables or addresses of their own, and only words that such remarks begin with. A block
that stands alone under its heading, or whose heading says the same, is the author's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from ingest.html.content.boilerplate import HEADINGS
from ingest.html.dom import Element

_MAX_REMARKS = 6
"""Blocks at the end of one page."""
_MAX_CHARACTERS = 400
_MAX_MAKER_CHARACTERS = 120
_MAX_ELEMENTS = 60
_STEM_LETTERS = 5
_BLOCKS = frozenset("p div section footer aside address small center ul article".split())
_OF_AUTHORS = frozenset("pre code kbd samp table dl img blockquote".split())
_OPENINGS = (
    "was this", "did this", "how helpful", "how would you rate", "rate this", "need help", "need more help",
    "still need help", "still have questions", "still stuck", "have questions", "have a question", "any questions",
    "got questions", "questions?", "can't find what", "couldn't find what", "didn't find what", "contact sales",
    "contact us", "contact support", "talk to sales", "talk to us", "talk to an expert", "get in touch", "book a demo",
    "request a demo", "get started for free", "start for free", "start your free", "subscribe to our", "join our",
    "join us on", "join the community", "join the conversation", "follow us", "ask the community", "ask our community",
    "star us", "except as otherwise", "except where otherwise", "unless otherwise noted", "unless otherwise stated",
    "the content of this page is licensed", "content on this site is licensed", "this page is licensed",
    "this work is licensed", "this site is licensed", "this documentation is licensed", "licensed under",
    "text is available under", "content is available under", "©", "copyright ©", "copyright (c)", "copyright 2",
    "found a mistake", "found an error", "found a bug", "found a typo", "found a problem", "spotted a", "see something wrong",
    "something missing", "is something missing", "help us improve", "improve this page", "edit this page",
    "suggest changes", "report an issue with", "this document was generated", "this document was created",
    "this page was generated", "this page was created", "this page was built", "this manual was generated",
    "this documentation was generated", "this html page was made", "the documentation for this",
)  # fmt: skip
_MAKERS = ("generated ", "created with", "built with", "made with", "powered by", "hosted by", "converted with")
"""What wrote the page; a longer text that begins so may be the author's."""
_RELATED = (
    "related articles", "related posts", "recent articles", "recently viewed", "popular articles", "more articles",
    "similar articles", "recommended articles", "you may also like", "you might also like",
)  # fmt: skip
"""What a site puts over links that it chose itself."""
_OFFERS = re.compile(r"contact sales|free trial|(?:book|request) a demo|our newsletter")


def drop_closing_remarks(elements: Sequence[Element]) -> bool:
    """Take them out of the tree below the first of `elements`; whether there were any."""
    root = elements[0]
    for dropped in range(_MAX_REMARKS):
        parent, found = _last(root)
        size = sum(len(part.strip()) if isinstance(part, str) else part.amounts.text for part in found)
        said = _said(found) if 0 < size <= _MAX_CHARACTERS else ""
        if not _remarks(said, found) or not _adds_to_section(root, found, said):
            return dropped > 0
        parent.keep([child for child in parent.children if not any(child is part for part in found)])
    return True


def _last(root: Element) -> tuple[Element, Sequence[Element | str]]:
    """The last block with text that may be a remark, or the loose words after the last block, and what holds it; from the
    outside in."""
    element = root
    while True:
        loose: list[Element | str] = []
        block: Element | None = None
        for child in reversed(element.children):
            if not isinstance(child, str) and not child.inline and child.tag != "br":
                if child.amounts.text and not loose:
                    block = child
                if child.amounts.text or loose:
                    break
            elif child.strip() if isinstance(child, str) else child.amounts.text:
                loose.append(child)
        if loose or block is None:
            return element, loose[::-1] if element.tag not in HEADINGS and element.tag != "p" else ()
        short = block.tag in _BLOCKS and block.amounts.text <= _MAX_CHARACTERS
        if short and _remarks(_said([block]), [block]):
            return element, (block,)
        element = block


def _said(parts: Iterable[Element | str]) -> str:
    strings = (" ".join((part,) if isinstance(part, str) else part.strings()) for part in parts)
    return " ".join(" ".join(strings).split()).replace("’", "'")


def _remarks(text: str, parts: Sequence[Element | str]) -> bool:
    """A question that the same sentence goes on after is quoted."""
    if not 0 < len(text) <= _MAX_CHARACTERS or any(rest[:1].islower() for rest in text.split("? ")[1:]):
        return False
    said = text.casefold()
    inside = [e for part in parts if isinstance(part, Element) for e in islice(part.walk(), _MAX_ELEMENTS + 1)]
    if len(inside) > _MAX_ELEMENTS or any(e.tag in _OF_AUTHORS or (e.tag in HEADINGS and e.get("id")) for e in inside):
        return False
    if any(e.tag == "address" for e in inside) or said.startswith(_OPENINGS):
        return True
    if said.startswith(_RELATED):
        return sum(e.amounts.text for e in inside if e.tag == "a") * 2 >= sum(map(len, said.split()[2:]))
    if said.startswith(_MAKERS):
        return len(said) <= _MAX_MAKER_CHARACTERS
    return any(e.tag in ("a", "button") for e in inside) and _OFFERS.search(said) is not None


def _adds_to_section(root: Element, found: Sequence[Element | str], said: str) -> bool:
    """Whether other text stands under the same heading, and that heading does not speak of the same."""
    heading: Element | None = None
    between = False
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if any(item is part for part in found):
            break
        if isinstance(item, str):
            between = between or not item.isspace()
        elif item.tag in HEADINGS:
            heading, between = item, False
        else:
            stack.extend(reversed(item.children))
    if heading is None:
        return between
    stems = {word[:_STEM_LETTERS] for word in heading.text.casefold().split() if len(word) >= _STEM_LETTERS}
    return between and not any(word[:_STEM_LETTERS] in stems for word in said.casefold().split())
