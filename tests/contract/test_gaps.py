"""What every adapter of Gaps keeps to."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.gaps.gap import AskedAgain, Gap, Place
from bot.ports import Gaps, VersionedGap
from bot.store.backup import gap_section
from bot.store.opensearch_gaps import OpenSearchGaps
from bot.store.sqlite_gaps import SqliteGaps
from ingest.backup.archive import check, put_back, write
from ingest.errors import Conflict
from ingest.stores.cluster.opensearch import OpenSearch
from tests.contract.conftest import name_of, remove
from tests.fakes.exchanges import NOON

OpenGaps = Callable[[], AbstractAsyncContextManager[Gaps]]
DAY = timedelta(days=1)
FULL = Gap(
    "0a1b2c3d",
    NOON,
    "T1:C1:1.000100",
    "model",
    tuple(number / 384 for number in range(384)),
    Place("n1", ("Docs", "Schlüssel 🦊"), "https://docs.example.org/1#rotate"),
    (("n1", 0.6667), ("n2", 0.3333)),
    ("n1", "n2", "n1", "x" * 400),
    "fixed",
    NOON + DAY,
    "the change of https://docs.example.org/1",
    "a change",
    NOON + 2 * DAY,
    AskedAgain(NOON, 3, 2),
)
BARE = Gap("b", NOON)


def sqlite(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[Gaps]:
    return SqliteGaps(folder / "gaps.sqlite")


@asynccontextmanager
async def opensearch(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Gaps]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    async with OpenSearch(url) as server, OpenSearchGaps(server, name) as gaps:
        yield gaps


@pytest.fixture(params=[sqlite, opensearch])
def open_gaps(request: pytest.FixtureRequest, tmp_path: Path) -> OpenGaps:
    return partial(request.param, request, tmp_path)


@pytest.fixture
async def gaps(open_gaps: OpenGaps) -> AsyncIterator[Gaps]:
    async with open_gaps() as gaps:
        yield gaps


async def test_a_gap_comes_back_as_it_was_kept_also_after_opening_again(open_gaps: OpenGaps) -> None:
    async with open_gaps() as gaps:
        assert await gaps.gap(FULL.id) is None
        assert [gap async for gap in gaps.all()] == []
        revision = await gaps.keep(FULL, None)
        await gaps.keep(BARE, None)
    async with open_gaps() as gaps:
        assert await gaps.gap(FULL.id) == VersionedGap(FULL, revision)
        assert [gap async for gap in gaps.all()] == [FULL, BARE]
        await gaps.remove(FULL.id)
        await gaps.remove("never")
        assert [gap async for gap in gaps.all()] == [BARE]
        assert await gaps.watching(["n1"]) == []


async def test_of_two_changes_of_one_gap_the_second_conflicts_and_changes_nothing(gaps: Gaps) -> None:
    revision = await gaps.keep(FULL, None)
    with pytest.raises(Conflict, match=FULL.id):
        await gaps.keep(replace(FULL, state="taken"), None)
    newer = await gaps.keep(replace(FULL, state="taken"), revision)
    with pytest.raises(Conflict):
        await gaps.keep(replace(FULL, state="ignored"), revision)
    with pytest.raises(Conflict):
        await gaps.keep(BARE, revision)
    assert await gaps.gap(FULL.id) == VersionedGap(replace(FULL, state="taken"), newer)
    assert await gaps.gap(BARE.id) is None


async def test_gaps_are_found_by_the_sections_that_they_watch_now(gaps: Gaps) -> None:
    revision = await gaps.keep(FULL, None)
    await gaps.keep(replace(BARE, watched=("n2", "n3")), None)
    assert await gaps.watching(["n2", "n9", "n2"]) == [FULL.id, BARE.id]
    assert await gaps.watching(["x" * 400]) == [FULL.id]
    assert await gaps.watching([]) == []
    await gaps.keep(replace(FULL, watched=("n4",)), revision)
    assert await gaps.watching(["n1", "n2"]) == [BARE.id]


async def test_gaps_are_found_when_they_are_due(gaps: Gaps) -> None:
    revision = await gaps.keep(FULL, None)
    await gaps.keep(replace(BARE, due_at=NOON), None)
    await gaps.keep(Gap("c", NOON), None)
    assert await gaps.due(NOON - DAY) == []
    assert await gaps.due(NOON + DAY) == [BARE.id]
    assert await gaps.due(NOON + 2 * DAY) == [FULL.id, BARE.id]
    await gaps.keep(replace(FULL, due_at=None), revision)
    assert await gaps.due(NOON + 9 * DAY) == [BARE.id]


async def test_more_gaps_than_a_search_gives_at_once_are_all_there(gaps: Gaps) -> None:
    made = [Gap(f"{number:08x}", NOON, watched=("n1",)) for number in range(230)]
    for gap in made:
        await gaps.keep(gap, None)
    assert [gap async for gap in gaps.all()] == made
    assert len(await gaps.watching(["n1"])) == len(made)


async def test_a_backup_puts_back_what_is_not_there(gaps: Gaps, tmp_path: Path) -> None:
    async with SqliteGaps(tmp_path / "other.sqlite") as source:
        for gap in (FULL, BARE):
            await source.keep(gap, None)
        file = io.BytesIO()
        await write(file, [gap_section(source)], version="1", now=NOON)
    await gaps.keep(replace(BARE, state="taken"), None)
    assert check(file, [gap_section(gaps)]) == Counter(gaps=2)
    await put_back(file, [gap_section(gaps)])
    assert [gap async for gap in gaps.all()] == [FULL, replace(BARE, state="taken")]
