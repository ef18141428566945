"""The distributed half of the composition root: OpenSearch for trees and words, Qdrant for vectors."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from deploy.settings import Settings
from ingest.ports import ChunkIndex, Embedder, TreeStore
from ingest.stores.opensearch import OpenSearch
from ingest.stores.opensearch_trees import OpenSearchTreeStore
from ingest.stores.opensearch_words import OpenSearchWords
from ingest.stores.qdrant_vectors import QdrantVectors
from ingest.stores.split_index import SplitChunkIndex


async def open_cluster(stack: AsyncExitStack, settings: Settings, embedder: Embedder) -> tuple[TreeStore, ChunkIndex]:
    """OpenSearch and Qdrant. Another embedding model has another collection: nothing is ever mixed."""
    stores = settings.stores
    server = await stack.enter_async_context(_opensearch(settings))
    trees = await stack.enter_async_context(OpenSearchTreeStore(server, stores.name))
    words = await stack.enter_async_context(OpenSearchWords(server, stores.name))
    model = re.sub(r"[^A-Za-z0-9._-]+", "-", embedder.name)
    key = stores.qdrant_api_key.get_secret_value() if stores.qdrant_api_key else None
    vectors = await stack.enter_async_context(
        QdrantVectors(
            stores.qdrant_url,
            embedder.dimensions,
            f"{stores.name}-{model}",
            api_key=key,
            patience=stores.patience,
        )
    )
    return trees, await stack.enter_async_context(SplitChunkIndex(vectors, words))


def _opensearch(settings: Settings) -> OpenSearch:
    stores = settings.stores
    password = stores.opensearch_password
    return OpenSearch(
        stores.opensearch_url,
        user=stores.opensearch_user,
        password=password.get_secret_value() if password else None,
        ca_file=str(stores.opensearch_ca_file) if stores.opensearch_ca_file else None,
        patience=stores.patience,
    )


@asynccontextmanager
async def open_cluster_trees(settings: Settings) -> AsyncIterator[TreeStore]:
    """The trees alone, for looking."""
    async with _opensearch(settings) as server, OpenSearchTreeStore(server, settings.stores.name) as trees:
        yield trees
