"""The forest that a query induces (RIT-RAG section 4): the n best nodes, all their ancestors, one
tree a page under its page ancestors. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from ingest.model import EVERYWHERE, Scope
from ingest.ports import Outline, OutlineHeading, SiteAncestor


@dataclass(frozen=True, slots=True)
class Described:
    """What an outline says of a section beside its title. `words`: how long its own text is, None where nobody counted."""

    words: int | None = None
    summary: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForestNode:
    """A section as offered to the model. `number`: by which a readable node is read, and what stands under a node is asked
    for; a container has one only where something is hidden. `hidden`: how many sections of the page that are not shown
    stand under it, and under none of `children`. `score` is None for nodes that are here only as ancestors."""

    node_id: str
    title: str
    readable: bool
    number: int | None
    score: float | None
    children: tuple[ForestNode, ...] = ()
    hidden: int = 0
    about: Described = Described()


@dataclass(frozen=True, slots=True)
class ForestTree:
    """One page. `ancestors` are the titles above it in the site tree, root first."""

    page_key: str
    url: str
    version: str
    ancestors: tuple[str, ...]
    root: ForestNode
    score: float


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees, best first (by their best node); sections in document order. `scope`: where was looked."""

    query: str
    trees: tuple[ForestTree, ...]
    scope: Scope = EVERYWHERE

    def walk(self) -> Iterator[tuple[ForestTree, ForestNode, tuple[str, ...]]]:
        """Every node with its tree and its path (site, page and section titles down to its own), trees
        in order, nodes in document order."""
        for tree in self.trees:
            stack = [(tree.root, _below(tree.ancestors, tree.root.title))]
            while stack:
                node, path = stack.pop()
                yield tree, node, path
                stack.extend((child, _below(path, child.title)) for child in reversed(node.children))


def _below(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """A section called like what is directly above it is no further step."""
    return path if path[-1:] == (title,) else (*path, title)


class Numbering:
    """Numbers for what one question is shown, nodes and chunks, by their ids: given once, never reused."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._ids: dict[int, tuple[str, ...]] = {}

    def of(self, shown_id: str, *parts: str) -> int:
        """The number of this, and of `parts` of it that have none yet."""
        number = self._numbers.setdefault(shown_id, len(self._ids) + 1)
        fresh = [part for part in parts if part not in self._numbers]
        self._numbers.update(dict.fromkeys(fresh, number))
        self._ids[number] = (*self._ids.get(number, (shown_id,)), *fresh)
        return number

    def known(self, shown_id: str) -> int | None:
        return self._numbers.get(shown_id)

    def node(self, number: int) -> str | None:
        """The node that was shown under this number; None for a number never given."""
        return self.ids(number)[0] if number in self._ids else None

    def ids(self, number: int) -> tuple[str, ...]:
        """All that was shown under this number; empty for a number never given."""
        return self._ids.get(number, ())


def induce(
    query: str,
    scores: Mapping[str, float],
    pages: Sequence[Outline],
    places: Mapping[str, tuple[SiteAncestor, ...]],
    numbering: Numbering,
    about: Mapping[str, Described] | None = None,
    *,
    counts_hidden: bool = False,
) -> Forest:
    """The forest of the nodes in `scores` (node id -> score; the n best) and all their ancestors.
    Numbers are given in the order in which the nodes are shown. `about`: what is known of nodes, by id. `counts_hidden`:
    it is said what is not shown, and a container under which something is hidden has a number too."""
    rated = sorted(
        ((max(scores[h.id] for h in page.headings if h.id in scores), page) for page in pages),
        key=lambda pair: (-pair[0], pair[1].key),
    )
    trees = [
        ForestTree(
            page_key=page.key,
            url=page.canonical,
            version=page.version,
            ancestors=tuple(place.title for place in places.get(page.key, ())),
            root=_tree(page, scores, numbering, about or {}, counts_hidden=counts_hidden),
            score=score,
        )
        for score, page in rated
    ]
    return Forest(query, tuple(trees))


def headings_shown(page: Outline, scores: Mapping[str, float]) -> list[OutlineHeading]:
    """The page's part of V_q in document order: its own node, and the sections that are scored or above one that is."""
    by_id = {heading.id: heading for heading in page.headings}
    wanted = {page.headings[0].id}
    for heading in page.headings:
        current: OutlineHeading | None = heading if heading.id in scores else None
        while current is not None and current.id not in wanted:
            wanted.add(current.id)
            current = by_id[current.parent] if current.parent is not None else None
    return [heading for heading in page.headings if heading.id in wanted]


def _tree(
    page: Outline,
    scores: Mapping[str, float],
    numbering: Numbering,
    about: Mapping[str, Described],
    *,
    counts_hidden: bool,
) -> ForestNode:
    """The page's own node with the sections of V_q under it."""
    headings = headings_shown(page, scores)
    hidden = _hidden(page, {heading.id for heading in headings}) if counts_hidden else Counter[str]()
    numbers = {heading.id: numbering.of(heading.id) for heading in headings if heading.readable or hidden[heading.id]}
    children: dict[str, list[ForestNode]] = {heading.id: [] for heading in headings}
    for heading in reversed(headings):
        node = ForestNode(
            node_id=heading.id,
            title=heading.title,
            readable=heading.readable,
            number=numbers.get(heading.id),
            score=scores.get(heading.id),
            children=tuple(reversed(children[heading.id])),
            hidden=hidden[heading.id],
            about=about.get(heading.id, Described()),
        )
        if heading is headings[0]:
            return node
        children[heading.parent if heading.parent is not None else headings[0].id].append(node)
    raise AssertionError("a page has at least its own node")


def _hidden(page: Outline, shown: Set[str]) -> Counter[str]:
    """For each node that is shown, how many that are not stand under it and under no other."""
    above: dict[str, str] = {}
    hidden: Counter[str] = Counter()
    for heading in page.headings:
        if heading.id in shown or heading.parent is None:
            above[heading.id] = heading.id
        else:
            above[heading.id] = above[heading.parent]
            hidden[above[heading.id]] += 1
    return hidden


def below(page: Outline, node_id: str, most: int) -> list[str]:
    """What stands under a node, in document order: as many as fit, the upper levels first, whole levels where they fit."""
    depth = {node_id: 0}
    for heading in page.headings:
        if heading.parent in depth:
            depth[heading.id] = depth[heading.parent] + 1
    del depth[node_id]
    kept = set(sorted(depth, key=lambda node: depth[node])[:most])
    return [node for node in depth if node in kept]
