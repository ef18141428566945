"""URLs as names: of a page (page_key), of a section (node_link), of quoted words (cite_link). Pure.

Normalisation is RFC 3986 section 6.2 plus the tracking parameters that advertisers add. Nothing here
asks a server, so two spellings that only the server knows to be one page stay two keys; `equivalent`
and `preferred` help whoever has seen that their contents agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from ingest.text.scripts import HAN_AND_KANA

_DEFAULT_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = "/!$&'()*+,;=:@-._~%"
_QUERY_SAFE = _PATH_SAFE + "?"
_FRAGMENT_SAFE = "/?!$&'()*+,;=:@-._~"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_BEFORE_QUERY = re.compile(r"[^?#]*")
_PLAIN_PATH = re.compile(r"(/|(?:\.\./)*+)((?:[\w~-][\w.~-]*+/?+)++)", re.ASCII)
"""A path from the root, from the page's folder or from one above it, of segments that need no escape and are no dots."""
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]+")
_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_TRACKING = re.compile(
    r"(utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|mkt_tok|_hsenc|_hsmi"
    r"|_ga|_gl)$",
    re.IGNORECASE,
)
_PRINT_VIEW = re.compile(r"(print|printable|printview)(=(1|true|yes)?)?$", re.IGNORECASE)
_INDEX_FILE = re.compile(r"/index\.x?html?$", re.IGNORECASE)
_HTML_SUFFIX = re.compile(r"(?<=[^/])\.x?html?$", re.IGNORECASE)


@lru_cache(maxsize=16_384)  # the same links stand on every page of a site
def page_key(url: str) -> str:
    """The name of a page: a pure normalisation of the URL it is asked for by.

    Lower-case scheme and host (IDNA), no default port, user info, dot segments, fragment or tracking
    parameters; percent-encoding in one form. Case and order of the rest stay: they are identity.
    Idempotent. Raises ValueError unless `url` is an absolute http, https or file URL.
    """
    parts = _split(url)
    path = _without_dot_segments(_normal_escapes(parts.path, _PATH_SAFE) or "/")
    query = "&".join(p for p in _normal_escapes(parts.query, _QUERY_SAFE).split("&") if p and not _is_tracking(p))
    return f"{parts.scheme}://{_authority(parts)}{path}{'?' if query else ''}{query}"


def same_page(url: str) -> str:
    """A page key that http and https share, on their usual ports. Raises ValueError like page_key."""
    key = page_key(url)
    usual = key.startswith("http:") and urlsplit(key).port is None
    return f"https{key[4:]}" if usual else key


def equivalent(url: str) -> str:
    """A looser key: URLs that share it may be one document, and are one if their contents agree too.

    Folds http and https, `/guide`, `/guide/`, `/guide.html` and `/guide/index.html`, and print views.
    Raises ValueError like page_key.
    """
    parts = urlsplit(same_page(url))
    path = _HTML_SUFFIX.sub("", _INDEX_FILE.sub("/", parts.path).rstrip("/")) or "/"
    query = "&".join(p for p in parts.query.split("&") if p and not _PRINT_VIEW.match(p))
    return f"{parts.scheme}://{parts.netloc}{path}{'?' if query else ''}{query}"


def preferred(urls: Iterable[str]) -> str:
    """The URL to keep among equal copies: https, without query, a directory's own (ending in a slash),
    the shortest, then the first by code points. Raises ValueError if there is none."""

    def rank(url: str) -> tuple[bool, bool, bool, int, str]:
        parts = urlsplit(url)
        return parts.scheme.lower() != "https", bool(parts.query), not parts.path.endswith("/"), len(url), url

    return min(urls, key=rank)


def resolve(base: str, href: str) -> str | None:
    """What `href` on a page at `base` points at: an absolute URL with its fragment, escaped where a URL
    must be. None for what is no page address (mailto:, javascript:, data: …), for file: addresses on
    a page that is not itself a file, and for hrefs that no browser could follow."""
    href = href.strip(_C0_AND_SPACE)
    if not href.isprintable():
        href = href.translate({9: None, 10: None, 13: None})
    if "\\" in href:
        href = _BEFORE_QUERY.sub(lambda m: m[0].replace("\\", "/"), href, count=1)
    page, sign, anchor = href.partition("#")
    plain = _PLAIN_PATH.fullmatch(page)
    if plain is None:
        target = _join(base, page or sign)
    else:
        folder = _join(base, f"{plain[1]}-")
        target = folder and folder[:-1] + plain[2]
    if target is None or not anchor:
        return target
    return f"{target}#{_escaped(anchor, _FRAGMENT_SAFE + '%')}"


@lru_cache(maxsize=1024)  # all links of a page share a few folders
def _join(base: str, href: str) -> str | None:
    """What an href without white space around it points at."""
    try:
        parts = _split(urljoin(base, href or base))  # urljoin leaves a base alone that it puts in order otherwise
        authority = _authority(parts)
    except ValueError:
        return None
    if parts.scheme == "file" and not base.lower().startswith("file:"):
        return None
    path = _escaped(parts.path, _PATH_SAFE) or "/"
    query = f"?{_escaped(parts.query, _QUERY_SAFE)}" if parts.query else ""
    anchor = f"#{_escaped(parts.fragment, _FRAGMENT_SAFE + '%')}" if parts.fragment else ""
    return f"{parts.scheme}://{authority}{path}{query}{anchor}"


def fragment(anchor: str) -> str:
    """A raw id or name as a URL fragment: UTF-8, percent-encoded exactly once, so that decoding gives
    the id back (RFC 3986 section 3.5; what a browser compares, HTML section 7.4.6.4)."""
    encoded = quote(anchor, safe=_FRAGMENT_SAFE, errors="surrogatepass")
    return encoded.replace(_DIRECTIVE, ":%7E:")


