"""One page alone turns into something else, while addresses that do not exist are 404: it is kept, tried again, and believed
when it has stayed so. What only looks like it is believed at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.model import Site
from tests.fakes.docsite import Behaviour, DocSite, redirect, status
from tests.fakes.pipeline import Pipeline, pipeline
from tests.fakes.publishing import publish
from tests.fakes.site import html
from tests.integration.ingest.watch.test_bad_days import AKAMAI, LOGIN, MOMENT, TOPICS, guide, held, look, rise
from tests.unit.ingest.html.test_interstitial import MAYBE, SURE

PUMPS = "/pumps"
LOGIN_PAGE = {"/login": LOGIN}
NOTICES: dict[str, dict[str, str | Behaviour]] = {
    "login": {PUMPS: LOGIN},
    "ray": {PUMPS: MOMENT},
    "akamai": {PUMPS: AKAMAI},
    "retry-after": {PUMPS: status(200, html("Scheduled work", "<p>New shelves.</p>"), retry_after="3600")},
    "noindex": {PUMPS: html("Sign in", "<p>Your name, please.</p>", "<meta name=robots content=noindex>")},
    "to a form": {PUMPS: redirect("/login?next=/pumps"), **LOGIN_PAGE},
    "for good": {PUMPS: redirect("/login", 301), **LOGIN_PAGE},
    "by refresh": {PUMPS: "<meta http-equiv=refresh content='0; url=/login'>", **LOGIN_PAGE},
}
OF_PRODUCTS = {name: {PUMPS: body} for name, (body, _) in {**MAYBE, **SURE}.items()}
WAYS = [*((kind, how) for kind in NOTICES for how in ("index", "watch")), *((kind, "index") for kind in OF_PRODUCTS)]


@pytest.fixture
async def plant(pipe: Pipeline, docs: DocSite) -> Pipeline:
    rise(docs)
    await pipe.crawl()
    return pipe


def fall(docs: DocSite, kind: str) -> None:
    docs.pages.update({**NOTICES, **OF_PRODUCTS}[kind])


@pytest.mark.parametrize(("kind", "how"), WAYS)
async def test_one_page_that_turns_alone_is_kept_until_it_is_back(
    plant: Pipeline, docs: DocSite, kind: str, how: str
) -> None:
    before, embedded = await held(plant, docs), len(plant.embedder.embedded)
    fall(docs, kind)
    for _ in range(2):
        assert not await look(plant, how)
        assert await held(plant, docs) == before
    rise(docs)
    assert await look(plant, how)
    assert await held(plant, docs) == before
    assert len(plant.embedder.embedded) == embedded
    assert await plant.stray() == {}


@pytest.mark.parametrize("how", ["index", "watch"])
@pytest.mark.parametrize("kind", ["login", "retry-after", "maintenance", "for good"])
async def test_what_has_stayed_for_a_day_and_three_looks_is_believed(
    plant: Pipeline, docs: DocSite, kind: str, how: str
) -> None:
    fall(docs, kind)
    for _ in range(3):
        await look(plant, how)
    record = await plant.record(docs.url(PUMPS))
    assert record.state == ("moved" if kind == "for good" else "live")
    assert record.page is None or "What pumps do" not in record.page.nodes[0].text
    assert await look(plant, how)


@pytest.mark.parametrize("kind", ["cloudflare", "saml"])
async def test_a_check_is_no_page_however_long_it_stays(plant: Pipeline, docs: DocSite, kind: str) -> None:
    before = await held(plant, docs)
    fall(docs, kind)
    for _ in range(5):
        assert not await look(plant, "index")
    assert await held(plant, docs) == before


async def test_the_other_pages_go_on_meanwhile(plant: Pipeline, docs: DocSite) -> None:
    fall(docs, "login")
    for number in range(2):
        docs.pages["/seals"] = guide(f", edited {number}")["seals"]
        await look(plant, "watch")
        assert f"edited {number}" in (await plant.page(docs.url("/seals"))).nodes[0].text


async def test_where_more_than_a_share_turns_each_in_its_own_way_nothing_is_believed(
    plant: Pipeline, docs: DocSite
) -> None:
    before = await held(plant, docs)
    kinds = [*MAYBE][:5]
    docs.pages |= {f"/{topic}": MAYBE[kind][0] for topic, kind in zip(TOPICS, kinds, strict=False)}
    summary = await plant.crawl()
    assert summary.cycle.stopped
    assert await held(plant, docs) == before


LONG = "<p>" + "Who works at the pump writes a name into the book, and the time of day. " * 12 + "</p>"
EDITS: dict[str, str] = {
    "a rewrite": html("Moving water", "<p>Everything about moving water was written anew. It is better now.</p>"),
    "a stub": html("Pumps", "<p>Nothing here yet.</p>"),
    "moved to": html("Pumps are elsewhere", "<p>This page is now <a href='/seals'>with the seals</a>.</p>"),
    "about signing in": html(
        "Signing in at the pump", "<h2>By hand</h2><form><input type=password></form><pre>&lt;input&gt;</pre><p>Turn it.</p>"
    ),
    "a longer text about maintenance": html("Maintenance", f"<p>How pumps are kept in good order.</p>{LONG}"),
    "the same title": html("Pumps", "<p>Log in to the pump with your badge.</p><form><input type=password></form>"),
    "an edit with a form": guide()["pumps"].replace("<h2", "<form><input type=password></form><h2", 1),
}  # fmt: skip


@pytest.mark.parametrize("how", ["index", "watch"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_what_only_looks_like_it_is_believed_at_once(plant: Pipeline, docs: DocSite, edit: str, how: str) -> None:
    docs.pages[PUMPS] = edit
    assert await look(plant, how)
    told = "\n".join(f"{node.title} {node.text}" for node in (await plant.page(docs.url(PUMPS))).nodes)
    assert edit.partition("<p>")[2].partition("<")[0] in told


async def test_pages_about_signing_in_are_indexed(pipe: Pipeline, docs: DocSite) -> None:
    publish(
        docs, **guide() | {"": html("Sign in", "<p>Use your company account.</p><form><input type=password></form>")}
    )
    await pipe.crawl()
    assert "company account" in (await pipe.page(docs.url("/"))).nodes[0].text


@pytest.mark.parametrize("kind", ["saml", "password", "perimeterx"])
async def test_a_file_of_a_folder_stands_in_for_nothing(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "example.html").write_text(guide()["pumps"], encoding="utf-8")
    async with pipeline(Site("docs", str(folder))) as pipe:
        await pipe.crawl()
        example = html("Signing in at the pump", "<p>This form shows how a pump signs in.</p>")
        (folder / "example.html").write_text(example + {**MAYBE, **SURE}[kind][0], encoding="utf-8")
        summary = await pipe.crawl()
        assert not summary.cycle.failed
        assert summary.outcomes["changed"] == 1
