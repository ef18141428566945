"""The TreeStore in one SQLite file.

A record is one row of `records`, as JSON without its page; the page without its nodes is JSON in the
same row; each node is a row of `headings` (all that an outline needs) and a row of `texts` (the whole
node as JSON), so that outlines never read texts. Revisions come from one counter for the whole file,
so that a revision is never given twice, not even to a record that was forgotten and made anew.

`sites.changed` moves with every write that may move a page in the site tree; places are worked out
from a whole site's claims and kept until it moves, whoever moved it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from ingest import codec
from ingest.errors import Conflict, StoreUnavailable
from ingest.model import PageRecord, sha256
from ingest.ports import (
    MAX_IDS_FOUND,
    Located,
    Outline,
    OutlineHeading,
    PageState,
    SiteAncestor,
    VersionedRecord,
    WatchState,
)
from ingest.stores.embedded.database import Database
from ingest.tree.site_tree import place

_HEADING = "id, parent, level, title, anchor, kind, readable, links_only"
_AMONG = "IN (SELECT value FROM json_each(?))"
_ROWS_PER_READ = 500

_SCHEMA_VERSION = 4
_SCHEMA = (
    """CREATE TABLE records (
         id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, site TEXT NOT NULL, version TEXT NOT NULL,
         state TEXT NOT NULL, seq INTEGER NOT NULL, target TEXT, reason TEXT, nodes INTEGER NOT NULL,
         chunks INTEGER NOT NULL, checked_at TEXT NOT NULL, changed_at TEXT NOT NULL, revision INTEGER NOT NULL,
         content_hash TEXT, tree_hash TEXT, page BLOB, record BLOB NOT NULL)""",
    "CREATE INDEX records_by_site ON records (site, key)",
    "CREATE INDEX records_by_content ON records (site, version, content_hash, key)",
    "CREATE INDEX records_by_target ON records (target)",
    """CREATE TABLE headings (
         record INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, position INTEGER NOT NULL, id TEXT NOT NULL,
         parent TEXT, level INTEGER NOT NULL, title TEXT NOT NULL, anchor TEXT, kind TEXT NOT NULL,
         readable INTEGER NOT NULL, links_only INTEGER NOT NULL DEFAULT 0,
         PRIMARY KEY (record, position)) WITHOUT ROWID""",
    "CREATE INDEX headings_by_id ON headings (id)",
    """CREATE TABLE texts (
         record INTEGER NOT NULL REFERENCES records ON DELETE CASCADE, position INTEGER NOT NULL,
         node BLOB NOT NULL, PRIMARY KEY (record, position))""",
    """CREATE TABLE watched (
         key TEXT PRIMARY KEY, site TEXT NOT NULL, seq INTEGER NOT NULL, state BLOB, due_at REAL NOT NULL DEFAULT 0)""",
    "CREATE INDEX watched_by_site ON watched (site)",
    "CREATE INDEX watched_by_due ON watched (site, due_at, key)",
    "CREATE TABLE sites (site TEXT PRIMARY KEY, changed INTEGER NOT NULL)",
    "CREATE TABLE revisions (last INTEGER NOT NULL)",
    "INSERT INTO revisions VALUES (0)",
)
_UPGRADES = {
    1: (  # what was remembered is learned again by the next look at each page; the numbers given out stay
        *(f"ALTER TABLE watched DROP COLUMN {c}" for c in "etag last_modified misses missed_since fetched_at".split()),
        "ALTER TABLE watched ADD COLUMN state BLOB",
    ),
    2: (  # seconds since 1970; 0: at once
        "ALTER TABLE watched ADD COLUMN due_at REAL NOT NULL DEFAULT 0",
        """UPDATE watched SET due_at = coalesce(
             (julianday(json_extract(CAST(state AS TEXT), '$.due_at')) - 2440587.5) * 86400.0, 0)""",
        "CREATE INDEX watched_by_due ON watched (site, due_at, key)",
    ),
    3: ("ALTER TABLE headings ADD COLUMN links_only INTEGER NOT NULL DEFAULT 0",),
}


class SqliteTreeStore:
    """Implements ingest.ports.TreeStore; any number of processes may open one file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, _SCHEMA_VERSION, _UPGRADES)
        self._places: dict[str, tuple[int, Mapping[str, tuple[SiteAncestor, ...]]]] = {}
        self._placing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._database.__aexit__()

    async def get(self, key: str) -> VersionedRecord | None:
        return await self._database.read(lambda db: _get(db, key))

    async def put(self, record: PageRecord, expected: str | None) -> str:
        return await self._database.write(lambda db: _put(db, record, expected))

    async def outlines(self, keys: Iterable[str]) -> Mapping[str, Outline]:
        wanted = list(keys)
        return await self._database.read(lambda db: _outlines(db, wanted))

    async def nodes(self, ids: Iterable[str]) -> Mapping[str, Located]:
        wanted = list(ids)
        return await self._database.read(lambda db: _nodes(db, wanted))

    async def find(self, prefix: str) -> Sequence[str]:
        statement = f"""SELECT DISTINCT h.id FROM headings h JOIN records r ON r.id = h.record
            WHERE h.id >= ? AND h.id < ? AND r.state = 'live' ORDER BY h.id LIMIT {MAX_IDS_FOUND}"""
        return await self._strings(statement, prefix, prefix + chr(0x10FFFF))

    async def place(self, keys: Iterable[str]) -> Mapping[str, tuple[SiteAncestor, ...]]:
        wanted = list(keys)
        placed: dict[str, tuple[SiteAncestor, ...]] = {}
        async with self._placing:
            for site, changed in await self._database.read(lambda db: _sites_of(db, wanted)):
                if self._places.get(site, (None,))[0] != changed:
                    self._places[site] = await self._placed(site)
                placed |= {key: self._places[site][1][key] for key in wanted if key in self._places[site][1]}
        return {key: placed[key] for key in wanted if key in placed}

    async def scan(self, site: str | None = None) -> AsyncIterator[PageState]:
        after = ""
        while states := await self._database.read(partial(_scan, site=site, after=after)):
            for state in states:
                yield state
            after = states[-1].key

    async def duplicates(self, site: str, version: str, content_hash: str) -> Sequence[str]:
        statement = """SELECT key FROM records
            WHERE site = ? AND version = ? AND content_hash = ? AND state = 'live' ORDER BY key"""
        return await self._strings(statement, site, version, content_hash)

    async def aliases(self, key: str) -> Sequence[str]:
        statement = "SELECT key FROM records WHERE target = ? AND state IN ('alias', 'moved') ORDER BY key"
        return await self._strings(statement, key)

    async def forget(self, site: str) -> int:
        return await self._database.write(lambda db: _forget(db, site))

    async def reserve(self, key: str, site: str, above: int = 0) -> int:
        return await self._database.write(lambda db: _reserve(db, key, site, above))

    async def watched(self, key: str) -> WatchState | None:
        return await self._database.read(lambda db: _watched(db, key))

    async def watch(self, state: WatchState) -> None:
        await self._database.write(lambda db: _watch(db, state))

    async def watching(self, site: str) -> AsyncIterator[WatchState]:
        after = ""
        while states := await self._database.read(partial(_watching, site=site, after=after)):
            for state in states:
                yield state
            after = states[-1].key

    async def due(self, site: str, until: datetime) -> AsyncIterator[WatchState]:
        after = (-1.0, "")
        while rows := await self._database.read(partial(_due, site=site, until=until.timestamp(), after=after)):
            for _, state in rows:
                yield state
            after = rows[-1][0], rows[-1][1].key

    async def _strings(self, statement: str, *parameters: str) -> list[str]:
        return await self._database.read(lambda db: [row[0] for row in db.execute(statement, parameters)])

    async def _placed(self, site: str) -> tuple[int, Mapping[str, tuple[SiteAncestor, ...]]]:
        """Where each page of a site is, and what `sites.changed` was then. A large site takes a second or two, in a thread in
        which nobody waits for the database."""
        changed, pages, aliases = await self._database.read(lambda db: _claims(db, site))

        def work() -> Mapping[str, tuple[SiteAncestor, ...]]:
            with _reading(site):
                return place(map(codec.PAGE.load, pages), aliases)

        return changed, await asyncio.to_thread(work)


