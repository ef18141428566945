"""GetToC's search (RIT-RAG section 4 and appendix B.1): hybrid retrieval over chunks, fused, turned
into node scores, turned into a forest.

k' = 4n chunks come from meaning and from words each; reciprocal rank fusion joins the two lists; the
best 4n chunks stay; a node scores as its best chunk (equation 1); the n best nodes and their ancestors
are the forest. ritbot's own recipe fuses more sharply and takes two further steps (navigator.retrieval.node_selection).
Hits that the TreeStore does not list are orphans and are dropped.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ingest.model import Scope
from ingest.notes import Notes, SectionSummary, summaries_of
from ingest.ports import ChunkIndex, Embedder, Hit, Outline, TreeStore
from ingest.text.words import terms
from navigator.retrieval.forest import Forest, Numbering, headings_shown, induce
from navigator.retrieval.node_selection import best, boost_by_page, cover_ancestors

RecipeName = Literal["ritbot", "plain"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants of retrieval. `page_share` and `cover` are of navigator.retrieval.node_selection: how much a page speaks for its
    nodes, and whether found ancestors of found nodes are left out of the n. `links_share`: what a section of links only
    keeps of its score, so that it stands below text."""

    n: int = 50
    chunks_per_node: int = 4
    kappa: int = 30
    page_share: float = 0.15
    cover: bool = True
    links_share: float = 0.5

    @property
    def k(self) -> int:
        """k': how many chunks each list gives, and how many stay after fusion."""
        return self.chunks_per_node * self.n


RECIPES: Mapping[RecipeName, Recipe] = {
    "ritbot": Recipe(),
    "plain": Recipe(kappa=60, page_share=0.0, cover=False, links_share=1.0),
}
"""plain: RIT-RAG's (appendix B.1). ritbot: what tests/bench measured to carry on several sites."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best nodes, node id -> score, best first, and the pages they stand on. A recipe that covers gives more than n
    where some of them are ancestors of others."""

    scores: dict[str, float]
    pages: tuple[Outline, ...]


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunks that a search found, best first, and the pages they stand on, by key."""

    hits: tuple[Hit, ...]
    pages: Mapping[str, Outline]


class Retriever:
    """Searches one index. Raises store errors of ingest.errors."""

    def __init__(
        self,
        trees: TreeStore,
        index: ChunkIndex,
        embedder: Embedder,
        recipe: Recipe,
        languages: Sequence[str] = ("en",),
        notes: Notes | None = None,
    ) -> None:
        """`notes`: whose summaries and keywords forests carry."""
        self._trees = trees
        self._index = index
        self._embedder = embedder
        self._recipe = recipe
        self._languages = languages
        self._notes = notes

    async def forest(self, query: str, scope: Scope, numbering: Numbering) -> Forest:
        """GetToC(q): the forest that the query induces, numbered."""
        forest = await self.induced(query, await self.search(query, scope), numbering)
        return replace(forest, scope=scope)

    async def induced(self, query: str, found: Found, numbering: Numbering) -> Forest:
        """The forest of nodes that are found already."""
        places = await self._trees.place([page.key for page in found.pages])
        return induce(query, found.scores, found.pages, places, numbering, await self._known(found))

    async def _known(self, found: Found) -> Mapping[str, SectionSummary]:
        if self._notes is None:
            return {}
        headings = (heading for page in found.pages for heading in headings_shown(page, found.scores))
        return await _summaries(self._trees, self._notes, [heading.id for heading in headings if heading.readable])

    async def search(self, query: str, scope: Scope) -> Found:
        """The n best nodes for a query. A query without a single word finds nothing."""
        found = await self.hybrid(query, scope, self._recipe.k)
        scores = chosen(found, self._recipe)
        keys = {hit.page_key for hit in found.hits if hit.node_id in scores}
        return Found(scores, tuple(found.pages[key] for key in sorted(keys)))

    async def hybrid(self, query: str, scope: Scope, k: int) -> Chunks:
        """The k best chunks by meaning and words together; each list gives k' (the recipe's) or k, whichever is more."""
        if not query.strip():
            return Chunks((), {})
        deep = max(k, self._recipe.k)
        by_meaning, by_words = await asyncio.gather(self._dense(query, scope, deep), self._words(query, scope, deep))
        listed = await self._listed(fuse([by_meaning, by_words], self._recipe.kappa)[:deep])
        return Chunks(below_text(listed, self._recipe.links_share)[:k], listed.pages)

    async def dense(self, query: str, scope: Scope, k: int) -> Chunks:
        """The k nearest chunks; a score is a cosine."""
        return await self._listed(await self._dense(query, scope, k) if query.strip() else ())

    async def words(self, query: str, scope: Scope, k: int) -> Chunks:
        """The k best chunks by BM25."""
        return await self._listed(await self._words(query, scope, k) if query.strip() else ())

    async def _dense(self, query: str, scope: Scope, k: int) -> Sequence[Hit]:
        return await self._index.dense(await self._embedder.embed_query(query), k, scope)

    async def _words(self, query: str, scope: Scope, k: int) -> Sequence[Hit]:
        return await self._index.words(self.analysed(query), k, scope)

    async def _listed(self, hits: Sequence[Hit]) -> Chunks:
        """Without orphans."""
        pages = await self._trees.outlines({hit.page_key for hit in hits})
        listed = [hit for hit in hits if hit.page_key in pages and hit.chunk_id in pages[hit.page_key].chunk_ids]
        return Chunks(tuple(listed), pages)

    def analysed(self, query: str) -> list[str]:
        """The query's words, analysed as each language of the sites is; each term once."""
        return list(dict.fromkeys(term for language in self._languages for term in terms(query, language)))


