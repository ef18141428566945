"""A folder of HTML files as a site: the Fetcher over it, and the list of its pages.

A file's URL is the site's base_url (else the folder's file URL) and the file's path in the folder.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote_to_bytes

import structlog

from ingest.counted import counted
from ingest.errors import Blocked, FetchFailed, PageTooLarge, SiteUnusable
from ingest.model import Site
from ingest.ports import Fetched
from ingest.sites.scope import base_url, in_scope
from ingest.urls import page_key

log = structlog.get_logger()

_CONTENT_TYPES = {".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".xml": "text/xml"}
_PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
MAX_KINDS_TOLD = 4
"""Kinds of files that are named of a folder without a page."""
_INDEX_FILES = ("index.html", "index.htm", "index.xhtml")
_NOT_PAGES = frozenset({"_static", "_sources", "_images", "_downloads", "node_modules"})
"""Folders that generators fill with assets and copies of sources."""


class FolderFetcher:
    """The Fetcher port over a folder. Nothing outside the folder is ever read, symbolic links included.

    A directory's URL gives its index file, as a redirect. A file that is not there gives status 404; the
    content type is told by the file's ending. Validators are not used: reading a file is cheap.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._base = base_url(site)
        self._root = Path(os.path.abspath(site.start))

    async def __aenter__(self) -> Self:
        """Raises SiteUnusable if there is no such folder."""
        await asyncio.to_thread(_check_folder, self._site)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing is held open."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        try:
            key = page_key(url).partition("?")[0]
        except ValueError as error:
            raise Blocked(str(error)) from error
        if not key.startswith(self._base):
            raise Blocked(f"{url} does not lie under {self._base}, where the folder of site {self._site.name} stands")
        return await asyncio.to_thread(self._read, url, key)

    def _read(self, url: str, key: str) -> Fetched:
        path = self._root / os.fsdecode(unquote_to_bytes(key.removeprefix(self._base)))
        try:
            with _opened(path, self._root) as descriptor:
                kind = os.fstat(descriptor).st_mode
                if stat.S_ISDIR(kind):
                    return self._read_index(url, key, path)
                if not stat.S_ISREG(kind):
                    return Fetched(url, 404, b"")
                with open(descriptor, "rb", closefd=False) as file:
                    body = file.read(self._site.max_bytes + 1)
        except _OutsideError:
            raise Blocked(f"{url} leads out of the folder {self._root}") from None
        except (FileNotFoundError, NotADirectoryError):
            return Fetched(url, 404, b"")
        except (OSError, ValueError) as error:
            raise FetchFailed(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
        if len(body) > self._site.max_bytes:
            raise PageTooLarge(f"{path} is larger than {self._site.max_bytes:,} bytes; raise max_bytes for this site")
        return Fetched(url, 200, body, _CONTENT_TYPES.get(path.suffix.lower(), "application/octet-stream"))

    def _read_index(self, url: str, key: str, path: Path) -> Fetched:
        name = next((name for name in _INDEX_FILES if (path / name).is_file()), None)
        if name is None:
            return Fetched(url, 404, b"")
        target = f"{key.rstrip('/')}/{name}"
        found = self._read(target, target)
        return Fetched(found.url, found.status, found.body, found.content_type, hops=((url, 301),))


def list_pages(site: Site) -> dict[str, str]:
    """The URLs of all HTML files of the folder, sorted, each with a mark that differs when the file was written anew;
    hidden folders and those for assets are left out.

    Raises SiteUnusable if any part of the folder cannot be read: a list with a hole would look like
    pages that are gone.
    """
    _check_folder(site)
    root, base = Path(os.path.abspath(site.start)), base_url(site)
    pages: dict[str, str] = {}
    outside: list[str] = []
    for folder, folders, files in os.walk(root, onerror=_refuse):
        folders[:] = [name for name in folders if _holds_pages(name)]
        for name in files:
            path = Path(folder, name)
            if not _is_page(path):
                continue
            if path.is_symlink() and not _is_inside(path, root):
                outside.append(str(path))
                continue
            pages[_key(base, path.relative_to(root))] = _mark(path)
    if outside:
        log.warning("pages_skipped", path=outside[0], count=len(outside), why="links out of the folder")
    return dict(sorted(pages.items()))


def pages_at(site: Site, paths: Iterable[str]) -> dict[str, str] | None:
    """The pages that the files at these paths are, each with its mark as in `list_pages`. None where only a listing tells
    what became of the folder: something is not there any more, or it is a folder, or a link."""
    root, base = Path(os.path.abspath(site.start)), base_url(site)
    pages: dict[str, str] = {}
    for path in map(Path, map(os.path.abspath, paths)):
        if path.is_relative_to(root) and not all(map(_holds_pages, path.relative_to(root).parts)):
            continue
        try:
            inside, kind = path.relative_to(root), path.lstat().st_mode
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(kind) or stat.S_ISLNK(kind):
            return None
        if _is_page(path):
            pages[_key(base, inside)] = _mark(path)
    return {key: mark for key, mark in pages.items() if in_scope(site, key)}


def _holds_pages(folder: str) -> bool:
    return not folder.startswith(".") and folder not in _NOT_PAGES


def _is_page(path: Path) -> bool:
    return path.suffix.lower() in _PAGE_SUFFIXES and not path.name.startswith(".")


def _key(base: str, inside: Path) -> str:
    return page_key(base + quote(os.fsencode(inside.as_posix())))


def what_it_holds(site: Site) -> str:
    """Of a folder without a page: what is in it, and what to do; a sentence's end."""
    kinds: Counter[str] = Counter()
    for folder, folders, files in os.walk(site.start):
        folders[:] = [name for name in folders if not name.startswith(".")]
        kinds.update(Path(folder, name).suffix.lower() for name in files if not name.startswith("."))
    if not kinds:
        return "is empty; name the folder of the built HTML"
    html = sum(kinds[suffix] for suffix in _PAGE_SUFFIXES)
    if html:
        left_out = ", ".join(sorted(_NOT_PAGES))
        return f"holds {counted(html, 'HTML file')}, none of which belongs to it; check include and exclude (never read: {left_out})"
    most = sorted(kinds.items(), key=lambda kind: (not kind[0], -kind[1], kind[0]))[:MAX_KINDS_TOLD]
    told = ", ".join(f"{count:,} {kind}" if kind else counted(count, "other file") for kind, count in most)
    return f"holds {told} and no HTML: build the site first, and name the folder of the built HTML"


def _mark(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:  # a link to nowhere, or gone this moment: reading it will tell
        return ""
    return f"{found.st_mtime_ns}/{found.st_size}/{found.st_ino}"


def _is_inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


class _OutsideError(Exception):
    """A path leads out of the folder."""


@contextmanager
def _opened(path: Path, root: Path) -> Iterator[int]:
    """The descriptor of the file or directory that `path` means, opened step by step from the folder, no link followed on
    the way: what a check has seen may be a link to somewhere else by the time it is opened. Raises _OutsideError, OSError."""
    top, real = os.path.realpath(root), Path(os.path.realpath(path))
    if not real.is_relative_to(top):
        raise _OutsideError
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in real.relative_to(top).parts:
            inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)  # a pipe must not block
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _check_folder(site: Site) -> None:
    if not os.path.isdir(site.start):
        raise SiteUnusable(
            f"Site {site.name} starts at {site.start!r}, which is no folder; give a folder of HTML files or a URL"
            " that begins with http:// or https://"
        )


def _refuse(error: OSError) -> None:
    raise SiteUnusable(f"The folder {error.filename} cannot be read ({error.strerror}); nothing is done") from error
