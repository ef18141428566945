"""What a page's head says of it: title, base, canonical address, language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urldefrag, urlsplit

from ingest.html.dom import Element, clean
from ingest.urls import resolve

_SEPARATOR = re.compile(r"\s+(?:[-–—|·•:»«‹›~]|::|//|<|>)\s+|\s*\|\s*")
_AFTER = re.compile(r"\s*[-–—|·•:»«(]")
_BEFORE = re.compile(r"(?:\s[-–—|·•»«]|:)\s*$")
_VERSION = re.compile(
    r"^(?:v?\d+(?:\.(?:\d+|x))*(?:[-.]?(?:alpha|beta|rc|dev|snapshot|lts|final)[\w.-]*)?|latest|stable|current|main|master"
    r"|develop|development|dev|next|nightly|head|trunk|edge|canary|preview|lts|release)$",
    re.IGNORECASE,
)


def page_title(html: Element, headings: Sequence[str]) -> str:
    """The title element without the site's name; `headings`: the content's titles, top ones first.

    A heading with which the title begins is the page's title; else the last part of the title, if
    there are several, is the site's name. Without a title element the first heading."""
    full = _title_element(html)
    if not full:
        return headings[0] if headings else ""
    site = _site_name(html)
    for heading in headings:
        if full == heading or (full.startswith(heading) and _AFTER.match(full, len(heading))):
            return heading
        if full.endswith(heading) and _BEFORE.search(full[: -len(heading)]):
            return heading
    parts = [part.strip() for part in _SEPARATOR.split(full) if part and part.strip()]
    if site and len(parts) > 1:
        others = [part for part in parts if part.casefold() != site.casefold()]
        if others and len(others) < len(parts):
            return others[0] if len(others) == 1 else _joined(full, others)
    return _joined(full, parts[:-1]) if len(parts) > 1 else full


def _joined(full: str, parts: Sequence[str]) -> str:
    """The stretch of the title from the first to the last of these parts."""
    start = full.index(parts[0])
    return full[start : full.index(parts[-1], start) + len(parts[-1])]


def _title_element(html: Element) -> str:
    for element in html.walk():
        if element.tag == "title":
            return element.text
        if element.tag == "body":
            break
    return ""


def _site_name(html: Element) -> str:
    for element in html.walk():
        if element.tag == "meta" and "og:site_name" in (element.get("property"), element.get("name")):
            return clean(element.get("content"))
        if element.tag == "body":
            break
    return ""


def base_url(html: Element, url: str) -> str:
    """What relative links resolve against: the first base href, itself resolved against the page."""
    for element in html.walk():
        if element.tag == "base" and element.get("href"):
            return resolve(url, element.get("href")) or url
    return url


def language(html: Element) -> str | None:
    """The page's own language tag, None where it gives none."""
    return html.get("lang").strip() or html.get("xml:lang").strip() or None


def canonical(html: Element, url: str, base: str, site_hosts: frozenset[str]) -> str:
    """The address to cite: rel=canonical where it can be this page's, else `url` without its fragment.

    It cannot be where there are several with different targets, where it is of another scheme or a foreign host,
    or names another version of the documentation."""
    own = urldefrag(url).url
    claimed = set()
    for element in html.walk():
        if element.tag == "body":
            break
        if element.tag == "link" and "canonical" in element.get("rel").lower().split() and element.get("href").strip():
            claimed.add(resolve(base, element.get("href")))
    target = claimed.pop() if len(claimed) == 1 else None
    if target is None or not _same_family(target, own, site_hosts) or _other_version(target, own):
        return own
    return urldefrag(target).url


def _same_family(target: str, own: str, site_hosts: frozenset[str]) -> bool:
    there, here = urlsplit(target), urlsplit(own)
    web = ("http", "https")
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
