"""What a question becomes: forests seen, passages read, an answer with citations, and how it was found.

Pure types. A Citation can only be made from a Passage, and a Passage only from a read node, so that
nothing unread can be cited.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ingest.model import Block
from ingest.urls import cite_link

Outcome = Literal["answered", "not_found", "greeting", "failed"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One node, or a part of one, as it was read. `number` is what the model calls it; `path` runs from the site's root
    to the node's own title; `link` is the node link."""

    number: int
    node_id: str
    node_hash: str
    page_key: str
    page_url: str
    link: str
    path: tuple[str, ...]
    blocks: tuple[Block, ...]
    checked_at: datetime
    version: str = ""
    at: int = 0
    """Of a part of a node: the index in the node of its first block. That block, and the last, may be cut."""

    def cite(self, first: int, last: int | None = None, quote: str | None = None) -> Citation:
        """A citation of blocks first..last (inclusive). Raises IndexError off the passage."""
        quoted = self.blocks[first : (first if last is None else last) + 1]
        if not quoted or first < 0:
            raise IndexError(f"passage {self.number} has no block {first}")
        whole = "\n".join(block.text for block in quoted)
        words = quote if quote and quote in whole else whole
        return Citation(
            node_id=self.node_id,
            node_hash=self.node_hash,
            page_url=self.page_url,
            link=cite_link(self.link, words, words),
            node_link=self.link,
            path=self.path,
            quote=words,
            block=self.at + first,
            checked_at=self.checked_at,
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a claim stands. `link` lands on the quoted words (text fragment), `node_link` on the
    section; `block` is the index of the first quoted block in the node."""

    node_id: str
    node_hash: str
    page_url: str
    link: str
    node_link: str
    path: tuple[str, ...]
    quote: str
    block: int
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One row under an answer: a cited node, numbered as the marks in the text are."""

    number: int
    citations: tuple[Citation, ...]

    @property
    def first(self) -> Citation:
        return self.citations[0]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model turns, and their price in US dollars where prices are known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """Of every kind."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def read_tokens(self) -> int:
        """Of the prompts, from a cache or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        costs = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One step to the answer. `tool` says what was done: get_toc, search, keyword, entity, page, around, pick_page, route,
    read. `query`: what was looked for; `shown`: what the model got to see that is not text of passages (a forest, a table
    of contents, a subtree); `numbers`: what was asked for, or what it gave, to read. `error` is what the model was told
    instead of a result."""

    tool: str
    reasoning: str
    query: str | None = None
    shown: str | None = None
    numbers: tuple[int, ...] = ()
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """How the answer was found, from the question on; the same shape for every strategy."""

    steps: tuple[Step, ...] = ()
    shown: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    """Every node that was offered: number, node id, path."""
    passages: tuple[Passage, ...] = ()
    usage: Usage = Usage()
    turns: int = 0
    seconds: float = 0.0

    @property
    def calls(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is Markdown with [n] marks; n is a CitedSource's number. `nearest` are sections worth a look
    where nothing was found (shown, never cited). `trace_id` joins the answer with the log."""

    question: str
    text: str
    outcome: Outcome
    sources: tuple[CitedSource, ...] = ()
    nearest: tuple[Passage, ...] = ()
    unsupported: tuple[str, ...] = ()
    """Claims that carry no mark, where the endpoint gives no citations of its own."""
    trace: Trace = field(default_factory=Trace)
    strategy: str = "rit"
    model: str = ""
    trace_id: str = ""
    version: str = ""
    understood: str = ""
    """The question as it was understood in its conversation, where that is not as it was asked."""
    note: str = ""
    """A remark for the reader: that these are extracts, that the model stopped early, what failed."""