def _get(db: sqlite3.Connection, key: str) -> VersionedRecord | None:
    row = db.execute("SELECT * FROM records WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    with _reading(key):
        record = codec.RECORD.load(row["record"])
        if row["page"] is not None:
            texts = db.execute("SELECT node FROM texts WHERE record = ? ORDER BY position", (row["id"],))
            nodes = tuple(codec.NODE.load(text) for (text,) in texts)
            record = replace(record, page=replace(codec.PAGE.load(row["page"]), nodes=nodes))
    return VersionedRecord(record, str(row["revision"]))


def _put(db: sqlite3.Connection, record: PageRecord, expected: str | None) -> str:
    old = db.execute("SELECT * FROM records WHERE key = ?", (record.key,)).fetchone()
    if (None if old is None else str(old["revision"])) != expected:
        raise Conflict(f"the record of {record.key} was changed by someone else meanwhile")
    revision = _next_revision(db)
    texts = [codec.NODE.dump(node) for node in record.page.nodes] if record.page else []
    row = _row(record, revision, texts)
    columns = ", ".join(row)
    changes = ", ".join(f"{column} = excluded.{column}" for column in row)
    upsert = f"""INSERT INTO records ({columns}) VALUES ({", ".join("?" * len(row))})
        ON CONFLICT (key) DO UPDATE SET {changes} RETURNING id"""
    ((record_id,),) = db.execute(upsert, tuple(row.values())).fetchall()
    if old is None or old["tree_hash"] != row["tree_hash"]:
        _replace_tree(db, record_id, record, texts)
    moving = ("site", "state", "target", "page")
    if old is None or any(old[column] != row[column] for column in moving):
        for site in {record.site, *([old["site"]] if old else [])}:
            db.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, revision))
    return str(revision)


