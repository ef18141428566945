"""What tests publish: pages by name, on a server with a sitemap or as files of a folder."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.docsite import Behaviour, DocSite, page
from tests.fakes.site import html


def publish(docs: DocSite, lastmod: str | None = None, **pages: str | Behaviour) -> None:
    """All pages that there are, bar robots.txt, are listed in sitemap.xml."""
    docs.pages.update({f"/{name}": body for name, body in pages.items()})
    listed = [path for path in docs.pages if path not in ("/sitemap.xml", "/robots.txt")]
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    urls = "".join(f"<url><loc>{docs.url(path)}</loc>{dated}</url>" for path in listed)
    docs.pages["/sitemap.xml"] = page(f"<urlset>{urls}</urlset>", content_type="text/xml")


def write(folder: Path, **pages: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(body, encoding="utf-8")


def many(count: int) -> dict[str, str]:
    return {f"p{n}": html(f"Page {n}", f"<p>This is page number {n}.</p>") for n in range(count)}


def sections(count: int, edit: str = "") -> str:
    """A page of so many parts, and a first sentence."""
    parts = "".join(f"<h2 id='s{n}'>Part {n}</h2><p>Text of part number {n}{edit}.</p>" for n in range(count))
    return html("Parts", f"<p>All parts.</p>{parts}")
