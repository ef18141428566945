"""What a site says about its pages, and what changes by itself: when a page was updated, who wrote it, votes, counters, the
way to the next page. None of it is content, whatever it is called: a page that changes in nothing else has not changed.

A remark is a short block, outside listings, tables and quotes, in which every word is of the few that such remarks are made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from ingest.html.content.boilerplate import HEADINGS
from ingest.html.dom import Element

_MAX_CHARACTERS = 240
_MAX_ELEMENTS = 80
_MAX_NAME_WORDS = 6
_BLOCKS = frozenset("p div center table section footer header ul ol form small span time li aside".split())
_JUDGED = _BLOCKS | {"a", *HEADINGS}
_HOLDERS = frozenset("div section main article footer".split())
_NO_PLACE = frozenset("pre code table blockquote dd figure".split())
_WORD = re.compile(r"[\w']++")
_UPDATED = frozenset("updated update modified edited created published reviewed revised posted written".split())
_RELATIVE = frozenset("ago yesterday today now".split())
_MONTHS = frozenset(
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_DATES = frozenset(
    "last on at the of was has been this page article document doc about over almost less more than just a an one few"
    " several second seconds minute minutes hour hours day days week weeks month months year years am pm utc gmt date by"
    " monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun and".split()
)
_COUNTED = frozenset("read reading views view viewed comments likes votes followers stars ratings".split())
_COUNTS = frozenset(
    "min mins minute minutes s time times estimated to people following total out of average rating".split()
)
_VOTES = frozenset(
    "was is did does were this the page article doc document documentation section guide topic content answer information it"
    " helpful useful help helped you your my question questions solve problem yes no not really a little how can could we i"
    " improve make be better rate feedback thanks thank for out of found people person users have more still submit request"
    " let us know what think do like votes vote sorry to hear that great send give leave provide share answered need couldn't with please tell glad".split()
)
_NETWORKS = frozenset("twitter x facebook linkedin reddit email whatsapp telegram mastodon bluesky pocket xing".split())
_SHARED = _NETWORKS | frozenset("share this article page post on via to with copy link print tweet".split())
_BYLINE_SIGN = re.compile(r"[·•|]")
_MAX_BYLINE_CHARACTERS = 120
_ALL = _UPDATED | _RELATIVE | _MONTHS | _DATES | _COUNTED | _COUNTS | _VOTES
_ELSEWHERE = re.compile(
    r"zuletzt (?:aktualisiert|geändert|bearbeitet)|dernière (?:mise à jour|modification)|última (?:actualización|modificación)"
    r"|ultim[ao] (?:modifica|aggiornamento)|最終更新|最后更新|上次更新|最近更新|마지막 (?:업데이트|수정)"
    r"|war (?:dieser artikel|diese seite|das) hilfreich|cet(?:te page| article) vous a-t-(?:elle|il) été utile"
    r"|¿(?:te|le) ha sido útil|この(?:ページ|記事)は(?:お)?役に立ちましたか|此页面对您有帮助吗|本页面有帮助吗"
)
_MAX_ELSEWHERE_CHARACTERS = 80
_STEPS = frozenset(
    "next|previous|prev|next page|previous page|next article|previous article|next topic|previous topic|next chapter"
    "|previous chapter|next section|previous section|next up|up next|older|newer|weiter|zurück|suivant|précédent".split(
        "|"
    )
)
_STEP = re.compile(r"(?:next|previous|prev)(?: page| article| topic| chapter| section)?+\s*+[:→»›←«‹–—]")
_ARROWS = "←→«»‹›⟵⟶⬅➡ \xa0"
_WAYS = frozenset(
    "next previous prev up top contents index home back forward first last toc parent table of goto".split()
)
_DIRECTIONS = frozenset("next previous prev up top back".split())
_LINKED_WAYS = _WAYS | frozenset(
    "to the chapter section page main start site map sitemap contact contacts book manual ind bib tail front".split()
)
"""Where nothing but links stands in the line; there "home" is a direction, too."""
_WAY_KEYS = frozenset("nphu")
"""The access keys that DocBook and texinfo give to such links."""
_MAX_WAY_CHARACTERS = 600
_MAX_WAY_LINKS = 120


def site_remark(element: Element) -> bool:
    """Whether a block says nothing but such things."""
    tag = element.tag
    if tag not in _JUDGED or element.end - element.order > _MAX_ELEMENTS:
        return False
    held = element.parent is not None and element.parent.tag in _HOLDERS
    if tag in ("span", "small") and not held:
        return False
    amounts = element.amounts
    short = amounts.text <= _MAX_WAY_CHARACTERS and tag in ("p", "div", "center", "table", "ul", "ol")
    if (
        short
        and amounts.leads
        and way_line(element.children)
        and (tag not in ("ul", "ol") or _speaks_of_pages(element))
    ):
        return True
    if not 0 < amounts.text <= _MAX_CHARACTERS or amounts.titled or tag in ("center", "table"):
        return False
    if tag in HEADINGS:
        ident = element.get("id")
        if ident:
            return ident.startswith("ms--")  # Microsoft Learn's own
        words = _WORD.findall(_said(element))
        return _asks(words) or (words == ["feedback"] and any("feedback" in name for name in element.classes))
    if tag == "a":
        return held and (_step(element) or _asks(_WORD.findall(_said(element))))
    if tag == "li" and amounts.linked:
        return False
    found = _leads_on(element) if amounts.linked * 2 >= amounts.text else _remarks(element)
    found = found or _shares(element) or _names_writer(element)
    return found and not any(above.tag in _NO_PLACE for above in element.ancestors())


def _said(element: Element) -> str:
    return " ".join(" ".join(element.strings()).split()).casefold().replace("’", "'")


def _remarks(element: Element) -> bool:
    if element.tag == "li" and not any(e.tag == "time" for e in element.walk()):
        return False
    text = _said(element)
    if element.tag == "time" and "ago" in _WORD.findall(text):
        return True
    if len(text) <= _MAX_ELSEWHERE_CHARACTERS and _ELSEWHERE.match(text) is not None:
        return True
    first = _WORD.search(text)
    if first is not None and not _is_known(first[0]) and first[0] != "authored":
        return False
    words = _WORD.findall(text)
    rest = _without_names(words)
    if rest is None:
        return not text.endswith(".") or "written" not in words
    if not all(map(_is_known, rest)):
        return False
    return _dates(rest) or _counts(rest) or _asks(rest)


def _is_known(word: str) -> bool:
    return word in _ALL or word[0].isdigit()


def _without_names(words: list[str]) -> list[str] | None:
    """Without the words after each "by" that only a name has; None for a name and nothing else."""
    left: list[str] = []
    named = 0
    for word in words:
        if word == "by":
            named = _MAX_NAME_WORDS
        elif named and not _is_known(word):
            named -= 1
        else:
            named = 0
            left.append(word)
    return None if len(left) < len(words) - 1 and left in (["written"], ["posted"], ["authored"]) else left


def _dates(words: list[str]) -> bool:
    known = set(words)
    dated = not known.isdisjoint(_RELATIVE | (_MONTHS - {"may"})) or any(_is_year(word) for word in words)
    return dated and ("ago" in known or not known.isdisjoint(_UPDATED))


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word.startswith(("19", "20"))


def _counts(words: list[str]) -> bool:
    """A number or two of something that is counted for each page."""
    known = set(words)
    return (
        not known.isdisjoint(_COUNTED)
        and any(word.isdecimal() for word in words)
        and all(word in _COUNTED | _COUNTS | _MONTHS or word.isdecimal() for word in words)
    )


def _shares(element: Element) -> bool:
    """Links to networks on which the page may be shared."""
    words = _WORD.findall(_said(element)) if element.amounts.linked else []
    networks = _NETWORKS.intersection(words)
    return len(networks) + ("share" in words) > 1 and bool(networks) and _SHARED.issuperset(words)


def _names_writer(element: Element) -> bool:
    """Name, date and reading time in one line, with signs between: "May 5, 2024 · 3 min · Jane Doe"."""
    if element.amounts.text > _MAX_BYLINE_CHARACTERS or not any(map(_BYLINE_SIGN.search, element.strings())):
        return False
    parts = [part.strip() for part in _BYLINE_SIGN.split(element.text.strip("·•| "))]
    said = [_WORD.findall(part.casefold()) for part in parts]
    told = [_is_date(words) or _counts([*words, "read"]) for words in said]
    return len(parts) > 1 and sum(told) > 1 and all(ok or part.istitle() for ok, part in zip(told, parts, strict=True))


def _is_date(words: list[str]) -> bool:
    return any(map(_is_year, words)) and all(word.isdecimal() or word in _MONTHS for word in words)


def _asks(words: list[str]) -> bool:
    """Whether readers are asked, or told, what the page was worth to them."""
    known = set(words)
    if not all(word in _ALL or word.isdecimal() for word in words):
        return False
    if known & {"sorry", "glad"} and {"hear", "improve"} <= known:
        return True
    if known & {"helpful", "useful"} and known & {"this", "found", "it", "page", "article"}:
        return True
    return (
        {"did", "answer", "question"} <= known
        or {"did", "help", "you"} <= known
        or {"questions", "request"} <= known
        or (
            "feedback" in known
            and not known.isdisjoint({"thanks", "thank", "give", "send", "leave", "provide", "share"})
        )
    )


def _leads_on(element: Element) -> bool:
    links = [inner for inner in islice(element.walk(), _MAX_ELEMENTS) if inner.tag == "a" and inner.amounts.text]
    return 0 < len(links) <= 3 and all(_step(link) for link in links)


def way_line(children: Sequence[Element | str]) -> bool:
    """Whether a line or a row of cells leads to the pages around this one and says nothing else: "Next: X, Up: Y [Contents]"
    (texinfo, LaTeX2HTML), "[ prev | next | top ]" (groff), "Home Page | Site Map", signs beside the manual's name (DocBook)."""
    links: list[Element] = []
    beside: list[str] = []
    stack = list(reversed(children))
    characters = 0
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            beside += _WORD.findall(item.casefold())
            characters += len(item.strip())
        elif item.tag == "a" and item.get("href"):
            links.append(item)
            characters += item.amounts.text
        elif item.tag in HEADINGS or item.tag in _NO_PLACE - {"table"}:
            return False
        else:
            stack.extend(reversed(item.children))
        if characters > _MAX_WAY_CHARACTERS or len(links) > _MAX_WAY_LINKS:
            return False
    if len(links) > 1 and all(link.get("accesskey") in _WAY_KEYS for link in links):
        return True
    words = {word for link in links for word in _WORD.findall(_label(link))}
    if beside and len(links) > 2 and set(beside) == {"goto", "chapter"}:
        return True  # GAPDoc
    if beside:
        return bool(links) and _WAYS.issuperset(beside) and not _DIRECTIONS.isdisjoint({*beside, *words})
    elsewhere = len(links) > 1 or (len(links) == 1 and not links[0].get("href").startswith("#"))
    return elsewhere and all(map(_leads_around, links)) and not words.isdisjoint(_DIRECTIONS | {"home"})


def _speaks_of_pages(listing: Element) -> bool:
    """A list of "next" and "last" may be of functions; "Next Chapter" is none, nor is what keys lead to (Publican)."""
    return any(link.get("accesskey") or " " in link.text for link in listing.walk() if link.tag == "a")


def _leads_around(link: Element) -> bool:
    """Whether a link says nothing but which of the pages around this one it leads to."""
    label = _label(link)
    return _LINKED_WAYS.issuperset(_WORD.findall(label)) or _STEP.match(label) is not None


def _label(link: Element) -> str:
    """The words of a link, or of the picture in it."""
    return _said(link) or " ".join(e.get("alt") for e in link.walk() if e.tag == "img").casefold()


def _step(link: Element) -> bool:
    """A link to the page before or after this one."""
    if link.get("href").startswith("#"):
        return False
    rels = link.get("rel").lower().split()
    if "next" in rels or "prev" in rels:
        return True
    first = next(
        (text.strip(_ARROWS + "\n\t:").casefold() for text in link.strings() if text.strip(_ARROWS + "\n\t")), ""
    )
    return first in _STEPS or _STEP.match(_said(link).lstrip(_ARROWS)) is not None