def _next_revision(db: sqlite3.Connection) -> int:
    ((revision,),) = db.execute("UPDATE revisions SET last = last + 1 RETURNING last").fetchall()
    return int(revision)


def _row(record: PageRecord, revision: int, texts: Sequence[bytes]) -> dict[str, Any]:
    page = record.page
    return {
        "key": record.key,
        "site": record.site,
        "version": record.version,
        "state": record.state,
        "seq": record.seq,
        "target": record.target,
        "reason": record.reason,
        "nodes": len(texts),
        "chunks": len(record.chunk_ids),
        "checked_at": record.checked_at.isoformat(),
        "changed_at": record.changed_at.isoformat(),
        "revision": revision,
        "content_hash": page.content_hash if page else None,
        "tree_hash": sha256(*(text.decode() for text in texts)) if page else None,
        "page": codec.PAGE.dump(replace(page, nodes=())) if page else None,
        "record": codec.RECORD.dump(replace(record, page=None)),
    }


def _replace_tree(db: sqlite3.Connection, record_id: int, record: PageRecord, texts: Sequence[bytes]) -> None:
    db.execute("DELETE FROM headings WHERE record = ?", (record_id,))
    db.execute("DELETE FROM texts WHERE record = ?", (record_id,))
    nodes = record.page.nodes if record.page else ()
    db.executemany(
        f"INSERT INTO headings (record, position, {_HEADING}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (record_id, position, n.id, n.parent, n.level, n.title, n.anchor, n.kind, n.readable, n.links_only)
            for position, n in enumerate(nodes)
        ),
    )
    db.executemany("INSERT INTO texts VALUES (?, ?, ?)", ((record_id, *text) for text in enumerate(texts)))


def _outlines(db: sqlite3.Connection, keys: list[str]) -> dict[str, Outline]:
    live = f"SELECT id, key, record, page FROM records WHERE state = 'live' AND page IS NOT NULL AND key {_AMONG}"
    outlines: dict[str, Outline] = {}
    for record_id, key, record_json, page_json in db.execute(live, (json.dumps(keys),)):
        with _reading(key):
            record, page = codec.RECORD.load(record_json), codec.PAGE.load(page_json)
        rows = db.execute(
            f"SELECT {_HEADING} FROM headings WHERE record = ? ORDER BY position",
            (record_id,),
        )
        outlines[key] = Outline(
            key=key,
            site=record.site,
            version=record.version,
            title=page.title,
            canonical=page.canonical,
            headings=tuple(
                OutlineHeading(node_id, parent, level, title, anchor, kind, bool(readable), bool(links_only))
                for node_id, parent, level, title, anchor, kind, readable, links_only in rows
            ),
            chunk_ids=frozenset(record.chunk_ids),
            checked_at=record.checked_at,
        )
    return {key: outlines[key] for key in keys if key in outlines}


def _nodes(db: sqlite3.Connection, ids: list[str]) -> dict[str, Located]:
    """While a page moves, two records may list one node for a moment: the one that was written last counts."""
    rows = db.execute(
        f"""SELECT h.id, r.key, t.node FROM headings h JOIN records r ON r.id = h.record
            JOIN texts t ON t.record = h.record AND t.position = h.position
            WHERE h.id {_AMONG} AND r.state = 'live' ORDER BY r.revision""",
        (json.dumps(ids),),
    ).fetchall()
    found = {node_id: (key, node_json) for node_id, key, node_json in rows}
    outlines = _outlines(db, list({key for key, _ in found.values()}))
    located: dict[str, Located] = {}
    for node_id in ids:
        if node_id in found:
            key, node_json = found[node_id]
            with _reading(key):
                located[node_id] = Located(codec.NODE.load(node_json), outlines[key])
    return located


