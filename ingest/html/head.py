"""What a page's head says of it: title, base, canonical address, language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urldefrag, urlsplit

from ingest.html.dom import Dom, clean
from ingest.urls import resolve

Resolver = Callable[[str], str | None]
"""From an href on a page to an absolute URL; None for what is no page address."""

_SEPARATOR = re.compile(r"\s(?:[-–—|·•:»«‹›~]|::|//|<|>)\s|\s?\|\s?")
_AFTER = re.compile(r"\s?[-–—|·•:»«(]")
_BEFORE = re.compile(r"(?:\s(?:[-–—|·•»«]|--|::)|:)\s?$")
"""Titles are clean: no two blanks stand side by side in them."""
_NUMBERED = frozenset("chapter section appendix part annex kapitel abschnitt anhang chapitre capítulo".split())
"""Words before the number of a part of a book."""
_NO_TITLES = frozenset({"documentation", "api documentation", "untitled", "untitled document", "no title", "document"})
"""What generators write on every page where nobody named it."""
_VERSION = re.compile(
    r"^(?:v?\d+(?:\.(?:\d+|x))*(?:[-.]?(?:alpha|beta|rc|dev|snapshot|lts|final)[\w.-]*)?|latest|stable|current|main|master"
    r"|develop|development|dev|next|nightly|head|trunk|edge|canary|preview|lts|release)$",
    re.IGNORECASE,
)


def page_title(tree: Dom, headings: Sequence[str], url: str) -> str:
    """The title element without the site's name; `headings`: the content's titles, top ones first.

    A heading with which the title begins or ends, numbers aside, is the page's title; else, of several parts, the one that
    the address names, else all but the last, which is the site's name. Without a title element, or where that is the name
    of a file or a generator's, the first heading."""
    full = _title_element(tree)
    if (
        not full
        or (" " not in full and full.endswith((".html", ".htm")))
        or (headings and full.casefold() in _NO_TITLES)
    ):
        return headings[0] if headings else ""
    site = _site_name(tree)
    letters, bare = _letters(full), unnumbered(full)
    for heading in headings:
        if len(heading) <= len(full) * 2 and _letters(heading) == letters:
            return max(full, heading, key=len)
    for heading in headings:
        if _says(full, heading) or _says(bare, unnumbered(heading)):
            return heading
    number = _number_at_end(full)
    for heading in headings if number else ():
        if heading.partition(" ")[0].rstrip(".:)") == number and unnumbered(heading) != heading:
            return heading
    named = full.partition(" (")[0]
    if headings and headings[0].endswith(f" {named}"):
        return headings[0]  # old javadoc: "Box (Acme API)" is "Class Box"
    parts = [part.strip() for part in _SEPARATOR.split(full) if part and part.strip()]
    if site and len(parts) > 1:
        others = [part for part in parts if part.casefold() != site.casefold()]
        if others and len(others) < len(parts):
            return others[0] if len(others) == 1 else _joined(full, others)
    addressed = next((part for part in parts if same_words(part, _file_name(url))), None)
    if addressed is not None:
        return addressed
    title = _joined(full, parts[:-1]) if len(parts) > 1 else full
    return title if title.count("(") == title.count(")") else full


def _says(full: str, heading: str) -> bool:
    """Whether the title element begins or ends with a heading, and says something of the site after or before it."""
    if not heading:
        return False
    begins = len(full) - len(heading)
    return (full.startswith(heading) and (not begins or _AFTER.match(full, len(heading)) is not None)) or (
        full.endswith(heading) and _BEFORE.search(full, max(begins - 4, 0), begins) is not None
    )


