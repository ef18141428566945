"""Another embedding model on both columns: what the stores hold afterwards, and who is told what meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from deploy.settings.index import IndexSettings
from deploy.settings.root import Settings
from deploy.settings.stores import StoresSettings
from deploy.wiring.cluster_stores import open_cluster, open_cluster_successor
from deploy.wiring.stores import embedded_successor
from ingest.errors import IndexMismatch, StoreUnavailable
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.indexing.projection import Projection
from ingest.indexing.reembed import Reembedding, ReembedProgress, Successor
from ingest.model import PageEvent, PageRecord, Scope, Site
from ingest.ports import ChunkIndex, TreeStore, Vector
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.folder import DataFolder, Stamp
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.text.words import ANALYSER_VERSION, terms
from navigator.retrieval.retriever import Recipe, Retriever
from tests.contract.conftest import remove
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.qdrant_server import Applies, QdrantServer
from tests.fakes.site import START, PagesFetcher, ParseHere, TickingClock, html
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import own_name

BASE = "https://docs.example.test/"
TEXT = "Fill the pump number {0} before you start it. Grease its seal twice a year, and never let it run dry for long."
PAGES = {
    f"{BASE}{name}.html": html(
        f"Pump {name}", f"<p>{TEXT.format(name)}</p><h2 id='more'>More on {name}</h2><p>{TEXT}</p>"
    )
    for name in ("alpha", "beta", "gamma", "delta", "epsilon")
}
SITE = Site("docs", BASE)


class Model(HashingEmbedder):
    """Small, or smaller; `before_batch` is awaited before each batch of texts."""

    def __init__(self, name: str, dimensions: int) -> None:
        super().__init__()
        self.name = name  # type: ignore[misc]
        self.dimensions = dimensions  # type: ignore[misc]
        self.before_batch: Callable[[], Awaitable[None]] | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if texts and self.before_batch:
            await self.before_batch()
        return await super().embed(texts)


def old_model() -> Model:
    return Model("old", 64)


def new_model() -> Model:
    return Model("new", 64)


SIZES = {"old": Sizes(40, 8), "new": Sizes(9, 8)}
"""The new model reads less, so that its chunks are others."""


@dataclass
class Column:
    """One column of stores, opened for one model at a time, or for several where it is a cluster."""

    stack: AsyncExitStack
    settings: Settings
    fetcher: PagesFetcher = field(default_factory=lambda: PagesFetcher(dict(PAGES)))
    clock: TickingClock = field(default_factory=TickingClock)

    @property
    def cluster(self) -> bool:
        return self.settings.stores.kind == "cluster"

    async def live(self, model: Model) -> tuple[TreeStore, ChunkIndex]:
        if self.cluster:
            return await open_cluster(self.stack, self.settings, model)
        folder, stamp = self._folder(), Stamp(model.name, model.dimensions, ANALYSER_VERSION)
        folder.check(stamp)
        async with folder:
            folder.write(stamp)
        trees = await self.stack.enter_async_context(SqliteTreeStore(folder.trees))
        return trees, await self.stack.enter_async_context(EdgeChunkIndex(folder.chunks(stamp), model.dimensions))

    async def successor(self, model: Model, stack: AsyncExitStack) -> tuple[TreeStore, Successor]:
        if self.cluster:
            return await open_cluster_successor(stack, self.settings, model)
        folder = await stack.enter_async_context(self._folder())
        trees = await stack.enter_async_context(SqliteTreeStore(folder.trees))
        return trees, await embedded_successor(stack, folder, model)

    def _folder(self) -> DataFolder:
        return DataFolder(self.settings.index.folder, "test")

    async def index(self, model: Model) -> Mapping[str, PageRecord]:
        """A first index by the model; closed again."""
        async with AsyncExitStack() as stack:
            trees, index = await replace(self, stack=stack).live(model)
            for url in PAGES:
                await handle(trees, self.indexer(model, trees, index), url)
            return await records(trees)

    def indexer(self, model: Model, trees: TreeStore, index: ChunkIndex) -> Indexer:
        return Indexer(
            SITE,
            trees=trees,
            index=index,
            embedder=model,
            reader=PageReader(SITE, self.fetcher, ParseHere()),
            clock=self.clock,
            sizes=SIZES[model.name],
        )

    async def reembed(
        self,
        model: Model,
        *,
        keep: bool = False,
        sizes: Sizes | None = None,
        show: Callable[[ReembedProgress], None] | None = None,
        take_over: Callable[[Successor], Awaitable[None]] | None = None,
    ) -> ReembedProgress:
        """`take_over` is done in place of the successor's."""
        async with AsyncExitStack() as stack:
            trees, successor = await self.successor(model, stack)
            if take_over:
                successor = replace(successor, take_over=partial(take_over, successor))
            run = Reembedding(
                trees,
                successor,
                model,
                sizes or SIZES[model.name],
                {"docs": "en"},
                workers=2,
                show=show or (lambda _: None),
            )
            progress = await run.run()
            if not keep:
                await successor.drop_before()
            return progress


