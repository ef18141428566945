"""The composition root: which adapters stand behind which port. Nothing else knows more than one. What answers questions
over the open stores is in deploy/wiring/navigation.py.

Everything is opened in one AsyncExitStack and closed in reverse order, whatever happens.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from deploy.settings.root import Settings
from ingest.embedding.batching import BatchingEmbedder
from ingest.embedding.weights import MINILM
from ingest.events.announce import Tell
from ingest.indexing.indexer import Indexer
from ingest.indexing.page_reader import PageReader
from ingest.indexing.parse_process import ParseProcess
from ingest.indexing.projection import Projection
from ingest.indexing.reembed import Successor
from ingest.model import Site
from ingest.notes import Notes
from ingest.ports import ChunkIndex, Clock, Embedder, Fetcher, PageParser, TreeStore
from ingest.sites.fetch import HttpFetcher
from ingest.sites.folder import FolderFetcher
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.folder import DataFolder, Stamp
from ingest.stores.embedded.notes import SqliteNotes
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.text.words import ANALYSER_VERSION

USER_AGENT = f"ritbot/{version('ritbot')}"


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Stores:
    """The open stores and what every role needs beside them."""

    settings: Settings
    trees: TreeStore
    index: ChunkIndex
    embedder: Embedder
    clock: Clock
    rebuild: bool
    notes: Notes
    parser: PageParser

    def reader(self, site: Site, fetcher: Fetcher) -> PageReader:
        return PageReader(site, fetcher, self.parser, chance=random.Random(), notes=self.notes)

    def indexer(self, site: Site, reader: PageReader, tell: Tell) -> Indexer:
        return Indexer(
            site,
            trees=self.trees,
            index=self.index,
            embedder=self.embedder,
            reader=reader,
            clock=self.clock,
            sizes=self.sizes,
            tell=tell,
            rebuild=self.rebuild,
        )

    @property
    def made_by(self) -> str:
        """What the records that these stores bring in step say of their make (Projection.made_by)."""
        return Projection(self.index, self.embedder, self.sizes).made_by

    @property
    def sizes(self) -> Sizes:
        index = self.settings.index
        return Sizes.fit(self.embedder.window, index.chunk_tokens)


@asynccontextmanager
async def open_stores(
    settings: Settings, command: str, *, rebuild: bool = False, upgrade: bool = False
) -> AsyncIterator[Stores]:
    """The column that the settings choose. Embedded: one process, one folder. `rebuild`: take it even if another
    embedding model or analyser made it; the next `ritbot index` brings each site in step; `upgrade`: even if another
    analyser did. Raises IngestError."""
    async with AsyncExitStack() as stack:
        folder = await _held(stack, settings, command)
        embedder = await stack.enter_async_context(_embedder(settings))
        if folder is None:
            from deploy.wiring.cluster_stores import open_cluster

            trees, index = await open_cluster(stack, settings, embedder)
        else:
            stamp = Stamp(embedder.name, embedder.dimensions, ANALYSER_VERSION)
            if not rebuild:
                folder.check(stamp, analyser=not upgrade)
            folder.write(stamp)
            trees = await stack.enter_async_context(SqliteTreeStore(folder.trees))
            index = await stack.enter_async_context(EdgeChunkIndex(folder.chunks(stamp), embedder.dimensions))
        yield await _stores(stack, settings, trees, index, embedder, rebuild)


@asynccontextmanager
async def open_successor(settings: Settings, command: str) -> AsyncIterator[tuple[Stores, Successor]]:
    """The stores with the index of the embedding model that is set, whichever is live. Raises IngestError."""
    async with AsyncExitStack() as stack:
        folder = await _held(stack, settings, command)
        embedder = await stack.enter_async_context(_embedder(settings))
        if folder is None:
            from deploy.wiring.cluster_stores import open_cluster_successor

            trees, successor = await open_cluster_successor(stack, settings, embedder)
        else:
            trees = await stack.enter_async_context(SqliteTreeStore(folder.trees))
            successor = await embedded_successor(stack, folder, embedder)
        yield await _stores(stack, settings, trees, successor.index, embedder), successor


async def _held(stack: AsyncExitStack, settings: Settings, command: str) -> DataFolder | None:
    """The data folder, for this process alone; None where servers hold all."""
    if settings.stores.kind == "cluster":
        await asyncio.to_thread(_import_cluster)
        return None
    return await stack.enter_async_context(DataFolder(settings.index.folder, command=command))


async def _stores(
    stack: AsyncExitStack,
    settings: Settings,
    trees: TreeStore,
    index: ChunkIndex,
    embedder: Embedder,
    rebuild: bool = False,
) -> Stores:
    notes = await stack.enter_async_context(open_notes(settings))
    parser = await stack.enter_async_context(ParseProcess())
    return Stores(settings, trees, index, embedder, SystemClock(), rebuild, notes, parser)


async def embedded_successor(stack: AsyncExitStack, folder: DataFolder, embedder: Embedder) -> Successor:
    """In a folder that is held: what its stamp names is live."""
    stamp, found = Stamp(embedder.name, embedder.dimensions, ANALYSER_VERSION), folder.stamp()
    index = await stack.enter_async_context(EdgeChunkIndex(folder.chunks(stamp), embedder.dimensions))

    async def take_over() -> None:
        folder.write(stamp)

    async def drop_before() -> bool:
        return folder.remove_other_chunks(stamp)

    return Successor(index, found is not None and found.same_model(stamp), take_over, drop_before)


def _import_cluster() -> None:
    """In a thread: its clients take seconds, for which a role must go on answering how it is."""
    import deploy.wiring.cluster_stores  # noqa: F401


def _embedder(settings: Settings) -> BatchingEmbedder:
    """Only what embeds is imported: PyTorch takes seconds."""
    embedding = settings.embedding
    if embedding.model == MINILM and embedding.device == "cpu":
        from ingest.embedding.minilm import MiniLMEmbedder

        return MiniLMEmbedder(threads=embedding.threads)
    from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        embedding.model,
        device=embedding.device,
        threads=embedding.threads,
        allow_download=embedding.allow_download,
    )


@asynccontextmanager
async def open_trees(settings: Settings) -> AsyncIterator[TreeStore]:
    """The trees alone, for looking; works beside a process that holds the folder."""
    if settings.stores.kind == "cluster":
        await asyncio.to_thread(_import_cluster)
        from deploy.wiring.cluster_stores import open_cluster_trees

        async with open_cluster_trees(settings) as trees:
            yield trees
        return
    async with SqliteTreeStore(DataFolder(settings.index.folder).trees) as trees:
        yield trees


@asynccontextmanager
async def open_notes(settings: Settings) -> AsyncIterator[Notes]:
    """What a model wrote about sections; works beside a process that holds the folder, which must be there."""
    if settings.stores.kind == "cluster":
        from deploy.wiring.cluster_stores import open_cluster_notes

        async with open_cluster_notes(settings) as notes:
            yield notes
        return
    async with SqliteNotes(DataFolder(settings.index.folder).notes) as notes:
        yield notes


def open_fetcher(site: Site, attempts: int = 4) -> FolderFetcher | HttpFetcher:
    """Not yet entered: use it with `async with`."""
    return FolderFetcher(site) if site.is_folder else HttpFetcher(site, user_agent=USER_AGENT, attempts=attempts)
