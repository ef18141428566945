"""GetToC's search (RIT-RAG section 4 and appendix B.1): hybrid retrieval over chunks, fused, turned
into node scores, turned into a forest.

k' = 4n chunks come from meaning and from words each; reciprocal rank fusion joins the two lists; the
best 4n chunks stay; a node scores as its best chunk (equation 1); the n best nodes and their ancestors
are the forest. ritbot's own recipe fuses more sharply and takes two further steps (navigator.retrieval.node_selection).
Hits that the TreeStore does not list are orphans and are dropped.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ingest.model import Node, Scope
from ingest.notes import Notes, SectionSummary, summaries_of
from ingest.ports import ChunkIndex, Embedder, Hit, Outline, TreeStore
from ingest.text.languages import code_of, spoken
from ingest.text.scripts import UNSPACED
from ingest.text.words import LANGUAGES, language_term, terms
from navigator.retrieval.forest import Described, Forest, Numbering, below, headings_shown, induce
from navigator.retrieval.node_selection import best, boost_by_page, cover_ancestors, without_tail

FIRST_HITS = 30
"""So far down one list alone speaks for a node."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")

RecipeName = Literal["ritbot", "plain"]
LANGUAGES_BELIEVED_SECONDS = 600.0
"""How old the list of the languages that pages are in may be."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants of retrieval. `page_share`, `cover` and `tail` are of navigator.retrieval.node_selection: how much a page
    speaks for its nodes, whether found ancestors of found nodes are left out of the n, and the share of the best score
    below which nodes are left out. `links_share`: what a section of links only keeps of its score, so that it stands below
    text."""

    n: int = 50
    chunks_per_node: int = 4
    kappa: int = 30
    page_share: float = 0.15
    cover: bool = True
    links_share: float = 0.5
    tail: float = 0.25

    @property
    def k(self) -> int:
        """k': how many chunks each list gives, and how many stay after fusion."""
        return self.chunks_per_node * self.n


