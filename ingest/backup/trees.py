"""The truth as sections of a backup: page records and watch states, and the notes, which a model was paid for.

Ids and seqs come back as they were. Numbers given out after the backup was made are not known when it is put back, and
node ids are made from them: what `reserve` gives after a restore begins so far above that none is given twice.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import BinaryIO

from ingest import codec
from ingest.backup.archive import BackupSection, Json, lines
from ingest.errors import Conflict
from ingest.model import PageRecord
from ingest.notes import NoteEntry, Notes
from ingest.ports import TreeStore, WatchState

SEQS_LEFT_OUT = 1_000_000
"""Seqs of each page that are left out: more than a page is announced between a backup and its restore."""
_RECORDS_AT_ONCE = 16


def tree_sections(trees: TreeStore, sites: Iterable[str] = ()) -> list[BackupSection]:
    """`sites`: names whose watch state is kept beside that of the sites that have records."""

    async def put_record(line: Json) -> None:
        record = _record(line)
        stored = await trees.get(record.key)
        if stored is None or stored.record != record:
            try:
                await trees.put(record, None)
            except Conflict as error:
                raise Conflict(
                    f"{record.key} was written meanwhile: stop every other ritbot, and restore again"
                ) from error

    async def put_watch(line: Json) -> None:
        state = _watch(line)
        await trees.watch(state)
        if state.seq:
            await trees.reserve(state.key, state.site, above=state.seq + SEQS_LEFT_OUT - 1)

    return [
        BackupSection("records", _records(trees), _record, put_record),
        BackupSection("watch", _watched(trees, set(sites)), _watch, put_watch),
    ]


def note_section(notes: Notes) -> BackupSection:
    """What is kept of a content already is left as it is."""

    async def lines() -> AsyncIterator[Json]:
        async for entry in notes.all():
            line: Json = json.loads(codec.dump_entry(entry))
            yield line

    async def put(line: Json) -> None:
        entry = _entry(line)
        if not await notes.of(entry.kind, [entry.hash]):
            await notes.add(entry)

    return BackupSection("notes", lines(), _entry, put)


async def others(file: BinaryIO, trees: TreeStore) -> Counter[str]:
    """By site, how many records the store holds that are not of this backup. None after a restore that was
    interrupted."""
    ours = {}
    for name, line in lines(file):
        if name == "records":
            record = _record(line)
            ours[record.key] = (record.site, record.state, record.seq, record.checked_at, record.changed_at)
    found: Counter[str] = Counter()
    async for state in trees.scan():
        there = (state.site, state.state, state.seq, state.checked_at, state.changed_at)
        found[state.site] += ours.get(state.key) != there
    return +found


async def _records(trees: TreeStore) -> AsyncIterator[Json]:
    batch: list[str] = []
    async for state in trees.scan():
        batch.append(state.key)
        if len(batch) == _RECORDS_AT_ONCE:
            for line in await _read(trees, batch):
                yield line
            batch = []
    for line in await _read(trees, batch):
        yield line


async def _read(trees: TreeStore, keys: Iterable[str]) -> list[Json]:
    found = await asyncio.gather(*map(trees.get, keys))
    return [json.loads(codec.dump_record(stored.record)) for stored in found if stored]


async def _watched(trees: TreeStore, sites: set[str]) -> AsyncIterator[Json]:
    async for page in trees.scan():
        sites.add(page.site)
    for site in sorted(sites):
        async for state in trees.watching(site):
            yield json.loads(codec.dump_watch(state))


def _record(line: Json) -> PageRecord:
    return codec.load_record(json.dumps(line).encode())


def _entry(line: Json) -> NoteEntry:
    return codec.load_entry(json.dumps(line).encode())


def _watch(line: Json) -> WatchState:
    return codec.load_watch(json.dumps(line).encode())