async def handle(trees: TreeStore, indexer: Indexer, url: str, kind: str = "changed") -> PageEvent:
    seq = await trees.reserve(url, "docs")
    event = PageEvent(url, "docs", seq, kind, url, START)  # type: ignore[arg-type]
    await indexer.handle(event)
    return event


async def records(trees: TreeStore) -> Mapping[str, PageRecord]:
    found = {state.key: await trees.get(state.key) async for state in trees.scan("docs")}
    return {key: stored.record for key, stored in found.items() if stored}


async def complete(column: Column, model: Model, sizes: Sizes | None = None) -> Mapping[str, PageRecord]:
    """The records, each checked against what the live index of the model holds for its page."""
    async with AsyncExitStack() as stack:
        trees, index = await replace(column, stack=stack).live(model)
        projection = Projection(index, model, sizes or SIZES[model.name])
        there = await records(trees)
        for key, record in there.items():
            assert record.state != "live" or projection.fits(record)
            assert set(await index.ids_of(key)) == set(record.chunk_ids)
        assert await index.count() == sum(len(record.chunk_ids) for record in there.values())
        return there


async def pages_found(trees: TreeStore, index: ChunkIndex, model: Model) -> set[str]:
    found = await Retriever(trees, index, model, Recipe()).search("Grease the seal of the pump", Scope())
    return {page.key for page in found.pages}


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Column]:
    async with AsyncExitStack() as stack:
        yield Column(stack, Settings(index=IndexSettings(folder=tmp_path / "data")))


@pytest.fixture
async def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Column]:
    url, qdrant = request.getfixturevalue("opensearch").url, request.getfixturevalue("qdrant")
    name = own_name()
    stores = StoresSettings(kind="cluster", name=name, opensearch_url=url, qdrant_url=qdrant)
    async with AsyncExitStack() as stack:
        yield Column(stack, Settings(index=IndexSettings(folder=tmp_path / "data"), stores=stores))
    remove(f"{url}/{name}-*")


@pytest.fixture(params=["embedded", "cluster"])
def column(request: pytest.FixtureRequest) -> Column:
    made = request.getfixturevalue(request.param)
    assert isinstance(made, Column)
    return made


# --- both columns


async def test_every_page_is_in_the_new_index_and_no_page_was_fetched(column: Column) -> None:
    before = await column.index(old_model())
    column.fetcher.fetched.clear()
    model = new_model()
    progress = await column.reembed(model)
    after = await complete(column, model)
    assert column.fetcher.fetched == []
    assert progress.pages == len(PAGES)
    assert progress.embedded == len(set(model.embedded)) == len(model.embedded)
    assert progress.chunks == sum(len(record.chunk_ids) for record in after.values())
    for key, record in after.items():
        assert not set(record.chunk_ids) & set(before[key].chunk_ids)
        same = replace(record, chunk_ids=before[key].chunk_ids, analyser_version=before[key].analyser_version)
        assert same == before[key]


async def test_the_model_before_is_refused_afterwards(column: Column) -> None:
    await column.index(old_model())
    await column.reembed(new_model())
    with pytest.raises(IndexMismatch, match="ritbot reembed"):
        await column.live(old_model())


