"""The adapters that stand behind each port: a line here makes an adapter pass the port's whole suite.

Stores are made for a folder of the test's own; the same folder gives the same store again. Servers are started
when a test first needs one, once a session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from deploy.compose import SystemClock
from ingest.embed import SentenceTransformerEmbedder
from ingest.events import kafka_group, sqlite_group
from ingest.events.kafka import KafkaEventLog
from ingest.events.kafka_client import Connection
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import ChunkIndex, Embedder, EventLog, TreeStore
from ingest.stores.edge import EdgeChunkIndex
from ingest.stores.opensearch import OpenSearch
from ingest.stores.opensearch_trees import OpenSearchTreeStore
from ingest.stores.sqlite import SqliteTreeStore
from tests.contract.chunks import DIMENSIONS, EAST
from tests.fakes.embedder import HashingEmbedder
from tests.servers.opensearch import OpenSearch as OpenSearchNode

SESSION = 1.5
HAND_OVER = 1.5
"""Of event logs, in seconds: after how long a silent consumer is taken for dead, how long a busy one may finish."""

OpenLog = Callable[[], AbstractAsyncContextManager[EventLog]]
OpenTrees = Callable[[], AbstractAsyncContextManager[TreeStore]]
OpenIndex = Callable[[], AbstractAsyncContextManager[ChunkIndex]]


@pytest.fixture(scope="session")
def opensearch() -> Iterator[str]:
    """The URL of a node."""
    with OpenSearchNode() as node:
        yield node.url


def sqlite(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[TreeStore]:
    return SqliteTreeStore(folder / "trees.sqlite")


def edge(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[ChunkIndex]:
    return EdgeChunkIndex(folder / "chunks", DIMENSIONS)


@asynccontextmanager
async def opensearch_trees(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[TreeStore]:
    url = request.getfixturevalue("opensearch")
    async with OpenSearch(url, patience=10.0) as server, OpenSearchTreeStore(server, own_name(folder)) as trees:
        yield trees


def own_name(folder: Path) -> str:
    """What a folder is to an embedded store."""
    return f"test-{sha256(bytes(folder)).hexdigest()[:16]}"


def sqlite_log(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[EventLog]:
    timing = sqlite_group.Timing(session=SESSION, hand_over=HAND_OVER, poll=0.02)
    return SqliteEventLog(folder / "events.sqlite", SystemClock(), timing=timing)


def kafka_log(request: pytest.FixtureRequest, _: Path) -> AbstractAsyncContextManager[EventLog]:
    connection = Connection((request.getfixturevalue("kafka").address,))
    return KafkaEventLog(connection, timing=kafka_group.Timing(session=SESSION, hand_over=HAND_OVER))


@asynccontextmanager
async def hashing() -> AsyncIterator[Embedder]:
    yield HashingEmbedder()


def minilm() -> AbstractAsyncContextManager[Embedder]:
    return SentenceTransformerEmbedder()


EVENT_LOGS = [pytest.param(sqlite_log, id="sqlite"), pytest.param(kafka_log, id="kafka")]
TREE_STORES = [pytest.param(sqlite, id="sqlite"), pytest.param(opensearch_trees, id="opensearch")]
CHUNK_INDEXES = [pytest.param(edge, id="edge")]
EMBEDDERS = [pytest.param(hashing, id="hashing"), pytest.param(minilm, id="minilm")]


@pytest.fixture(params=EVENT_LOGS)
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> OpenLog:
    """A log to be opened by the test as often as it likes."""
    return partial(request.param, request, tmp_path)


@pytest.fixture
async def log(open_log: OpenLog) -> AsyncIterator[EventLog]:
    async with open_log() as log:
        yield log


@pytest.fixture
def topic() -> str:
    """A topic of the test's own."""
    return f"test.{uuid4().hex}"


@pytest.fixture(params=TREE_STORES)
def open_trees(request: pytest.FixtureRequest, tmp_path: Path) -> OpenTrees:
    """A store of the test's own, to be opened by the test as often as it likes."""
    return partial(request.param, request, tmp_path)


@pytest.fixture
async def trees(open_trees: OpenTrees) -> AsyncIterator[TreeStore]:
    async with open_trees() as trees:
        yield trees


@pytest.fixture(params=CHUNK_INDEXES)
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """An index of the test's own, to be opened by the test."""
    return partial(request.param, request, tmp_path)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=CHUNK_INDEXES)
async def shared_index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ChunkIndex]:
    async with request.param(request, tmp_path_factory.mktemp("index")) as index:
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
