"""Permalinks over the stores: how a section stands today, and its texts kept for links and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.model import Edition, Exchange
from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Part, Standing, nearest_first, where_words_went
from bot.ports import Editions
from ingest.model import Node, PageRecord, Scope
from ingest.ports import Clock, TreeStore
from navigator.answer import Passage
from navigator.citations.landing import landing_link
from navigator.retrieval.passages import passage, path_of

MAX_NEAREST = 5
"""Live sections that are named where one is gone."""
MAX_PAGES_FOLLOWED = 8
"""Of pages that became an alias, or moved, one after the other."""

FindSections = Callable[[str, Scope], Awaitable[Sequence[str]]]
"""Ids of live sections that share words with a text; best first."""


class Permalinks:
    """`find` looks in the search index, where the process has it: a section that moved to another page is found by its
    words. All methods raise StoreUnavailable."""

    def __init__(self, trees: TreeStore, editions: Editions, clock: Clock, find: FindSections | None = None) -> None:
        self._trees = trees
        self._editions = editions
        self._clock = clock
        self._find = find

    async def standing(self, link: Permalink) -> Standing | None:
        """None where nothing is known of the section."""
        now = (await self.sections([link.node])).get(link.node)
        kept = await self._editions.of(link.node)
        if now is None and not kept:
            return None
        earlier = tuple(edition for edition in kept if now is None or edition.section.node_hash != now.node_hash)
        named = next((edition for edition in kept if link.names(edition.section.node_hash)), None)
        lost = bool(link.hash) and named is None and not (now and link.names(now.node_hash))
        then = named or (None if lost and now else next(iter((*earlier, *kept)), None))
        standing = Standing(link, now, then, lost, earlier=earlier)
        return await self._followed(standing, then) if then else standing

    async def sections(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Those that are live, as they were last read, each under its whole path."""
        located = await self._trees.nodes(ids)
        places = await self._trees.place({each.page.key for each in located.values()})
        return {
            node: passage(each, 0, (*(p.title for p in places.get(each.page.key, ())), *path_of(each.page, node)))
            for node, each in located.items()
        }

    async def found(self, words: str, scope: Scope, most: int) -> Sequence[Passage]:
        """The sections that say most of these words, best first. Raises RuntimeError in a process without a search index."""
        if self._find is None:
            raise RuntimeError("there is no search index here")
        ids = (await self._find(words, scope))[:most]
        sections = await self.sections(ids)
        return [sections[node] for node in ids if node in sections]

    @property
    def searches(self) -> bool:
        """Whether this process has a search index."""
        return self._find is not None

    async def landing(self, section: Passage, block: int = 0) -> str:
        """The address at which a browser lands on the first words of a block; of the first, where it has no such block."""
        stored = await self._trees.get(section.page_key)
        page = stored.record.page if stored else None
        at = block if block < len(section.blocks) else 0
        return landing_link(section.cite(at), page) if page and section.blocks else section.link

    async def keep_linked(self, section: Passage) -> None:
        """A link was made of a live section: what it says is kept for good."""
        await self._editions.keep([Edition(section, await self._site(section), self._clock.now(), linked=True)])

    async def keep_cited(self, exchange: Exchange, *, linked: bool) -> None:
        """What the answer rests on is kept, and for good where links to it were shown."""
        answer = exchange.answer
        if answer is None:
            return
        cited = {source.first.node_id: source.first.node_hash for source in answer.sources}
        read = {p.node_id: p for p in answer.trace.passages if cited.get(p.node_id) == p.node_hash}
        live = await self._trees.nodes(cited)
        kept: list[Edition] = []
        for node, section in read.items():
            there = live.get(node)
            same = there is not None and there.node.own_hash == section.node_hash
            blocks = there.node.blocks if there and same else section.blocks  # a part of it may have been read
            site = there.page.site if there else await self._site(section)
            text = replace(section, number=0, at=0, blocks=blocks)
            kept.append(Edition(text, site, self._clock.now(), linked))
        await self._editions.keep(edition for edition in kept if edition.whole)

    async def _site(self, section: Passage) -> str:
        stored = await self._trees.get(section.page_key)
        return stored.record.site if stored else ""

    async def _followed(self, standing: Standing, then: Edition) -> Standing:
        """With what its page and its words tell of where it went."""
        record = await followed(self._trees, then.section.page_key if standing.now is None else standing.now.page_key)
        nodes = {node.id: node for node in (record.page.nodes if record and record.page else ())}
        own = nodes.get(standing.link.node)
        went = await asyncio.to_thread(where_words_went, then.section.blocks, own, nodes.values())
        if not went and own is None:
            nodes |= await self._similar(then)
            went = await asyncio.to_thread(where_words_went, then.section.blocks, own, nodes.values())
        others = [] if own else [node for node in nodes.values() if node.id not in went]
        near = await asyncio.to_thread(nearest_first, then, others, MAX_NEAREST)
        sections = await self.sections([*went, *near])
        parts = tuple(Part(sections[node], share) for node, share in went.items() if node in sections)
        nearest = tuple(sections[node] for node in near if node in sections)
        gone_by, gone_for = _gone(record) if own is None else (None, None)
        return replace(standing, parts=parts, nearest=nearest, gone_by=gone_by, gone_for=gone_for)

    async def _similar(self, then: Edition) -> dict[str, Node]:
        if self._find is None:
            return {}
        said = "\n".join([then.title, *(block.text for block in then.section.blocks)])
        site = Scope(frozenset({then.site}), frozenset({then.section.version}))
        ids = await self._find(said, site)
        return {node: located.node for node, located in (await self._trees.nodes(ids)).items()}


async def followed(trees: TreeStore, key: str) -> PageRecord | None:
    """The record of a page, or of the one that has its content now. None: no such page is known. Raises StoreUnavailable."""
    record: PageRecord | None = None
    for _ in range(MAX_PAGES_FOLLOWED):
        stored = await trees.get(key)
        if stored is None:
            break
        record = stored.record
        if record.target is None:
            break
        key = record.target
    return record


def _gone(record: PageRecord | None) -> tuple[datetime | None, str | None]:
    """Since when a section of the page is gone at the latest, and why its page is not there."""
    if record is None:
        return None, "its site is no longer indexed"
    if record.page is not None:
        return record.changed_at, None
    return record.changed_at, f"its page was removed ({record.reason})" if record.reason else "its page was removed"
