"""Which nodes are gold, and how much of what was read is gold (RIT-RAG Appendix G). Pure.

One unit of reading serves all strategies: a node counts as read when any of its text was read, so that
chunks and blocks count as their node. A gold item is a set of nodes: a page is all its nodes, a section or
node is itself and everything below it. For one question

    P = |read ∩ gold| / |read|        R = gold items of which something was read / gold items

Where nothing was read both are 0 (the paper says nothing of it): so every contender is averaged over the
same questions, and none looks precise by reading nothing. Over many questions P and R are means, and F1 is
made from these two means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from urllib.parse import urlsplit

from ingest.ports import Outline
from ingest.urls import equivalent, page_key
from navigator.evaluation.questions import EvalQuestion, Gold

_ANYWHERE = "https://anywhere.invalid"

Aliases = Mapping[str, Mapping[str, str]]
"""Page key -> a further anchor of one of its sections (a span before the heading, a second id) -> that node's id."""


@dataclass(frozen=True, slots=True)
class ResolvedGold:
    """One gold item. `page` is the key of its page, None where the index has no such page; `nodes` is empty
    where the page is missing or has no such section."""

    gold: Gold
    page: str | None
    nodes: frozenset[str]

    @property
    def narrow(self) -> bool:
        """It names a section or node, not a whole page."""
        return bool(self.gold.node) or self.gold.anchor is not None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The gold of one question. `missing` are sentences about what the index does not have. A question of
    which anything is missing has no P and R: what is left would not be its gold."""

    items: tuple[ResolvedGold, ...]
    missing: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return bool(self.items) and not self.missing

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset().union(*(item.nodes for item in self.items))


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """P and R, of one question or as means of several."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


class Library:
    """Finds gold on the live pages of an index (page key -> outline), by the anchors of their sections and, where these
    are known, by `aliases`."""

    def __init__(self, outlines: Mapping[str, Outline], aliases: Aliases | None = None) -> None:
        self._pages = outlines
        self._aliases = aliases or {}
        self._page_of = {heading.id: key for key, page in outlines.items() for heading in page.headings}
        names = [(name, key) for key, page in outlines.items() for name in {key, _key(page.canonical) or key}]
        self._exactly = _Names(names)
        self._loosely = _Names((equivalent(name), key) for name, key in names)

    def resolve(self, question: EvalQuestion) -> Resolved:
        items, missing = [], []
        for gold in question.gold:
            item, problem = self._item(gold)
            items.append(item)
            missing += [problem] if problem else []
        return Resolved(tuple(items), tuple(missing))

    def without_section(self, questions: Iterable[EvalQuestion]) -> frozenset[str]:
        """The keys of the pages on which a gold anchor is no section's own: it may be an alias of one."""
        items = (item for question in questions for item in self.resolve(question).items)
        return frozenset(item.page for item in items if item.page and not item.nodes)

    def _item(self, gold: Gold) -> tuple[ResolvedGold, str]:
        """The item, and what is wrong with it."""
        nothing: frozenset[str] = frozenset()
        if gold.node:
            key = self._page_of.get(gold.node)
            if key is None:
                return ResolvedGold(gold, None, nothing), f"no live page has the node {gold.node}"
            return ResolvedGold(gold, key, _below(self._pages[key], gold.node)), ""
        keys = self._found(gold.page)
        if len(keys) != 1:
            several = f"{gold.page} may be {' or '.join(sorted(keys)[:3])}: give its whole URL"
            return ResolvedGold(gold, None, nothing), several if keys else f"the index has no page {gold.page}"
        (key,) = keys
        page = self._pages[key]
        if gold.anchor is None:
            return ResolvedGold(gold, key, frozenset(heading.id for heading in page.headings)), ""
        node = next((heading.id for heading in page.headings if heading.anchor == gold.anchor), None)
        node = node or self._aliases.get(key, {}).get(gold.anchor)
        if node is None:
            return ResolvedGold(gold, key, nothing), f"{gold.page} has no section #{gold.anchor}"
        return ResolvedGold(gold, key, _below(page, node)), ""

    def _found(self, name: str) -> frozenset[str]:
        """The keys of the pages that a URL, or a path that ends one, can mean: exactly, else loosely."""
        whole = _key(name)
        if whole:
            return self._exactly.of(whole) or self._loosely.of(equivalent(whole))
        relative = _key(f"{_ANYWHERE}/{name.removeprefix('./').lstrip('/')}")
        if relative is None:
            return frozenset()
        return self._exactly.ending(_path(relative)) or self._loosely.ending(_path(equivalent(relative)))


