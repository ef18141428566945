"""A site answers 200 with something else than its pages: nothing is lost, embedded or renamed, and someone hears of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from ingest.watch.report import accept, watch_report
from tests.fakes.docsite import HTML, Behaviour, DocSite, status
from tests.fakes.pipeline import Pipeline
from tests.fakes.publishing import publish
from tests.fakes.site import html

TOPICS = "pumps valves seals pipes filters motors gauges tanks".split()
numbers = itertools.count(1)


def guide(edit: str = "") -> dict[str, str]:
    """A start page, and eight pages of two sections each."""
    pages = {
        topic: html(
            topic.title(),
            f"<p>What {topic} do, and how to choose among them{edit}.</p>"
            f"<h2 id='fit'>Fitting {topic}</h2><p>Close the main, then fit the {topic} by hand and turn a quarter.</p>"
            f"<h2 id='care'>Care of {topic}</h2><p>Once a year, wash {topic} with soap and look for cracks.</p>",
        )
        for topic in TOPICS
    }
    links = "".join(f"<a href='/{topic}'>{topic}</a> " for topic in TOPICS)
    return {"": html("Plant guide", f"<p>All that turns and drips, from A to Z{edit}.</p>{links}"), **pages}


def says(page: Callable[[Request], str], code: int = 200) -> Behaviour:
    return lambda request: Response(page(request), status_code=code, headers={"content-type": HTML})


def identifier() -> str:
    return f"{next(numbers) * 7919:06d}c4b9a{next(numbers):03x}"


MOMENT = says(
    lambda request: html(
        "Just a moment...",
        f"<p>Checking your browser before you go on to this site.</p><p>Ray ID: {identifier()}</p>",
        "<meta name='robots' content='noindex,nofollow'>",
    )
)
ECHO = says(
    lambda request: html("Maintenance", f"<p>The page {request.url.path} is being worked on. Come back at noon.</p>")
)
LOGIN = says(
    lambda request: html(
        "Sign in", "<form><p>Your name and your password, please.</p><input name=u><input type=password></form>"
    )
)
MAINTENANCE = says(
    lambda request: html("Back soon", "<p>We are working on our pages. Please come back in an hour.</p>")
)
NAMED = says(
    lambda request: html(
        f"{request.url.path} | Plant", f"<p>{request.url.path} cannot be shown just now, since the database rests.</p>"
    )
)
FRONT = says(lambda request: guide()[""])
SHELL = says(lambda request: "<title>Plant</title><div id=root></div><script src=/app.js></script>")
NGINX = says(
    lambda request: "<html><head><title>404 Not Found</title></head><center><h1>404 Not Found</h1></center>nginx"
)
VARNISH = says(
    lambda request: (
        "<title>503 Backend fetch failed</title><h1>Error 503 Backend fetch failed</h1><p>Backend fetch failed"
        f"</p><h3>Guru Meditation:</h3><p>XID: {next(numbers) * 32771}</p><hr><p>Varnish cache server</p>"
    )
)
HEROKU = says(
    lambda request: (
        "<title>Application error</title><iframe src='//www.herokucdn.com/error-pages/application-error.html'>"
    )
)
AKAMAI = says(
    lambda request: (
        "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access"
        f' "{request.url}" on this server.<p>Reference #18.{identifier()}.{next(numbers) * 86413}.{identifier()}'
    )
)
BUCKET = says(
    lambda request: (
        f"<html><body><h1>NoSuchKey</h1><ul><li>Message: The specified key does not exist.</li><li>Key:"
        f" {request.url.path[1:]}</li><li>RequestId: {identifier()}</li></ul></body></html>"
    )
)
PARKED = says(
    lambda request: html("Site not found · Host", "<p>There isn't a site here. Read our page on how to publish.</p>")
)
DOCUMENTS_404 = says(
    lambda request: html(
        "Maze Found",
        f"<p>The page {request.url.path} was sought at {next(numbers)}:00:07 in the version latest, and is not there.</p>",
    )
)
RETRY = status(200, html("Scheduled work", "<p>Back by three, with new shelves.</p>"), retry_after="3600")
EMPTY = status(200, "")
BLANK = status(200, "  \n ")

EVERYWHERE = {
    "ray": MOMENT,
    "echo": ECHO,
    "maint": MAINTENANCE,
    "named": NAMED,
    "nginx": NGINX,
    "varnish": VARNISH,
    "heroku": HEROKU,
    "akamai": AKAMAI,
    "bucket": BUCKET,
    "parked": PARKED,
    "read-the-docs": DOCUMENTS_404,
    "retry-after": RETRY,
    "shell": SHELL,
    "empty": EMPTY,
    "blank": BLANK,
    "front": FRONT,
}
"""At every address, whether there is a page or not."""
PAGES_ONLY = {"login": LOGIN, "home": FRONT, **{f"pages-{name}": page for name, page in EVERYWHERE.items()}}
"""At the addresses of pages; others answer 404."""


def fall(docs: DocSite, kind: str) -> None:
    """The bad day begins."""
    if kind in EVERYWHERE:
        docs.pages, docs.fallback = {"/robots.txt": status(404)}, EVERYWHERE[kind]
    elif kind == "half":
        docs.pages.update({f"/{topic}": MAINTENANCE for topic in TOPICS[:4]})
    else:
        docs.pages.update({path: PAGES_ONLY[kind] for path in docs.pages if not path.endswith(".xml")})


def rise(docs: DocSite) -> None:
    """The site is as it was."""
    docs.pages, docs.fallback = {}, status(404)
    publish(docs, **guide())


async def held(pipe: Pipeline, docs: DocSite) -> dict[str, str]:
    """Section ids by page and title, of everything that is live."""
    return {
        f"{key} {title}": node
        for key, state in (await pipe.states()).items()
        if state == "live"
        for title, node in (await pipe.ids(key)).items()
    }


async def look(pipe: Pipeline, how: str) -> bool:
    """Whether the site is believed."""
    pipe.clock.advance(hours=25)
    if how == "index":
        cycle = (await pipe.crawl()).cycle
    else:
        if how == "hook":
            await pipe.watcher().ask()
        cycle = await pipe.settle()
    return not (cycle.held or cycle.failed or cycle.warnings)


@pytest.fixture
async def plant(pipe: Pipeline, docs: DocSite) -> Pipeline:
    rise(docs)
    await pipe.crawl()
    return pipe


@pytest.mark.parametrize("how", ["index", "watch", "hook"])
@pytest.mark.parametrize("kind", [*EVERYWHERE, *PAGES_ONLY, "half"])
async def test_a_bad_day_changes_nothing_and_is_told(plant: Pipeline, docs: DocSite, kind: str, how: str) -> None:
    before, embedded = await held(plant, docs), len(plant.embedder.embedded)
    fall(docs, kind)
    for _ in range(2):
        assert not await look(plant, how)
        assert await held(plant, docs) == before
    report = await watch_report(plant.trees, "docs")
    assert report.alerts
    rise(docs)
    for _ in range(3):
        await look(plant, how)
    assert await look(plant, how)
    assert await held(plant, docs) == before
    assert len(plant.embedder.embedded) == embedded
    assert not (await watch_report(plant.trees, "docs")).alerts
    assert await plant.stray() == {}


def test_the_days_of_the_case_are_tried(shared: Path) -> None:
    case = json.loads((shared / "cases" / "crawl-01" / "input.json").read_text(encoding="utf-8"))
    assert case["then"].keys() <= {*EVERYWHERE, *PAGES_ONLY, "half"}


# --- what is no bad day


def api(word: str) -> dict[str, str]:
    """Pages that are much alike by nature, as generators of reference pages make them."""
    return {
        f"{name}.h": html(
            f"{name}.h File Reference",
            f"<p>{word} the source code of this file. #include &lt;base.h&gt; #include &lt;config.h&gt;</p>"
            f"<p>Classes in this file: class {name}. {word} the documentation of the project for all else.</p>",
        )
        for name in TOPICS
    }


def redesigned() -> dict[str, str]:
    return {
        "": html("Welcome to the plant", "<p>Choose among eight kinds of parts, or search.</p>"),
        **{
            topic: html(
                f"Working with {topic}",
                f"<nav>Plant</nav><p>New here? Our {topic} come in sizes S to XL.</p><h2>Mounting</h2><p>Bring two people to"
                f" lift {topic}; one holds, one turns.</p>",
            )
            for topic in TOPICS
        },
    }


@pytest.mark.parametrize("how", ["index", "watch"])
@pytest.mark.parametrize(
    ("before", "after"),
    [(guide(), redesigned()), (api("Go to"), api("Browse")), (guide(), guide(", edited"))],
    ids=["redesign", "alike by nature", "edits"],
)
async def test_pages_that_change_together_are_believed(
    pipe: Pipeline, docs: DocSite, how: str, before: dict[str, str], after: dict[str, str]
) -> None:
    publish(docs, **before)
    await pipe.crawl()
    publish(docs, **after)
    assert await look(pipe, how)
    for name, page in after.items():
        told = (await pipe.page(docs.url(f"/{name}"))).nodes[0].text
        assert told[:20] in page.replace("&lt;", "<")
    assert len(await pipe.live()) == len(after)


@pytest.mark.parametrize("pages", [1, 2, 3])
@pytest.mark.parametrize("kind", ["maint", "ray", "echo"])
async def test_a_small_site_is_not_lost_either(pipe: Pipeline, docs: DocSite, pages: int, kind: str) -> None:
    publish(docs, **dict(list(guide().items())[:pages]))
    await pipe.crawl()
    before, embedded = await held(pipe, docs), len(pipe.embedder.embedded)
    fall(docs, kind)
    for _ in range(4):
        assert not await look(pipe, "index")
    assert (await held(pipe, docs), len(pipe.embedder.embedded)) == (before, embedded)


async def test_a_new_home_page_of_a_site_that_gives_it_for_any_address_is_believed(
    pipe: Pipeline, docs: DocSite
) -> None:
    publish(docs, **guide())
    docs.pages = {"/robots.txt": status(404), **docs.pages}
    docs.fallback = FRONT
    await pipe.crawl()
    assert len(await pipe.live()) == 9
    docs.pages["/"] = docs.fallback = says(lambda request: redesigned()[""])
    assert await look(pipe, "index")
    assert "Choose among eight" in (await pipe.page(docs.url("/"))).nodes[0].text


async def test_two_pages_that_become_one_are_one(plant: Pipeline, docs: DocSite) -> None:
    docs.pages["/seals"] = docs.pages["/pipes"]
    assert await look(plant, "index")
    assert (await plant.states())[docs.url("/seals")] == "alias"


@pytest.mark.parametrize("kind", ["ray", "echo", "maint", "login", "home", "named", "akamai"])
async def test_a_site_that_is_down_at_first_is_not_indexed(pipe: Pipeline, docs: DocSite, kind: str) -> None:
    rise(docs)
    fall(docs, kind)
    summary = await pipe.crawl()
    assert (summary.cycle.empty, summary.embedded) == (True, 0)
    assert summary.cycle.problem
    rise(docs)
    pipe.clock.advance(hours=1)
    assert len((await pipe.crawl()).cycle.held) == 0
    assert len(await pipe.live()) == 9


# --- what the operator may say


@pytest.mark.parametrize("kind", ["home", "login", "pages-maint", "pages-nginx"])
@pytest.mark.parametrize("how", ["index", "watch"])
async def test_whoever_says_that_it_is_right_gets_what_is_there(
    plant: Pipeline, docs: DocSite, kind: str, how: str
) -> None:
    fall(docs, kind)
    await look(plant, "watch")
    if how == "index":
        await plant.crawl(accept=True)
    else:
        assert len(await accept(plant.trees, plant.events, plant.clock, "docs")) >= 8
        await plant.work()
    await look(plant, "watch")
    assert len(await plant.live()) <= 1
    assert not (await watch_report(plant.trees, "docs")).held
