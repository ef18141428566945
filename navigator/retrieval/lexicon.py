"""The words of an index: how often a term occurs in it, and which of several spellings it knows.

Stands on the search by words alone, so that both columns have it and it costs no store of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set

from ingest.model import Scope
from ingest.ports import ChunkIndex, TreeStore
from ingest.text.words import terms
from navigator.question.word_counts import MAX_COUNTED_CHUNKS

MAX_CHUNKS_PER_SPELLING = 24
"""Chunks that are read to see which of several spellings they hold."""


async def english() -> Sequence[str]:
    return ("en",)


class Lexicon:
    """Raises store errors of ingest.errors. `languages` gives those that pages are in, in which words are analysed."""

    def __init__(
        self, index: ChunkIndex, trees: TreeStore, languages: Callable[[], Awaitable[Sequence[str]]] = english
    ) -> None:
        self._index = index
        self._trees = trees
        self.languages = languages

    async def counts(self, words: Iterable[str], scope: Scope) -> Mapping[str, int]:
        """In how many chunks each word occurs, as the language reads it that knows it best; at most MAX_COUNTED_CHUNKS, which
        is also what a stop word counts. An identifier that no chunk holds whole occurs as often as its rarest part,
        and not at all where one of them does not: it is a name of something else."""
        languages = await self.languages()
        analysed = {word: [terms(word, language) for language in languages] for word in words}
        asked = {term for readings in analysed.values() for found in readings for term in found}
        held = await self._index.occurrences(asked, scope)
        counts = {word: max(_count(found, held) for found in readings) for word, readings in analysed.items()}
        return {word: min(count, MAX_COUNTED_CHUNKS) for word, count in counts.items()}

    async def total(self, scope: Scope) -> int:
        """How many chunks there are."""
        return await self._index.count(scope)

    async def spelled(self, spellings: Set[str], scope: Scope) -> Counter[str]:
        """Which of these words, in small letters, the pages hold, and how often where they hold them most."""
        languages = await self.languages()
        asked = {term for word in spellings for language in languages for term in terms(word, language)}
        hits = await self._index.words(sorted(asked), MAX_CHUNKS_PER_SPELLING, scope)
        located = await self._trees.nodes({hit.node_id for hit in hits})
        texts = (f"{found.node.title}\n{found.node.text}".casefold() for found in located.values())
        return Counter(word for text in texts for word in re.findall(r"[^\W\d_]+", text) if word in spellings)


def _count(found: Sequence[str], held: Mapping[str, int]) -> int:
    if not found:
        return MAX_COUNTED_CHUNKS
    return held[found[0]] or min((held[part] for part in found[1:] if part.isalnum()), default=0)
