"""The site has a bad day between the watch cycle that announced a page and the indexer that reads it: nothing is taken of it,
and when the site is back, the next cycle says it all again."""

from __future__ import annotations

import pytest

from ingest.events.announce import Announcer, to_log
from ingest.indexing.reindex import announce
from tests.fakes.docsite import DocSite, redirect
from tests.fakes.pipeline import Pipeline
from tests.fakes.publishing import publish
from tests.fakes.site import html
from tests.integration.ingest.watch.test_bad_days import EVERYWHERE, PAGES_ONLY, fall, guide, held, rise
from tests.integration.ingest.watch.test_interstitials import OF_PRODUCTS

KINDS = [*EVERYWHERE, *PAGES_ONLY, "to the start", "to a form"]
AFTER = {
    **guide(", edited"),
    "": guide()[""],
    "pumps": html("Moving water", "<p>All of it was written anew, with new pictures of each part.</p>"),
    "hoses": html("Hoses", "<p>What hoses do.</p><h2>Care</h2><p>Roll them up when they are dry.</p>"),
}


@pytest.fixture
async def plant(pipe: Pipeline, docs: DocSite) -> Pipeline:
    rise(docs)
    await pipe.crawl()
    return pipe


def fallen(docs: DocSite, kind: str) -> None:
    if kind.startswith("to "):
        to = "/" if kind == "to the start" else "/login"
        docs.pages |= {path: redirect(to) for path in docs.pages if path not in ("/", "/sitemap.xml")}
        docs.pages["/login"] = PAGES_ONLY["login"]
    else:
        fall(docs, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_announced_before_a_bad_day_is_taken_after_it(plant: Pipeline, docs: DocSite, kind: str) -> None:
    before, embedded = await held(plant, docs), len(plant.embedder.embedded)
    publish(docs, **AFTER)
    plant.clock.advance(hours=25)
    await plant.cycle()  # announces all of it
    fallen(docs, kind)
    await plant.work()
    assert (await held(plant, docs), len(plant.embedder.embedded)) == (before, embedded)
    rise(docs)
    publish(docs, **AFTER)
    for _ in range(3):
        plant.clock.advance(hours=25)
        await plant.settle()
    after = await held(plant, docs)
    assert len(await plant.live()) == len(AFTER)
    assert {at: node for at, node in after.items() if at in before and "pumps" not in at} == {
        at: node for at, node in before.items() if "pumps" not in at
    }
    assert "written anew" in (await plant.page(docs.url("/pumps"))).nodes[0].text
    assert await plant.stray() == {}


@pytest.mark.parametrize("kind", KINDS)
async def test_pages_that_are_read_again_on_a_bad_day_stay(plant: Pipeline, docs: DocSite, kind: str) -> None:
    before, embedded = await held(plant, docs), len(plant.embedder.embedded)
    fallen(docs, kind)
    pages = [state async for state in plant.trees.scan("docs")]
    await announce(pages, Announcer(plant.trees, to_log(plant.events), plant.clock), plant.trees)
    await plant.work()
    assert (await held(plant, docs), len(plant.embedder.embedded)) == (before, embedded)


@pytest.mark.parametrize("kind", ["to the start", "login", "home", "maint"])
async def test_a_page_that_moved_is_not_taken_from_a_bad_day_at_its_new_address(
    plant: Pipeline, docs: DocSite, kind: str
) -> None:
    before = await plant.ids(docs.url("/pumps"))
    pages = guide()
    publish(docs, **{("lifts" if name == "pumps" else name): page for name, page in pages.items()})
    docs.pages["/pumps"] = redirect("/lifts", 301)
    plant.clock.advance(hours=25)
    await plant.cycle()
    there = docs.pages.copy()
    fallen(docs, kind)
    await plant.work()
    assert await plant.ids(docs.url("/pumps")) == before
    docs.pages = there
    for _ in range(3):
        plant.clock.advance(hours=25)
        await plant.settle()
    assert await plant.ids(docs.url("/lifts")) == before


@pytest.mark.parametrize("kind", OF_PRODUCTS)
async def test_whoever_announces_without_having_looked_is_not_given_a_notice_for_a_page(
    plant: Pipeline, docs: DocSite, kind: str
) -> None:
    before = await held(plant, docs)
    docs.pages |= OF_PRODUCTS[kind]
    await Announcer(plant.trees, to_log(plant.events), plant.clock).changed("docs", docs.url("/pumps"))
    await plant.work()
    assert await held(plant, docs) == before
