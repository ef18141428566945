"""Which section of a page's new version is which section of its old one, so that ids last.

An id is given once, when a section first appears, and handed on from version to version by what the
section says, never by where it stands. Whoever kept a link to a node wants the section that still says
what it said; so evidence is weighed in this order:

1. the same content: title and text. Among equals the one with the same neighbour, the same title path,
   the same anchor;
2. similar content: pairs of sections compared by the words they share, rare ones counting more, with
   names (title, place, anchor) as tie-breakers;
3. names, where they can mean only one section: an anchor that is no counter, a title path;
4. for what is left: many children in common, equal titles in their order between recognised ones, another
   title over the same text in the same place.

Everything is deterministic, and close to linear in the size of the page. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, count, pairwise
from uuid import UUID, uuid5

from ingest.model import Node, Page
from ingest.text.scripts import HAN_AND_KANA, SOUTH_EAST_ASIAN

NAMESPACE = UUID("6f0c0f0e-5d4b-5c63-9a58-2a1d3b6c7e91")
"""The UUID namespace of node ids. Changing it changes every id that is given from then on."""

MIN_COMMON_SHARE = 0.4
"""How much of what two sections say must be common (0 to 1) to take one for the other by words or by children."""
NAME_BONUS = 0.05
"""What an equal title, place or anchor adds. Small, so that after a split the id goes where most of the text went,
and the heading decides only between parts of about equal size."""
MAX_CANDIDATE_SECTIONS = 5
"""A word in more sections than this brings no two together; of those it does bring together, so many are weighed."""
MAX_PLACES_AROUND = 2
"""How far around the expected place old sections are weighed too. Their words decide, their place only proposes."""

_WORD_OR_SIGN = re.compile(rf"[^\W{SOUTH_EAST_ASIAN}{HAN_AND_KANA}]+|\w")
"""A word, or one character of a script that is written without spaces."""
_COUNTED = re.compile(r"\d$")
"""Anchors that end in a digit are often counted through the page (id3, example-2, autotoc_md12)."""


def assign(page: Page, old: Sequence[Node] | None, key: str, seq: int) -> Page:
    """The page with lasting ids: those of `old` (the nodes of the version before, or of the page that moved here)
    where `match` recognises a section, else new ones made of (key, seq, ordinal). The same arguments give the same
    ids, so that an event can be handled again. No id occurs twice, nor does a new one repeat any id of `old`.
    """
    before = old or ()
    known = match(before, page.nodes)
    taken = {node.id for node in before}
    ids: dict[str, str] = {}
    for position, node in enumerate(page.nodes):
        ids[node.id] = before[known[position]].id if position in known else _new_id(key, seq, position, taken)
    nodes = (replace(n, id=ids[n.id], parent=None if n.parent is None else ids[n.parent]) for n in page.nodes)
    return replace(page, nodes=tuple(nodes))


def _new_id(key: str, seq: int, ordinal: int, taken: Set[str]) -> str:
    """The id of (key, seq, ordinal), or where that is taken of (key, seq, ordinal, n) with the first free n."""
    first = f"{key}\n{seq}\n{ordinal}"
    names = chain([first], (f"{first}\n{n}" for n in count(1)))
    return next(made for made in (str(uuid5(NAMESPACE, name)) for name in names) if made not in taken)


def match(old: Sequence[Node], new: Sequence[Node]) -> dict[int, int]:
    """Position in `new` -> position in `old` for every section of `new` that is one of `old`; one-to-one.

    Both are in document order with the page's own node first; the pages' own nodes always match. Ids serve only to
    find parents: equal ids are no evidence.
    """
    if not old or not new:
        return {}
    numbers: dict[tuple[int, str], int] = {}
    matching = _Matching(_Tree(old, numbers), _Tree(new, numbers))
    matching.pair(0, 0)
    matching.by_own(lambda tree, i: tree.single_contents & {tree.contents[i]})
    matching.spread(lambda tree, i: tree.contents[i])
    matching.in_order(lambda tree, i: (tree.contents[i], tree.paths[i]))
    matching.in_order(lambda tree, i: (tree.contents[i], tree.nodes[i].anchor) if tree.nodes[i].anchor else None)
    matching.similar()
    matching.in_order(lambda tree, i: tree.contents[i])
    matching.by_own(_Tree.own_anchors)
    matching.by_own(_Tree.own_titles)
    matching.by_children()
    matching.by_title_and_place()
    matching.spread(lambda tree, i: tree.nodes[i].text or None)
    return dict(sorted(matching.pairs.items()))


class _Tree:
    """The nodes of one version and what identifies each, by position. `numbers` is shared by both versions."""

    def __init__(self, nodes: Sequence[Node], numbers: dict[tuple[int, str], int]) -> None:
        self.nodes = nodes
        position = {node.id: i for i, node in enumerate(nodes)}
        self.parents = [-1, *(0 if node.parent is None else position[node.parent] for node in nodes[1:])]
        self.children: list[list[int]] = [[] for _ in nodes]
        self.paths: list[int] = []
        """A number for the titles from below the page's own node down to each node, equal in both versions."""
        for i, (node, parent) in enumerate(zip(nodes, self.parents, strict=True)):
            if parent >= 0:
                self.children[parent].append(i)
            self.paths.append(numbers.setdefault((self.paths[parent], node.title), len(numbers) + 1) if i else 0)
        self.hashes = [node.own_hash for node in nodes]
        self.contents: list[Hashable] = [
            own if node.readable else (own, *(self.hashes[child] for child in self.children[i]))
            for i, (node, own) in enumerate(zip(nodes, self.hashes, strict=True))
        ]
        self.names = [frozenset(filter(None, (node.anchor, *node.aliases))) for node in nodes]
        self.single_contents, self.single_paths = _single(self.contents), _single(self.paths)
        self.single_titles = _single(node.title for node in nodes)

    def says(self, i: int) -> frozenset[str]:
        """The words of the text; where a script has no spaces, its pairs of neighbouring characters."""
        words = _WORD_OR_SIGN.findall(self.nodes[i].text.lower())
        pairs = (a + b for a, b in pairwise(words) if len(a) == len(b) == 1)
        return frozenset(word for word in words if len(word) > 1 or word.isascii()).union(pairs)

    def handles(self, i: int) -> Iterator[Hashable]:
        """What to find a section by beside its words: title path, anchors, the whole text."""
        yield self.paths[i]
        yield from (("anchor", name) for name in self.names[i])
        yield ("text", self.nodes[i].text)

    def own_anchors(self, i: int) -> Iterator[Hashable]:
        """Anchors that mean this section wherever it stands. One that is only the title again says no more than the
        title, so nothing where that repeats; one that is counted means something together with its title only."""
        title = self.nodes[i].title
        for name in sorted(self.names[i]):
            if _COUNTED.search(name):
                yield from {(title, name)} if title in self.single_titles else ()
            elif title in self.single_titles or _letters(name) != _letters(title):
                yield name

    def own_titles(self, i: int) -> Iterator[Hashable]:
        """The title path; of a container, whose title is all it says, also the title."""
        yield from self.single_paths & {self.paths[i]}
        if not self.nodes[i].readable:
            yield from self.single_titles & {self.nodes[i].title}


