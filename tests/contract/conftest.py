"""The adapters that stand behind each port: a line here makes an adapter pass the port's whole suite.

Stores are made for a folder of the test's own; the same folder gives the same store again. Servers are started
when a test first needs one, once a session.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from bot.ports import BotStore
from bot.store.opensearch import OpenSearchBotStore
from bot.store.sealing import KeySeal, Seal
from bot.store.sqlite import SqliteBotStore
from deploy.wiring.stores import SystemClock
from ingest.embedding.minilm import MiniLMEmbedder
from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder
from ingest.events.kafka import group
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import ChunkIndex, Clock, Embedder, EventLog, TreeStore
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from tests.contract.chunks import DIMENSIONS, EAST
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.exchanges import SetClock
from tests.servers.qdrant import own_name

SESSION = 1.5
HAND_OVER = 1.5
"""Of Kafka's groups, in seconds: after how long a silent consumer is taken for dead, how long a busy one may finish."""

OpenLog = Callable[[], AbstractAsyncContextManager[EventLog]]
OpenTrees = Callable[[], AbstractAsyncContextManager[TreeStore]]
OpenIndex = Callable[[], AbstractAsyncContextManager[ChunkIndex]]
OpenBotStore = Callable[..., AbstractAsyncContextManager[BotStore]]
KEY = "c3VtbWVyIG1vcm5pbmdzIGFyZSBub3Qgc2VjcmV0cy4="


def sqlite(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[TreeStore]:
    return SqliteTreeStore(folder / "trees.sqlite")


def edge(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[ChunkIndex]:
    return EdgeChunkIndex(folder / "chunks", DIMENSIONS)


@asynccontextmanager
async def opensearch_trees(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[TreeStore]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    async with OpenSearch(url) as server, OpenSearchTreeStore(server, name) as trees:
        yield trees


@asynccontextmanager
async def split(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[ChunkIndex]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    qdrant = request.getfixturevalue("qdrant")
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    request.addfinalizer(partial(remove, f"{qdrant}/collections/{name}-1"))
    async with (
        QdrantVectors(qdrant, DIMENSIONS, name) as vectors,
        OpenSearch(url) as server,
        OpenSearchWords(server, name) as words,
        SplitChunkIndex(vectors, words) as index,
    ):
        yield index


def sqlite_bot(
    _: pytest.FixtureRequest, folder: Path, seal: Seal, clock: Clock
) -> AbstractAsyncContextManager[BotStore]:
    return SqliteBotStore(folder / "bot.sqlite", seal, clock)


@asynccontextmanager
async def opensearch_bot(
    request: pytest.FixtureRequest, folder: Path, seal: Seal, clock: Clock
) -> AsyncIterator[BotStore]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    async with OpenSearch(url) as server, OpenSearchBotStore(server, name, seal, clock) as store:
        yield store


def name_of(folder: Path) -> str:
    """What a folder is to an embedded store."""
    return own_name(sha256(bytes(folder)).hexdigest()[:16])


def remove(url: str) -> None:
    """What a test leaves on a server would slow down those that follow."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with suppress(urllib.error.HTTPError), direct.open(urllib.request.Request(url, method="DELETE")):
        pass


def sqlite_log(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[EventLog]:
    return SqliteEventLog(folder / "events.sqlite", SystemClock())


def kafka_log(request: pytest.FixtureRequest, _: Path) -> AbstractAsyncContextManager[EventLog]:
    connection = Connection((request.getfixturevalue("kafka").address,))
    return KafkaEventLog(connection, timing=group.GroupTiming(session=SESSION, hand_over=HAND_OVER))


@asynccontextmanager
async def hashing() -> AsyncIterator[Embedder]:
    yield HashingEmbedder()


def minilm() -> AbstractAsyncContextManager[Embedder]:
    return MiniLMEmbedder()


def on_torch() -> AbstractAsyncContextManager[Embedder]:
    return SentenceTransformerEmbedder()


EVENT_LOGS = [pytest.param(sqlite_log, id="sqlite"), pytest.param(kafka_log, id="kafka")]
TREE_STORES = [pytest.param(sqlite, id="sqlite"), pytest.param(opensearch_trees, id="opensearch")]
CHUNK_INDEXES = [pytest.param(edge, id="edge"), pytest.param(split, id="qdrant+opensearch")]
BOT_STORES = [pytest.param(sqlite_bot, id="sqlite"), pytest.param(opensearch_bot, id="opensearch")]
EMBEDDERS = [pytest.param(hashing, id="hashing"), pytest.param(minilm, id="minilm"), pytest.param(on_torch, id="torch")]


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


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=BOT_STORES)
def open_bot_store(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> OpenBotStore:
    """A store of the test's own, to be opened by the test as often as it likes."""
    return partial(request.param, request, tmp_path, seal=KeySeal([KEY]), clock=clock)


@pytest.fixture
async def bot_store(open_bot_store: OpenBotStore) -> AsyncIterator[BotStore]:
    async with open_bot_store() as store:
        yield store


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
