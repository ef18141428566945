"""Where a column's stores are, as one argument of a command line, and how they are opened."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.wiring.stores import SystemClock
from ingest.events.kafka import group
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.sqlite import SqliteEventLog
from ingest.ports import ChunkIndex, Embedder, EventLog, TreeStore
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.folder import Stamp
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.text.words import ANALYSER_VERSION
from tests.fakes.embedder import HashingEmbedder

SESSION = 1.5
"""Seconds of silence after which a consumer is taken for dead, and in which work in hand may finish."""
TIMEOUT = 3
"""Seconds for one request to a server; the stand-in for Qdrant delays some answers beyond it."""
PATIENCE = 4.0


@dataclass(frozen=True, slots=True)
class Column:
    """Embedded: `folder`. Cluster: the three addresses, and the name that topics, indexes and collections begin with.
    `models`: the file that says which embedding model is set, as an operator's settings do; no file: the first."""

    folder: str = ""
    kafka: str = ""
    opensearch: str = ""
    qdrant: str = ""
    name: str = "chaos"
    models: str = ""

    @property
    def embedded(self) -> bool:
        return bool(self.folder)

    @property
    def model_number(self) -> int:
        file = Path(self.models)
        return int(file.read_text()) if self.models and file.exists() else 0

    def set_model(self, number: int) -> None:
        """Who is opened from now on takes it."""
        new = Path(f"{self.models}.new")
        new.write_text(str(number))
        new.rename(self.models)

    def dump(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Stores:
    trees: TreeStore
    index: ChunkIndex
    embedder: Embedder
    sizes: Sizes


def model_of(number: int) -> tuple[HashingEmbedder, Sizes]:
    """No two in a row have vectors of one length, or cut pages alike."""
    model, odd = HashingEmbedder(), number % 2
    model.name, model.dimensions = f"hashing {number}", 64 + 8 * odd
    return model, Sizes(45, 16) if odd else Sizes(60, 20)


@asynccontextmanager
async def open_stores(column: Column) -> AsyncIterator[Stores]:
    embedder, sizes = model_of(column.model_number)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if column.embedded:
            folder = Path(column.folder)
            trees = await enter(SqliteTreeStore(folder / "trees.sqlite"))
            index = await enter(EdgeChunkIndex(folder / "chunks", embedder.dimensions))
            yield Stores(trees, index, embedder, sizes)
            return
        server = await enter(OpenSearch(column.opensearch, timeout=TIMEOUT, patience=PATIENCE))
        pages = await enter(OpenSearchTreeStore(server, column.name))
        collection = f"{column.name}-{Stamp(embedder.name, embedder.dimensions, ANALYSER_VERSION).slug}"
        vectors = await enter(
            QdrantVectors(
                column.qdrant,
                embedder.dimensions,
                column.name,
                collection=collection,
                timeout=TIMEOUT,
                patience=PATIENCE,
            )
        )
        words = await enter(OpenSearchWords(server, collection))
        yield Stores(pages, await enter(SplitChunkIndex(vectors, words)), embedder, sizes)


@asynccontextmanager
async def open_events(column: Column) -> AsyncIterator[EventLog]:
    if column.embedded:
        async with SqliteEventLog(Path(column.folder) / "events.sqlite", SystemClock()) as events:
            yield events
        return
    quick = group.GroupTiming(session=SESSION, hand_over=SESSION, watch=5.0)
    async with KafkaEventLog(
        Connection((column.kafka,), prefix=f"{column.name}.", timeout=TIMEOUT), timing=quick
    ) as log:
        yield log