def _single(values: Iterable[Hashable]) -> set[Hashable]:
    return {value for value, count in Counter(values).items() if count == 1}


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


_Key = Callable[[_Tree, int], Hashable | None]
"""What two sections must have in common; None: nothing to go by."""


class _Matching:
    """The pairs found so far, new to old. Every step pairs sections that are free on both sides; none takes a pair
    back."""

    def __init__(self, old: _Tree, new: _Tree) -> None:
        self.old, self.new = old, new
        self.pairs: dict[int, int] = {}
        self.taken: set[int] = set()

    def pair(self, n: int, o: int) -> None:
        if n not in self.pairs and o not in self.taken:
            self.pairs[n] = o
            self.taken.add(o)

    def free_new(self) -> list[int]:
        return [n for n in range(len(self.new.nodes)) if n not in self.pairs]

    def free_old(self) -> list[int]:
        return [o for o in range(len(self.old.nodes)) if o not in self.taken]

    def by_own(self, own: Callable[[_Tree, int], Iterable[Hashable]]) -> None:
        """Pair what has something in common that no other section has."""
        owner = {value: o for o in self.free_old() for value in own(self.old, o)}
        for n in self.free_new():
            for value in own(self.new, n):
                if value in owner:
                    self.pair(n, owner[value])

    def spread(self, key: _Key) -> None:
        """Pair equals next to a pair, onwards from there: first those that follow, then those before. (Heckel, "A
        technique for isolating differences between files", CACM 1978, passes 4 and 5.)"""
        last = len(self.new.nodes) - 1
        for step, walk in ((1, range(last)), (-1, range(last, 0, -1))):
            for n in walk:
                if n in self.pairs and 0 <= (o := self.pairs[n] + step) < len(self.old.nodes):
                    wanted = key(self.new, n + step)
                    if wanted is not None and wanted == key(self.old, o):
                        self.pair(n + step, o)

    def in_order(self, key: _Key) -> None:
        """Pair the k-th of several equals with the k-th."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for o in self.free_old():
            waiting[key(self.old, o)].append(o)
        waiting.pop(None, None)
        for n in self.free_new():
            if queue := waiting.get(key(self.new, n)):
                self.pair(n, queue.popleft())

    def similar(self) -> None:
        """Pair texts that say nearly the same, the most alike first."""
        free_old = [o for o in self.free_old() if self.old.nodes[o].readable]
        sayings, expected, found = _Sayings(self.old, free_old), self._expected(), []
        for n in (n for n in self.free_new() if self.new.nodes[n].readable):
            places = [
                place + step for place in expected[n] for step in range(-MAX_PLACES_AROUND, MAX_PLACES_AROUND + 1)
            ]
            for o, alike in sayings.like(self.new, n, places):
                if alike >= MIN_COMMON_SHARE:
                    drift = min(abs(o - place) for place in expected[n])
                    found.append((-alike - NAME_BONUS * self._names_in_common(n, o), drift, n, o))
        for _, _, n, o in sorted(found):
            self.pair(n, o)

    def by_children(self) -> None:
        """Pair sections that have many children in common, from the leaves up."""
        for n in reversed(self.free_new()):
            children, title = self.new.children[n], self.new.nodes[n].title
            votes = Counter(self.old.parents[self.pairs[c]] for c in children if c in self.pairs)
            for o in sorted(votes.keys() - self.taken, key=lambda o: (-votes[o], self.old.nodes[o].title != title, o)):
                if votes[o] >= MIN_COMMON_SHARE * max(len(children), len(self.old.children[o])):
                    self.pair(n, o)

    def by_title_and_place(self) -> None:
        """Pair equal titles under paired parents where they stand between the same namesakes, in their order. Not
        across a recognised namesake: in a list of releases the newest "Fixed" is not the one that fell off the end."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        last: dict[Hashable, int] = {}
        for o, (parent, node) in enumerate(zip(self.old.parents, self.old.nodes, strict=True)):
            if o in self.taken:
                last[parent, node.title] = o
            else:
                waiting[parent, node.title, node.readable, last.get((parent, node.title))].append(o)
        known = set(self.pairs)
        last.clear()
        for n, (parent, node) in enumerate(zip(self.new.parents, self.new.nodes, strict=True)):
            under = self.pairs.get(parent)
            if n in known:
                last[under, node.title] = self.pairs[n]
            elif queue := waiting.get((under, node.title, node.readable, last.get((under, node.title)))):
                self.pair(n, queue.popleft())

    def _names_in_common(self, n: int, o: int) -> int:
        """How many of title, parent and anchor are equal."""
        above, before = self.new.parents[n], self.old.parents[o]
        same_title = self.new.nodes[n].title == self.old.nodes[o].title
        same_parent = self.pairs.get(above) == before or self.new.paths[above] == self.old.paths[before]
        return same_title + same_parent + bool(self.new.names[n] & self.old.names[o])

    def _expected(self) -> list[tuple[int, int]]:
        """Where the old section of each new one would stand, reckoned from the nearest pair before and after it."""
        size = len(self.new.nodes)
        before, after = [0] * size, [len(self.old.nodes) - size] * size
        for n in range(1, size):
            before[n] = self.pairs[n] - n if n in self.pairs else before[n - 1]
        for n in range(size - 2, -1, -1):
            after[n] = self.pairs[n + 1] - n - 1 if n + 1 in self.pairs else after[n + 1]
        return [(n + b, n + a) for n, (b, a) in enumerate(zip(before, after, strict=True))]


