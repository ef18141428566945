"""What documentation sites do to those who watch them (the situations seen in public reports), from the site's own
server to what the stores hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from ingest.events.codec import dump_event
from ingest.events.topics import PAGES
from ingest.indexing.service import INDEXER_GROUP
from ingest.watch.report import watch_report
from tests.fakes.docsite import Behaviour, DocSite, flipping, page, redirect, status
from tests.fakes.dying import Dies, Killed
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.pipeline import Pipeline
from tests.fakes.publishing import many, publish, sections
from tests.fakes.site import html


async def quiet(pipe: Pipeline, cycles: int = 3) -> None:
    """The same again, several times, much later each time: nothing may be sent or embedded."""
    sent, embedded = len(await pipe.sent()), len(pipe.embedder.embedded)
    for _ in range(cycles):
        pipe.clock.advance(days=8)
        await pipe.settle()
    assert len(await pipe.sent()) == sent
    assert len(pipe.embedder.embedded) == embedded


# --- 1-4: validators, listings and dates that lie


async def test_a_page_that_is_not_modified_stays_and_nothing_is_sent(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=page(html("A", "<p>Page a.</p>"), etag='"1"', last_modified="Tue, 01 Jul 2025 10:00:00 GMT"))
    for _ in range(4):
        await pipe.settle()
        pipe.clock.advance(days=2)
    asked = [seen.headers.get("if-none-match") for seen in docs.requests if seen.path == "/a"]
    assert asked[0] is None
    assert asked[-1] == '"1"'
    assert [event.key for event in await pipe.sent()] == [docs.url("/a")]
    assert await pipe.live() == {"a"}
    await quiet(pipe)


@pytest.mark.parametrize(
    "broken",
    [
        page("<urlset></urlset>", content_type="text/xml"),
        status(503),
        status(200, html("Oops", "<p>Something went wrong.</p>")),
        status(404),
    ],
    ids=["empty", "503", "html", "404"],
)
@pytest.mark.parametrize("named", [True, False])
async def test_a_broken_sitemap_removes_nothing_and_is_an_alert(
    pipe: Pipeline, docs: DocSite, broken: Behaviour, named: bool
) -> None:
    if named:
        pipe.site = replace(pipe.site, sitemap=docs.url("/sitemap.xml"))
    publish(docs, **many(7))
    await pipe.settle()
    docs.pages["/sitemap.xml"] = broken
    docs.pages["/p3"] = html("Page 3", "<p>Edited while the sitemap was broken.</p>")
    pipe.clock.advance(hours=1)
    summary = await pipe.settle()
    assert summary.problem
    assert "itemap" in summary.problem
    assert (await watch_report(pipe.trees, "docs")).alerts
    assert len(await pipe.live()) == 7
    assert "Edited" in (await pipe.page(docs.url("/p3"))).nodes[0].text
    publish(docs)
    await pipe.settle()
    assert not (await watch_report(pipe.trees, "docs")).alerts


async def test_a_date_that_is_always_now_embeds_nothing_and_is_soon_not_believed(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, "2026-01-01T00:00:00Z", a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    pipe.clock.advance(days=1)
    await pipe.settle()
    embedded, looks = len(pipe.embedder.embedded), docs.count("/a")
    for minute in range(1, 9):
        publish(docs, f"2026-01-02T00:{minute:02}:00Z")
        await pipe.settle()
    assert docs.count("/a") - looks == 3
    assert (len(await pipe.sent()), len(pipe.embedder.embedded)) == (1, embedded)


async def test_a_new_date_is_a_reason_to_look_at_once(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, "2026-01-01", a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    publish(docs, "2026-01-02", a=html("A", "<p>Page a, edited.</p>"))
    await pipe.settle()
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a, edited."


async def test_a_frozen_date_hides_no_change(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, "2026-01-01", a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    publish(docs, "2026-01-01", a=html("A", "<p>Page a, edited.</p>"))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a, edited."


async def test_validators_that_lie_are_found_out_by_the_full_check(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=page(html("A", "<p>Page a.</p>"), etag='"1"'))
    for _ in range(2):
        await pipe.settle()
        pipe.clock.advance(days=1)
    publish(docs, a=page(html("A", "<p>Page a, edited.</p>"), etag='"1"'))
    await pipe.settle()
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a."
    pipe.clock.advance(days=8)
    await pipe.settle()
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a, edited."


async def test_validators_that_flip_send_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=flipping(html("A", "<p>Page a.</p>")))
    await pipe.settle()
    await quiet(pipe)


# --- 5-6: what is gone, and what only seems so


async def test_one_404_removes_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    docs.pages["/a"] = status(404)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"a", "b"}
    assert (await watch_report(pipe.trees, "docs")).missing == (docs.url("/a"),)
    docs.pages["/a"] = html("A", "<p>Page a.</p>")
    pipe.clock.advance(days=1)
    await pipe.settle()
    assert len(await pipe.sent()) == 2
    assert (await watch_report(pipe.trees, "docs")).missing == ()


async def test_a_page_that_stays_missing_goes_from_both_stores(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    docs.pages["/a"] = status(404)
    looks = 0
    while "a" in await pipe.live():
        pipe.clock.advance(hours=8)
        await pipe.settle()
        looks += 1
        assert looks < 10
    assert looks == 4  # three misses, over a day
    assert (await pipe.record(docs.url("/a"))).reason == "HTTP 404"
    assert await pipe.index.count() == 1


async def test_410_goes_at_once(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    docs.pages["/a"] = status(410)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"b"}
    assert await pipe.index.count() == 1
    await quiet(pipe)


@pytest.mark.parametrize("code", [403, 429, 500, 503])
async def test_a_server_that_refuses_for_a_while_changes_nothing(pipe: Pipeline, docs: DocSite, code: int) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    fine = docs.pages["/a"]
    docs.pages["/a"] = status(code, html("Sorry", "<p>You cannot see this page now.</p>"))
    for _ in range(3):
        pipe.clock.advance(days=2)
        await pipe.settle()
    assert (await watch_report(pipe.trees, "docs")).failing[0][0] == docs.url("/a")
    docs.pages["/a"] = fine
    pipe.clock.advance(days=2)
    await pipe.settle()
    assert len(await pipe.sent()) == 1
    assert await pipe.live() == {"a"}
    assert (await watch_report(pipe.trees, "docs")).failing == ()


async def test_retry_after_is_waited_for(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    docs.pages["/a"] = status(503, retry_after="7200")
    pipe.clock.advance(hours=1)
    await pipe.settle()
    looks = docs.count("/a")
    pipe.clock.advance(hours=1.9)
    await pipe.settle()
    assert docs.count("/a") == looks
    pipe.clock.advance(hours=0.2)
    await pipe.settle()
    assert docs.count("/a") == looks + 1


async def test_a_dead_page_that_redirects_to_an_error_page_goes(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"), c=html("C", "<p>Page c.</p>"))
    await pipe.settle()
    docs.pages["/a"] = redirect("/error")
    docs.pages["/error"] = html("Page not found", "<p>Sorry, this page does not exist.</p>")
    docs.pages["/b"] = redirect("/nowhere")
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"c"}
    assert docs.url("/error") in ((await pipe.record(docs.url("/a"))).reason or "")
    await quiet(pipe)


async def test_a_page_that_says_that_nothing_is_here_goes(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    docs.pages["/a"] = html("404 Not Found", "<p>Sorry.</p>")
    pipe.clock.advance(hours=1)
    await pipe.settle()
    record = await pipe.record(docs.url("/a"))
    assert (record.state, record.reason) == ("skipped", "soft_404")
    await quiet(pipe)


async def test_an_empty_shell_may_be_a_broken_deployment_and_goes_only_after_a_while(
    pipe: Pipeline, docs: DocSite
) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.settle()
    docs.pages["/a"] = "<html><body></body></html>"
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"a"}
    for _ in range(3):
        pipe.clock.advance(hours=8)
        await pipe.settle()
    assert await pipe.live() == set()


@pytest.mark.parametrize("listed", [True, False], ids=["new address listed", "new address not listed"])
async def test_a_moved_page_is_live_before_the_old_one_leaves_and_embeds_nothing(
    pipe: Pipeline, docs: DocSite, listed: bool
) -> None:
    publish(docs, old=sections(3), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    before, embedded = await pipe.ids(docs.url("/old")), len(pipe.embedder.embedded)
    docs.pages["/old"] = redirect("/new", 301)
    docs.pages["/new"] = sections(3)
    if listed:
        publish(docs)
    pipe.clock.advance(hours=1)
    seen: list[set[str]] = []
    await pipe.cycle()
    await pipe.work(wrap=lambda store: Watched(store, lambda: _note(pipe, seen)))
    assert await pipe.ids(docs.url("/new")) == before
    assert len(pipe.embedder.embedded) == embedded
    assert (await pipe.record(docs.url("/old"))).target == docs.url("/new")
    assert all({"old", "new"} & live for live in seen)
    assert await pipe.stray() == {}
    await quiet(pipe)


async def _note(pipe: Pipeline, seen: list[set[str]]) -> None:
    seen.append(await pipe.live())


class Watched:
    """A store that lets someone look in after each call."""

    def __init__(self, store: Any, look: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._look = look

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            result = await method(*args, **kwargs)
            await self._look()
            return result

        return call


# --- 7-9: changes of content


async def test_a_page_that_shrinks_leaves_no_orphan(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=sections(5))
    await pipe.settle()
    publish(docs, a=sections(2))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert len((await pipe.page(docs.url("/a"))).nodes) == 3
    assert await pipe.stray() == {}
    assert await pipe.index.count() == 3


async def test_two_updates_at_nearly_the_same_time_end_with_the_last(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=sections(5))
    await pipe.settle()
    for count in (7, 2):
        publish(docs, a=sections(count, f" in version {count}"))
        await pipe.watcher().ask([docs.url("/a")])
        await pipe.cycle()
    await pipe.work()
    assert len((await pipe.page(docs.url("/a"))).nodes) == 3
    assert await pipe.stray() == {}


async def test_a_renamed_heading_embeds_only_what_has_it_in_its_input(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=sections(4))
    await pipe.settle()
    before, embedded = await pipe.ids(docs.url("/a")), len(pipe.embedder.embedded)
    publish(docs, a=sections(4).replace("Part 2<", "Chapter 2<"))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    after = await pipe.ids(docs.url("/a"))
    assert len(pipe.embedder.embedded) == embedded + 1
    assert after["Chapter 2"] == before["Part 2"]


async def test_a_page_that_is_split_embeds_only_what_reads_otherwise(pipe: Pipeline, docs: DocSite) -> None:
    half = "<h2 id='b'>Second</h2><p>The text of the second half.</p>"
    publish(docs, a=html("Guide", f"<p>The text of the first half.</p>{half}"))
    await pipe.settle()
    embedded = len(pipe.embedder.embedded)
    publish(docs, a=html("Guide", "<p>The text of the first half.</p>"), b=html("Guide", half))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"a", "b"}
    assert len(pipe.embedder.embedded) == embedded
    assert await pipe.stray() == {}


async def test_two_addresses_of_one_content_both_go(pipe: Pipeline, docs: DocSite) -> None:
    same = html("A", "<p>The same text.</p>")
    publish(docs, a=same, b=same, c=html("C", "<p>Page c.</p>"))
    await pipe.settle()
    assert sorted((await pipe.states()).values()) == ["alias", "live", "live"]
    for name in "ab":
        docs.pages[f"/{name}"] = status(410)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    await quiet(pipe)
    assert await pipe.live() == {"c"}
    assert await pipe.index.count() == 1


async def test_when_the_original_goes_its_copy_lives_on(pipe: Pipeline, docs: DocSite) -> None:
    same = html("A", "<p>The same text.</p>")
    publish(docs, a=same, b=same)
    await pipe.settle()
    docs.pages["/a"] = status(410)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.live() == {"b"}
    assert await pipe.stray() == {}
    await quiet(pipe)


async def test_250_sections_of_which_none_changed_embed_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=sections(250))
    await pipe.settle()
    assert len(pipe.embedder.embedded) == 251
    publish(docs, a=sections(250).replace("<main>", "<!-- build 2 --><main>"))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    await pipe.watcher().ask()
    await pipe.settle()
    assert len(pipe.embedder.embedded) == 251


# --- 10, 11, 14, 15: the service


@pytest.mark.parametrize("write", [1, 2, 3], ids=["before the chunks", "before the record", "before the sweep"])
async def test_killed_between_two_stores_it_converges_after_a_restart(
    pipe: Pipeline, docs: DocSite, write: int
) -> None:
    publish(docs, a=sections(3))
    await pipe.settle()
    publish(docs, a=sections(2, " edited"))
    pipe.clock.advance(hours=1)
    await pipe.cycle()
    with pytest.raises(Killed):
        await pipe.work(wrap=Dies(write))
    await pipe.work()
    assert (await pipe.page(docs.url("/a"))).nodes[1].text == "Text of part number 0 edited."
    assert await pipe.stray() == {}
    assert await pipe.dead() == []


class Poisoned(HashingEmbedder):
    """Runs out of memory over one word."""

    async def embed(self, texts: Any) -> Any:
        if any("poison" in text for text in texts):
            raise MemoryError("no memory left for this batch")
        return await super().embed(texts)


async def test_a_page_that_cannot_be_embedded_is_given_up_with_the_reason_and_the_others_go_on(
    pipe: Pipeline, docs: DocSite
) -> None:
    pipe.embedder = Poisoned()
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    publish(docs, a=html("A", "<p>Now with poison.</p>"), b=html("B", "<p>Page b, edited.</p>"))
    pipe.clock.advance(hours=1)
    await pipe.settle()
    [letter] = await pipe.dead()
    [change] = [event for event in await pipe.sent() if event.key == docs.url("/a")][1:]
    assert "MemoryError: no memory left" in letter.reason
    assert "attempt 3" in letter.reason
    assert (letter.record.topic, letter.record.key, letter.record.value) == (PAGES, change.key, dump_event(change))
    assert letter.record.offset >= 0
    assert (await pipe.page(docs.url("/a"))).nodes[0].text == "Page a."
    assert (await pipe.page(docs.url("/b"))).nodes[0].text == "Page b, edited."
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 0


async def test_an_event_that_comes_twice_writes_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, a=sections(3), b=html("B", "<p>Page b.</p>"))
    await pipe.settle()
    docs.pages["/b"] = status(410)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    before = [await pipe.trees.get(docs.url(path)) for path in ("/a", "/b")]
    for event in await pipe.sent():
        await pipe.events.append(PAGES, event.key, dump_event(event))
    await pipe.work(wrap=Dies(1))
    assert [await pipe.trees.get(docs.url(path)) for path in ("/a", "/b")] == before


async def test_a_new_navigation_bar_on_all_pages_sends_nothing(pipe: Pipeline, docs: DocSite) -> None:
    publish(docs, **many(9))
    await pipe.settle()
    before = [await pipe.ids(docs.url(f"/p{n}")) for n in range(9)]
    bar = "<nav><ul><li><a href='/p1'>New</a></li></ul></nav>"
    publish(
        docs, **{name: str(body).replace("<main>", f"{bar}<main data-build='77'>") for name, body in many(9).items()}
    )
    await quiet(pipe)
    assert [await pipe.ids(docs.url(f"/p{n}")) for n in range(9)] == before
    assert docs.count("/p1") >= 4
