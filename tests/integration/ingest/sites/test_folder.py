"""ingest.sites.folder on a real folder."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ingest.errors import Blocked, FetchFailed, SiteUnusable
from ingest.model import Site
from ingest.sites.discover import discover
from ingest.sites.folder import FolderFetcher, list_pages, pages_at

BASE = "https://docs.example.test/en/"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name, text in {
        "index.html": "start",
        "guide/index.html": "guide",
        "guide/a b#ü.html": "odd name",
        "old.HTM": "old",
        "x.xhtml": "x",
        "style.css": "css",
        "api/data.json": "{}",
        "_static/page.html": "asset",
        "_sources/index.html": "source",
        ".git/x.html": "hidden",
        "guide/.draft.html": "hidden",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "secret.html").write_text("secret")
    return root


def published(docs: Path, **changes: object) -> Site:
    return Site(name="docs", start=str(docs), base_url=BASE, **changes)  # type: ignore[arg-type]


def test_all_html_files_are_listed_in_order_without_hidden_ones_and_assets(docs: Path) -> None:
    names = ["guide/a%20b%23%C3%BC.html", "guide/index.html", "index.html", "old.HTM", "x.xhtml"]
    assert list(list_pages(published(docs))) == [BASE + name for name in names]


def test_files_are_told_as_the_pages_that_a_listing_tells(docs: Path) -> None:
    site = published(docs)
    files = [str(path) for path in docs.rglob("*") if path.is_file()]
    assert dict(sorted((pages_at(site, files) or {}).items())) == list_pages(site)
    assert pages_at(published(docs, exclude=("/guide/",)), [str(docs / "guide/index.html")]) == {}


@pytest.mark.parametrize("path", ["", "guide", "none.html", "none", "link.html", "../secret.html"])
def test_what_files_do_not_tell_is_left_to_a_listing(docs: Path, path: str) -> None:
    (docs / "link.html").symlink_to("index.html")
    assert pages_at(published(docs), [str(docs / "index.html"), str(docs / path)]) is None


@pytest.mark.parametrize("path", [".index.html.swp", ".git/HEAD", "_static/none.html", "style.css"])
def test_files_that_are_never_listed_are_nothing_to_look_at(docs: Path, path: str) -> None:
    assert pages_at(published(docs), [str(docs / path)]) == {}


async def test_every_listed_page_can_be_fetched(docs: Path) -> None:
    for site in (published(docs), Site(name="docs", start=str(docs))):
        async with FolderFetcher(site) as fetcher:
            bodies = [(await fetcher.fetch(url)).body for url in list_pages(site)]
        assert bodies == [b"odd name", b"guide", b"start", b"old", b"x"]


async def test_without_a_published_address_pages_have_file_urls(docs: Path) -> None:
    assert f"{docs.as_uri()}/index.html" in list_pages(Site(name="docs", start=str(docs)))


@pytest.fixture
def latin_name(docs: Path) -> None:
    Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9.html")).write_text("latin")


@pytest.mark.usefixtures("latin_name")
async def test_names_that_are_no_utf8_survive(docs: Path) -> None:
    site = published(docs)
    assert BASE + "caf%E9.html" in list_pages(site)
    async with FolderFetcher(site) as fetcher:
        assert (await fetcher.fetch(BASE + "caf%E9.html")).body == b"latin"


@pytest.mark.parametrize(
    ("path", "content_type"),
    [("index.html", "text/html"), ("old.HTM", "text/html"), ("x.xhtml", "application/xhtml+xml")],
)
async def test_the_content_type_is_told_by_the_ending(docs: Path, path: str, content_type: str) -> None:
    async with FolderFetcher(published(docs)) as fetcher:
        assert (await fetcher.fetch(BASE + path)).content_type == content_type
        assert (await fetcher.fetch(BASE + "api/data.json")).content_type == "application/octet-stream"


@pytest.mark.parametrize("path", ["guide", "guide/", "guide/?view=v2#top"])
async def test_a_directory_leads_to_its_index_file(docs: Path, path: str) -> None:
    async with FolderFetcher(published(docs)) as fetcher:
        fetched = await fetcher.fetch(BASE + path)
    assert (fetched.url, fetched.status, fetched.body) == (BASE + "guide/index.html", 200, b"guide")
    assert fetched.hops == ((BASE + path, 301),)


@pytest.mark.parametrize("path", ["none.html", "api", "api/none/", "index.html/x"])
async def test_what_is_not_there_is_status_404(docs: Path, path: str) -> None:
    async with FolderFetcher(published(docs)) as fetcher:
        assert (await fetcher.fetch(BASE + path)).status == 404


@pytest.mark.parametrize(
    "url",
    [
        BASE + "../secret.html",
        BASE + "%2e%2e/secret.html",
        BASE + "..%2fsecret.html",
        BASE + "guide/..%2F..%2Fsecret.html",
        BASE + "%2Fetc/passwd",
        BASE + "link.html",
        BASE + "folder-link/secret.html",
        "https://docs.example.test/de/index.html",
        "file:///etc/passwd",
        "nonsense",
    ],
)
async def test_nothing_outside_the_folder_is_read(docs: Path, url: str) -> None:
    (docs / "link.html").symlink_to(docs.parent / "secret.html")
    (docs / "folder-link").symlink_to(docs.parent)
    async with FolderFetcher(published(docs)) as fetcher:
        with pytest.raises(Blocked):
            await fetcher.fetch(url)


async def test_links_out_of_the_folder_are_not_listed_and_links_within_it_are(docs: Path) -> None:
    (docs / "out.html").symlink_to(docs.parent / "secret.html")
    (docs / "in.html").symlink_to(docs / "index.html")
    pages = list_pages(published(docs))
    assert BASE + "in.html" in pages
    assert BASE + "out.html" not in pages


async def test_a_folder_reached_by_a_link_works(docs: Path) -> None:
    link = docs.parent / "current"
    link.symlink_to(docs)
    site = published(link)
    async with FolderFetcher(site) as fetcher:
        assert (await fetcher.fetch(BASE + "index.html")).body == b"start"


@pytest.mark.parametrize("path", ["loop.html", "nul%00.html", "n" * 300 + ".html"])
async def test_what_cannot_be_a_file_does_not_break_it(docs: Path, path: str) -> None:
    (docs / "loop.html").symlink_to(docs / "loop.html")
    async with FolderFetcher(published(docs)) as fetcher:
        try:
            assert (await fetcher.fetch(BASE + path)).status == 404
        except FetchFailed as failure:
            assert "cannot be read" in str(failure)  # noqa: PT017


async def test_a_link_that_flips_while_it_is_read_leads_nowhere(docs: Path) -> None:
    """A folder that somebody else writes: a link inside points in and out by turns, as fast as it can."""
    (docs / "flip.html").symlink_to("index.html")
    (docs / "way").symlink_to("guide")
    ended = threading.Event()

    def flip() -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            for name, inside, outside in (("flip.html", "index.html", "../secret.html"), ("way", "guide", "..")):
                fresh = docs / f".{name}"
                fresh.symlink_to(outside if turn % 2 else inside)
                fresh.rename(docs / name)

    flipping = threading.Thread(target=flip)
    flipping.start()
    bodies = set()
    try:
        async with FolderFetcher(published(docs)) as fetcher:
            for path in ["flip.html", "way/secret.html", "way/index.html"] * 1_000:
                try:
                    bodies.add((await fetcher.fetch(BASE + path)).body)
                except FetchFailed:
                    bodies.add(b"refused")
    finally:
        ended.set()
        flipping.join()
    assert b"refused" in bodies
    assert bodies <= {b"", b"start", b"guide", b"refused"}


async def test_a_pipe_is_no_page(docs: Path) -> None:
    os.mkfifo(docs / "pipe.html")
    async with FolderFetcher(published(docs)) as fetcher:
        assert (await fetcher.fetch(BASE + "pipe.html")).status == 404


async def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_not(docs: Path) -> None:
    async with FolderFetcher(published(docs, max_bytes=5)) as fetcher:
        assert (await fetcher.fetch(BASE + "index.html")).body == b"start"
        with pytest.raises(FetchFailed, match="larger than 5 bytes"):
            await fetcher.fetch(BASE + "guide/a%20b%23%C3%BC.html")


@pytest.mark.parametrize("start", ["none", "docs/index.html", ""])
async def test_a_start_that_is_no_folder_is_a_plain_error(docs: Path, start: str, tmp_path: Path) -> None:
    site = Site(name="docs", start=str(tmp_path / start) if start else "")
    with pytest.raises(SiteUnusable, match="which is no folder"):
        async with FolderFetcher(site):
            pass
    with pytest.raises(SiteUnusable, match="which is no folder"):
        list_pages(site)


async def test_discovery_lists_what_is_in_scope_and_calls_it_complete(docs: Path) -> None:
    site = published(docs, exclude=(r"/old\.",))
    async with FolderFetcher(site) as fetcher:
        frontier = await discover(site, fetcher, known=[BASE + "gone.html"])
    assert (frontier.source, frontier.complete, frontier.found) == ("folder", True, 4)


async def test_a_folder_without_pages_is_an_error_and_not_an_empty_site(docs: Path) -> None:
    site = published(docs, include=("/nothing/",))
    async with FolderFetcher(site) as fetcher:
        with pytest.raises(SiteUnusable, match="HTML files, none of which belongs to it"):
            await discover(site, fetcher)
