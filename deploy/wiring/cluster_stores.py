"""The distributed half of the composition root: OpenSearch for trees and words, Qdrant for vectors.

An embedding model has a collection of vectors and an index of words of its own, named alike: `ritbot-MODEL` and
`ritbot-MODEL-words`. The alias `ritbot` at Qdrant says which are live; a process with another model is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.ports import BotStore, Editions, Gaps
from bot.store.opensearch import OpenSearchBotStore
from bot.store.opensearch_editions import OpenSearchEditions
from bot.store.opensearch_gaps import OpenSearchGaps
from bot.store.sealing import Seal
from deploy.settings.root import Settings
from deploy.settings.site import secret_text
from ingest.embedding.weights import embedder_name
from ingest.indexing.reembed import Successor
from ingest.notes import Notes
from ingest.ports import ChunkIndex, Clock, Embedder, TreeStore
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.notes import OpenSearchNotes
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.stores.embedded.folder import Stamp, slug
from ingest.text.words import ANALYSER_VERSION


async def open_cluster(stack: AsyncExitStack, settings: Settings, embedder: Embedder) -> tuple[TreeStore, ChunkIndex]:
    """The trees and the live index. Raises IndexMismatch where another embedding model made it."""
    server = await stack.enter_async_context(_opensearch(settings))
    trees = await stack.enter_async_context(OpenSearchTreeStore(server, settings.stores.name))
    vectors = await stack.enter_async_context(_vectors(settings, embedder))
    words = await stack.enter_async_context(OpenSearchWords(server, _collection(settings, embedder)))
    return trees, await stack.enter_async_context(SplitChunkIndex(vectors, words))


async def open_cluster_successor(
    stack: AsyncExitStack, settings: Settings, embedder: Embedder
) -> tuple[TreeStore, Successor]:
    """The trees, and the index of the embedding model that is set, whichever is live. Of what was live before, one
    index is kept at most."""
    server = await stack.enter_async_context(_opensearch(settings))
    trees = await stack.enter_async_context(OpenSearchTreeStore(server, settings.stores.name))
    vectors = await stack.enter_async_context(_vectors(settings, embedder, beside=True))
    words = await stack.enter_async_context(OpenSearchWords(server, _collection(settings, embedder)))

    async def drop_before() -> bool:
        """Words first: as long as the collection is there, its name is known."""
        before = await vectors.before()
        if before is not None:
            await OpenSearchWords(server, before).remove()
            await vectors.drop(before)
        return before is not None

    async def take_over() -> None:
        if not await vectors.is_live():
            await drop_before()
        await vectors.take_over()

    index = await stack.enter_async_context(SplitChunkIndex(vectors, words))
    return trees, Successor(index, await vectors.is_live(), take_over, drop_before)


def _vectors(settings: Settings, embedder: Embedder, *, beside: bool = False) -> QdrantVectors:
    stores = settings.stores
    return QdrantVectors(
        stores.qdrant_url,
        embedder.dimensions,
        stores.name,
        collection=_collection(settings, embedder),
        beside=beside,
        api_key=secret_text(stores.qdrant_api_key),
        ca_file=str(stores.qdrant_ca_file) if stores.qdrant_ca_file else None,
    )


def _collection(settings: Settings, embedder: Embedder) -> str:
    return f"{settings.stores.name}-{Stamp(embedder.name, embedder.dimensions, ANALYSER_VERSION).slug}"


def _opensearch(settings: Settings) -> OpenSearch:
    stores = settings.stores
    return OpenSearch(
        stores.opensearch_url,
        user=stores.opensearch_user,
        password=secret_text(stores.opensearch_password),
        ca_file=str(stores.opensearch_ca_file) if stores.opensearch_ca_file else None,
    )


@asynccontextmanager
async def open_cluster_words(settings: Settings) -> AsyncIterator[OpenSearchWords]:
    """The words alone, for looking: no embedding model is loaded, and Qdrant is not asked."""
    made_by = slug(embedder_name(settings.embedding.model), "*")
    async with _opensearch(settings) as server:
        yield OpenSearchWords(server, f"{settings.stores.name}-{made_by}")


@asynccontextmanager
async def open_cluster_trees(settings: Settings) -> AsyncIterator[TreeStore]:
    """The trees alone, for looking."""
    async with _opensearch(settings) as server, OpenSearchTreeStore(server, settings.stores.name) as trees:
        yield trees


@asynccontextmanager
async def open_cluster_notes(settings: Settings) -> AsyncIterator[Notes]:
    async with _opensearch(settings) as server, OpenSearchNotes(server, settings.stores.name) as notes:
        yield notes


@asynccontextmanager
async def open_cluster_bot_store(settings: Settings, seal: Seal, clock: Clock) -> AsyncIterator[BotStore]:
    async with (
        _opensearch(settings) as server,
        OpenSearchBotStore(server, settings.stores.name, seal, clock) as store,
    ):
        yield store


@asynccontextmanager
async def open_cluster_editions(settings: Settings) -> AsyncIterator[Editions]:
    async with _opensearch(settings) as server, OpenSearchEditions(server, settings.stores.name) as editions:
        yield editions


@asynccontextmanager
async def open_cluster_gaps(settings: Settings) -> AsyncIterator[Gaps]:
    async with _opensearch(settings) as server, OpenSearchGaps(server, settings.stores.name) as gaps:
        yield gaps
