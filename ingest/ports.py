"""The doors of this layer. Each Protocol has an embedded adapter in ingest/ and one contract suite
in tests/contract that every adapter passes.

The event log's door (EventLog, Consumer, Record) is long enough for a module of its own, ingest/events/ports.py.

Adapters are opened with `async with`; their constructors do no I/O. All methods raise only errors of
ingest.errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ingest.events.ports import Consumer as Consumer
from ingest.events.ports import EventLog as EventLog
from ingest.events.ports import Record as Record
from ingest.model import Chunk, Document, Node, NodeKind, PageRecord, RecordState, Scope

Vector = Sequence[float]

MAX_IDS_FOUND = 20
"""Of the nodes that a prefix finds, so many are named."""


@dataclass(frozen=True, slots=True)
class VersionedRecord:
    """A record and the revision to hand back to `put` as `expected`."""

    record: PageRecord
    revision: str


@dataclass(frozen=True, slots=True)
class OutlineHeading:
    """A node without its text."""

    id: str
    parent: str | None
    level: int
    title: str
    anchor: str | None
    kind: NodeKind
    readable: bool
    links_only: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """A live page without its text: enough to induce a forest. `chunk_ids` are the chunks that count;
    an index hit outside them is an orphan and is dropped at query time."""

    key: str
    site: str
    version: str
    title: str
    canonical: str
    headings: tuple[OutlineHeading, ...]
    chunk_ids: frozenset[str]
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class Located:
    """A node with its text, and the page it stands on (without the other nodes' texts)."""

    node: Node
    page: Outline


@dataclass(frozen=True, slots=True)
class SiteAncestor:
    """One ancestor of a page in the site tree. `key` is None where the ancestor is only a name (an
    unlinked category of a breadcrumb)."""

    title: str
    key: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class PageState:
    """What a scan of a site needs of a record, without its tree. `parser_version` is empty where there is no page."""

    key: str
    site: str
    version: str
    state: RecordState
    seq: int
    target: str | None
    reason: str | None
    nodes: int
    chunks: int
    checked_at: datetime
    changed_at: datetime
    parser_version: str = ""
    analyser_version: str = ""


@dataclass(frozen=True, slots=True)
class WatchState:
    """What is remembered of a page apart from its record: written by whoever watches the site.

    `seq` is the last event number given out. `etag` and `last_modified` stand for the tree whose hash is `hash`, and for
    no other. `misses` counts looks in a row that found nothing since `missed_since`, `failures` those that got no
    answer, the last for `error`; `wasted` counts hints (a new lastmod) in a row that led to nothing. `interval` is the
    pause between looks, in seconds. `sent` is the tree hash that was last announced. `going` says why the page
    would leave while the guard holds it back, `going_to` where it went; `left_at` when the guard let it leave. `turned`: it
    answers with something else, this in brief (ingest.text.likeness; "": nothing that could be read); where it is held back
    for that and it could be indexed, `going_to` is its own key. `failing_since`: the first of the failures in a row. `traps`:
    of a site, shapes of addresses that lead nowhere (ingest.sites.traps).
    `asked_at`: someone said that the page changed. `begun` counts how often the event numbered `begun_seq` was begun to
    be handled. The state with the key `site:NAME` is of the site as a whole."""

    key: str
    site: str
    seq: int = 0
    etag: str | None = None
    last_modified: str | None = None
    misses: int = 0
    missed_since: datetime | None = None
    fetched_at: datetime | None = None
    hash: str | None = None
    full_at: datetime | None = None
    due_at: datetime | None = None
    asked_at: datetime | None = None
    interval: float = 0.0
    failures: int = 0
    error: str | None = None
    lastmod: str | None = None
    wasted: int = 0
    sent: str | None = None
    going: str | None = None
    going_to: str | None = None
    left_at: datetime | None = None
    begun: int = 0
    begun_seq: int = 0
    turned: str | None = None
    failing_since: datetime | None = None
    traps: tuple[str, ...] = ()


class TreeStore(Protocol):
    """The truth: page records, replaced whole by compare-and-set, and the watch state beside them."""

    async def get(self, key: str) -> VersionedRecord | None: ...

    async def put(self, record: PageRecord, expected: str | None) -> str:
        """Replace the record whose revision is `expected` (None: it must not exist yet); the new revision.
        Raises Conflict, and then nothing has changed."""
        ...

    async def outlines(self, keys: Iterable[str]) -> Mapping[str, Outline]:
        """Those of the pages that are live."""
        ...

    async def nodes(self, ids: Iterable[str]) -> Mapping[str, Located]:
        """Those of the nodes that stand on live pages."""
        ...

    async def find(self, prefix: str) -> Sequence[str]:
        """Ids of nodes on live pages that start with `prefix`, sorted, at most MAX_IDS_FOUND."""
        ...

    async def place(self, keys: Iterable[str]) -> Mapping[str, tuple[SiteAncestor, ...]]:
        """The ancestors of each live page in its site's tree, root first, the page itself left out."""
        ...

    def scan(self, site: str | None = None) -> AsyncIterator[PageState]:
        """All records in the order of their keys."""
        ...

    async def duplicates(self, site: str, version: str, content_hash: str) -> Sequence[str]:
        """Keys of live pages with exactly this content, sorted."""
        ...

    async def aliases(self, key: str) -> Sequence[str]:
        """Keys of the alias and moved records whose target is `key`, sorted."""
        ...

    async def forget(self, site: str) -> int:
        """Remove a site's records and watch state; how many records went."""
        ...

    async def reserve(self, key: str, site: str, above: int = 0) -> int:
        """The next seq of a page, by compare-and-set: never given twice, never reset while the site stays. It is larger
        than `above`, which is what was given out elsewhere (restore)."""
        ...

    async def watched(self, key: str) -> WatchState | None: ...

    async def watch(self, state: WatchState) -> None:
        """Store the state; its `seq` is left out of account (only `reserve` moves it)."""
        ...

    def watching(self, site: str) -> AsyncIterator[WatchState]:
        """All watch states of a site in the order of their keys."""
        ...

    def due(self, site: str, until: datetime) -> AsyncIterator[WatchState]:
        """Those whose `due_at` is not later than `until`, or not set; what reading them costs does not depend on how many
        are not due. One that is written meanwhile, with a later `due_at`, may be left out."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search found. Scores compare only within one list."""

    chunk_id: str
    node_id: str
    page_key: str
    score: float


class ChunkIndex(Protocol):
    """A projection of the TreeStore for searching; it can be lost and rebuilt."""

    async def upsert(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        """Insert or replace by chunk id. On return the chunks are searchable and on disk."""
        ...

    async def delete(self, ids: Iterable[str]) -> None:
        """Unknown ids are no error."""
        ...

    async def dense(self, vector: Vector, k: int, scope: Scope = ...) -> Sequence[Hit]:
        """The k nearest chunks by cosine, best first."""
        ...

    async def words(self, terms: Sequence[str], k: int, scope: Scope = ...) -> Sequence[Hit]:
        """The k best chunks by BM25 (k1 1.2, b 0.75) that hold at least one of the terms, best first."""
        ...

    async def occurrences(self, terms: Iterable[str], scope: Scope = ...) -> Mapping[str, int]:
        """In how many chunks each of the terms occurs, in one call however many they are. A term is one as `words` takes it,
        without white space."""
        ...

    async def ids_of(self, page_key: str, scope: Scope = ...) -> Mapping[str, str]:
        """Ids of all chunks that the index holds for a page, each with its input hash; empty for one that is only partly
        there (a write that failed half-way), or only partly in `scope`: upsert or delete it."""
        ...

    def pages(self, scope: Scope = ...) -> AsyncIterator[tuple[str, str]]:
        """Each page of which the index holds a chunk, also one only partly there, with the site that the chunk names:
        each pair once, in no order. What is there all the while is not missed."""
        ...

    async def vectors(self, input_hashes: Iterable[str]) -> Mapping[str, Vector]:
        """For each embedded input that the index already knows, its vector."""
        ...

    async def count(self, scope: Scope = ...) -> int: ...


class Embedder(Protocol):
    """Text to vectors. `window` is what the model reads, in its tokens, special tokens not counted."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def window(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]: ...

    async def embed_query(self, text: str) -> Vector: ...

    def count(self, text: str) -> int:
        """How many tokens the text takes, special tokens not counted. Pure and quick."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer of a web server or a folder. `url` is where it finally came from (after redirects
    inside the site), `hops` the URLs gone through before it, each with its status."""

    url: str
    status: int
    body: bytes
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    hops: tuple[tuple[str, int], ...] = ()


class Fetcher(Protocol):
    """Gets pages of one site and of nothing else."""

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        """Statuses are returned, not raised (304, 404, 410 too; 429 and 5xx raise FetchFailed after retries).
        Raises FetchFailed, Blocked."""
        ...


class PageParser(Protocol):
    """Reads what was fetched, within limits of time and memory."""

    async def parse(self, body: bytes, url: str, **options: Any) -> Document:
        """As ingest.html.parse.parse, with its options. Raises PageTooCostly."""
        ...


class Clock(Protocol):
    def now(self) -> datetime:
        """UTC, aware."""
        ...
