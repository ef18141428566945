"""SQLite as a store: many openers, foreign, newer and damaged files, killed writers."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.errors import StoreUnavailable
from ingest.model import Node, Page, PageRecord
from ingest.ports import WatchState
from ingest.stores.embedded.database import Database
from ingest.stores.embedded.trees import SqliteTreeStore

ROOT = Path(__file__).resolve().parents[4]
SCHEMA = ["CREATE TABLE numbers (number INTEGER)"]
KEY = "https://docs.example.org/p"
RECORD = PageRecord(
    KEY,
    "docs",
    "live",
    1,
    datetime.now(UTC),
    datetime.now(UTC),
    page=Page(KEY, KEY, KEY, "P", (Node("n", None, 1, "P"),)),
)

WRITER = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from ingest.stores.embedded.trees import SqliteTreeStore
from tests.integration.ingest.stores.test_database import RECORD

async def main():
    async with SqliteTreeStore(Path(sys.argv[1])) as store:
        number = 0
        while True:
            await store.reserve(f"page {number}", "docs")
            await store.put(replace(RECORD, key=f"page {number}"), None)
            print(number, flush=True)
            number += 1

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trees.sqlite"


def damage(path: Path, content: bytes, start: int = 0) -> None:
    path.write_bytes((path.read_bytes()[:start] if start else b"") + content)


def killed_writer(path: Path) -> list[int]:
    """Let another process put pages, kill it, and give the numbers it was told are stored."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(30)]
        writer.kill()
        return told + [int(line) for line in writer.stdout if line.endswith("\n")]


def add(db: sqlite3.Connection, number: int = 1) -> None:
    db.execute("INSERT INTO numbers VALUES (?)", (number,))


def total(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM numbers").fetchone()[0])


async def test_many_openers_of_a_new_file_make_it_once_and_write_side_by_side(path: Path) -> None:
    async def opener() -> None:
        async with Database(path, SCHEMA, 1) as database:
            for _ in range(5):
                await database.write(add)

    await asyncio.gather(*(opener() for _ in range(8)))
    async with Database(path, SCHEMA, 1) as database:
        assert await database.read(total) == 40


async def test_a_write_that_raises_changes_nothing_and_leaves_the_database_usable(path: Path) -> None:
    def fails(db: sqlite3.Connection) -> None:
        add(db)
        raise LookupError("half-way")

    async with Database(path, SCHEMA, 1) as database:
        with pytest.raises(LookupError, match="half-way"):
            await database.write(fails)
        assert await database.read(total) == 0
        await database.write(add)
        assert await database.read(total) == 1


async def test_a_reader_sees_one_snapshot_while_others_write(path: Path) -> None:
    async with Database(path, SCHEMA, 1) as reading, Database(path, SCHEMA, 1) as writing:
        loop = asyncio.get_running_loop()

        def twice(db: sqlite3.Connection) -> tuple[int, int]:
            before = total(db)
            asyncio.run_coroutine_threadsafe(writing.write(add), loop).result()
            return before, total(db)

        assert await reading.read(twice) == (0, 0)
        assert await reading.read(total) == 1


async def test_a_writer_that_is_kept_waiting_too_long_says_so(path: Path) -> None:
    async with Database(path, SCHEMA, 1) as holding, Database(path, SCHEMA, 1, patience=0.05) as waiting:
        loop = asyncio.get_running_loop()

        def while_writing(db: sqlite3.Connection) -> BaseException | None:
            return asyncio.run_coroutine_threadsafe(waiting.write(add), loop).exception()

        error = await holding.write(while_writing)
        assert isinstance(error, StoreUnavailable)
        assert "kept busy by another process for 0.05 s" in str(error)


async def test_a_cancelled_write_is_whole_or_not_there(path: Path) -> None:
    def both(db: sqlite3.Connection) -> None:
        add(db)
        add(db)

    async with Database(path, SCHEMA, 1) as database:
        writes = [asyncio.create_task(database.write(both)) for _ in range(20)]
        await asyncio.sleep(0)
        for write in writes[::2]:
            write.cancel()
        await asyncio.gather(*writes, return_exceptions=True)
        written = await database.read(total)
        assert written % 2 == 0
        assert written >= 20


async def test_a_file_of_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    async with Database(path, SCHEMA, 7):
        pass
    with pytest.raises(StoreUnavailable, match=r"newer ritbot \(schema 7, this one knows 6\): upgrade"):
        async with Database(path, SCHEMA, 6):
            pass
    async with Database(path, SCHEMA, 7):
        pass


async def test_a_database_of_some_other_program_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url)")
    other.close()
    with pytest.raises(StoreUnavailable, match="some other program"):
        async with SqliteTreeStore(path):
            pass
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    other.close()