def node_link(page_url: str, anchors: Iterable[str | None]) -> str:
    """The address of a section. `anchors`: its own, then its ancestors', nearest first. The first that
    is there counts; without any it is the bare page URL."""
    bare = page_url.partition("#")[0]
    nearest = next((anchor for anchor in anchors if anchor), None)
    return bare if nearest is None else f"{bare}#{fragment(nearest)}"


def _split(url: str) -> SplitResult:
    parts = urlsplit(url)
    known = parts.scheme in _DEFAULT_PORTS if parts.hostname else parts.scheme == "file"
    if not known or parts.path[:1] not in ("", "/"):
        raise ValueError(f"not an absolute http, https or file URL: {url!r}")
    return parts


def _authority(parts: SplitResult) -> str:
    """Host and port without user info: names never carry passwords."""
    host, port = parts.hostname or "", parts.port
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    if host and not _HOST.fullmatch(host):
        raise ValueError(f"not a host name: {host!r}")
    if ":" in host:
        host = f"[{host}]"
    if port is None or port == _DEFAULT_PORTS.get(parts.scheme):
        return host
    return f"{host}:{port}"


def _escaped(text: str, safe: str) -> str:
    """Escape what may not stand in a URL, touch nothing that is escaped already."""
    lone_percent_escaped = _ESCAPE.sub(lambda m: m[0] if m[1] else "%25", text)
    return quote(lone_percent_escaped, safe=safe, errors="surrogatepass")


def _normal_escapes(text: str, safe: str) -> str:
    def normal(match: re.Match[str]) -> str:
        char = chr(int(match[1], 16))
        return char if char in _UNRESERVED else match[0].upper()

    return re.sub(r"%([0-9A-Fa-f]{2})", normal, _escaped(text, safe))


def _without_dot_segments(path: str) -> str:
    """RFC 3986 section 5.2.4 for an absolute path; empty segments stay."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _is_tracking(parameter: str) -> bool:
    return _TRACKING.match(parameter.partition("=")[0]) is not None


# Text fragments (https://wicg.github.io/scroll-to-text-fragment/): a term is found only inside one block of the page
# and from word border to word border, the end only after the start. So terms are whole words of one line and one cell.
# Chinese and Japanese mark no words: there, borders at punctuation are the ones on which all browsers agree.
_DIRECTIVE = ":~:"
_CJK_CHAR = re.compile(f"[{HAN_AND_KANA}]")
_LETTER = re.compile(r"[^\W_]")
_UNIT = re.compile(rf"[{HAN_AND_KANA}]{{1,24}}[^\w\s]*|[^\s{HAN_AND_KANA}]+")
_TERM_WEIGHT = 60
_STRETCH_BORDER = re.compile(rf"[\n\t\r\f\v\x85\u2028\u2029]|\s{{2,}}|[^\s{HAN_AND_KANA}]{{{_TERM_WEIGHT + 1},}}")
_STABLE_WEIGHT = 10
_EXACT_WEIGHT = 100


def cite_link(node_link: str, first_text: str, last_text: str) -> str:
    """The node link, made to land on the quoted words: from the first words of `first_text` (the first
    quoted block) to the last words of `last_text` (the last one). Where neither has words that can be
    relied on, the node link alone. A browser that does not know text fragments, or does not find the
    words, goes to the section.
    """
    first, last = _stretches(first_text), _stretches(last_text)
    if not first and not last:
        return node_link
    if first == last and len(first) == 1:
        terms = _whole_or_ends(first[0])
    else:
        terms = [_head(stretch) for stretch in first[:1]] + [_tail(stretch) for stretch in last[-1:]]
    directive = ",".join(directive_term(term) for term in terms if _weight(term) >= _STABLE_WEIGHT)
    mark = "" if "#" in node_link else "#"
    return f"{node_link}{mark}{_DIRECTIVE}text={directive}" if directive else node_link


def _stretches(text: str) -> list[str]:
    """What stands on one line, in one cell and between words too long for a term, where it says enough."""
    return [s.strip() for s in _STRETCH_BORDER.split(text) if _weight(s) >= _STABLE_WEIGHT]


def _whole_or_ends(stretch: str) -> list[str]:
    if _weight(stretch) <= _EXACT_WEIGHT and len(stretch) <= 2 * _EXACT_WEIGHT:
        return [stretch]
    head = _head(stretch)
    return [head, _tail(stretch[len(head) :])]


def _head(stretch: str) -> str:
    """The first whole words, as many as a term may hold."""
    end = 0
    for unit in _UNIT.finditer(stretch):
        if _cost(stretch[: unit.end()]) > _TERM_WEIGHT:
            break
        end = unit.end()
    return stretch[:end]


def _tail(stretch: str) -> str:
    stretch = stretch[-4 * _TERM_WEIGHT :]  # far more than a term and the word that this may cut
    start = len(stretch)
    for unit in reversed(list(_UNIT.finditer(stretch))):
        if _cost(stretch[unit.start() :]) > _TERM_WEIGHT:
            break
        start = unit.start()
    return stretch[start:]


def _cost(term: str) -> float:
    return max(_weight(term), len(term) * 0.75)


def _weight(text: str) -> float:
    """How much a term tells: its letters and digits, a Chinese or Japanese character as 2.5 of them."""
    return len(_LETTER.findall(text)) + 1.5 * len(_CJK_CHAR.findall(text))


def directive_term(term: str) -> str:
    """Escape all but letters, digits and `._~`: `-`, `,` and `&` have a meaning in a text directive."""
    return quote(term, safe="", errors="surrogatepass").replace("-", "%2D")
