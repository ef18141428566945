"""Whether a page may and can be indexed, and if not, why. Each rule answers for itself.

Order: too large (or too deep), not HTML, redirect (it wins over noindex, which then only concerns the stub), noindex, not found,
needs JavaScript, empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ingest.html.dom import Dom
from ingest.html.head import Resolver
from ingest.model import Page, Skip

_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml", "application/vnd.wap.xhtml+xml")
MAX_START_CHARACTERS = 65_536
"""So far the beginning of a text is looked at to tell what it is."""
_UNSURE_TYPES = ("", "text/plain", "application/octet-stream", "binary/octet-stream", "unknown/unknown")
_BINARY = (
    b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"\x00asm", b"OggS", b"ID3",
    b"wOFF", b"wOF2", b"BM", b"\x7fELF", b"MZ", b"7z\xbc\xaf", b"Rar!", b"\xd0\xcf\x11\xe0",
)  # fmt: skip
_MARKUP = re.compile(
    r"<(?:!doctype\s+html|html|head|body|title|meta|link|h[1-6]|p|div|main|article|table|ul|ol|section|nav|a|br|b|script"
    r"|style|iframe|font|!--|pre|header)\b|<!--",
    re.IGNORECASE,
)
_OTHER_XML = re.compile(r"<(?:rss|feed|urlset|sitemapindex|svg|rdf:RDF)\b")
_BLANKS = re.compile(r"\s*+")
_WHOLE_PAGE = re.compile(r"<(?:!doctype\s++html|html)\b", re.IGNORECASE)
_REFRESH = re.compile(
    r"\s*+(\d*+(?:\.\d*+)?+)(?:(?=[;,\s])\s*+[;,]?+\s*+(?:url\s*+=\s*+)?+(.*+))?+$", re.IGNORECASE | re.DOTALL
)
MAX_REFRESH_SECONDS = 5.0
"""Up to here a refresh counts as a redirect where the page says little."""
MAX_STUB_WORDS = 60
"""A page of fewer words says little."""
_MISSING = re.compile(
    r"404|not found|(?:doesn't|does not|no longer) exists?|can(?:'t|not) be found|could(?:n't| not) be found"
)
_MISSING_WORDS = frozenset(
    "404 error errorcode code http status page file document site url address resource content requested the this that a"
    " you your we i is was are has been it not found oops sorry ooops whoops doesn't does no longer exist exists can't"
    " cannot can be could couldn't find looking for were here there nothing lost".split()
)
_MISSING_ELSEWHERE = re.compile(
    r"(?:404\W*)?(?:ページが見つかりません|页面未找到|页面不存在|找不到页面|페이지를 찾을 수 없습니다|seite nicht gefunden"
    r"|página no encontrada|page (?:introuvable|non trouvée)|pagina non trovata|страница не найдена)\W*"
)
_RULES_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SCRIPT_ROOTS = frozenset("root app __next ___gatsby __nuxt app-root q-app svelte main-app".split())
_NEEDS_SCRIPT = re.compile(
    r"enable\s++java\s?script|javascript\s++(?:is\s++)?(?:required|disabled|enabled)|requires\s++javascript", re.I
)


@dataclass(frozen=True, slots=True)
class Robots:
    """What meta tags and headers ask of crawlers."""

    noindex: bool = False
    nofollow: bool = False


def is_html(body: bytes, text: str, content_type: str) -> bool:
    """By content type where that is clear, else by how the body begins."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in _UNSURE_TYPES and kind not in _HTML_TYPES:
        return False
    if body[:1024].lstrip().startswith(_BINARY):
        return False
    start = _after_prolog(text[:MAX_START_CHARACTERS])
    first = _after_comments(start)
    if _OTHER_XML.match(first):
        return False
    if kind in ("text/html", "application/xhtml+xml"):
        return not start.startswith(("{", "[{")) or _MARKUP.search(start) is not None
    return _MARKUP.match(start) is not None and (kind != "text/plain" or _WHOLE_PAGE.match(first) is not None)


def _after_prolog(text: str) -> str:
    text = text.lstrip("\ufeff \t\r\n\f")
    return text.partition(">")[2].lstrip() if text.startswith("<?xml") and ">" in text else text


