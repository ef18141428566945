"""Which material of a site is taken, and in what order: spread over its pages, decided by chance and a number.

The same number on the same pages gives the same material, so that a run which was cut short goes on where it was. Of a
huge site a sample of pages is looked at, one page at a time; nothing is held but their keys.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from ingest.model import Scope
from ingest.ports import Located, OutlineHeading, TreeStore
from navigator.evaluation.proposing.material import (
    KIND_SHARES,
    MAX_SECTIONS,
    Kind,
    Material,
    SourceSection,
    groups,
    rank,
    says_enough,
    shuffled,
)
from navigator.retrieval.passages import path_of
from navigator.retrieval.retriever import Retriever

MAX_NEAR_SECTIONS = 20
"""Sections of other pages that are looked at for what belongs to one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Keys of pages, `live` of how many in all, and the versions that these have."""

    keys: tuple[str, ...]
    live: int
    versions: tuple[str, ...]


async def sample(trees: TreeStore, site: str, scope: Scope, most: int, seed: int) -> Sample:
    """At most `most` live pages of a site that are in the scope, by chance. Raises store errors."""
    live, versions = 0, set()

    async def ranked() -> AsyncIterator[tuple[str, str]]:
        nonlocal live
        async for state in trees.scan(site):
            if state.state == "live" and scope.holds(state.site, state.version):
                live += 1
                versions.add(state.version)
                yield rank(state.key, "page", seed), state.key

    best = await _smallest(ranked(), most)
    return Sample(tuple(key for _, key in best), live, tuple(sorted(versions - {""})))


async def _smallest(items: AsyncIterator[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Sorted; never more than twice `most` in hand."""
    kept: list[tuple[str, str]] = []
    async for item in items:
        kept.append(item)
        if len(kept) >= 2 * most:
            kept = heapq.nsmallest(most, kept)
    return heapq.nsmallest(most, kept)


class Seeds:
    """The material of the pages of a sample. Raises store errors."""

    def __init__(
        self, trees: TreeStore, retriever: Retriever, scope: Scope, pages: Sequence[str], seed: int = 0
    ) -> None:
        self._trees = trees
        self._retriever = retriever
        self._scope = scope
        self._pages = pages
        self._seed = seed

    async def all(self) -> AsyncGenerator[Material]:
        """Each material once, in kinds as KIND_SHARES says; a kind of which there is no more leaves its share to the others."""
        streams = {kind: self._of(kind) for kind in KIND_SHARES}
        given = dict.fromkeys(streams, 0)
        seen: set[str] = set()
        while streams:
            total = sum(given.values()) + 1
            kind = max(streams, key=lambda kind: KIND_SHARES[kind] * total - given[kind])
            made = await anext(streams[kind], None)
            if made is None:
                del streams[kind]
            elif made.key not in seen:
                seen.add(made.key)
                given[kind] += 1
                yield made

    async def _of(self, kind: Kind) -> AsyncIterator[Material]:
        """One from each page, then the next of each page, until there is no more."""
        pages, turn = shuffled(self._pages, kind, self._seed), 0
        while pages:
            longer: list[str] = []
            for page in pages:
                found = await self._candidates(page, kind)
                if turn + 1 < len(found):
                    longer.append(page)
                if turn < len(found) and (sections := await self._completed(kind, found[turn])):
                    yield Material(await self._placed(sections))
            pages, turn = longer, turn + 1

    async def _candidates(self, page: str, kind: Kind) -> list[tuple[Located, ...]]:
        sections = await self._usable(page)
        found = groups(sections) if kind == "multi-section" else [(section,) for section in sections]
        return sorted(found, key=lambda group: rank(group[0].node.id, kind, self._seed))

    async def _usable(self, page: str) -> list[Located]:
        outline = (await self._trees.outlines([page])).get(page)
        return await self._of_nodes(outline.headings) if outline else []

    async def _of_nodes(self, headings: Iterable[OutlineHeading]) -> list[Located]:
        """Those of the sections that are says_enough, in their order."""
        ids = [heading.id for heading in headings if heading.readable]
        located = await self._trees.nodes(ids)
        return [located[id_] for id_ in ids if id_ in located and says_enough(located[id_])]

    async def _completed(self, kind: Kind, first: tuple[Located, ...]) -> tuple[Located, ...]:
        """For several pages: the section with the nearest of other pages, one of each; nothing if there is none."""
        if kind != "multi-page":
            return first
        (start,) = first
        others: dict[str, Located] = {}
        for near in await self._near(start):
            if near.node.own_hash != start.node.own_hash:
                others.setdefault(near.page.key, near)
        wanted = 1 + int(rank(start.node.id, "pages", self._seed), 16) % (MAX_SECTIONS - 1)
        return (start, *list(others.values())[:wanted]) if others else ()

    async def _near(self, start: Located) -> list[Located]:
        """What retrieval finds for its titles on other pages, best first."""
        found = await self._retriever.search(" ".join(path_of(start.page, start.node.id)[-2:]), self._scope)
        elsewhere = {h.id: h for page in found.pages if page.key != start.page.key for h in page.headings}
        best = [elsewhere[id_] for id_ in found.scores if id_ in elsewhere]
        return await self._of_nodes(best[:MAX_NEAR_SECTIONS])

    async def _placed(self, sections: Sequence[Located]) -> tuple[SourceSection, ...]:
        places = await self._trees.place({section.page.key for section in sections})
        return tuple(
            SourceSection(
                section,
                (*(p.title for p in places.get(section.page.key, ())), *path_of(section.page, section.node.id)),
            )
            for section in sections
        )
