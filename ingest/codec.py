"""Records, pages, nodes, watch states and notes as JSON bytes, and back. Pure.

What comes back is equal to what went in. Fields that this version does not know are passed over, so
that an older program reads what a newer one wrote as long as nothing it needs has changed its meaning.
Loading raises ValueError on bytes that are no such thing; dumping raises it on text that is not
Unicode (a lone surrogate).
"""

from __future__ import annotations

from pydantic import TypeAdapter

from ingest.model import Node, Page, PageRecord
from ingest.notes import NoteEntry
from ingest.ports import WatchState

_RECORD = TypeAdapter(PageRecord)
_PAGE = TypeAdapter(Page)
_NODE = TypeAdapter(Node)
_WATCH = TypeAdapter(WatchState)
_ENTRY = TypeAdapter(NoteEntry)


def dump_record(record: PageRecord) -> bytes:
    return _RECORD.dump_json(record)


def load_record(data: bytes) -> PageRecord:
    return _RECORD.validate_json(data)


def dump_page(page: Page) -> bytes:
    return _PAGE.dump_json(page)


def load_page(data: bytes) -> Page:
    return _PAGE.validate_json(data)


def dump_node(node: Node) -> bytes:
    return _NODE.dump_json(node)


def load_node(data: bytes) -> Node:
    return _NODE.validate_json(data)


def dump_watch(state: WatchState) -> bytes:
    return _WATCH.dump_json(state, exclude_defaults=True)


def load_watch(data: bytes) -> WatchState:
    return _WATCH.validate_json(data)


def dump_entry(entry: NoteEntry) -> bytes:
    return _ENTRY.dump_json(entry)


def load_entry(data: bytes) -> NoteEntry:
    return _ENTRY.validate_json(data)