def _sites_of(db: sqlite3.Connection, keys: list[str]) -> list[tuple[str, int]]:
    """Of live pages, each with its `changed`."""
    statement = f"""SELECT DISTINCT site, changed FROM records JOIN sites USING (site)
        WHERE state = 'live' AND key {_AMONG}"""
    return [(site, changed) for site, changed in db.execute(statement, (json.dumps(keys),))]


def _claims(db: sqlite3.Connection, site: str) -> tuple[int, list[bytes], dict[str, str]]:
    """What places a site's pages: its `changed`, its live pages without nodes, and where its other records lead."""
    pages = db.execute("SELECT page FROM records WHERE site = ? AND state = 'live' AND page IS NOT NULL", (site,))
    found = [page for (page,) in pages]
    aliases = db.execute("SELECT key, target FROM records WHERE site = ? AND state IN ('alias', 'moved')", (site,))
    changed = db.execute("SELECT changed FROM sites WHERE site = ?", (site,)).fetchone()
    return (changed[0] if changed else 0), found, dict(aliases.fetchall())


def _scan(db: sqlite3.Connection, site: str | None, after: str) -> list[PageState]:
    columns = f"""key, site, version, state, seq, target, reason, nodes, chunks, {_field("page", "parser_version")},
        {_field("record", "analyser_version")}, checked_at, changed_at"""
    where, parameters = ("key > ?", [after]) if site is None else ("site = ? AND key > ?", [site, after])
    rows = db.execute(f"SELECT {columns} FROM records WHERE {where} ORDER BY key LIMIT {_ROWS_PER_READ}", parameters)
    return [PageState(*row[:9], *map(datetime.fromisoformat, row[11:]), *row[9:11]) for row in rows]


def _field(column: str, name: str) -> str:
    return f"coalesce(json_extract(CAST({column} AS TEXT), '$.{name}'), '')"


def _forget(db: sqlite3.Connection, site: str) -> int:
    records = db.execute("DELETE FROM records WHERE site = ?", (site,)).rowcount
    db.execute("DELETE FROM watched WHERE site = ?", (site,))
    db.execute("DELETE FROM sites WHERE site = ?", (site,))
    return records


def _reserve(db: sqlite3.Connection, key: str, site: str, above: int) -> int:
    """Above what was given out and above what was handled, should the watch state be younger than the record."""
    handled = db.execute("SELECT seq FROM records WHERE key = ?", (key,)).fetchone()
    statement = """INSERT INTO watched (key, site, seq) VALUES (?, ?, ? + 1)
        ON CONFLICT (key) DO UPDATE SET site = excluded.site, seq = max(seq + 1, excluded.seq) RETURNING seq"""
    ((seq,),) = db.execute(statement, (key, site, max(above, handled[0] if handled else 0))).fetchall()
    return int(seq)


def _watched(db: sqlite3.Connection, key: str) -> WatchState | None:
    row = db.execute("SELECT * FROM watched WHERE key = ?", (key,)).fetchone()
    return None if row is None else _state(row)


def _watching(db: sqlite3.Connection, site: str, after: str) -> list[WatchState]:
    statement = f"SELECT * FROM watched WHERE site = ? AND key > ? ORDER BY key LIMIT {_ROWS_PER_READ}"
    return [_state(row) for row in db.execute(statement, (site, after))]


def _due(db: sqlite3.Connection, site: str, until: float, after: tuple[float, str]) -> list[tuple[float, WatchState]]:
    """Row by row along the index, so that those that are not due are never touched."""
    statement = f"""SELECT * FROM watched INDEXED BY watched_by_due
        WHERE site = ? AND due_at <= ? AND (due_at, key) > (?, ?) ORDER BY due_at, key LIMIT {_ROWS_PER_READ}"""
    return [(row["due_at"], _state(row)) for row in db.execute(statement, (site, until, *after))]


def _state(row: sqlite3.Row) -> WatchState:
    numbered = WatchState(row["key"], row["site"], row["seq"])
    with _reading(row["key"]):
        return replace(codec.WATCH.load(row["state"]), seq=row["seq"]) if row["state"] else numbered


def _watch(db: sqlite3.Connection, state: WatchState) -> None:
    statement = """INSERT INTO watched (key, site, seq, state, due_at) VALUES (?, ?, 0, ?, ?)
        ON CONFLICT (key) DO UPDATE SET site = excluded.site, state = excluded.state, due_at = excluded.due_at"""
    due_at = state.due_at.timestamp() if state.due_at else 0.0
    db.execute(statement, (state.key, state.site, codec.WATCH.dump(state), due_at))


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        message = f"what is stored of {what} cannot be read: put a backup in its place, or index again"
        raise StoreUnavailable(message) from error