async def test_a_model_that_nothing_was_embedded_with_is_refused(column: Column) -> None:
    await column.index(old_model())
    with pytest.raises(IndexMismatch, match="ritbot reembed"):
        await column.live(new_model())
    assert await complete(column, old_model())


async def test_a_run_that_was_cut_short_goes_on_and_the_model_before_works_meanwhile(column: Column) -> None:
    await column.index(old_model())
    whole, first, second = new_model(), new_model(), new_model()
    batches = 0

    async def die_in_the_third() -> None:
        nonlocal batches
        batches += 1
        if batches > 2:
            raise asyncio.CancelledError

    first.before_batch = die_in_the_third
    with pytest.raises(asyncio.CancelledError):
        await column.reembed(first)
    assert first.embedded
    old = old_model()
    async with AsyncExitStack() as stack:
        trees, index = await replace(column, stack=stack).live(old)
        assert await pages_found(trees, index, old) == set(PAGES)
        await handle(trees, column.indexer(old, trees, index), f"{BASE}alpha.html")
    assert old.embedded == []
    await column.reembed(second)
    assert not set(second.embedded) & set(first.embedded)
    async with AsyncExitStack() as stack:
        trees, index = await replace(column, stack=stack).live(second)
        assert await pages_found(trees, index, whole) == set(PAGES)
    await complete(column, second)


async def test_a_run_that_died_after_the_take_over_is_finished_by_the_next(column: Column) -> None:
    await column.index(old_model())

    def die(progress: ReembedProgress) -> None:
        if progress.phase == "settling":
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await column.reembed(new_model(), show=die)
    model = new_model()
    async with AsyncExitStack() as stack:
        trees, index = await replace(column, stack=stack).live(model)
        assert await pages_found(trees, index, model) == set(PAGES)
    await column.reembed(model)
    assert model.embedded == []
    await complete(column, model)
    async with AsyncExitStack() as stack:
        _, successor = await column.successor(model, stack) if column.cluster else (None, None)
        assert successor is None or not await successor.drop_before()
    folders = list((column.settings.index.folder / "chunks").glob("*"))
    assert len(folders) == (0 if column.cluster else 1)


@pytest.mark.parametrize(("step", "done"), [(0, "nothing"), (0, "half"), (0, "all"), (1, "nothing"), (1, "all")])
async def test_a_run_that_is_killed_between_aliases_and_removal_leaves_nothing_to_the_next(
    opensearch: OpenSearch, tmp_path: Path, step: int, done: Applies
) -> None:
    """The aliases at Qdrant are changed one by one, then the index before goes."""
    name = own_name()
    with QdrantServer(tmp_path / "qdrant") as qdrant:
        stores = StoresSettings(kind="cluster", name=name, opensearch_url=opensearch.url, qdrant_url=qdrant.url)
        async with AsyncExitStack() as stack:
            column = Column(stack, Settings(index=IndexSettings(folder=tmp_path / "data"), stores=stores))
            await column.index(old_model())
            qdrant.die_after(step, "change_aliases", "drop", applies=done)
            with pytest.raises(StoreUnavailable):
                await column.reembed(new_model())
            qdrant.live_on()
            model = new_model()
            await column.reembed(model)
            assert model.embedded == []
            await complete(column, model)
        assert len(qdrant.collections) == 1
    remove(f"{opensearch.url}/{name}-*")


async def test_what_was_kept_serves_a_way_back_without_embedding(column: Column) -> None:
    await column.index(old_model())
    await column.reembed(new_model(), keep=True)
    model = old_model()
    await column.reembed(model)
    assert model.embedded == []
    await complete(column, model)


async def test_the_same_model_with_chunks_of_another_size_is_brought_in_step_in_place(column: Column) -> None:
    await column.index(old_model())
    model, sizes = old_model(), Sizes(12, 8)
    await column.reembed(model, sizes=sizes)
    await complete(column, model, sizes)
    again = old_model()
    await column.reembed(again, sizes=sizes)
    assert again.embedded == []