def same_words(one: str, other: str) -> bool:
    """Whether two titles have the same letters and digits."""
    return _letters(one) == _letters(other) != ""


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def unnumbered(title: str) -> str:
    """A title without the number before it: "Chapter 2 - Install", "2.1. Install" and "B Install" are "Install"."""
    number, _, rest = title.partition(" ")
    if number.casefold() in _NUMBERED:
        number, _, rest = rest.partition(" ")
    parts = number.rstrip(".:)").split(".")
    if not rest or not all(part.isdecimal() or (len(part) == 1 and part.isupper()) for part in parts):
        return title
    sign, _, after = rest.partition(" ")
    return after if after and not any(char.isalnum() for char in sign) else rest


def _number_at_end(full: str) -> str:
    """Of a title element that ends with a section's number: "Manual: Section A.59"."""
    *_, word, number = ("", "", *full.rsplit(maxsplit=2))
    return number if word.casefold() in _NUMBERED else ""


def _joined(full: str, parts: Sequence[str]) -> str:
    """The stretch of the title from the first to the last of these parts."""
    start = full.index(parts[0])
    return full[start : full.index(parts[-1], start) + len(parts[-1])]


def _title_element(tree: Dom) -> str:
    """Empty where a generator says that there is none (Sphinx)."""
    title = next((element.text for element in tree.tagged("title") if element.order < tree.body.order), "")
    return "" if title.startswith("<no title>") else title.strip(" :|–—-")


def name_in_address(url: str) -> str:
    """What the last part of a page's address calls it, for a page that has no title: `/guide/first-steps.html` is
    "first steps"."""
    name = _file_name(url).partition(".")[0]
    return clean(name.replace("-", " ").replace("_", " "))


def _file_name(url: str) -> str:
    """The last part of an address's path, without the ending of HTML files."""
    name = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    return name.removesuffix(".html").removesuffix(".htm").removesuffix(".xhtml")


def _site_name(tree: Dom) -> str:
    for element in tree.tagged("meta"):
        if "og:site_name" in (element.get("property"), element.get("name")):
            return clean(element.get("content"))
    return ""


def base_url(tree: Dom, url: str) -> str:
    """What relative links resolve against: the first base href, itself resolved against the page."""
    href = next((element.get("href") for element in tree.tagged("base") if element.get("href")), None)
    return (resolve(url, href) if href else None) or url


def language(tree: Dom) -> str | None:
    """The page's own language tag, None where it gives none."""
    return tree.root.get("lang").strip() or tree.root.get("xml:lang").strip() or None


def canonical(tree: Dom, url: str, resolve_link: Resolver, site_hosts: frozenset[str]) -> str:
    """The address to cite: rel=canonical where it can be this page's, else `url` without its fragment.

    It cannot be where there are several with different targets, where it is of another scheme or a foreign host,
    or names another version of the documentation."""
    own = urldefrag(url).url
    claimed = set()
    for element in tree.tagged("link"):
        href = element.get("href").strip()
        if element.order < tree.body.order and "canonical" in element.get("rel").lower().split() and href:
            claimed.add(resolve_link(href))
    target = claimed.pop() if len(claimed) == 1 else None
    if target is None or not _same_family(target, own, site_hosts) or _other_version(target, own):
        return own
    return urldefrag(target).url


def _same_family(target: str, own: str, site_hosts: frozenset[str]) -> bool:
    there, here = urlsplit(target), urlsplit(own)
    web = ("http", "https")
    if here.scheme == "file" and there.scheme in web:
        return True  # a file that says where it is published
    if there.scheme != here.scheme and not (there.scheme in web and here.scheme in web):
        return False
    hosts = {_bare(here.hostname), *map(_bare, site_hosts)}
    return _bare(there.hostname) in hosts


def _bare(host: str | None) -> str:
    return (host or "").lower().removeprefix("www.")


def _other_version(target: str, own: str) -> bool:
    """Whether the paths name different versions of the documentation."""
    here = [part for part in urlsplit(own).path.split("/") if _VERSION.match(part)]
    there = [part for part in urlsplit(target).path.split("/") if _VERSION.match(part)]
    return bool(here) and here != there
