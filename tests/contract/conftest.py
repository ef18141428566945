"""The adapters that stand behind each port: a line here makes an adapter pass the port's whole suite.

Stores are made from an empty folder of the test's own; the same folder gives the same store again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.embed import SentenceTransformerEmbedder
from ingest.ports import ChunkIndex, Embedder, TreeStore
from ingest.stores.edge import EdgeChunkIndex
from ingest.stores.sqlite import SqliteTreeStore
from tests.contract.chunks import DIMENSIONS, EAST
from tests.fakes.embedder import HashingEmbedder

OpenTrees = Callable[[], AbstractAsyncContextManager[TreeStore]]
OpenIndex = Callable[[], AbstractAsyncContextManager[ChunkIndex]]


def sqlite(folder: Path) -> AbstractAsyncContextManager[TreeStore]:
    return SqliteTreeStore(folder / "trees.sqlite")


def edge(folder: Path) -> AbstractAsyncContextManager[ChunkIndex]:
    return EdgeChunkIndex(folder / "chunks", DIMENSIONS)


@asynccontextmanager
async def hashing() -> AsyncIterator[Embedder]:
    yield HashingEmbedder()


def minilm() -> AbstractAsyncContextManager[Embedder]:
    return SentenceTransformerEmbedder()


TREE_STORES = [pytest.param(sqlite, id="sqlite")]
CHUNK_INDEXES = [pytest.param(edge, id="edge")]
EMBEDDERS = [pytest.param(hashing, id="hashing"), pytest.param(minilm, id="minilm")]


@pytest.fixture(params=TREE_STORES)
def open_trees(request: pytest.FixtureRequest, tmp_path: Path) -> OpenTrees:
    """A store of the test's own, to be opened by the test as often as it likes."""
    return partial(request.param, tmp_path)


@pytest.fixture
async def trees(open_trees: OpenTrees) -> AsyncIterator[TreeStore]:
    async with open_trees() as trees:
        yield trees


@pytest.fixture(params=CHUNK_INDEXES)
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """An index of the test's own, to be opened by the test."""
    return partial(request.param, tmp_path)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=CHUNK_INDEXES)
async def shared_index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ChunkIndex]:
    async with request.param(tmp_path_factory.mktemp("index")) as index:
        yield index


@pytest_asyncio.fixture(loop_scope="module")
async def index(shared_index: ChunkIndex) -> AsyncIterator[ChunkIndex]:
    """An open and empty index: one for all tests of a module, since making one takes a second on a busy disk."""
    yield shared_index
    await shared_index.delete([hit.chunk_id for hit in await shared_index.dense(EAST, 100_000)])
    assert await shared_index.count() == 0


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=EMBEDDERS)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    """One for all tests of a module: loading weights takes seconds."""
    async with request.param() as embedder:
        yield embedder
