"""What every adapter of the Editions keeps to."""

from __future__ import annotations

import asyncio
import io
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.ports import Editions
from bot.store.backup import edition_section
from bot.store.opensearch_editions import OpenSearchEditions
from bot.store.sqlite_editions import SqliteEditions
from ingest.backup.archive import check, put_back, write
from ingest.model import Block
from ingest.stores.cluster.opensearch import OpenSearch
from tests.contract.conftest import name_of, remove
from tests.fakes.editions import NODE, edition, texts
from tests.fakes.exchanges import NOON

OpenEditions = Callable[[], AbstractAsyncContextManager[Editions]]
OTHER = "0b1c2d3e-0000-5000-8000-000000000001"
LATER = NOON + timedelta(days=1)
FIRST = edition()
SECOND = edition(texts("Pump listens on port 8080."), checked_at=LATER, kept_at=LATER)


def sqlite(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[Editions]:
    return SqliteEditions(folder / "editions.sqlite")


@asynccontextmanager
async def opensearch(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Editions]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    async with OpenSearch(url) as server, OpenSearchEditions(server, name) as editions:
        yield editions


@pytest.fixture(params=[sqlite, opensearch])
def open_editions(request: pytest.FixtureRequest, tmp_path: Path) -> OpenEditions:
    return partial(request.param, request, tmp_path)


@pytest.fixture
async def editions(open_editions: OpenEditions) -> AsyncIterator[Editions]:
    async with open_editions() as editions:
        yield editions


async def test_nothing_is_there_at_first(editions: Editions) -> None:
    await editions.keep([])
    assert await editions.of(NODE) == []
    assert await editions.expire(LATER) == 0
    assert [each async for each in editions.all()] == []


async def test_texts_of_a_section_are_there_the_last_read_first(editions: Editions) -> None:
    await editions.keep([FIRST, SECOND, edition(node=OTHER)])
    assert await editions.of(NODE) == [SECOND, FIRST]
    assert await editions.of(OTHER) == [edition(node=OTHER)]
    assert await editions.of(NODE[:8]) == []


async def test_a_text_comes_back_as_it_was(editions: Editions) -> None:
    blocks = (
        Block("code", "a\tb\n\n  c", "sh"),
        Block("list", "één\n二", marks=("- ", "1. ")),
        *texts("<b>🦊</b>" * 20_000),
    )
    await editions.keep([edition(blocks)])
    (found,) = await editions.of(NODE)
    assert found == edition(blocks)
    assert found.whole


async def test_a_text_is_kept_once_with_where_it_stood_first(editions: Editions) -> None:
    again = edition(path=("Elsewhere", "Choose a port"), checked_at=LATER, kept_at=LATER, linked=True)
    await editions.keep([FIRST])
    await editions.keep([again])
    await editions.keep([FIRST])
    (found,) = await editions.of(NODE)
    assert found == replace(FIRST, section=replace(FIRST.section, checked_at=LATER), kept_at=LATER, linked=True)


async def test_what_no_link_names_goes_with_its_days(editions: Editions) -> None:
    await editions.keep([FIRST, SECOND, edition(node=OTHER, linked=True)])
    assert await editions.expire(NOON) == 0
    assert await editions.expire(LATER) == 1
    assert await editions.of(NODE) == [SECOND]
    assert len(await editions.of(OTHER)) == 1


async def test_all_of_them_are_walked(editions: Editions) -> None:
    kept = {edition(texts(f"Text {number}."), node=node) for number in range(120) for node in (NODE, OTHER)}
    await editions.keep(kept)
    assert {each async for each in editions.all()} == kept


async def test_they_outlive_the_process_and_writers_at_once(open_editions: OpenEditions) -> None:
    async with open_editions() as one, open_editions() as other:
        links = [edition(linked=number == 3) for number in range(6)]
        await asyncio.gather(*((one, other)[n % 2].keep([link, SECOND]) for n, link in enumerate(links)))
    async with open_editions() as editions:
        found = await editions.of(NODE)
    assert [each.linked for each in found] == [False, True]


async def test_a_backup_brings_them_to_another_store(editions: Editions, tmp_path: Path) -> None:
    file = io.BytesIO()
    await editions.keep([FIRST, SECOND])
    await write(file, [edition_section(editions)], version="1", now=NOON)
    async with SqliteEditions(tmp_path / "other") as other:
        assert check(file, [edition_section(other)]) == Counter(editions=2)
        await put_back(file, [edition_section(other)])
        assert await other.of(NODE) == [SECOND, FIRST]