class _Names:
    """Names of pages (URLs), and the keys of the pages that each can mean."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._keys: dict[str, frozenset[str]] = {}
        self._alike: dict[str, list[str]] = {}
        for name, key in names:
            if name not in self._keys:
                self._alike.setdefault(_last(_path(name)), []).append(name)
            self._keys[name] = self._keys.get(name, frozenset()) | {key}

    def of(self, name: str) -> frozenset[str]:
        return self._keys.get(name, frozenset())

    def ending(self, path: str) -> frozenset[str]:
        """The pages whose path ends in this one, from a slash on."""
        alike = self._alike.get(_last(path), ())
        return frozenset().union(*(self._keys[name] for name in alike if _path(name).endswith(path)))


def resolve(question: EvalQuestion, outlines: Mapping[str, Outline]) -> Resolved:
    """The gold of one question; for many, make one Library."""
    return Library(outlines).resolve(question)


def reading(read: Collection[str], gold: Resolved) -> PrecisionRecall:
    """P and R of the nodes that were read for one question, whose gold is complete."""
    nodes = set(read)
    if not nodes:
        return PrecisionRecall(0.0, 0.0)
    touched = sum(1 for item in gold.items if item.nodes & nodes)
    return PrecisionRecall(len(nodes & gold.nodes) / len(nodes), touched / len(gold.items))


def aggregated(readings: Sequence[PrecisionRecall]) -> PrecisionRecall | None:
    """The means; None of nothing."""
    if not readings:
        return None
    return PrecisionRecall(fmean(r.precision for r in readings), fmean(r.recall for r in readings))


def in_forest(ranked: Sequence[str], n: int, gold: Resolved) -> float | None:
    """forest@n of one question: the share of its gold sections that are one of the n best nodes or above
    one. None unless all its gold is there and all of it is sections or nodes."""
    if not gold.complete or not all(item.narrow for item in gold.items):
        return None
    best = set(ranked[:n])
    return fmean(bool(item.nodes & best) for item in gold.items)


def on_page(ranked: Sequence[str], n: int, gold: Resolved, outlines: Mapping[str, Outline]) -> float | None:
    """page@n of one question: the share of its gold pages that hold one of the n best nodes. None unless
    the index has all its gold pages."""
    pages = {item.page for item in gold.items}
    if not pages:
        return None
    best = set(ranked[:n])
    found = []
    for key in pages:
        if key is None:
            return None
        found.append(any(heading.id in best for heading in outlines[key].headings))
    return fmean(found)


def _below(page: Outline, node: str) -> frozenset[str]:
    """The node and everything under it. The page's own node has the whole page under it; parents come
    before their children."""
    if page.headings[0].id == node:
        return frozenset(heading.id for heading in page.headings)
    inside = {node}
    for heading in page.headings:
        if heading.parent in inside:
            inside.add(heading.id)
    return frozenset(inside)


def _key(url: str) -> str | None:
    try:
        return page_key(url)
    except ValueError:
        return None


def _path(key: str) -> str:
    parts = urlsplit(key)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _last(path: str) -> str:
    """The last step of a path, with its query: what paths that end alike share."""
    return path.rstrip("/").rpartition("/")[2]
