"""Which nodes make the forest, and three steps in which ritbot's recipe goes beyond the paper's. Pure.

A page speaks for its sections: where several sections of one page were found, the question is more likely about
that page, and each of them gains a little. And n counts what it takes to make the forest: ancestors come into it for
nothing (RIT-RAG section 4), so a found section that stands above another found one takes none of the n places.
And where scores fall off, what no signal supports is left out: n is the most that there may be.
tests/bench/README.md says what each step gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

PAGE_SPEAKERS = 3
"""As many of a page's best nodes speak for it. More would favour long pages."""


def best(scores: Mapping[str, float], n: int) -> dict[str, float]:
    """The n best nodes, best first, ties by node id."""
    order = sorted(scores, key=lambda node: (-scores[node], node))
    return {node: scores[node] for node in order[:n]}


def boost_by_page(scores: Mapping[str, float], page_of: Mapping[str, str], share: float) -> dict[str, float]:
    """Each node's share of the best node's score, plus `share` times its page's share of the best page's, where a page
    scores as the mean of its three best nodes (missing ones count 0)."""
    on_page: defaultdict[str, list[float]] = defaultdict(list)
    for node, score in scores.items():
        on_page[page_of[node]].append(score)
    pages = {page: sum(sorted(found, reverse=True)[:PAGE_SPEAKERS]) / PAGE_SPEAKERS for page, found in on_page.items()}
    top_node, top_page = max(scores.values(), default=1.0), max(pages.values(), default=1.0)
    return {node: score / top_node + share * pages[page_of[node]] / top_page for node, score in scores.items()}


def cover_ancestors(scores: Mapping[str, float], parents: Mapping[str, str | None], n: int) -> dict[str, float]:
    """As many of the best nodes as n nodes and their ancestors hold, best first, ties by node id. `parents`: of every
    node of the pages; None for a page's own node."""
    chosen: dict[str, float] = {}
    above: set[str] = set()
    lowest: set[str] = set()
    for node in best(scores, len(scores)):
        ancestors = set(_ancestors(node, parents))
        if node not in above:
            lowest = (lowest - ancestors) | {node}
            if len(lowest) > n:
                break
        above |= ancestors
        chosen[node] = scores[node]
    return chosen


def without_tail(scores: Mapping[str, float], backed: Set[str], share: float) -> dict[str, float]:
    """Those that score at least this share of the best, and are `backed`: found by more than one search, or among the first
    of one. In the same order."""
    least = share * max(scores.values(), default=0.0)
    return {node: score for node, score in scores.items() if score >= least and node in backed}


def _ancestors(node: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    current = parents[node]
    while current is not None:
        yield current
        current = parents[current]
