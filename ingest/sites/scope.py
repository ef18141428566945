"""Which URLs belong to a site: which may be fetched (on_site) and which are to be indexed (in_scope),
and of which version they are. Pure.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from ingest.model import Site
from ingest.urls import page_key

_PORTS = {"http": 80, "https": 443}
_FILE_SUFFIX = re.compile(r"\.(x?html?|php|aspx?|jsp|xml|gz|txt)$", re.IGNORECASE)
_NEVER_PAGES = frozenset(
    ".png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .tif .tiff .css .js .mjs .map .rss .atom .xml .gz .tgz .bz2 .xz .zst"
    " .zip .tar .7z .rar .jar .whl .deb .rpm .exe .msi .dmg .iso .apk .pdf .ps .epub .doc .docx .xls .xlsx .ppt .pptx"
    " .odt .csv .mp3 .mp4 .webm .ogg .wav .avi .mov .woff .woff2 .ttf .otf .eot .wasm .inv".split()
)


def base_url(site: Site) -> str:
    """The URL under which all pages of the site's start lie; ends in a slash.

    A folder's is its `base_url` or its file URL. Of a start page it is the directory; a start such as
    https://example.com/docs, whose last name has no ending of a file, is taken for a directory itself.
    """
    if site.is_folder:
        root = site.base_url or Path(os.path.abspath(site.start)).as_uri()
        return page_key(root).partition("?")[0].rstrip("/") + "/"
    start = page_key(site.start).partition("?")[0]
    directory = start.rpartition("/")[0] if _FILE_SUFFIX.search(start) else start.rstrip("/")
    return directory + "/"


def on_site(site: Site, url: str) -> bool:
    """Whether `url` is on the site's hosts: the start's (on its port) and those in `hosts`. A host
    without a port stands for 80 and 443."""
    try:
        parts = urlsplit(page_key(url))
    except ValueError:
        return False
    return parts.scheme in _PORTS and (parts.hostname, parts.port or _PORTS[parts.scheme]) in _authorities(site)


def in_scope(site: Site, url: str) -> bool:
    """Whether `url` is a page of the site: on its hosts; on the start's host under the start's directory;
    matched by some `include` (where there are any) and no `exclude`; of a version that is indexed, or
    of none; not by its ending an image, archive, style sheet or the like."""
    try:
        key = page_key(url)
    except ValueError:
        return False
    version = version_of(site, key)
    return (
        _is_under_start(site, key)
        and os.path.splitext(urlsplit(key).path)[1].lower() not in _NEVER_PAGES
        and (not site.include or any(re.search(pattern, key) for pattern in site.include))
        and not any(re.search(pattern, key) for pattern in site.exclude)
        and (not version or not site.index_versions or version in site.index_versions)
    )


def version_of(site: Site, url: str) -> str:
    """The version in a URL, found by the site's pattern (its first group, else all that it matches);
    "" where there is none."""
    found = re.search(site.versions, url) if site.versions else None
    if found is None:
        return ""
    return (found[1] if found.re.groups else found[0]) or ""


def _is_under_start(site: Site, key: str) -> bool:
    base = _base_url(site)
    if site.is_folder:
        return key.startswith(base)
    if not on_site(site, key):
        return False
    of_start, of_page = urlsplit(base), urlsplit(key)
    return of_page.hostname != of_start.hostname or f"{of_page.path}/".startswith(of_start.path)


_base_url = lru_cache(maxsize=256)(base_url)


@lru_cache(maxsize=256)
def _authorities(site: Site) -> frozenset[tuple[str | None, int]]:
    hosts = [urlsplit(page_key(site.start)).netloc, *site.hosts] if not site.is_folder else []
    pairs: set[tuple[str | None, int]] = set()
    for host in hosts:
        parts = urlsplit(page_key(f"https://{host}"))
        explicit = urlsplit(f"//{host}").port
        pairs.update((parts.hostname, port) for port in ([explicit] if explicit else _PORTS.values()))
    return frozenset(pairs)