class _Sayings:
    """What the free sections of the old version say, and how to find one: by its rare words and by its names."""

    def __init__(self, tree: _Tree, free: Sequence[int]) -> None:
        everything = [tree.says(o) for o in range(len(tree.nodes))] if free else []
        self._weights = {w: 1 / math.log2(1 + c) for w, c in Counter(chain.from_iterable(everything)).items()}
        self._said = {o: everything[o] for o in free}
        self._mass = {o: self._weigh(said) for o, said in self._said.items()}
        self._holders: dict[Hashable, list[int]] = defaultdict(list)
        for o, said in self._said.items():
            for part in chain(said, tree.handles(o)):
                self._holders[part].append(o)

    def like(self, tree: _Tree, n: int, places: Iterable[int]) -> Iterator[tuple[int, float]]:
        """Old sections that may be section `n` of the new tree (by words or handles, or near one of `places`), each
        with its likeness (0 to 1): the weighted Dice coefficient of what the two say, less where little is said."""
        said = tree.says(n)
        mass = self._weigh(said)
        votes = Counter(o for word in said for o in self._few(word))
        by_words = sorted(votes, key=lambda o: (-votes[o], o))[:MAX_CANDIDATE_SECTIONS]
        by_handle = (o for handle in tree.handles(n) for o in self._few(handle))
        for o in {*by_words, *by_handle, *(o for o in places if o in self._said)}:
            shared = self._weigh(said & self._said[o])
            yield o, 2 * shared / (mass + self._mass[o]) * shared / (shared + 1) if shared else 0.0

    def _few(self, part: Hashable) -> Sequence[int]:
        holders = self._holders.get(part, ())
        return holders if len(holders) <= MAX_CANDIDATE_SECTIONS else ()

    def _weigh(self, said: Iterable[str]) -> float:
        """Words that many sections hold weigh less; the sum does not depend on the order."""
        return math.fsum(self._weights.get(word, 1.0) for word in said)
