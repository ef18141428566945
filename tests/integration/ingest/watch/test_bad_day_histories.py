"""No sequence of bad days and good days, however a site is looked at, loses a page, changes an id or embeds anything."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.pipeline import Pipeline
from tests.fakes.site import html
from tests.integration.ingest.indexing.test_histories import BASE, listing, small_pipeline
from tests.integration.ingest.watch.test_bad_days import TOPICS, guide

AT = {BASE + path: body for path, body in guide().items()}
TEXTS = {
    "ray": lambda url, n: html(
        "Just a moment...", f"<p>Checking your browser.</p><p>Ray ID: 8f{n:05d}c4b9a{n:03x}</p>"
    ),
    "echo": lambda url, n: html("Maintenance", f"<p>The page {url.removeprefix(BASE[:-1])} is being worked on.</p>"),
    "maint": lambda url, n: html("Back soon", "<p>We are working on our pages.</p>"),
    "home": lambda url, n: guide()[""],
    "shell": lambda url, n: "<title>Plant</title><div id=root></div><script src=/app.js></script>",
    "empty": lambda url, n: "",
}


class Weather(dict[str, Any]):
    """The pages; those at `fallen` addresses, or at any (None), give the text of a bad day instead."""

    def __init__(self) -> None:
        super().__init__(AT)
        self[BASE + "sitemap.xml"] = listing(dict(AT))
        self.text: Any = None
        self.fallen: frozenset[str] | None = frozenset()
        self.asked = 0

    def get(self, url: str, default: Any = None) -> Any:
        self.asked += 1
        bad = self.fallen is None or url in self.fallen
        return self.text(url, self.asked) if bad and not url.endswith("robots.txt") else super().get(url, default)


some = st.sets(st.sampled_from(TOPICS), min_size=3).map(lambda names: frozenset(BASE + name for name in names))
fallen = st.one_of(st.none(), st.just(frozenset(AT)), some)
days = st.one_of(st.just(None), st.tuples(st.sampled_from(sorted(TEXTS)), fallen))
looks = st.tuples(days, st.sampled_from([0.1, 1, 9, 25, 80]), st.sampled_from(["index", "watch", "hook"]))


async def held(pipe: Pipeline) -> dict[str, set[str]]:
    return {url: set((await pipe.ids(url)).values()) for url in AT}


async def look(pipe: Pipeline, hours: float, how: str) -> None:
    pipe.clock.advance(hours=hours)
    if how == "index":
        await pipe.crawl()
        return
    if how == "hook":
        await pipe.watcher().ask()
    await pipe.settle()


@settings(max_examples=25)
@given(st.lists(looks, min_size=1, max_size=8))
async def test_no_sequence_of_days_loses_renames_or_embeds_anything(history: list[tuple[Any, float, str]]) -> None:
    pages = Weather()
    async with small_pipeline(pages) as pipe:
        await pipe.crawl()
        before, embedded = await held(pipe), len(pipe.embedder.embedded)
        for day, hours, how in (*history, (None, 25, "watch"), (None, 25, "watch"), (None, 25, "index")):
            pages.text, pages.fallen = (TEXTS[day[0]], day[1]) if day else (None, frozenset())
            await look(pipe, hours, how)
            assert await held(pipe) == before
        assert len(pipe.embedder.embedded) == embedded
        assert await pipe.stray() == {}
        assert not (await pipe.crawl()).cycle.held
