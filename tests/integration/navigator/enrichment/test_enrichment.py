"""Enrichment by the real adapter and a scripted endpoint: what is asked, kept, shown, and split."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ingest.indexing.page_reader import PageReader
from ingest.indexing.reindex import reread, undivided
from ingest.model import Node, Page
from ingest.stores.embedded.notes import SqliteNotes
from ingest.watch.classify import SAME, classify
from navigator.agent.prompts import RitBounds
from navigator.answer import Answer
from navigator.batch.ledger import CEILING, Ledger, MeteredModel
from navigator.batch.runner import Progress
from navigator.enrichment.note_prompts import MAX_NOTE_TOKENS, NotePrompt, outline_prompts, summary_prompts
from navigator.enrichment.run import MAX_USELESS_REPLIES, NoteWriter, spent_by, unwritten
from navigator.models.anthropic import AnthropicModel
from navigator.models.prices import Prices
from navigator.navigator import Navigator
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.fakes.annotator import Annotator
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.site import IndexedSite, ParseHere, TickingClock, html, indexed_site
from tests.waiting import eventually

BASE = "https://docs.example.test/"
PRIMING = (
    "To prime the pump, fill it with clean water, open the vent, and wait until no more bubbles come out of it. " * 2
)
SEALS = (
    "Grease the seal of the pump twice a year with silicone grease, and look at it for cracks while you are there. " * 2
)
MANUAL = "".join(
    f"<p>Step {n}: turn handle {n} by a quarter and write down what gauge {n} shows.</p>" for n in range(48)
)
PAGES = {
    f"{BASE}pumps": html(
        "Pumps", f"<p>Short.</p><h2 id='prime'>Priming</h2><p>{PRIMING}</p><h2>Seals</h2><p>{SEALS}</p>"
    ),
    f"{BASE}copy": html("Copy", f"<h2>Seals</h2><p>{SEALS}</p>"),
}
LONG = {f"{BASE}manual": html("Manual", MANUAL)}
PRICES = Prices(1.0, 5.0, 0.1, 1.25)


@dataclass
class Place:
    site: IndexedSite
    notes: SqliteNotes
    api: MessagesApi
    model: AnthropicModel
    annotator: Annotator = field(default_factory=Annotator)
    ledger: Ledger = field(default_factory=Ledger)
    """Of the last run."""

    def questions(self, kind: str = "summary") -> AsyncIterator[NotePrompt]:
        def asks(nodes: Sequence[Node]) -> list[NotePrompt]:
            return summary_prompts(nodes, 25) if kind == "summary" else outline_prompts(nodes, 300)

        return unwritten(self.site.trees, self.notes, asks)

    async def run(self, kind: str = "summary", dollars: float = 5.0, workers: int = 1) -> Progress:
        self.ledger = Ledger(dollars=dollars)
        model = MeteredModel(self.model, self.ledger, PRICES, MAX_NOTE_TOKENS)
        return await NoteWriter(model, self.notes, workers=workers).run(self.questions(kind))

    async def divide(self) -> int:
        """Bring the pages in step with the outlines; how many texts were embedded."""
        pages = await undivided(self.site.trees, self.notes)
        return (await reread(pages, self.site.indexer, self.site.trees, TickingClock())).embedded

    async def page(self, name: str) -> Page:
        stored = await self.site.trees.get(BASE + name)
        assert stored
        assert stored.record.page
        return stored.record.page

    async def ask(self, question: str, **how: Any) -> Answer:
        retriever = Retriever(self.site.trees, self.site.index, self.site.embedder, Recipe(), notes=self.notes)
        rules = RitBounds(**how)
        return await Navigator({"rit": Rit(retriever, self.site.trees, rules)}, self.model, lambda _: "rit").ask(
            question
        )


@asynccontextmanager
async def opened(folder: Path, pages: dict[str, str]) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        notes = await stack.enter_async_context(SqliteNotes(folder / "notes.sqlite"))
        site = await stack.enter_async_context(indexed_site(folder, pages, notes=notes))
        api = await stack.enter_async_context(MessagesApi())
        model = AnthropicModel(
            api_key="k", base_url=api.url, max_tokens=512, prices=PRICES, retry_wait=0.0, max_retries=2, citations=True
        )
        yield Place(site, notes, api, await stack.enter_async_context(model))


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in a file system in memory where there is one: these tests are not about the disk."""
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
async def place(memory: Path) -> AsyncIterator[Place]:
    async with opened(memory, PAGES) as place:
        place.api.always(place.annotator)
        yield place


@pytest.fixture
async def manual(memory: Path) -> AsyncIterator[Place]:
    async with opened(memory, {**PAGES, **LONG}) as place:
        place.api.always(place.annotator)
        yield place


# --- asking


