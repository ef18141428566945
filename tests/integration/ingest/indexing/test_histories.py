"""Whatever happens to a site, and whenever processes die over it: in the end the stores hold what an index made from
scratch would hold, ids, numbers and times aside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.events.codec import dump_event
from ingest.events.topics import PAGES
from ingest.model import Page, Site
from tests.fakes.dying import Dies, Killed
from tests.fakes.pipeline import BASE, Pages, Pipeline, listing, small_pipeline
from tests.fakes.site import html

SITE = Site("docs", BASE)
NAMES = "abcde"

names = st.sampled_from(NAMES)
edits = st.tuples(st.just("edit"), names, st.integers(0, 3), st.integers(0, 3))
changes = st.one_of(
    edits,
    st.tuples(st.just("remove"), names),
    st.tuples(st.just("hide"), names),
    st.tuples(st.just("move"), names, names),
    st.tuples(st.just("copy"), names, names),
)
work = st.one_of(
    st.just(("work",)),
    st.tuples(st.just("crash"), st.integers(1, 12)),
    st.tuples(st.just("again"), st.integers(0, 30)),
    st.just(("lose",)),
)
rounds = st.tuples(
    st.lists(changes | edits, min_size=1, max_size=3), st.booleans(), st.lists(work, min_size=1, max_size=3)
)
"""Changes of the site, a watch cycle (of pages that are due, or not yet), and what the indexer comes to do."""


def body(first: int, count: int) -> str:
    parts = "".join(f"<h2 id='s{n}'>Part {n}</h2><p>Words of part {n}.</p>" for n in range(first, first + count))
    return html(f"Page {first}", f"<p>Begins with {first}.</p>{parts}")


async def apply(pipe: Pipeline, pages: Pages, step: tuple[Any, ...]) -> None:
    match step:
        case "edit", name, first, count:
            pages[BASE + name] = body(first, count)
        case "remove", name:
            pages[BASE + name] = 410
        case "hide", name:
            pages[BASE + name] = html("Hidden", "<p>x</p>", "<meta name='robots' content='noindex'>")
        case "move", name, to if name != to and isinstance(pages.get(BASE + name), str):
            pages[BASE + to], pages[BASE + name] = pages[BASE + name], (301, BASE + to)
        case "copy", name, to if isinstance(pages.get(BASE + name), str):
            pages[BASE + to] = pages[BASE + name]
        case "cycle", later:
            if later:
                pipe.clock.advance(hours=1)
            pages[BASE + "sitemap.xml"] = listing(pages)
            await pipe.cycle()
        case ("work",):
            await pipe.work()
        case "crash", write:
            with suppress(Killed):
                await pipe.work(wrap=Dies(write))
        case "again", number:
            if sent := await pipe.sent():
                event = sent[number % len(sent)]
                await pipe.events.append(PAGES, event.key, dump_event(event))
        case ("lose",):
            real, pipe.events = pipe.events, Forgetful()  # type: ignore[assignment]
            await pipe.cycle()
            pipe.events = real


class Forgetful:
    """An event log that keeps nothing."""

    async def append(self, topic: str, key: str, value: bytes | None) -> None:
        """Lost."""


async def come_to_rest(pipe: Pipeline, pages: Pages) -> None:
    """Pages of one text look like a bad day of the site: the operator says that they are right."""
    pages[BASE + "sitemap.xml"] = listing(pages)
    await be_quiet(pipe)
    await pipe.crawl(accept=True)
    await be_quiet(pipe)


async def be_quiet(pipe: Pipeline) -> None:
    for _ in range(8):
        pipe.clock.advance(days=9)
        sent = len(await pipe.sent())
        await pipe.settle()
        if len(await pipe.sent()) == sent:
            return
    raise AssertionError(f"never comes to rest: {(await pipe.sent())[-5:]}")


def blank(page: Page) -> Page:
    """Without ids."""
    order = {node.id: str(number) for number, node in enumerate(page.nodes)}
    nodes = (replace(n, id=order[n.id], parent=n.parent and order[n.parent]) for n in page.nodes)
    return replace(page, nodes=tuple(nodes))


async def content(pipe: Pipeline) -> dict[str, Any]:
    """What the stores hold: live pages, aliases, skipped pages, and the chunks of each."""
    found: dict[str, Any] = {}
    for key, state in (await pipe.states()).items():
        record = await pipe.record(key)
        chunks = sorted((await pipe.index.ids_of(key)).values())
        if state in ("live", "alias", "skipped") or chunks:
            found[key] = (state, record.target, record.reason, record.page and blank(record.page), chunks)
    return found


@settings(max_examples=30)
@given(st.lists(rounds, min_size=2, max_size=6))
async def test_any_history_ends_as_an_index_made_from_scratch(
    history: list[tuple[list[tuple[Any, ...]], bool, list[tuple[Any, ...]]]],
) -> None:
    pages: Pages = {BASE: body(9, 2), **{BASE + name: body(number, 2) for number, name in enumerate(NAMES)}}
    async with small_pipeline(pages) as pipe, small_pipeline(pages) as fresh:
        await come_to_rest(pipe, pages)
        for changed, later, worked in history:
            for step in (*changed, ("cycle", later), *worked):
                await apply(pipe, pages, step)
        await come_to_rest(pipe, pages)
        await come_to_rest(fresh, pages)
        assert await content(pipe) == await content(fresh)
        assert await pipe.stray() == {}
        assert await pipe.dead() == []
