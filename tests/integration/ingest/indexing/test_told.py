"""What is told (docs.nodes) of sections that were known: each change, whenever processes die, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from ingest.events.codec import dump_event
from ingest.events.topics import PAGES
from ingest.model import NodeChange, NodesEvent
from tests.fakes.docsite import DocSite, redirect, status
from tests.fakes.dying import STORES, Dies, Killed
from tests.fakes.pipeline import BASE, Pages, Pipeline, listing, small_pipeline
from tests.fakes.publishing import publish, sections
from tests.fakes.site import html

PUMPS = html(
    "Pumps", "<p>Pumps move water.</p><h2>Priming</h2><p>Fill the pump first.</p><h2>Seals</h2><p>Grease the seal.</p>"
)


async def later(pipe: Pipeline, wrap: Any = None) -> None:
    pipe.clock.advance(days=9)
    await pipe.cycle()
    await (pipe.work(wrap=wrap) if wrap else pipe.work())


def changes(events: list[NodesEvent]) -> list[NodeChange]:
    return [change for event in events for change in event.changes]


async def test_a_first_index_and_a_page_that_says_the_same_tell_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=PUMPS)
    await pipe.settle()
    publish(docs, a=PUMPS.replace("<main>", "<!-- build 2 --><nav><a href='/new'>New</a></nav><main>"))
    await later(pipe)
    await pipe.crawl(rebuild=True, accept=True)
    assert await pipe.told() == []


async def test_an_edit_tells_of_the_sections_that_it_changed(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=PUMPS)
    await pipe.settle()
    ids = await pipe.ids(docs.url("/a"))
    publish(docs, a=PUMPS.replace("Grease the seal.", "Oil the seal."))
    await later(pipe)
    [event] = await pipe.told()
    record = await pipe.record(docs.url("/a"))
    assert (event.key, event.seq, event.state, event.at) == (record.key, record.seq, "live", record.changed_at)
    assert event.changes == (NodeChange(ids["Seals"], "changed"),)
    await pipe.crawl(accept=True)
    assert {each.id for each in await pipe.told()} == {event.id}


async def test_what_another_parser_makes_of_a_page_tells_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=PUMPS)
    await pipe.settle()
    stored = await pipe.trees.get(docs.url("/a"))
    assert stored
    assert stored.record.page
    old = replace(stored.record.page, parser_version="0", nodes=stored.record.page.nodes[:-1])
    await pipe.trees.put(replace(stored.record, page=old), stored.revision)
    event = (await pipe.sent())[0]
    await pipe.events.append(
        PAGES, event.key, dump_event(replace(event, seq=await pipe.trees.reserve(event.key, "docs")))
    )
    await pipe.work()
    assert len((await pipe.page(docs.url("/a"))).nodes) == 3
    assert await pipe.told() == []


async def test_a_page_that_went_tells_that_its_sections_went(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=PUMPS, b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    ids = await pipe.ids(docs.url("/a"))
    docs.pages["/a"] = status(410)
    await later(pipe)
    assert [(event.state, event.target) for event in await pipe.told()] == [("gone", None)]
    assert changes(await pipe.told()) == [NodeChange(each, "went") for each in ids.values()]


async def test_a_page_that_moved_tells_where_its_sections_are(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=PUMPS)
    await pipe.settle()
    ids = await pipe.ids(docs.url("/a"))
    docs.pages["/a"] = redirect("/new")
    publish(docs, new=PUMPS.replace("<h2>Seals</h2><p>Grease the seal.</p>", ""))
    await later(pipe)
    told = await pipe.told()
    assert {event.key for event in told} == {docs.url("/new"), docs.url("/a")}
    [moved] = [event for event in told if event.key == docs.url("/new")]
    assert moved.changes == (
        NodeChange(ids["Pumps"], "moved"),
        NodeChange(ids["Priming"], "moved"),
        NodeChange(ids["Seals"], "went"),
    )
    [left] = [event for event in told if event.key == docs.url("/a")]
    assert (left.state, left.target, left.changes) == ("moved", docs.url("/new"), (NodeChange(ids["Seals"], "went"),))


async def test_of_two_pages_that_become_equal_one_tells_that_its_sections_stand_on_the_other(
    pipe: Pipeline, docs: DocSite
) -> None:
    publish(docs, a=PUMPS, b=sections(2))
    await pipe.settle()
    ids, stays = await pipe.ids(docs.url("/b")), await pipe.ids(docs.url("/a"))
    publish(docs, b=PUMPS)
    await later(pipe)
    [event] = await pipe.told()
    assert (event.key, event.state, event.target) == (docs.url("/b"), "alias", docs.url("/a"))
    assert [change.node for change in event.changes] == list(ids.values())
    assert {part for change in event.changes for part in change.parts} <= set(stays.values())


@pytest.mark.parametrize("edited_again", [False, True])
async def test_what_a_crawl_that_died_did_not_tell_is_told_before_the_page_is_written_again(
    pipe: Pipeline, docs: DocSite, edited_again: bool
) -> None:
    """No event comes again to a crawl: the next one has events of its own."""
    publish(docs, a=PUMPS)
    await pipe.crawl()
    ids = await pipe.ids(docs.url("/a"))
    publish(docs, a=PUMPS.replace("Grease", "Oil"))
    there, pipe.events = pipe.events, Dies(1, ("append",))(pipe.events)
    with pytest.raises(BaseExceptionGroup):
        await pipe.crawl()
    pipe.events = there
    if edited_again:
        publish(docs, a=PUMPS.replace("Grease", "Oil").replace("Fill", "Prime"))
    await pipe.crawl(accept=True)
    assert {change.node for change in changes(await pipe.told())} == (
        {ids["Seals"], ids["Priming"]} if edited_again else {ids["Seals"]}
    )


EDITS: dict[str, list[Pages]] = {
    "edited": [{"a": PUMPS.replace("Grease", "Oil")}, {"a": PUMPS.replace("Fill the pump", "Prime it")}],
    "removed": [{"a": 410}, {"b": html("B", "<p>Page b, edited.</p>")}],
    "moved": [
        {"a": (301, f"{BASE}new"), "new": PUMPS.replace("Grease", "Oil")},
        {"new": PUMPS.replace("Grease", "Wipe")},
    ],
    "equal": [{"b": PUMPS}, {"a": PUMPS.replace("Grease", "Oil")}],
}


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS.keys())
async def test_no_change_is_lost_wherever_the_process_dies(edits: list[Pages]) -> None:
    """Killed in front of each write in turn: what is told is what a process tells that never died."""
    wanted, _ = await told_of(edits, Dies(1_000, (*STORES, "append")))
    assert len(wanted) >= 2
    for write in count(1):
        found, killed = await told_of(edits, Dies(write, (*STORES, "append")))
        assert found == wanted, f"killed at write {write}"
        if not killed:
            break
    assert write > 6


async def told_of(edits: list[Pages], dies: Dies) -> tuple[set[tuple[str, NodeChange]], bool]:
    """What is told of each edit, and whether the process died meanwhile."""
    pages: Pages = {f"{BASE}a": PUMPS, f"{BASE}b": sections(2)}
    killed = False
    async with small_pipeline(pages) as pipe:
        for edit in ({}, *edits):
            pages |= {BASE + name: answer for name, answer in edit.items()}
            pages[f"{BASE}sitemap.xml"] = listing(pages)
            pipe.clock.advance(days=9)
            await pipe.cycle()
            try:
                await pipe.work(wrap=dies if edit else lambda store: store)
            except Killed:
                killed = True
                await pipe.work()
        return {(event.key, change) for event in await pipe.told() for change in event.changes}, killed
