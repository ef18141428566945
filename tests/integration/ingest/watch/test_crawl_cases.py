"""The sites of the cases crawl-02 to crawl-04, made of what their input.json tells (crawl-01 is in test_bad_days)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from deploy.commands.documents.index import exit_status
from tests.fakes.docsite import HTML, Behaviour, DocSite, page, redirect
from tests.fakes.pipeline import Pipeline
from tests.fakes.site import html

COUNTS = {"twice": 2, "two": 2, "three": 3, "four": 4}


@pytest.fixture
def told(shared: Path) -> Callable[[str], dict[str, object]]:
    def read(case: str) -> dict[str, object]:
        found: dict[str, object] = json.loads((shared / "cases" / case / "input.json").read_text(encoding="utf-8"))
        return found

    return read


def part(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, f"the case does not say {pattern}: {text}"
    return found[1]


def count(text: str) -> int:
    return next(COUNTS[word] for word in text.split() if word in COUNTS)


# --- crawl-02


def sitemap(docs: DocSite, text: str) -> tuple[str, Behaviour]:
    """Where it is, and what it lists."""
    if "<loc>" in text:
        locations = [part(r"<loc>(.*?)</loc>", text)] * count(text)
    elif " lists " in text:
        under = part(r"lists (/[^ …]+)…", text)
        locations = [docs.url(f"{under}{name}") for name in "ab"]
    else:
        assert part(r"all answer (\d+)", text) == "404"
        locations = [docs.url(f"/docs/{n}") for n in range(count(text))]
    at = part(r"(/\S+sitemap\.xml)", text) if "sitemap.xml" in text else "/docs/sitemap.xml"
    body = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    return at, page(f"<urlset>{body}</urlset>", content_type="text/xml")


@pytest.mark.parametrize("kind", ["none", "stale", "base", "empty"])
async def test_a_sitemap_that_leads_nowhere(
    pipe: Pipeline, docs: DocSite, kind: str, told: Callable[[str], dict[str, object]]
) -> None:
    case = told("crawl-02")
    sitemaps, good = case["sitemap"], count(str(case["site"]))
    assert isinstance(sitemaps, dict)
    assert sitemaps.keys() == {"none", "stale", "base", "empty"}
    at, answer = sitemap(docs, sitemaps[kind])
    links = "".join(f"<a href='/docs/good-{n}'>{n}</a> " for n in range(good))
    docs.pages |= {at: answer, "/docs/": html("Start", f"<p>Here it begins.</p>{links}")}
    docs.pages |= {f"/docs/good-{n}": html(f"Good {n}", f"<p>Number {n} is a good page.</p>") for n in range(good)}
    pipe.site = replace(pipe.site, start=docs.url("/docs/"))
    summary = await pipe.crawl()
    assert await pipe.live() == {"", *(f"good-{n}" for n in range(good))}
    assert ("itemap" in (summary.cycle.problem or "")) == (kind != "empty")
    assert exit_status([summary], 1) == (kind != "empty")


# --- crawl-03


async def test_a_start_that_moves_out_of_the_site(
    pipe: Pipeline, docs: DocSite, told: Callable[[str], dict[str, object]]
) -> None:
    case = told("crawl-03")
    start, answers = str(case["start"]), str(case["answers"])
    target = part(r"\d+ to (/[^ ,]+)", answers)
    docs.pages[start] = redirect(target, int(part(r"^(\d+) to", answers)))
    link = part(r"links to (\S+)", answers)
    docs.pages[target] = html("Start", f"<p>Begin.</p><a href='{link}'>on</a>")
    pipe.site = replace(pipe.site, start=docs.url(start))
    summary = await pipe.crawl()
    assert docs.url(target) in (summary.cycle.problem or "")
    assert exit_status([summary], 1) == 3


async def test_a_start_that_moves_within_the_site(
    pipe: Pipeline, docs: DocSite, told: Callable[[str], dict[str, object]]
) -> None:
    neighbour = str(told("crawl-03")["neighbour"])
    target = part(r"to (/\S+)", neighbour)
    docs.pages[part(r"^(/\S*)", neighbour)] = redirect(target, int(part(r"answers (\d+)", neighbour)))
    docs.pages[target] = html("Start", "<p>Begin.</p>")
    summary = await pipe.crawl()
    assert summary.cycle.problem is None
    assert exit_status([summary], 1) == 0
    assert len(await pipe.live()) == 1


# --- crawl-04


def deeper(text: str) -> tuple[str, Callable[[Request], str | None]]:
    under, link = part(r"path under (/\S+)", text), part(r"links relatively to (\S+)", text)
    body = html("Cluster", f"<p>How the cluster is run.</p><a href='{link}'>on</a>")
    return f"{under}index.html", lambda request: body if request.url.path.startswith(under) else None


def query(text: str) -> tuple[str, Callable[[Request], str | None]]:
    added = re.findall(r"&\w+=\d+", text)
    assert added

    def answer(request: Request) -> str | None:
        links = "".join(f"<a href='?{request.url.query}{more}'>more</a>" for more in added)
        return html("List", f"<p>All of the list.</p>{links}") if request.url.path == "/" else None

    return "/", answer


def cal(text: str) -> tuple[str, Callable[[Request], str | None]]:
    name, number = part(r"(\w+)\?\w+=N", text), part(r"\?(\w+)=N", text)

    def answer(request: Request) -> str | None:
        at = int(request.query_params.get(number, 1))
        following = f"<a href='/{name}?{number}={at + 1}'>next</a>"
        body = html("Releases", f"<p>{number} {at}: nothing came out.</p>{following}")
        return body if request.url.path == f"/{name}" else None

    return f"/{name}", answer


SITES = {"deeper": deeper, "query": query, "cal": cal}


@pytest.mark.parametrize("kind", SITES)
async def test_addresses_without_end(
    pipe: Pipeline, docs: DocSite, kind: str, told: Callable[[str], dict[str, object]]
) -> None:
    case = told("crawl-04")
    assert case.keys() - {"source"} == SITES.keys()
    start, answer = SITES[kind](str(case[kind]))

    def respond(request: Request) -> Response:
        body = None if request.url.path.endswith((".txt", ".xml")) else answer(request)
        return Response(body or "", status_code=200 if body else 404, headers={"content-type": HTML})

    docs.fallback = respond
    pipe.site = replace(pipe.site, start=docs.url(start))
    summary = await pipe.crawl()
    assert "not followed further" in (summary.cycle.problem or "")
    assert len(docs.requests) < 400
