"""What every adapter of the Notes keeps to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from ingest.backup.trees import note_section
from ingest.notes import InducedOutline, NoteEntry, Notes, SectionSummary, Spent, Total, outlines_of, summaries_of
from ingest.stores.cluster.notes import OpenSearchNotes
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.embedded.notes import SqliteNotes
from tests.contract.conftest import name_of, remove
from tests.fakes.notes import MemoryNotes

OpenNotes = Callable[[], AbstractAsyncContextManager[Notes]]
SPENT = Spent(1, 1_000, 50, 0.00125, 0)
ABOUT = NoteEntry("summary", "h1", "1", SectionSummary("How to prime the pump: “água”.", ("prime", "pump")), 0, SPENT)
PARTS = NoteEntry("outline", "h1", "1", InducedOutline((("Install", 2), ("Use", 7))), 0, SPENT)
FAILED = NoteEntry("summary", "h2", "1", None, 1, Spent(1, 10, 5, 0.0, 1))


def sqlite(_: pytest.FixtureRequest, folder: Path) -> AbstractAsyncContextManager[Notes]:
    return SqliteNotes(folder / "notes.sqlite")


@asynccontextmanager
async def opensearch(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Notes]:
    url, name = request.getfixturevalue("opensearch").url, name_of(folder)
    request.addfinalizer(partial(remove, f"{url}/{name}-*"))
    async with OpenSearch(url) as server, OpenSearchNotes(server, name) as notes:
        yield notes


@asynccontextmanager
async def memory(request: pytest.FixtureRequest, _: Path) -> AsyncIterator[Notes]:
    if not hasattr(request.node, "notes"):
        request.node.notes = MemoryNotes()
    yield request.node.notes


@pytest.fixture(params=[sqlite, opensearch, memory])
def open_notes(request: pytest.FixtureRequest, tmp_path: Path) -> OpenNotes:
    return partial(request.param, request, tmp_path)


@pytest.fixture
async def notes(open_notes: OpenNotes) -> AsyncIterator[Notes]:
    async with open_notes() as notes:
        yield notes


async def test_nothing_is_there_at_first(notes: Notes) -> None:
    assert await notes.of("summary", ["h1"]) == {}
    assert await notes.of("summary", []) == {}
    assert await notes.totals() == {}
    assert not await notes.any("summary")
    assert [entry async for entry in notes.all()] == []


async def test_what_was_added_is_found_under_its_kind_and_content(notes: Notes) -> None:
    for entry in (ABOUT, PARTS, FAILED):
        await notes.add(entry)
    assert await notes.of("summary", ["h1", "h2", "h3", "h1"]) == {"h1": ABOUT, "h2": FAILED}
    assert await notes.of("outline", ["h1", "h2"]) == {"h1": PARTS}
    assert await summaries_of(notes, ["h1", "h2"]) == {"h1": ABOUT.found}
    assert await outlines_of(notes, ["h1", "h2"]) == {"h1": PARTS.found}


async def test_notes_outlive_the_process(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        await notes.add(ABOUT)
    async with open_notes() as notes:
        assert await notes.of("summary", ["h1"]) == {"h1": ABOUT}


async def test_what_replies_cost_adds_up_and_failures_do_until_one_is_of_use(notes: Notes) -> None:
    await notes.add(FAILED)
    await notes.add(FAILED)
    there = (await notes.of("summary", ["h2"]))["h2"]
    assert (there.failures, there.found, there.spent.replies, there.spent.unpriced) == (2, None, 2, 2)
    await notes.add(NoteEntry("summary", "h2", "1", ABOUT.found, 0, SPENT))
    there = (await notes.of("summary", ["h2"]))["h2"]
    assert (there.failures, there.found) == (0, ABOUT.found)
    assert there.spent == Spent(3, 1_020, 60, 0.00125, 2)


async def test_a_failure_in_another_form_leaves_what_was_found_and_counts_anew(notes: Notes) -> None:
    await notes.add(FAILED)
    await notes.add(NoteEntry("summary", "h2", "2", None, 1, SPENT))
    await notes.add(ABOUT)
    await notes.add(NoteEntry("summary", "h1", "2", None, 1, SPENT))
    found = await notes.of("summary", ["h1", "h2"])
    assert (found["h2"].form, found["h2"].failures) == ("2", 1)
    assert (found["h1"].form, found["h1"].failures, found["h1"].found) == ("2", 1, ABOUT.found)


async def test_totals_count_what_was_found_and_sum_what_was_spent_by_kind(notes: Notes) -> None:
    for entry in (ABOUT, FAILED, PARTS):
        await notes.add(entry)
    totals = await notes.totals()
    assert totals["summary"] == Total(1, Spent(2, 1_010, 55, 0.00125, 1))
    assert totals["outline"] == Total(1, SPENT)


async def test_a_kind_is_there_once_something_of_it_was_found(notes: Notes) -> None:
    await notes.add(FAILED)
    await notes.add(PARTS)
    await notes.totals()  # what was added before is seen from now on
    assert (await notes.any("summary"), await notes.any("outline")) == (False, True)
    await notes.add(ABOUT)
    await notes.totals()
    assert await notes.any("summary")


async def test_of_many_that_add_at_once_none_is_lost(notes: Notes) -> None:
    await asyncio.gather(*(notes.add(FAILED) for _ in range(8)))
    there = (await notes.of("summary", ["h2"]))["h2"]
    assert (there.failures, there.spent.replies) == (8, 8)


async def test_all_are_walked_in_the_order_of_their_keys(notes: Notes) -> None:
    made = [NoteEntry("summary", f"h{n:04}", "1", ABOUT.found, 0, SPENT) for n in range(12)]
    for entry in reversed(made):
        await notes.add(entry)
    await notes.add(PARTS)
    assert [entry async for entry in notes.all()] == [PARTS, *made]


async def test_a_backup_brings_notes_back_as_they_were_and_leaves_those_that_are_there(notes: Notes) -> None:
    before = MemoryNotes()
    for entry in (ABOUT, FAILED, FAILED, PARTS):
        await before.add(entry)
    newer = NoteEntry("summary", "h1", "2", SectionSummary("Newer.", ()), 0, SPENT)
    await notes.add(newer)
    saved, restored = note_section(before), note_section(notes)
    lines = [line async for line in saved.lines]
    for line in (*lines, *lines):
        await restored.put(restored.load(line))
    assert {entry.key: entry async for entry in notes.all()} == {**before.entries, newer.key: newer}


@pytest.mark.parametrize("line", [b"{}", b'{"kind":"poem","hash":"h","form":"1"}', b'{"kind":"summary"}'])
def test_a_line_of_a_backup_that_is_no_note_is_known_before_anything_is_put_back(line: bytes) -> None:
    with pytest.raises(ValueError, match="validation error"):
        note_section(MemoryNotes()).load(line)
