"""The Notes in one SQLite file, beside the trees. An entry is one row, whole as JSON; beside it stands what is summed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Self

from ingest import codec
from ingest.errors import StoreUnavailable
from ingest.notes import NoteEntry, NoteKind, Spent, Total
from ingest.stores.embedded.database import Database

_SCHEMA = (
    "CREATE TABLE notes (key TEXT PRIMARY KEY, kind TEXT NOT NULL, found INTEGER NOT NULL, replies INTEGER NOT NULL,"
    " input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL, unpriced INTEGER NOT NULL,"
    " entry BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX notes_by_kind ON notes (kind, found)",
)
_NOTES_PER_READ = 500


class SqliteNotes:
    """Implements ingest.notes.Notes; any number of processes may open one file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, schema_version=1)

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._database.__aexit__()

    async def of(self, kind: NoteKind, hashes: Iterable[str]) -> Mapping[str, NoteEntry]:
        keys = json.dumps([f"{kind}:{each}" for each in hashes])
        statement = "SELECT entry FROM notes WHERE key IN (SELECT value FROM json_each(?))"
        found = await self._database.read(lambda db: db.execute(statement, (keys,)).fetchall())
        return {entry.hash: entry for entry in map(_entry, found)}

    async def any(self, kind: NoteKind) -> bool:
        statement = "SELECT 1 FROM notes WHERE kind = ? AND found LIMIT 1"
        return await self._database.read(lambda db: db.execute(statement, (kind,)).fetchone()) is not None

    async def add(self, entry: NoteEntry) -> None:
        await self._database.write(lambda db: _add(db, entry))

    async def totals(self) -> Mapping[NoteKind, Total]:
        statement = """SELECT kind, sum(found) found, sum(replies) replies, sum(input_tokens) input_tokens,
            sum(output_tokens) output_tokens, sum(cost) cost, sum(unpriced) unpriced FROM notes GROUP BY kind"""
        rows = await self._database.read(lambda db: db.execute(statement).fetchall())
        return {row["kind"]: Total(row["found"], Spent(*tuple(row)[2:])) for row in rows}

    async def all(self) -> AsyncIterator[NoteEntry]:
        after = ""
        while rows := await self._database.read(partial(_after, key=after)):
            for entry in map(_entry, rows):
                yield entry
                after = entry.key


def _add(db: sqlite3.Connection, entry: NoteEntry) -> None:
    row = db.execute("SELECT entry FROM notes WHERE key = ?", (entry.key,)).fetchone()
    whole = entry.after(_entry(row) if row else None)
    spent = whole.spent
    sums = (spent.replies, spent.input_tokens, spent.output_tokens, spent.cost, spent.unpriced)
    values = (whole.key, whole.kind, whole.found is not None, *sums, codec.ENTRY.dump(whole))
    db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _after(db: sqlite3.Connection, key: str) -> list[sqlite3.Row]:
    statement = f"SELECT entry FROM notes WHERE key > ? ORDER BY key LIMIT {_NOTES_PER_READ}"
    return db.execute(statement, (key,)).fetchall()


def _entry(row: sqlite3.Row) -> NoteEntry:
    try:
        return codec.ENTRY.load(row["entry"])
    except ValueError as error:
        raise StoreUnavailable("a note cannot be read: remove notes.sqlite, and run `ritbot enrich` again") from error
