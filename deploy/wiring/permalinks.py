"""Permalinks over what a process has opened, and the search for sections by their words, where it holds a search index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bot.permalinks.lookup import FindSections, Permalinks
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_editions
from deploy.wiring.stores import Stores, SystemClock
from ingest.model import Scope
from ingest.ports import TreeStore
from ingest.text.words import terms

MAX_FOUND_CHUNKS = 40
"""Of the search for a section by its words; they lie in few sections, or in none."""
MAX_SEARCHED_CHARACTERS = 4_000
"""Of the words, so far they are searched for."""


@asynccontextmanager
async def open_permalinks(
    settings: Settings, trees: TreeStore, find: FindSections | None = None
) -> AsyncIterator[Permalinks]:
    """Raises IngestError."""
    async with open_editions(settings) as editions:
        yield Permalinks(trees, editions, SystemClock(), find)


def finder(stores: Stores, languages: Sequence[str]) -> FindSections:
    """By words alone: what a text said is known, so that its meaning need not be guessed."""

    async def find(text: str, scope: Scope) -> Sequence[str]:
        said = text[:MAX_SEARCHED_CHARACTERS]
        searched = list(dict.fromkeys(term for language in languages for term in terms(said, language)))
        hits = await stores.index.words(searched, MAX_FOUND_CHUNKS, scope)
        return list(dict.fromkeys(hit.node_id for hit in hits))

    return find