async def test_with_no_page_there_is_nothing_to_do_but_the_take_over(column: Column) -> None:
    progress = await column.reembed(new_model())
    assert (progress.pages, progress.embedded) == (0, 0)
    assert await complete(column, new_model()) == {}


async def test_words_of_another_analyser_are_written_anew_without_embedding(column: Column) -> None:
    async with AsyncExitStack() as stack:
        trees, index = await replace(column, stack=stack).live(old_model())
        url = f"{BASE}alpha.html"
        await handle(trees, column.indexer(old_model(), trees, index), url)
        stored = await trees.get(url)
        assert stored
        assert stored.record.page
        chunks = await Projection(index, old_model(), SIZES["old"]).chunks(stored.record.page, "docs", "", "en")
        vectors = await index.vectors([chunk.input_hash for chunk in chunks])
        await index.upsert([replace(c, terms="antique") for c in chunks], [vectors[c.input_hash] for c in chunks])
        await trees.put(replace(stored.record, analyser_version="0/40+8/old"), stored.revision)
    model = old_model()
    await column.reembed(model)
    assert model.embedded == []
    trees, index = await column.live(model)
    assert len(await index.words(terms("grease"), 10)) == len(chunks)
    assert await index.words(["antique"], 10) == []


# --- while others work, on a cluster


async def test_questions_are_answered_all_the_while(cluster: Column) -> None:
    old, new = old_model(), new_model()
    await cluster.index(old)
    trees, index = await cluster.live(old)
    asked: dict[str, list[set[str]]] = {}
    phase = "filling"

    def note(progress: ReembedProgress) -> None:
        nonlocal phase
        phase = progress.phase

    async def ask() -> None:
        asked.setdefault(phase, []).append(await pages_found(trees, index, old))

    new.before_batch = ask
    running = asyncio.create_task(cluster.reembed(new, show=note, keep=True))
    settled: list[set[str]] = []
    while not running.done():
        try:
            await ask()
        except IndexMismatch:
            break
    renewed = new_model()
    _, fresh = await cluster.live(renewed)
    while not running.done():
        settled.append(await pages_found(trees, fresh, renewed))
    await running
    settled.append(await pages_found(trees, fresh, renewed))
    assert len(asked["filling"]) > 2
    assert all(found == set(PAGES) for answers in asked.values() for found in answers)
    assert all(found == set(PAGES) for found in settled)


@pytest.mark.parametrize("keep", [False, True], ids=["dropped", "kept"])
async def test_who_is_at_work_with_the_model_before_is_told_so(cluster: Column, keep: bool) -> None:
    old = old_model()
    await cluster.index(old)
    trees, index = await cluster.live(old)
    await cluster.reembed(new_model(), keep=keep)
    with pytest.raises(IndexMismatch):
        await index.dense((await old.embed_query("pump")), 5)
    with pytest.raises(IndexMismatch):
        await handle(trees, cluster.indexer(old, trees, index), f"{BASE}alpha.html")
    await complete(cluster, new_model())


async def test_pages_that_change_and_go_during_the_fill_are_caught_up(cluster: Column) -> None:
    old, new = old_model(), new_model()
    await cluster.index(old)
    trees, index = await cluster.live(old)
    indexer = cluster.indexer(old, trees, index)
    edited = f"{BASE}new.html"
    batches = 0

    async def publish() -> None:
        nonlocal batches
        batches += 1
        if batches == 4:
            for url in (f"{BASE}alpha.html", f"{BASE}epsilon.html", edited):
                cluster.fetcher.pages[url] = html("Edited", f"<p>Quite another text than before at {url}.</p>")
                await handle(trees, indexer, url)
            await handle(trees, indexer, f"{BASE}beta.html", "removed")

    new.before_batch = publish
    await cluster.reembed(new)
    there = await complete(cluster, new)
    assert batches >= 4
    assert there[f"{BASE}beta.html"].state == "gone"
    for url in (f"{BASE}alpha.html", f"{BASE}epsilon.html", edited):
        page = there[url].page
        assert page
        assert page.title == "Edited"


