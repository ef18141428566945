"""Permalinks over what a process has opened, and the search for sections by their words, where it holds a search index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from bot.permalinks.lookup import FindSections, Permalinks
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_editions
from deploy.wiring.stores import SystemClock
from ingest.model import Scope
from ingest.ports import Hit, TreeStore
from ingest.text.words import terms

MAX_FOUND_CHUNKS = 40
"""Of the search for a section by its words; they lie in few sections, or in none."""
MAX_SEARCHED_CHARACTERS = 4_000
"""Of the words, so far they are searched for."""

SearchWords = Callable[[Sequence[str], int, Scope], Awaitable[Sequence[Hit]]]
"""ingest.ports.ChunkIndex.words."""


@asynccontextmanager
async def open_permalinks(
    settings: Settings, trees: TreeStore, find: FindSections | None = None
) -> AsyncIterator[Permalinks]:
    """Raises IngestError."""
    async with open_editions(settings) as editions:
        yield Permalinks(trees, editions, SystemClock(), find)


@asynccontextmanager
async def open_finder(settings: Settings, languages: Sequence[str]) -> AsyncIterator[FindSections | None]:
    """For a process that does without the index: servers let everybody search it, a data folder its holder alone (None).
    Raises IngestError."""
    if settings.stores.kind != "cluster":
        yield None
        return
    from deploy.wiring.cluster_stores import open_cluster_words  # its client takes a moment to import

    async with open_cluster_words(settings) as index:
        yield finder(index.words, languages)


def finder(search: SearchWords, languages: Sequence[str]) -> FindSections:
    """By words alone: what a text said is known, so that its meaning need not be guessed."""

    async def find(text: str, scope: Scope) -> Sequence[str]:
        said = text[:MAX_SEARCHED_CHARACTERS]
        searched = list(dict.fromkeys(term for language in languages for term in terms(said, language)))
        hits = await search(searched, MAX_FOUND_CHUNKS, scope)
        return list(dict.fromkeys(hit.node_id for hit in hits))

    return find
