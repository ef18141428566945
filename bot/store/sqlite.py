"""The bot's store in one SQLite file; any number of processes may open it.

Revisions come from one counter for the whole file, so that none is given twice, not even to an exchange that was removed
and kept anew. What is removed is overwritten in the file (secure_delete).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Self

from bot import codec
from bot.model import ChannelSettings, Exchange, Installation
from bot.ports import AskedInVain, VersionedExchange
from bot.store.sealing import Seal
from bot.store.stored import (
    MAX_EXCHANGES_READ,
    UNSORTED,
    closed,
    gap_of,
    in_vain,
    moment,
    nobodys,
    note_due,
    opened,
    people,
    readable,
    without,
)
from ingest.errors import Conflict
from ingest.ports import Clock
from ingest.stores.embedded.database import Database

_AFTER_ALL_TIMES = "~"
"""Sorts after every time."""

BOT_SCHEMA = (
    "CREATE TABLE exchanges (id INTEGER PRIMARY KEY, question TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL,"
    " asker TEXT NOT NULL, asked TEXT NOT NULL, revision INTEGER NOT NULL, exchange BLOB NOT NULL, note TEXT, gap TEXT)",
    "CREATE INDEX exchanges_by_conversation ON exchanges (conversation, asked, question)",
    "CREATE INDEX exchanges_by_time ON exchanges (asked, question)",
    "CREATE INDEX exchanges_by_asker ON exchanges (asker)",
    "CREATE TABLE people (person TEXT, exchange INTEGER REFERENCES exchanges ON DELETE CASCADE,"
    " PRIMARY KEY (person, exchange)) WITHOUT ROWID",
    "CREATE INDEX people_of_exchange ON people (exchange)",
    "CREATE TABLE cited (node TEXT, exchange INTEGER REFERENCES exchanges ON DELETE CASCADE,"
    " PRIMARY KEY (node, exchange)) WITHOUT ROWID",
    "CREATE INDEX cited_by_exchange ON cited (exchange)",
    "CREATE INDEX exchanges_by_note ON exchanges (note) WHERE note IS NOT NULL",
    "CREATE INDEX exchanges_by_gap ON exchanges (gap, asked, question) WHERE gap IS NOT NULL",
    "CREATE TABLE channels (team TEXT, channel TEXT, changed_by TEXT NOT NULL, settings BLOB NOT NULL,"
    " PRIMARY KEY (team, channel)) WITHOUT ROWID",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value REAL NOT NULL, until TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE installations (enterprise TEXT, team TEXT, installation BLOB NOT NULL,"
    " PRIMARY KEY (enterprise, team)) WITHOUT ROWID",
    "CREATE TABLE revisions (last INTEGER NOT NULL)",
    "INSERT INTO revisions VALUES (0)",
)
_UPGRADES = {
    1: (
        "ALTER TABLE exchanges ADD COLUMN note TEXT",
        *(statement for statement in BOT_SCHEMA if "cited" in statement or "by_note" in statement),
        """INSERT OR IGNORE INTO cited SELECT json_extract(citation.value, '$.node_id'), exchanges.id
           FROM exchanges, json_each(CAST(exchange AS TEXT), '$.answer.sources') AS source,
             json_each(source.value, '$.citations') AS citation""",
    ),
    2: (
        "ALTER TABLE exchanges ADD COLUMN gap TEXT",
        *(statement for statement in BOT_SCHEMA if "by_gap" in statement),
        f"""UPDATE exchanges SET gap = '{UNSORTED}' FROM
           (SELECT id, json_extract(CAST(exchange AS TEXT), '$.answer.outcome') AS outcome,
              json_extract(CAST(exchange AS TEXT), '$.answer.unsupported[0]') AS unsupported,
              EXISTS (SELECT 1 FROM json_each(CAST(exchange AS TEXT), '$.feedback')
                      WHERE json_extract(value, '$.verdict') = 'bad') AS bad FROM exchanges) AS was
           WHERE was.id = exchanges.id
             AND (outcome = 'not_found' OR outcome = 'answered' AND (bad OR unsupported IS NOT NULL))""",
    ),
}


class SqliteBotStore:
    """Implements bot.ports.BotStore."""

    def __init__(self, path: Path, seal: Seal, clock: Clock) -> None:
        self._database = Database(path, BOT_SCHEMA, schema_version=3, upgrades=_UPGRADES)
        self._seal = seal
        self._clock = clock

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._database.__aexit__()

    # --- exchanges

    async def exchange(self, question_id: str) -> VersionedExchange | None:
        return await self._database.read(lambda db: _exchange(db, question_id))

    async def keep(self, exchange: Exchange, expected: str | None) -> str:
        return await self._database.write(lambda db: _keep(db, exchange, expected))

    async def conversation(self, key: str, most: int = 20) -> Sequence[Exchange]:
        statement = """SELECT question, exchange FROM exchanges WHERE conversation = ?
            ORDER BY asked DESC, question DESC LIMIT ?"""
        newest = await self._database.read(lambda db: db.execute(statement, (key, max(most, 0))).fetchall())
        return [_loaded(row) for row in reversed(newest)]

    async def exchanges(self, since: datetime | None = None, until: datetime | None = None) -> AsyncIterator[Exchange]:
        after = (moment(since) if since else "", "")
        before = moment(until) if until else _AFTER_ALL_TIMES
        while rows := await self._database.read(partial(_walk, after=after, before=before)):
            for row in rows:
                yield _loaded(row)
            after = rows[-1]["asked"], rows[-1]["question"]

    async def citing(self, nodes: Iterable[str]) -> AsyncIterator[str]:
        wanted = json.dumps(list(nodes))
        statement = """SELECT question FROM exchanges WHERE id IN
            (SELECT exchange FROM cited WHERE node IN (SELECT value FROM json_each(?))) ORDER BY asked, question"""
        for row in await self._database.read(lambda db: db.execute(statement, (wanted,)).fetchall()):
            yield row["question"]

    async def due_notes(self, until: datetime, most: int = 20) -> Sequence[str]:
        statement = "SELECT question FROM exchanges WHERE note <= ? ORDER BY note, question LIMIT ?"
        found = await self._database.read(lambda db: db.execute(statement, (moment(until), max(most, 0))).fetchall())
        return [row["question"] for row in found]

    async def asked_in_vain(self, gap: str | None = None) -> Sequence[AskedInVain]:
        statement = f"""SELECT question, asked, gap FROM exchanges
            WHERE gap {"IS NOT NULL" if gap is None else "= ?"} ORDER BY asked, question"""
        given = () if gap is None else (gap or UNSORTED,)
        found = await self._database.read(lambda db: db.execute(statement, given).fetchall())
        return [in_vain(row["question"], row["asked"], row["gap"]) for row in found]

    async def expire(self, before: datetime) -> int:
        now = self._clock.now()
        return await self._database.write(lambda db: _expire(db, moment(before), moment(now)))

    async def forget(self, user: str) -> int:
        return await self._database.write(lambda db: _forget(db, user))

    # --- channels

    async def channel(self, team: str, channel: str) -> ChannelSettings | None:
        statement = "SELECT settings FROM channels WHERE team = ? AND channel = ?"
        row = await self._database.read(lambda db: db.execute(statement, (team, channel)).fetchone())
        return _settings(row) if row else None

    async def set_channel(self, settings: ChannelSettings) -> None:
        await self._database.write(lambda db: _set_channel(db, settings))

    async def channels(self) -> AsyncIterator[ChannelSettings]:
        statement = "SELECT settings FROM channels ORDER BY team, channel"
        for row in await self._database.read(lambda db: db.execute(statement).fetchall()):
            yield _settings(row)

    # --- counters

    async def add(self, counter: str, amount: float, until: datetime) -> float:
        now = self._clock.now()
        return await self._database.write(partial(_add, counter=counter, amount=amount, until=until, now=now))

    async def counted(self, counter: str, now: datetime) -> float:
        statement = "SELECT value FROM counters WHERE name = ? AND until > ?"
        row = await self._database.read(lambda db: db.execute(statement, (counter, moment(now))).fetchone())
        return float(row["value"]) if row else 0.0

    # --- installations

    async def installation(self, enterprise: str, team: str) -> Installation | None:
        statement = "SELECT installation FROM installations WHERE enterprise = ? AND team = ?"
        row = await self._database.read(lambda db: db.execute(statement, (enterprise, team)).fetchone())
        return self._opened(row) if row else None

    async def install(self, installation: Installation) -> None:
        row = (
            installation.enterprise,
            installation.team,
            codec.dump_installation(closed(installation, self._seal)),
        )
        statement = "INSERT OR REPLACE INTO installations VALUES (?, ?, ?)"
        await self._database.write(lambda db: overwriting(db).execute(statement, row))

    async def uninstall(self, enterprise: str, team: str) -> None:
        statement = "DELETE FROM installations WHERE enterprise = ? AND team = ?"
        await self._database.write(lambda db: overwriting(db).execute(statement, (enterprise, team)))

    async def installations(self) -> AsyncIterator[Installation]:
        statement = "SELECT installation FROM installations ORDER BY enterprise, team"
        for row in await self._database.read(lambda db: db.execute(statement).fetchall()):
            yield self._opened(row)

    def _opened(self, row: sqlite3.Row) -> Installation:
        with readable("an installation"):
            installation = codec.load_installation(row["installation"])
        return opened(installation, self._seal)


def overwriting(db: sqlite3.Connection) -> sqlite3.Connection:
    """What is deleted or replaced in this file is overwritten with zeros."""
    db.execute("PRAGMA secure_delete = ON")
    return db


def _loaded(row: sqlite3.Row) -> Exchange:
    with readable(row["question"]):
        return codec.load_exchange(row["exchange"])


def _exchange(db: sqlite3.Connection, question_id: str) -> VersionedExchange | None:
    row = db.execute("SELECT * FROM exchanges WHERE question = ?", (question_id,)).fetchone()
    return VersionedExchange(_loaded(row), str(row["revision"])) if row else None


def _walk(db: sqlite3.Connection, after: tuple[str, str], before: str) -> list[sqlite3.Row]:
    statement = f"""SELECT question, asked, exchange FROM exchanges
        WHERE (asked, question) > (?, ?) AND asked < ? ORDER BY asked, question LIMIT {MAX_EXCHANGES_READ}"""
    return db.execute(statement, (*after, before)).fetchall()


def _keep(db: sqlite3.Connection, exchange: Exchange, expected: str | None) -> str:
    question = exchange.question
    old = db.execute("SELECT revision FROM exchanges WHERE question = ?", (question.id,)).fetchone()
    if (str(old["revision"]) if old else None) != expected:
        raise Conflict(f"the exchange of {question.id} was changed by someone else meanwhile")
    ((revision,),) = db.execute("UPDATE revisions SET last = last + 1 RETURNING last").fetchall()
    columns = ("question", "conversation", "asker", "asked", "revision", "exchange", "note", "gap")
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    row = (
        question.id,
        question.conversation,
        question.user,
        moment(question.asked_at),
        revision,
        codec.dump_exchange(exchange),
        note_due(exchange),
        gap_of(exchange),
    )
    upsert = f"""INSERT INTO exchanges ({", ".join(columns)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (question) DO UPDATE SET {changes} RETURNING id"""
    ((row_id,),) = overwriting(db).execute(upsert, row).fetchall()
    db.execute("DELETE FROM people WHERE exchange = ?", (row_id,))
    db.executemany("INSERT INTO people VALUES (?, ?)", ((person, row_id) for person in people(exchange)))
    db.execute("DELETE FROM cited WHERE exchange = ?", (row_id,))
    db.executemany("INSERT INTO cited VALUES (?, ?)", ((node, row_id) for node in exchange.nodes))
    return str(revision)


def _expire(db: sqlite3.Connection, before: str, now: str) -> int:
    overwriting(db).execute("DELETE FROM counters WHERE until <= ?", (now,))
    return db.execute("DELETE FROM exchanges WHERE asked < ?", (before,)).rowcount


def _forget(db: sqlite3.Connection, user: str) -> int:
    gone = overwriting(db).execute("DELETE FROM exchanges WHERE asker = ?", (user,)).rowcount
    others = "SELECT question FROM people JOIN exchanges ON exchanges.id = people.exchange WHERE person = ?"
    for row in db.execute(others, (user,)).fetchall():
        if kept := _exchange(db, row["question"]):
            _keep(db, without(kept.exchange, user), kept.revision)
    for row in db.execute("SELECT settings FROM channels WHERE changed_by = ?", (user,)).fetchall():
        _set_channel(db, nobodys(_settings(row)))
    db.execute("DELETE FROM counters WHERE instr(':' || name || ':', ':' || ? || ':')", (user,))
    return gone


def _settings(row: sqlite3.Row) -> ChannelSettings:
    with readable("a channel's settings"):
        return codec.load_channel(row["settings"])


def _set_channel(db: sqlite3.Connection, settings: ChannelSettings) -> None:
    row = (settings.team, settings.channel, settings.changed_by, codec.dump_channel(settings))
    overwriting(db).execute("INSERT OR REPLACE INTO channels VALUES (?, ?, ?, ?)", row)


def _add(db: sqlite3.Connection, counter: str, amount: float, until: datetime, now: datetime) -> float:
    statement = """INSERT INTO counters VALUES (:name, :amount, :until) ON CONFLICT (name) DO UPDATE SET
        value = CASE WHEN until > :now THEN value + :amount ELSE :amount END,
        until = CASE WHEN until > :now THEN until ELSE :until END RETURNING value"""
    values = {"name": counter, "amount": amount, "until": moment(until), "now": moment(now)}
    ((value,),) = db.execute(statement, values).fetchall()
    return float(value)
