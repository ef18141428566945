"""Sitemaps that lead nowhere, starts that lead away, and addresses without end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from starlette.requests import Request
from starlette.responses import Response

from deploy.commands.documents.index import exit_status
from tests.fakes.docsite import HTML, Behaviour, DocSite, page, redirect
from tests.fakes.pipeline import Pipeline
from tests.fakes.site import html

TWO = "<a href='/docs/a'>a</a> <a href='/docs/b'>b</a>"


def sitemap(docs: DocSite, *paths: str) -> Behaviour:
    listed = "".join(f"<url><loc>{docs.url(p) if p.startswith('/') else p}</loc></url>" for p in paths)
    return page(f"<urlset>{listed}</urlset>", content_type="text/xml")


def says(answer: Callable[[Request], str]) -> Behaviour:
    return lambda request: Response(answer(request), headers={"content-type": HTML})


# --- sitemaps and starts


ASTRAY = {
    "none": ("/docs/sitemap.xml", ["None", "None", "None"]),
    "stale": ("/docs/sitemap.xml", ["/docs/old/1", "/docs/old/2", "/docs/old/3", "/docs/old/4"]),
    "base": ("/docs/sitemap.xml", ["/docs/x/a", "/docs/x/b"]),
    "base twice": ("/sitemap.xml", ["/docs/docs/a", "/docs/docs/b"]),
    "another host": ("/docs/sitemap.xml", ["https://elsewhere.example/a", "https://elsewhere.example/b"]),
    "another path": ("/docs/sitemap.xml", ["/manual/a", "/manual/b"]),
}
"""Sitemaps by what is wrong with them: where they are, and what they list."""
NO_ADDRESS = {"empty": "<url><loc></loc></url><url><loc></loc></url>"}


@pytest.mark.parametrize(("at", "paths"), ASTRAY.values(), ids=ASTRAY)
@pytest.mark.parametrize("named", [False, True])
async def test_a_sitemap_that_leads_nowhere_is_told_and_links_are_followed(
    pipe: Pipeline, docs: DocSite, at: str, paths: list[str], named: bool
) -> None:
    pipe.site = replace(
        pipe.site, start=docs.url("/docs/"), sitemap=docs.url(at) if named and "None" not in paths else None
    )
    docs.pages[at] = sitemap(docs, *paths)
    docs.pages["/docs/"] = html("Start", f"<p>Here it begins.</p>{TWO}")
    docs.pages |= {f"/docs/{name}": html(name.upper(), f"<p>All about {name}.</p>") for name in "ab"}
    for _ in range(2):
        summary = await pipe.crawl()
        assert await pipe.live() == {"", "a", "b"}
        assert "itemap" in (summary.cycle.problem or "")
        assert exit_status([summary], 1) == 1
        pipe.clock.advance(hours=2)
    cycle = await pipe.settle()
    assert "itemap" in (cycle.problem or "")
    assert await pipe.live() == {"", "a", "b"}


@pytest.mark.parametrize("listed", NO_ADDRESS.values(), ids=NO_ADDRESS)
async def test_empty_addresses_in_a_sitemap_are_none(pipe: Pipeline, docs: DocSite, listed: str) -> None:
    docs.pages["/sitemap.xml"] = page(f"<urlset>{listed}</urlset>", content_type="text/xml")
    docs.pages |= {"/": html("Start", f"<p>Begin.</p>{TWO}"), "/docs/a": html("A", "<p>One.</p>")}
    await pipe.crawl()
    assert await pipe.live() == {"", "a"}


LED_AWAY, LED_ON = ("/docs", "/documentation/"), ("/", "/en/latest/")
"""Starts, and where they redirect: out of the site, and within it."""


@pytest.mark.parametrize("code", [301, 302])
async def test_a_start_that_redirects_out_of_the_site_is_an_error_that_names_where(
    pipe: Pipeline, docs: DocSite, code: int
) -> None:
    start, target = LED_AWAY
    pipe.site = replace(pipe.site, start=docs.url(start))
    docs.pages[start] = redirect(target, code)
    docs.pages["/documentation/"] = html("Start", "<p>Begin.</p><a href='a.html'>a</a>")
    summary = await pipe.crawl()
    assert docs.url("/documentation/") in (summary.cycle.problem or "")
    assert exit_status([summary], 1) == 3


async def test_a_start_that_redirects_inside_the_site_is_followed(pipe: Pipeline, docs: DocSite) -> None:
    start, target = LED_ON
    docs.pages[start] = redirect(target)
    docs.pages[target] = html("Start", "<p>Begin.</p>")
    summary = await pipe.crawl()
    assert exit_status([summary], 1) == 0


async def test_a_site_without_any_page_is_an_error(pipe: Pipeline, docs: DocSite) -> None:
    summary = await pipe.crawl()
    assert f"gave no page: {docs.url('/')} is not there (HTTP 404)" in (summary.cycle.problem or "")
    assert exit_status([summary], 1) == 3


# --- a first index while a part of the site is down


@pytest.mark.parametrize("down", [0, 2, 6])
async def test_a_part_that_is_down_on_the_first_index_is_told(pipe: Pipeline, docs: DocSite, down: int) -> None:
    names = [f"part-{word}" for word in "pump valve seal pipe filter motor gauge tank hose belt gear bolt".split()]
    links = "".join(f"<a href='/{name}'>{name}</a> " for name in names)
    docs.pages["/"] = html("Plant", f"<p>All of its parts.</p>{links}")
    docs.pages |= {f"/{name}": html(name, f"<p>How the {name} works, and how long.</p>") for name in names}
    resting = says(lambda r: html("Back soon", f"<p>The page {r.url.path} rests while we work on the shelves.</p>"))
    docs.pages |= {f"/{name}": resting for name in names[:down]}
    told = " ".join((await pipe.crawl()).cycle.warnings)
    assert (f"{down} of 13 pages of site docs say one text." in told) == (down > 2), told


# --- traps

sessions = itertools.count(1)
DEEPER = says(lambda r: html("Cluster", "<p>How the cluster is run.</p><a href='infra/www/index.html'>infra</a>"))
WIDER = says(
    lambda r: html("Cluster", "<p>How it runs.</p>" + "".join(f"<a href='{n}/index.html'>x</a>" for n in "bcdefghij"))
)
GROWING = says(lambda r: html("List", f"<p>All of the list.</p><a href='?{r.url.query}&p={len(r.url.query)}'>more</a>"))


def month(request: Request) -> str:
    number = int(request.query_params.get("month", 1))
    return html("Releases", f"<p>Month {number}: nothing came out.</p><a href='/releases?month={number + 1}'>next</a>")


def day(request: Request) -> str:
    number = int(request.url.path.rpartition("/")[2] or 0)
    return html("Calendar", f"<p>Nothing is planned on day {number}.</p><a href='/cal/2026/{number + 1}'>next</a>")


def session(request: Request) -> str:
    name = request.url.path.strip("/") or "start"
    links = "".join(f"<a href='/{other}?sid={next(sessions):x}'>{other}</a>" for other in "abcdefgh")
    return html(name.title(), f"<p>What {name} is about, told at length by {name * 3}.</p>{links}")


def facets(request: Request) -> str:
    chosen = request.query_params.multi_items()
    links = "".join(f"<a href='/?{request.url.query}&{name}={n}'>x</a>" for name in ("color", "size") for n in range(5))
    return html("Parts", f"<p>Find parts by color and size; {len(chosen)} chosen, 300 found in all shops.</p>{links}")


TRAPS = {
    "deeper": ("/docs/index.html", DEEPER, 1),
    "wider": ("/docs/a/index.html", WIDER, 1),
    "query": ("/", GROWING, 1),
    "cal": ("/releases", says(month), 2),
    "days": ("/", says(day), 2),
    "sessions": ("/", says(session), 9),
    "facets": ("/", says(facets), 1),
}
"""Where each begins, what it answers, and how many pages it has at least."""


@pytest.mark.parametrize(("start", "answer", "pages"), TRAPS.values(), ids=TRAPS)
async def test_a_trap_ends_soon_and_is_told(
    pipe: Pipeline, docs: DocSite, start: str, answer: Behaviour, pages: int
) -> None:
    def all_but_probes(request: Request) -> Response:
        name = request.url.path.strip("/").rpartition("/")[2].partition(".")[0]
        missing = len(name) == 24 or request.url.path.endswith((".txt", ".xml"))
        return Response(status_code=404) if missing else answer(request)

    pipe.site = replace(pipe.site, start=docs.url(start))
    docs.fallback = all_but_probes
    summary = await pipe.crawl()
    assert "not followed further" in (summary.cycle.problem or "")
    assert len(docs.requests) < 400
    assert len(await pipe.live()) >= pages
    docs.requests.clear()
    for _ in range(3):
        pipe.clock.advance(hours=30)
        await pipe.settle()
    assert len(docs.requests) < 1_200


async def test_pages_of_one_query_that_say_something_of_their_own_are_no_trap(pipe: Pipeline, docs: DocSite) -> None:
    words = [f"{a}{b}" for a in "kmnprst" for b in ("ano", "eli", "iru", "omu", "ula")]

    def wiki(request: Request) -> str:
        at = int(request.query_params.get("id", 0))
        body = " ".join(words[(at * 7 + n * n) % len(words)] for n in range(30))
        return html(words[at], f"<p>{body}</p>" + (f"<a href='/?id={at + 1}'>on</a>" if at < len(words) - 1 else ""))

    docs.pages["/"] = says(wiki)
    summary = await pipe.crawl()
    assert summary.cycle.warnings == []
    assert len(await pipe.live()) == len(words)