async def test_a_file_that_is_no_database_says_what_to_do(path: Path) -> None:
    damage(path, b"this is no database at all " * 100)
    with pytest.raises(StoreUnavailable, match=r"is damaged .* put a backup in its place, or move it away"):
        async with SqliteTreeStore(path):
            pass


async def test_a_database_damaged_inside_says_what_to_do(path: Path) -> None:
    async with SqliteTreeStore(path) as store:
        await store.put(RECORD, None)
    damage(path, b"\xa5" * 100_000, start=4096)
    with pytest.raises(StoreUnavailable, match="is damaged"):
        async with SqliteTreeStore(path) as store:
            await store.get(KEY)


async def test_a_record_that_cannot_be_read_names_its_page(path: Path) -> None:
    async with SqliteTreeStore(path) as store:
        await store.put(RECORD, None)
        with sqlite3.connect(path) as damaging:
            damaging.execute("UPDATE records SET record = '{}', page = '[]'")
            damaging.execute("UPDATE sites SET changed = changed + 1")
        damaging.close()
        for reading in (store.get(KEY), store.outlines([KEY]), store.nodes(["n"])):
            with pytest.raises(StoreUnavailable, match=f"what is stored of {KEY} cannot be read"):
                await reading
        with pytest.raises(StoreUnavailable, match="what is stored of docs cannot be read"):
            await store.place([KEY])


async def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="check that the folder exists"):
        async with SqliteTreeStore(tmp_path / "none" / "trees.sqlite"):
            pass


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    store = SqliteTreeStore(path)
    with pytest.raises(StoreUnavailable, match="is not open"):
        await store.get(KEY)
    async with store:
        assert await store.get(KEY) is None
    with pytest.raises(StoreUnavailable, match="is not open"):
        await store.get(KEY)


async def test_all_that_a_killed_process_was_told_is_stored_is_there(path: Path) -> None:
    told = killed_writer(path)
    async with SqliteTreeStore(path) as store:
        keys = {state.key async for state in store.scan()}
        assert keys >= {f"page {number}" for number in told}
        assert len(keys) <= len(told) + 1
        assert await store.reserve(f"page {told[-1]}", "docs") == 2


async def test_an_older_file_is_brought_up_to_date_step_by_step(path: Path) -> None:
    async with Database(path, SCHEMA, 1) as database:
        await database.write(lambda db: db.execute("INSERT INTO numbers VALUES (7)"))
    upgrades = {
        1: ["ALTER TABLE numbers ADD COLUMN name TEXT"],
        2: ["ALTER TABLE numbers ADD COLUMN colour TEXT", "UPDATE numbers SET colour = 'red'"],
    }
    for _ in range(2):
        async with Database(path, ["not run"], 3, upgrades) as database:
            assert await database.read(lambda db: tuple(db.execute("SELECT * FROM numbers").fetchone())) == (
                7,
                None,
                "red",
            )


def without_due_at(db: sqlite3.Connection) -> None:
    db.execute("DROP INDEX watched_by_due")
    db.execute("ALTER TABLE watched DROP COLUMN due_at")
    db.execute("ALTER TABLE headings DROP COLUMN links_only")
    db.execute("PRAGMA user_version = 2")


async def test_a_store_of_the_second_version_learns_when_pages_are_due(path: Path) -> None:
    now = datetime(2026, 5, 1, 12, 0, 0, 123456, UTC)
    later = WatchState("later", "docs", due_at=now + timedelta(hours=1), etag="e")
    async with SqliteTreeStore(path) as trees:
        for state in (WatchState("now", "docs", due_at=now), later):
            await trees.watch(state)
        await trees.reserve("numbered", "docs")
    with sqlite3.connect(path) as db:
        without_due_at(db)
    db.close()
    async with SqliteTreeStore(path) as trees:
        soon = now + timedelta(seconds=1)
        assert {state.key async for state in trees.due("docs", soon)} == {"now", "numbered"}
        assert later in [state async for state in trees.due("docs", now + timedelta(hours=2))]


async def test_a_store_of_the_first_version_keeps_its_numbers(path: Path) -> None:
    async with SqliteTreeStore(path) as trees:
        assert await trees.reserve("p", "docs") == 1
    with sqlite3.connect(path) as db:
        without_due_at(db)
        db.execute("ALTER TABLE watched DROP COLUMN state")
        for column in ("etag", "last_modified", "missed_since", "fetched_at"):
            db.execute(f"ALTER TABLE watched ADD COLUMN {column} TEXT")
        db.execute("ALTER TABLE watched ADD COLUMN misses INTEGER NOT NULL DEFAULT 0")
        db.execute("PRAGMA user_version = 1")
    db.close()
    async with SqliteTreeStore(path) as trees:
        assert await trees.reserve("p", "docs") == 2
        await trees.watch(WatchState("p", "docs", etag="e"))
        assert await trees.watched("p") == WatchState("p", "docs", seq=2, etag="e")