RECIPES: Mapping[RecipeName, Recipe] = {
    "ritbot": Recipe(),
    "plain": Recipe(kappa=60, page_share=0.0, cover=False, links_share=1.0, tail=0.0),
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
    """Chunks that a search found, best first, and the pages they stand on, by key. `backed`: the nodes that meaning and words
    both found, or that one of them found among its first; None where not both were asked."""

    hits: tuple[Hit, ...]
    pages: Mapping[str, Outline]
    backed: frozenset[str] | None = None


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
        *,
        describes: bool = False,
    ) -> None:
        """`notes`: whose summaries and keywords forests carry. `describes`: they also say how long sections are,
        and what is not shown."""
        self._trees = trees
        self._index = index
        self._embedder = embedder
        self._recipe = recipe
        self._languages = tuple(dict.fromkeys(map(code_of, languages)))
        self._found: tuple[str, ...] = ()
        self._read_at: float | None = None
        self._notes = notes
        self._describes = describes

    async def forest(self, query: str, scope: Scope, numbering: Numbering) -> Forest:
        """GetToC(q): the forest that the query induces, numbered."""
        forest = await self.induced(query, await self.search(query, scope), numbering)
        return replace(forest, scope=scope)

    async def induced(self, query: str, found: Found, numbering: Numbering) -> Forest:
        """The forest of nodes that are found already."""
        places = await self._trees.place([page.key for page in found.pages])
        about = await self._described(found)
        return induce(query, found.scores, found.pages, places, numbering, about, counts_hidden=self._describes)

    async def below(self, page: Outline, node_id: str, numbering: Numbering) -> Forest:
        """What stands under a node, not all of which a query induced: as many as n sections, the upper levels first."""
        shown = below(page, node_id, self._recipe.n)
        return await self.induced("", Found(dict.fromkeys([node_id, *shown], 0.0), (page,)), numbering)

    async def _described(self, found: Found) -> Mapping[str, Described]:
        """What is known of the sections of a forest. Texts are read only for that, and never those of more sections than a
        search finds: a whole document's table of contents carries summaries alone."""
        noted = self._notes is not None and await self._notes.any("summary")
        counted = self._describes and len(found.scores) <= 2 * self._recipe.n
        if not noted and not counted:
            return {}
        headings = (heading for page in found.pages for heading in headings_shown(page, found.scores))
        located = await self._trees.nodes([heading.id for heading in headings if heading.readable])
        hashes = {found.node.own_hash for found in located.values()} if noted else set()
        summaries = await summaries_of(self._notes, hashes) if self._notes and hashes else {}
        if not counted:
            known = ((node_id, summaries.get(found.node.own_hash)) for node_id, found in located.items())
            return {node_id: Described(None, note.summary, note.keywords) for node_id, note in known if note}
        return {
            node_id: _described(found.node, summaries.get(found.node.own_hash) if noted else None)
            for node_id, found in located.items()
        }

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
        hits = below_text(listed, self._recipe.links_share)[:k]
        return Chunks(hits, listed.pages, _backed(by_meaning, by_words))

    async def dense(self, query: str, scope: Scope, k: int) -> Chunks:
        """The k nearest chunks; a score is a cosine."""
        return await self._listed(await self._dense(query, scope, k) if query.strip() else ())

    async def words(self, query: str, scope: Scope, k: int) -> Chunks:
        """The k best chunks by BM25."""
        return await self._listed(await self._words(query, scope, k) if query.strip() else ())

    async def _dense(self, query: str, scope: Scope, k: int) -> Sequence[Hit]:
        return await self._index.dense(await self._embedder.embed_query(query), k, scope)

    async def _words(self, query: str, scope: Scope, k: int) -> Sequence[Hit]:
        return await self._index.words(await self.analysed(query), k, scope)

    async def _listed(self, hits: Sequence[Hit]) -> Chunks:
        """Without orphans."""
        pages = await self._trees.outlines({hit.page_key for hit in hits})
        listed = [hit for hit in hits if hit.page_key in pages and hit.chunk_id in pages[hit.page_key].chunk_ids]
        return Chunks(tuple(listed), pages)

    async def analysed(self, query: str) -> list[str]:
        """The query's words as the pages' are analysed, in each language that pages are in and in its own; each term once."""
        own = spoken(query)
        languages = dict.fromkeys((*await self.languages(), *([own] if own else ())))
        return await asyncio.to_thread(_terms, query, tuple(languages), own)

    async def languages(self) -> tuple[str, ...]:
        """The languages of the sites, and those in which pages are, as the index holds their marks."""
        now = time.monotonic()
        if self._read_at is None or now - self._read_at > LANGUAGES_BELIEVED_SECONDS:
            codes = [code for code in LANGUAGES if code not in self._languages]
            held = await self._index.occurrences(map(language_term, codes))
            self._found = tuple(code for code in codes if held[language_term(code)])
            self._read_at = now
        return (*self._languages, *self._found)


def _terms(query: str, languages: Sequence[str], own: str) -> list[str]:
    return list(dict.fromkeys(term for language in languages for term in terms(query, language, own)))


def _described(node: Node, known: SectionSummary | None) -> Described:
    words = sum(len(_WORD.findall(block.text)) for block in node.blocks)
    return Described(words, known.summary, known.keywords) if known else Described(words)


def chosen(found: Chunks, recipe: Recipe) -> dict[str, float]:
    """The nodes that make the forest, best first."""
    scores = best_nodes(found.hits, len(found.hits))
    if recipe.page_share:
        scores = boost_by_page(scores, {hit.node_id: hit.page_key for hit in found.hits}, recipe.page_share)
    if not recipe.cover:
        return best(scores, recipe.n)
    parents = {heading.id: heading.parent for page in found.pages.values() for heading in page.headings}
    covering = cover_ancestors(scores, parents, recipe.n)
    return covering if found.backed is None or not recipe.tail else without_tail(covering, found.backed, recipe.tail)


def _backed(*lists: Sequence[Hit]) -> frozenset[str]:
    found = [{hit.node_id for hit in hits} for hits in lists]
    first = {hit.node_id for hits in lists for hit in hits[:FIRST_HITS]}
    return frozenset(first.union(set.intersection(*found)))


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
