"""Which document PageIndex opens, and how much of its contents it shows (RIT-RAG App. B.2). Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from ingest.ports import Hit, Outline, SiteAncestor
from navigator.retrieval.forest import Forest
from navigator.retrieval.toc import OutlineForm, render_toc

DocumentId = tuple[str, ...]


def doc_score(chunk_scores: Sequence[float]) -> float:
    """DocScore(D) = 1 / sqrt(n_D + 1) * the sum of ChunkScore(c) over the n_D retrieved chunks c of D. (The paper's stored
    text lost the root sign; PageIndex's own tutorial on searching documents has it.) Many chunks count, but each further
    one less."""
    return sum(chunk_scores) / sqrt(len(chunk_scores) + 1)


def best_document(hits: Sequence[Hit], document_of: Mapping[str, DocumentId]) -> DocumentId | None:
    """The document with the highest DocScore; of equals the smallest id. `document_of`: by page key. None: no hits."""
    scores: defaultdict[DocumentId, list[float]] = defaultdict(list)
    for hit in hits:
        scores[document_of[hit.page_key]].append(hit.score)
    return min(scores, key=lambda document: (-doc_score(scores[document]), document), default=None)


def subtree_of(key: str, site: str, version: str, ancestors: Sequence[SiteAncestor]) -> DocumentId:
    """A sub-tree of the site as a document: the pages that hang under the same place. A page under none is one alone."""
    return (site, version, *(place.key or place.title for place in ancestors)) if ancestors else (key,)


def whole(pages: Sequence[Outline], found: Mapping[str, float]) -> dict[str, float]:
    """Scores for every section of the pages, so that all of them are shown: those found keep theirs, the others have 0,
    or less where that was found (a cosine)."""
    least = min([0.0, *found.values()])
    return {heading.id: found.get(heading.id, least) for page in pages for heading in page.headings}


def fewer_levels(page: Outline, found: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """Scores for less and less of a page: without its lowest level, without its two lowest …; what was found always
    stays."""
    scores = whole([page], found)
    levels = {heading.id: heading.level for heading in page.headings if heading.id not in found}
    for lowest in sorted(set(levels.values()), reverse=True):
        yield {node_id: score for node_id, score in scores.items() if node_id in found or levels[node_id] < lowest}


def fitting(forest: Forest, form: OutlineForm, limit: int) -> Forest:
    """The first trees of a forest, as many as fit into `limit` characters; the first always."""

    def first(count: int) -> Forest:
        return Forest(forest.query, forest.trees[:count])

    counts = range(1, len(forest.trees) + 1)
    return first(max(1, bisect_right(counts, limit, key=lambda count: len(render_toc(first(count), form)))))
