"""The Editions in one SQLite file beside the bot's store: a text of a section is one row, whole as JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Self

from bot import codec
from bot.model import Edition
from bot.store.stored import moment, readable
from ingest.stores.embedded.database import Database

_SCHEMA = (
    "CREATE TABLE editions (node TEXT NOT NULL, hash TEXT NOT NULL, read TEXT NOT NULL, kept TEXT NOT NULL,"
    " linked INTEGER NOT NULL, edition BLOB NOT NULL, PRIMARY KEY (node, hash)) WITHOUT ROWID",
    "CREATE INDEX editions_by_time ON editions (linked, kept)",
)
_EDITIONS_PER_READ = 100


class SqliteEditions:
    """Implements bot.ports.Editions; any number of processes may open one file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, schema_version=1)

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._database.__aexit__()

    async def keep(self, editions: Iterable[Edition]) -> None:
        if kept := list(editions):
            await self._database.write(lambda db: _keep(db, kept))

    async def of(self, node: str) -> Sequence[Edition]:
        statement = "SELECT node, edition FROM editions WHERE node = ? ORDER BY read DESC, hash"
        return [_loaded(row) for row in await self._database.read(lambda db: db.execute(statement, (node,)).fetchall())]

    async def expire(self, before: datetime) -> int:
        statement = "DELETE FROM editions WHERE NOT linked AND kept < ?"
        return await self._database.write(lambda db: db.execute(statement, (moment(before),)).rowcount)

    async def all(self) -> AsyncIterator[Edition]:
        after = ("", "")
        while rows := await self._database.read(partial(_walk, after=after)):
            for row in rows:
                yield _loaded(row)
            after = rows[-1]["node"], rows[-1]["hash"]


def _keep(db: sqlite3.Connection, editions: Sequence[Edition]) -> None:
    for edition in editions:
        key = (edition.section.node_id, edition.section.node_hash)
        row = db.execute("SELECT node, edition FROM editions WHERE node = ? AND hash = ?", key).fetchone()
        whole = edition.after(_loaded(row) if row else None)
        values = (*key, moment(whole.section.checked_at), moment(whole.kept_at), whole.linked)
        statement = "INSERT OR REPLACE INTO editions VALUES (?, ?, ?, ?, ?, ?)"
        db.execute(statement, (*values, codec.dump_edition(whole)))


def _walk(db: sqlite3.Connection, after: tuple[str, str]) -> list[sqlite3.Row]:
    statement = f"""SELECT node, hash, edition FROM editions WHERE (node, hash) > (?, ?)
        ORDER BY node, hash LIMIT {_EDITIONS_PER_READ}"""
    return db.execute(statement, after).fetchall()


def _loaded(row: sqlite3.Row) -> Edition:
    with readable(f"a text of {row['node']}"):
        return codec.load_edition(row["edition"])