async def test_each_content_is_asked_about_once_whatever_page_holds_it_and_never_again(place: Place) -> None:
    progress = await place.run()
    assert sorted(place.annotator.asked) == ["summary Priming", "summary Seals"]
    assert (progress.outcomes["kept"], progress.ended) == (2, "")
    used = place.ledger.used
    assert (used.input_tokens, used.output_tokens, used.cost) == (400, 80, pytest.approx(0.0008))
    assert (await place.notes.totals())["summary"].spent == replace(spent_by(used), replies=2)
    assert [request.body["max_tokens"] for request in place.api.requests] == [512, 512]
    assert (await place.run()).done == 0
    await place.site.update({f"{BASE}third": html("Third", f"<h2>Seals</h2><p>{SEALS}</p>")})
    assert (await place.run()).done == 0
    await place.site.update({f"{BASE}copy": html("Copy", f"<h2>Seals</h2><p>{SEALS} And wipe it.</p>")})
    assert (await place.run()).outcomes["kept"] == 1


async def test_a_busy_endpoint_is_asked_again(place: Place) -> None:
    place.api.fail(529, times=2)
    progress = await place.run()
    assert (progress.outcomes["kept"], progress.failed) == (2, 0)


async def test_an_endpoint_that_stays_busy_ends_the_run_and_the_next_one_goes_on(place: Place) -> None:
    place.api.fail(529, times=6)
    progress = await place.run()
    assert (progress.outcomes["kept"], progress.failed) == (0, 2)
    assert progress.failure.endswith(".")
    assert (await place.run()).outcomes["kept"] == 2


async def test_a_reply_that_is_cut_off_refused_or_no_json_is_never_kept_and_asked_again_a_few_times(
    place: Place,
) -> None:
    useless: list[dict[str, Any]] = [{}, {"stop": "refusal"}, {"stop": "max_tokens"}]
    for how in useless:
        place.api.say("I would rather not.", **how)
        place.api.say('{"summary": ""}')
        progress = await place.run()
        assert (progress.outcomes["kept"], progress.outcomes["useless"], progress.failed) == (0, 2, 0)
    assert len(useless) == MAX_USELESS_REPLIES
    assert (await place.run()).done == 0
    total = (await place.notes.totals())["summary"]
    assert (total.found, total.spent.replies) == (0, 2 * MAX_USELESS_REPLIES)


async def test_at_the_ceiling_the_run_ends_and_the_next_one_goes_on(place: Place) -> None:
    worst = max([PRICES.worst(q.input, MAX_NOTE_TOKENS) or 0.0 async for q in place.questions()])
    progress = await place.run(dollars=worst + 0.0001)
    assert (progress.outcomes["kept"], progress.ended) == (1, CEILING)
    progress = await place.run()
    assert (progress.outcomes["kept"], progress.ended) == (1, "")
    assert len(set(place.annotator.asked)) == len(place.annotator.asked) == 2


