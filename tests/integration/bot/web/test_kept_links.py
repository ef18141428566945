"""Whatever is done to the documentation, a link that was kept lands on its words, or says rightly what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.permalinks.lookup import Permalinks
from bot.permalinks.permalink import Permalink
from bot.permalinks.standing import Standing
from bot.store.sqlite_editions import SqliteEditions
from tests.fakes.edited_docs import EDITS, MEMORY, Edit, edited_site, words_of
from tests.fakes.site import TickingClock


@dataclass
class Kept:
    """A link, and what it named."""

    link: Permalink
    words: list[str]


def check(kept: Kept, standing: Standing | None, living: Mapping[str, set[str]]) -> None:
    """`living`: which sections each sentence stands in today, by the sections' titles. Each sentence of the old text is in the
    live section, in one that is named, or nowhere (but for what is too little to be told)."""
    assert standing is not None
    assert standing.then is not None
    assert [w for block in standing.then.section.blocks for w in words_of(block.text)] == kept.words
    here = {w for block in (standing.now.blocks if standing.now else ()) for w in words_of(block.text)}
    there = {w for part in standing.parts for block in part.section.blocks for w in words_of(block.text)}
    named = {each for each in kept.words if each in here | there}
    stands = {each for each in kept.words if living.get(each)}
    assert stands - named == set(), (standing.kinds, standing.parts)
    match standing.kinds[0]:
        case "current":
            assert set(kept.words) <= here
        case "changed":
            assert standing.now
            assert standing.now.node_hash != kept.link.hash
        case "merged":
            assert stands
        case "removed":
            assert not stands
            assert standing.gone_for or standing.gone_by
    assert ("split" in standing.kinds) == bool(standing.now and standing.parts)


async def kept_links_after(edits: list[Edit], folder: Path) -> None:
    async with edited_site(folder) as site, SqliteEditions(folder / "editions") as editions:
        permalinks = Permalinks(site.trees, editions, TickingClock())
        links: list[Kept] = []
        for node in await site.nodes():
            await permalinks.keep_linked((await permalinks.sections([node.id]))[node.id])
            links.append(Kept(Permalink(node.id, node.own_hash), words_of(node.text)))
        for number, edit in enumerate(edits):
            await site.edit(number, edit)
            stands = await site.living()
            for link in links:
                check(link, await permalinks.standing(link.link), stands)


@settings(max_examples=40, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=6))
def test_a_kept_link_lands_on_its_words_or_says_what_became_of_them(edits: list[Edit]) -> None:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        asyncio.run(kept_links_after(edits, Path(folder)))
