"""One SQLite file as one connection in one thread of its own, so that the event loop never waits for
the disk. What is written is on disk when `write` returns (WAL, synchronous=FULL). Any number of
processes may open the same file: transactions are serialised by SQLite, and a writer waits for the
others up to a limit.

sqlite3's errors are translated here and nowhere else: all that goes wrong is StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from ingest.errors import StoreUnavailable

_T = TypeVar("_T")
_Work = Callable[[sqlite3.Connection], _T]
_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED"}


class Database:
    """`schema`: the statements that make an empty file one of `schema_version`, which is kept in user_version.
    `upgrades`: by version, those that make a file of it one of the next. `patience`: how many seconds to wait for
    other writers."""

    def __init__(
        self,
        path: Path,
        schema: Sequence[str],
        schema_version: int,
        upgrades: Mapping[int, Sequence[str]] = {},
        patience: float = 30.0,
    ) -> None:
        self._path = path
        self._schema = schema
        self._schema_version = schema_version
        self._upgrades = upgrades
        self._patience = patience
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    async def __aenter__(self) -> Self:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._path.name)
        try:
            await self._in_thread(self._open)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._thread is not None:
            try:
                await self._in_thread(self._close)
            finally:
                self._thread.shutdown()
                self._thread = None

    async def read(self, work: _Work[_T]) -> _T:
        """Run `work` on one snapshot of the data."""
        return await self._in_thread(lambda: self._transaction("BEGIN", work))

    async def write(self, work: _Work[_T]) -> _T:
        """Run `work` alone among all writers. If it raises, nothing has changed."""
        return await self._in_thread(lambda: self._transaction("BEGIN IMMEDIATE", work))

    async def _in_thread(self, call: Callable[[], _T]) -> _T:
        if self._thread is None:
            raise StoreUnavailable(f"{self._path} is not open")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except sqlite3.Error as error:
            raise StoreUnavailable(self._explained(error)) from error

    def _transaction(self, begin: str, work: _Work[_T]) -> _T:
        connection = self._connection
        if connection is None:
            raise StoreUnavailable(f"{self._path} is not open")
        connection.execute(begin)
        with connection:
            return work(connection)

    def _open(self) -> None:
        self._connection = sqlite3.connect(self._path, timeout=self._patience, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._transaction("BEGIN IMMEDIATE", self._prepare)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > self._schema_version:
            raise StoreUnavailable(
                f"{self._path} was written by a newer ritbot (schema {found}, this one knows {self._schema_version}):"
                " upgrade ritbot, or use another data folder"
            )
        if found == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise StoreUnavailable(f"{self._path} is a database of some other program: use another data folder")
        steps = [self._schema] if found == 0 else [self._upgrades[n] for n in range(found, self._schema_version)]
        for step in steps:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {self._schema_version}")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _explained(self, error: sqlite3.Error) -> str:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(tuple(_DAMAGED)):
            return f"{self._path} is damaged ({error}): put a backup in its place, or move it away and index again"
        if code.startswith(tuple(_BUSY)):
            return f"{self._path} was kept busy by another process for {self._patience:g} s: try again when it is done"
        return (
            f"{self._path}: {error}; check that the folder exists, that it may be written and that the disk is not full"
        )