async def test_a_run_that_is_cancelled_half_way_keeps_what_was_answered(memory: Path) -> None:
    body = "".join(f"<h2>Part {n}</h2><p>Part {n}. {PRIMING}</p>" for n in range(8))
    async with opened(memory, {f"{BASE}parts": html("ChunkPassages", body)}) as place:
        place.api.always(Annotator(pace=0.02))
        running = asyncio.create_task(place.run(workers=2))
        await eventually(lambda: place.notes.any("summary"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        before = (await place.notes.totals())["summary"].found
        assert 0 < before < 8
        assert (await place.run(workers=2)).outcomes["kept"] == 8 - before


async def test_text_of_pages_stays_out_of_the_log(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.api.say("Bubbles and grease, but no JSON.")
    await place.run()
    assert "ubbles" not in caplog.text


# --- showing


async def test_the_forest_shows_summaries_and_keywords_of_what_sections_say_now(place: Place) -> None:
    before = await shown(place)
    assert "All about" not in before
    await place.run()
    after = await shown(place)
    assert "Priming (All about Priming.; Priming)" in after
    assert "Seals (All about Seals.; Seals)" in after
    assert "Pumps\n" in after
    await place.site.update({f"{BASE}pumps": PAGES[f"{BASE}pumps"].replace("clean water", "cold water")})
    edited = await shown(place)
    assert "Priming\n" in edited
    assert "Seals (All about Seals.; Seals)" in edited


async def test_the_papers_json_carries_them_too(place: Place) -> None:
    await place.run()
    assert '"metadata": {"summary": "All about Priming.", "keywords": ["Priming"]}' in await shown(
        place, outline="json"
    )


async def shown(place: Place, **how: Any) -> str:
    """The forest that a question about pumps gets."""
    if how:  # the paper's forms: the model searches first
        place.api.call("get_toc", {"query": "prime the pump"})
    place.api.call("read", {"sections": [1, 2]})
    place.api.say("NOT_FOUND Nothing.")
    answer = await place.ask("How do I prime the pump?", **how)
    (forest,) = [step.shown for step in answer.trace.steps if step.tool == "get_toc"]
    assert forest
    return f"{forest}\n"


# --- splitting


async def test_a_long_page_is_split_read_and_cited_where_its_words_stand(manual: Place) -> None:
    whole = await manual.page("manual")
    assert (await manual.run("outline")).outcomes["kept"] == 1
    assert manual.annotator.asked == ["outline Manual"]
    assert await manual.divide() > 0
    page = await manual.page("manual")
    assert [(n.title, n.kind, len(n.blocks)) for n in page.nodes] == [
        ("Manual", "page" if whole.nodes[0].kind == "page" else whole.nodes[0].kind, 1),
        *((f"Part from {n}", "induced", 10) for n in (1, 11, 21, 31)),
        ("Part from 41", "induced", 7),
    ]
    assert [b for n in page.nodes for b in n.blocks] == list(whole.nodes[0].blocks)
    assert page.nodes[0].id == whole.nodes[0].id

    number = await number_of(manual, "gauge 25", "Part from 21")
    manual.api.call("get_toc", {"query": "gauge 25"})
    manual.api.call("read", {"sections": [number]})
    manual.api.say(cited("A quarter turn.", (0, 4, 4)))
    (source,) = (await manual.ask("What does gauge 25 show?")).sources
    assert source.first.path[-1] == "Part from 21"
    assert source.first.quote.startswith("Step 25: turn handle 25")
    assert source.first.node_link.partition("#")[0] == f"{BASE}manual"
    assert ":~:text=Step%2025" in source.first.link


async def number_of(place: Place, query: str, title: str) -> int:
    place.api.call("get_toc", {"query": query})
    place.api.call("read", {"sections": [1]})
    place.api.say("NOT_FOUND Nothing.")
    answer = await place.ask("Where is it?")
    return next(number for number, _, path in answer.trace.shown if path[-1] == title)


async def test_a_page_that_is_read_again_stays_split_with_its_ids_and_nothing_is_embedded(manual: Place) -> None:
    before = await manual.site.trees.get(f"{BASE}manual")
    await manual.run("outline")
    await manual.divide()
    split = await manual.site.trees.get(f"{BASE}manual")
    assert before
    assert split
    assert split.record.changed_at == before.record.changed_at
    manual.site.embedder.embedded.clear()
    assert (await manual.site.update(LONG))[f"{BASE}manual"].kind == "unchanged"
    assert manual.site.embedder.embedded == []
    assert await manual.page("manual") == split.record.page
    assert await undivided(manual.site.trees, manual.notes) == []


async def test_a_watcher_that_knows_no_notes_sees_no_change_in_a_page_that_was_split(manual: Place) -> None:
    await manual.run("outline")
    await manual.divide()
    stored = await manual.site.trees.get(f"{BASE}manual")
    reading = await PageReader(manual.site.site, manual.site.fetcher, ParseHere()).read(
        f"{BASE}manual", f"{BASE}manual"
    )
    assert stored
    assert classify(stored.record, reading) == SAME


async def test_sections_under_induced_titles_get_summaries_of_their_own(manual: Place) -> None:
    await manual.run("outline")
    await manual.divide()
    manual.annotator.asked.clear()
    await manual.run()
    assert "summary Part from 21" in manual.annotator.asked
    assert "summary Manual" not in manual.annotator.asked


async def test_they_get_them_before_whoever_splits_the_page_has_done_it(manual: Place) -> None:
    await manual.run("outline")
    await manual.run()
    assert "summary Part from 21" in manual.annotator.asked
    assert "summary Manual" not in manual.annotator.asked
    await manual.divide()
    assert (await manual.run()).done == 0


async def test_an_edited_page_is_whole_again_until_it_is_asked_about_anew(manual: Place) -> None:
    await manual.run("outline")
    await manual.divide()
    before = await manual.page("manual")
    await manual.site.update({f"{BASE}manual": LONG[f"{BASE}manual"].replace("gauge 30", "gauge thirty")})
    edited = await manual.page("manual")
    assert [n.id for n in edited.nodes] == [before.nodes[0].id]
    assert await undivided(manual.site.trees, manual.notes) == []
    assert (await manual.run("outline")).outcomes["kept"] == 1
    await manual.divide()
    assert len((await manual.page("manual")).nodes) == 6


async def test_a_section_that_is_best_left_whole_is_asked_about_once(manual: Place) -> None:
    manual.api.say('{"sections": []}')
    assert (await manual.run("outline")).outcomes["kept"] == 1
    assert await undivided(manual.site.trees, manual.notes) == []
    assert (await manual.run("outline")).done == 0


async def test_two_pages_with_the_same_content_are_still_one_after_they_are_split(manual: Place) -> None:
    await manual.run("outline")
    await manual.divide()
    ids = [node.id for node in (await manual.page("manual")).nodes]
    await manual.site.update({f"{BASE}twin": LONG[f"{BASE}manual"]})
    pages = [stored.record.page for name in ("manual", "twin") if (stored := await manual.site.trees.get(BASE + name))]
    assert [[node.id for node in page.nodes] for page in pages if page] == [ids]
