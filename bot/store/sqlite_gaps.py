"""The Gaps in one SQLite file beside the bot's store: a gap is one row, whole as JSON.

What is removed or replaced is overwritten in the file (secure_delete), for the vector of a question says something of it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from bot import codec
from bot.gaps.gap import Gap
from bot.ports import VersionedGap
from bot.store.sqlite import overwriting
from bot.store.stored import moment, readable
from ingest.errors import Conflict
from ingest.stores.embedded.database import Database

_SCHEMA = (
    "CREATE TABLE gaps (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, due TEXT, gap BLOB NOT NULL)",
    "CREATE TABLE watched (node TEXT, gap TEXT REFERENCES gaps ON DELETE CASCADE, PRIMARY KEY (node, gap)) WITHOUT ROWID",
    "CREATE INDEX watched_by_gap ON watched (gap)",
    "CREATE TABLE revisions (last INTEGER NOT NULL)",
    "INSERT INTO revisions VALUES (0)",
)


class SqliteGaps:
    """Implements bot.ports.Gaps; any number of processes may open one file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, schema_version=1)

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._database.__aexit__()

    async def gap(self, gap_id: str) -> VersionedGap | None:
        row = await self._database.read(lambda db: _row(db, gap_id))
        return VersionedGap(_loaded(row), str(row["revision"])) if row else None

    async def keep(self, gap: Gap, expected: str | None) -> str:
        return await self._database.write(lambda db: _keep(db, gap, expected))

    async def all(self) -> AsyncIterator[Gap]:
        for row in await self._database.read(lambda db: db.execute("SELECT id, gap FROM gaps ORDER BY id").fetchall()):
            yield _loaded(row)

    async def watching(self, nodes: Iterable[str]) -> Sequence[str]:
        wanted = json.dumps(list(nodes))
        statement = "SELECT DISTINCT gap FROM watched WHERE node IN (SELECT value FROM json_each(?)) ORDER BY gap"
        return [row["gap"] for row in await self._database.read(lambda db: db.execute(statement, (wanted,)).fetchall())]

    async def due(self, until: datetime) -> Sequence[str]:
        statement, at = "SELECT id FROM gaps WHERE due <= ? ORDER BY id", (moment(until),)
        return [row["id"] for row in await self._database.read(lambda db: db.execute(statement, at).fetchall())]

    async def remove(self, gap_id: str) -> None:
        await self._database.write(
            lambda db: overwriting(db).execute("DELETE FROM gaps WHERE id = ?", (gap_id,)).rowcount
        )


def _row(db: sqlite3.Connection, gap_id: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = db.execute("SELECT * FROM gaps WHERE id = ?", (gap_id,)).fetchone()
    return row


def _keep(db: sqlite3.Connection, gap: Gap, expected: str | None) -> str:
    old = _row(db, gap.id)
    if (str(old["revision"]) if old else None) != expected:
        raise Conflict(f"the gap {gap.id} was changed by someone else meanwhile")
    ((revision,),) = db.execute("UPDATE revisions SET last = last + 1 RETURNING last").fetchall()
    due = moment(gap.due_at) if gap.due_at else None
    upsert = """INSERT INTO gaps VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
        revision = excluded.revision, due = excluded.due, gap = excluded.gap"""
    overwriting(db).execute(upsert, (gap.id, revision, due, codec.dump_gap(gap)))
    db.execute("DELETE FROM watched WHERE gap = ?", (gap.id,))
    db.executemany("INSERT INTO watched VALUES (?, ?)", ((node, gap.id) for node in set(gap.watched)))
    return str(revision)


def _loaded(row: sqlite3.Row) -> Gap:
    with readable(f"the gap {row['id']}"):
        return codec.load_gap(row["gap"])