def _after_comments(text: str) -> str:
    """What follows the comments with which a text begins. A pattern for "comments, then a doctype" would try
    every way of reading two comments as one: with thirty of them for longer than anyone waits."""
    at = 0
    while text.startswith("<!--", at) and (end := text.find("-->", at + 4)) >= 0:
        at = end + 3
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
    return text[at:]


def robots(tree: Dom, headers: Mapping[str, str]) -> Robots:
    """From meta robots and googlebot, and from X-Robots-Tag (lines for other robots left out)."""
    rules: set[str] = set()
    for name, value in headers.items():
        if name.lower() == "x-robots-tag":
            rules |= _header_rules(value)
    for element in tree.tagged("meta"):
        if element.get("name").strip().lower() in ("robots", "googlebot", "ritbot"):
            rules |= {rule.strip() for rule in element.get("content").lower().split(",")}
    return Robots(not rules.isdisjoint(("noindex", "none")), not rules.isdisjoint(("nofollow", "none")))


def _header_rules(value: str) -> set[str]:
    """A rule with a name before it (`googlebot: noindex`) starts a list for that robot alone."""
    rules: set[str] = set()
    ours = True
    for part in value.lower().replace("\n", ",").split(","):
        name, colon, rule = part.rpartition(":")
        if colon and name.strip() not in _RULES_WITH_VALUES:
            ours = name.strip() in ("googlebot", "ritbot", "*")
        if ours:
            rules.add(rule.strip())
    return rules


def redirect(tree: Dom, resolve_link: Resolver, url: str, page: Page) -> Skip | None:
    """An instant meta refresh to another page; one of a few seconds where the page says little."""
    words = sum(len(node.text.split()) for node in page.nodes)
    for element in tree.tagged("meta"):
        if element.get("http-equiv").strip().lower() != "refresh":
            continue
        match = _REFRESH.match(element.get("content"))
        if match is None or not match[2]:
            continue
        if words >= MAX_STUB_WORDS and any(above.tag == "noscript" for above in element.ancestors()):
            continue  # for browsers without scripts; the text is here
        delay = float(match[1]) if match[1] not in ("", ".") else 0.0
        target = resolve_link(match[2].strip().strip("'\"").strip())
        if target is None or target.partition("#")[0] == url.partition("#")[0]:
            continue
        if delay <= 1 or (delay <= MAX_REFRESH_SECONDS and words < MAX_STUB_WORDS):
            return Skip("redirect", f"refresh after {delay:g} s", target)
    return None


def nothing_to_read(tree: Dom, page: Page, status: int) -> Skip | None:
    """Not found with status 200, waiting for JavaScript, or empty."""
    words = sum(len(node.text.split()) for node in page.nodes)
    headed = any(node.kind != "page" or node.level for node in page.nodes)
    names = [page.title, *(node.title for node in page.nodes[:2])]
    if status < 400 and words < MAX_STUB_WORDS and any(_says_missing(name) for name in names):
        return Skip("soft_404", "title and little text say that nothing is here")
    if words >= 20 or (words and headed):
        return None
    if _waits_for_script(tree):
        return Skip("needs_javascript", "the page is an empty shell that a script fills")
    if not words and not headed:
        return Skip("empty", "no text and no heading in the content")
    return None


def _says_missing(title: str) -> bool:
    """A title that says that nothing is here, and says nothing else ("404 errors explained" does)."""
    plain = title.casefold().replace("’", "'")
    if _MISSING_ELSEWHERE.fullmatch(plain):
        return True
    return _MISSING.search(plain) is not None and _MISSING_WORDS.issuperset(re.findall(r"[\w']+", plain))


def _waits_for_script(tree: Dom) -> bool:
    scripts = shell = asked = False
    for element in tree.elements:
        if element.tag == "script":
            scripts = True
        elif element.tag == "noscript" and _NEEDS_SCRIPT.search(element.text):
            asked = True
        elif element.get("id") in _SCRIPT_ROOTS or ("-" in element.tag and element.tag.endswith(("-app", "-root"))):
            shell = shell or not element.text
    return scripts and (shell or asked)
