"""The truth as sections of a backup: page records and watch states, and the notes, which a model was paid for.

Ids and seqs come back as they were. Numbers given out after the backup was made are not known when it is put back, and
node ids are made from them: what `reserve` gives after a restore begins so far above that none is given twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from ingest import codec
from ingest.backup.archive import BackupSection, Sections
from ingest.errors import Conflict
from ingest.model import PageRecord
from ingest.notes import NoteEntry, Notes
from ingest.ports import PageState, TreeStore, WatchState

SEQS_LEFT_OUT = 1_000_000
"""Seqs of each page that are left out: more than a page is announced between a backup and its restore."""
_RECORDS_AT_ONCE = 16
RECORDS = "records"
"""The section of the pages."""


def tree_sections(trees: TreeStore, sites: Iterable[str] = ()) -> Sections:
    """`sites`: names whose watch state is kept beside that of the sites that have records."""

    async def put_record(record: PageRecord) -> None:
        stored = await trees.get(record.key)
        if stored is None or stored.record != record:
            try:
                await trees.put(record, None)
            except Conflict as error:
                raise Conflict(
                    f"{record.key} was written meanwhile: stop every other ritbot, and restore again"
                ) from error

    async def put_watch(state: WatchState) -> None:
        await trees.watch(state)
        if state.seq:
            await trees.reserve(state.key, state.site, above=state.seq + SEQS_LEFT_OUT - 1)

    return [
        BackupSection(RECORDS, _records(trees), codec.RECORD.load, put_record),
        BackupSection("watch", _watched(trees, set(sites)), codec.WATCH.load, put_watch),
    ]


def note_section(notes: Notes) -> BackupSection[NoteEntry]:
    """What is kept of a content already is left as it is."""

    async def lines() -> AsyncIterator[bytes]:
        async for entry in notes.all():
            yield codec.ENTRY.dump(entry)

    async def put(entry: NoteEntry) -> None:
        if not await notes.of(entry.kind, [entry.hash]):
            await notes.add(entry)

    return BackupSection("notes", lines(), codec.ENTRY.load, put)


class RecordStates(dict[str, tuple[Any, ...]]):
    """Of the records of a backup, by page key, by what a store tells one version from another; filled by `check`."""

    def __call__(self, section: str, thing: Any) -> None:
        if section == RECORDS:
            self[thing.key] = _state(thing)


async def others(ours: Mapping[str, tuple[Any, ...]], trees: TreeStore) -> Counter[str]:
    """By site, how many records the store holds that are not of the backup. None after a restore that was
    interrupted."""
    found: Counter[str] = Counter()
    async for state in trees.scan():
        found[state.site] += ours.get(state.key) != _state(state)
    return +found


def _state(page: PageRecord | PageState) -> tuple[Any, ...]:
    return page.site, page.state, page.seq, page.checked_at, page.changed_at


async def _records(trees: TreeStore) -> AsyncIterator[bytes]:
    batch: list[str] = []
    async for state in trees.scan():
        batch.append(state.key)
        if len(batch) == _RECORDS_AT_ONCE:
            for line in await _read(trees, batch):
                yield line
            batch = []
    for line in await _read(trees, batch):
        yield line


async def _read(trees: TreeStore, keys: Iterable[str]) -> list[bytes]:
    found = await asyncio.gather(*map(trees.get, keys))
    return [codec.RECORD.dump(stored.record) for stored in found if stored]


async def _watched(trees: TreeStore, sites: set[str]) -> AsyncIterator[bytes]:
    async for page in trees.scan():
        sites.add(page.site)
    for site in sorted(sites):
        async for state in trees.watching(site):
            yield codec.WATCH.dump(state)