@pytest.mark.parametrize("killed", [False, True], ids=["in-one-run", "by-the-next-run"])
async def test_a_page_whose_content_moved_after_it_was_filled_leaves_nothing(cluster: Column, killed: bool) -> None:
    """Its record is retired by the page that took over, and keeps its seq."""
    old, new = old_model(), new_model()
    await cluster.index(old)
    trees, index = await cluster.live(old)
    left, to = f"{BASE}alpha.html", f"{BASE}moved.html"

    async def move(successor: Successor) -> None:
        cluster.fetcher.pages[to] = html("Pump moved", "<p>Quite another text than before.</p>")
        event = PageEvent(to, "docs", await trees.reserve(to, "docs"), "changed", to, START, moved_from=left)
        await cluster.indexer(old, trees, index).handle(event)
        await successor.take_over()
        if killed:
            raise asyncio.CancelledError

    try:
        await cluster.reembed(new, take_over=move)
    except asyncio.CancelledError:
        await cluster.reembed(new)
    there = await complete(cluster, new)
    assert (there[left].state, there[left].target) == ("moved", to)


async def test_a_page_that_is_retired_after_the_take_over_is_swept_when_the_event_is_done_again(
    cluster: Column,
) -> None:
    old, new = old_model(), new_model()
    await cluster.index(old)
    trees, index = await cluster.live(old)
    left, to = f"{BASE}alpha.html", f"{BASE}moved.html"
    cluster.fetcher.pages[to] = html("Pump moved", "<p>Quite another text than before.</p>")
    event = PageEvent(to, "docs", await trees.reserve(to, "docs"), "changed", to, START, moved_from=left)
    slow = Slow(trees, only=left)
    late = asyncio.create_task(cluster.indexer(old, slow, index).handle(event))  # type: ignore[arg-type]
    await slow.waiting.wait()
    await cluster.reembed(new)
    slow.go.set()
    with pytest.raises(IndexMismatch):
        await late
    fresh_trees, fresh = await cluster.live(new)
    await cluster.indexer(new, fresh_trees, fresh).handle(event)
    await complete(cluster, new)


class Slow:
    """A TreeStore whose puts wait for `go`; `only`: those of this page."""

    def __init__(self, trees: TreeStore, only: str | None = None) -> None:
        self._trees = trees
        self._only = only
        self.waiting, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._trees, name)

    async def put(self, record: PageRecord, expected: str | None) -> str:
        if self._only in (None, record.key):
            self.waiting.set()
            await self.go.wait()
        return await self._trees.put(record, expected)


@pytest.mark.parametrize("keep", [False, True], ids=["dropped", "kept"])
@pytest.mark.parametrize("name", ["alpha", "new"], ids=["a-page-that-is-known", "a-page-that-is-new"])
async def test_an_indexer_that_commits_after_the_take_over_is_told_and_its_successor_does_the_event_again(
    cluster: Column, keep: bool, name: str
) -> None:
    old, new, url = old_model(), new_model(), f"{BASE}{name}.html"
    await cluster.index(old)
    trees, index = await cluster.live(old)
    slow = Slow(trees)
    cluster.fetcher.pages[url] = html("Edited", "<p>Quite another text than before.</p>")
    event = PageEvent(url, "docs", await trees.reserve(url, "docs"), "changed", url, START)
    late = asyncio.create_task(cluster.indexer(old, slow, index).handle(event))  # type: ignore[arg-type]
    await slow.waiting.wait()
    await cluster.reembed(new, keep=keep)
    slow.go.set()
    with pytest.raises(IndexMismatch):
        await late
    fresh_trees, fresh = await cluster.live(new)
    await cluster.indexer(new, fresh_trees, fresh).handle(event)
    there = await complete(cluster, new)
    page = there[url].page
    assert page
    assert page.title == "Edited"


async def test_two_runs_at_once_do_no_harm(cluster: Column) -> None:
    await cluster.index(old_model())
    await asyncio.gather(cluster.reembed(new_model()), cluster.reembed(new_model()))
    await complete(cluster, new_model())
