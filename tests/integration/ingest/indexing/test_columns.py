"""The same pages and questions on both columns: nearly the same forest (facts of OpenSearch's scores in
ingest/stores/cluster/words.py).

The questions are every third of the 145 about the Ray documentation, the pages those that they are about and every
twentieth of the others: to embed them takes a minute on two cores, once; their vectors are kept with the benchmark's.
RITBOT_TEST_PAGES=all takes all questions and all 518 pages, which takes ten. There each question shares at least 48
nodes of 50, but for one that has 38, since its 200 best chunks stand in no more, and shares all of them; forest@50 is
the same. By words, two of 200 chunks differ in the mean, for one reason: with lengths kept in one byte as Lucene does,
BM25 as the books have it finds the same 200. With half of all chunks written a second time and not yet merged, a
question shares nine tenths or more.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest

from deploy.wiring.stores import SystemClock
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.model import Scope, Site
from ingest.ports import ChunkIndex, TreeStore
from ingest.sites.folder import FolderFetcher
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.watch.crawl import Crawl
from ingest.watch.removal_guard import Guard
from navigator.retrieval.retriever import Recipe, Retriever
from tests.bench.bench_retrieval import SIZES, Judge, aliases_of, percent
from tests.bench.corpus import CachedEmbedder, Question, embedder, html_folder, questions
from tests.contract.conftest import remove
from tests.fakes.site import ParseHere
from tests.servers.opensearch import OpenSearch as Node
from tests.servers.qdrant import own_name

ASKED, OTHERS = (1, 1) if os.environ.get("RITBOT_TEST_PAGES") == "all" else (3, 20)
"""Every so manieth question is asked; every so manieth page that no question is about is there."""
LEAST_SHARED = 45 / 50
"""Of the nodes of each question. There are fewer than 50 where the 200 best chunks stand in fewer nodes."""


def pages_of(asked: Sequence[Question], target: Path) -> Path:
    folder, gold = html_folder(), {question.page for question in asked}
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    others = [name for name in names if name not in gold]
    for name in (*gold, *others[::OTHERS]):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / name, target / name)
    return target


@dataclass(frozen=True)
class Answers:
    """The 50 best nodes of each question, or all where there are fewer, and how often (in percent) the gold section is
    in the forest."""

    nodes: dict[Question, list[str]]
    forest_at_50: float


async def answers(
    folder: Path, trees: TreeStore, index: ChunkIndex, model: CachedEmbedder, asked: Sequence[Question]
) -> Answers:
    site, clock, sizes = Site("ray", str(folder)), SystemClock(), Sizes.fit(model.window, *SIZES)
    async with FolderFetcher(site) as fetcher:

        def make(site: Site, reader: PageReader) -> Indexer:
            return Indexer(site, trees=trees, index=index, embedder=model, reader=reader, clock=clock, sizes=sizes)

        # Page by page: of two pages with one content, the one that came first stays.
        await Crawl(
            site,
            trees=trees,
            fetcher=fetcher,
            parser=ParseHere(),
            make_indexer=make,
            clock=clock,
            guard=Guard(),
            workers=1,
        ).run()
    retriever = Retriever(trees, index, model, Recipe(tail=0.0))
    nodes = {question: list((await retriever.search(question.text, Scope())).scores) for question in asked}
    keys = [state.key async for state in trees.scan() if state.state == "live"]
    judge = Judge(folder, dict(await trees.outlines(keys)), await aliases_of(trees, keys), asked)
    return Answers(nodes, percent([judge.in_forest(q, nodes[q]) for q in judge.with_section]))


@asynccontextmanager
async def embedded(folder: Path, dimensions: int) -> AsyncIterator[tuple[TreeStore, ChunkIndex]]:
    async with (
        SqliteTreeStore(folder / "trees.sqlite") as trees,
        EdgeChunkIndex(folder / "chunks", dimensions) as index,
    ):
        yield trees, index


@asynccontextmanager
async def distributed(url: str, qdrant: str, dimensions: int) -> AsyncIterator[tuple[TreeStore, ChunkIndex]]:
    name = own_name()
    try:
        async with (
            OpenSearch(url) as server,
            OpenSearchTreeStore(server, name) as trees,
            OpenSearchWords(server, name) as words,
            QdrantVectors(qdrant, dimensions, name, exact=True) as vectors,
            SplitChunkIndex(vectors, words) as index,
        ):
            yield trees, index
    finally:
        remove(f"{url}/{name}-*")
        remove(f"{qdrant}/collections/{name}-1")


async def compare(folder: Path, opensearch: str, qdrant: str) -> tuple[Answers, Answers]:
    """What both columns answer."""
    asked = questions()[::ASKED]
    (folder / "pages").mkdir()
    pages = pages_of(asked, folder / "pages")
    async with embedder() as model:
        async with embedded(folder, model.dimensions) as stores:
            here = await answers(pages, *stores, model, asked)
        async with distributed(opensearch, qdrant, model.dimensions) as stores:
            there = await answers(pages, *stores, model, asked)
    return here, there


def shared_of(here: Sequence[str], there: Sequence[str]) -> float:
    """The part of the nodes that both columns give; of what one gives in excess, none."""
    return len({*here} & {*there}) / max(len(here), len(there))


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_the_same_question_gives_nearly_the_same_forest_on_both_columns(
    shared: Path, opensearch: Node, qdrant: str, tmp_path: Path
) -> None:
    assert (shared / "data/ray/questions.jsonl").is_file()
    here, there = await compare(tmp_path, opensearch.url, qdrant)
    common = {question: shared_of(nodes, there.nodes[question]) for question, nodes in here.nodes.items()}
    figures = (
        f"least {min(common.values()):.1%}, mean {mean(common.values()):.1%} of {len(common)} questions;"
        f" forest@50 {here.forest_at_50:.1f}, {there.forest_at_50:.1f};"
        f" fewer than 50 nodes: {[len(nodes) for nodes in here.nodes.values() if len(nodes) < 50]}"
    )
    assert mean(len(nodes) for nodes in here.nodes.values()) > 49, figures
    assert min(common.values()) >= LEAST_SHARED, figures
    assert abs(here.forest_at_50 - there.forest_at_50) <= max(1.0, 100 / len(common)), figures  # one question
    assert here.forest_at_50 > 70.0, figures