def chosen(found: Chunks, recipe: Recipe) -> dict[str, float]:
    """The nodes that make the forest, best first."""
    scores = best_nodes(found.hits, len(found.hits))
    if recipe.page_share:
        scores = boost_by_page(scores, {hit.node_id: hit.page_key for hit in found.hits}, recipe.page_share)
    if not recipe.cover:
        return best(scores, recipe.n)
    parents = {heading.id: heading.parent for page in found.pages.values() for heading in page.headings}
    return cover_ancestors(scores, parents, recipe.n)


def below_text(found: Chunks, share: float) -> tuple[Hit, ...]:
    """The hits, best first, where those in sections of links only keep `share` of their score."""
    links = {heading.id for page in found.pages.values() for heading in page.headings if heading.links_only}
    hits = (replace(hit, score=hit.score * share) if hit.node_id in links else hit for hit in found.hits)
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id)))


def fuse(lists: Iterable[Sequence[Hit]], kappa: int) -> list[Hit]:
    """Reciprocal rank fusion (Cormack et al. 2009): score = sum of 1 / (kappa + rank), best first; ties
    go by chunk id."""
    scores: defaultdict[str, float] = defaultdict(float)
    hits: dict[str, Hit] = {}
    for ranked in lists:
        for rank, hit in enumerate(ranked, start=1):
            scores[hit.chunk_id] += 1 / (kappa + rank)
            hits[hit.chunk_id] = hit
    order = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))
    return [Hit(c, hits[c].node_id, hits[c].page_key, scores[c]) for c in order]


def best_nodes(hits: Iterable[Hit], n: int) -> dict[str, float]:
    """A node scores as its best chunk (RIT-RAG equation 1); the n best, best first, ties by node id."""
    scores: dict[str, float] = {}
    for hit in hits:
        scores[hit.node_id] = max(hit.score, scores.get(hit.node_id, hit.score))
    return best(scores, n)


async def _summaries(trees: TreeStore, notes: Notes, node_ids: Iterable[str]) -> Mapping[str, SectionSummary]:
    """By node id, for those of the nodes that have a summary: hints where to look, never evidence, and always of what a
    section says now, since they are found by its content. Raises store errors."""
    if not await notes.any("summary"):
        return {}
    located = await trees.nodes(node_ids)
    hashes = {node_id: found.node.own_hash for node_id, found in located.items()}
    summaries = await summaries_of(notes, set(hashes.values()))
    return {node_id: summaries[own] for node_id, own in hashes.items() if own in summaries}
