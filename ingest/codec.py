"""Records, pages, nodes, watch states and notes as JSON bytes, and back. Pure.

What comes back is equal to what went in. Fields that this version does not know are passed over, so
that an older program reads what a newer one wrote as long as nothing it needs has changed its meaning.
Loading raises ValueError on bytes that are no such thing; dumping raises it on text that is not
Unicode (a lone surrogate).
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import TypeAdapter

from ingest.model import Node, Page, PageRecord
from ingest.notes import NoteEntry
from ingest.ports import WatchState

_T = TypeVar("_T")


class Codec(Generic[_T]):
    """Of one type. `brief`: what has its default is left out."""

    def __init__(self, kind: type[_T], *, brief: bool = False) -> None:
        self._adapter = TypeAdapter(kind)
        self._brief = brief

    def dump(self, value: _T) -> bytes:
        return self._adapter.dump_json(value, exclude_defaults=self._brief)

    def load(self, data: bytes) -> _T:
        return self._adapter.validate_json(data)


RECORD = Codec(PageRecord)
PAGE = Codec(Page)
NODE = Codec(Node)
WATCH = Codec(WatchState, brief=True)
ENTRY = Codec(NoteEntry)
