"""What every embedder here does: concurrent callers share batches, and the model runs in one thread of its own.

What has gathered while the model was busy is embedded together. A stretch of several batches is handed to the model
at a time, so that it can put texts of like length side by side, which saves padding.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import structlog

from ingest.ports import Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = structlog.get_logger()

BATCH = 32
"""Texts that go through the model at once."""
STRETCH = 4 * BATCH
"""Texts that are sorted by length together; an interrupted run ends after one stretch."""
MAX_QUERY_CHARACTERS = 4000
"""More of a question than this no embedding model reads; cut before tokenizing."""


class BatchingEmbedder(ABC):
    """The queue and the thread of an Embedder. A subclass brings the model: `load`, `encode` and `encode_query` run in
    the thread, never two at once; vectors are unit vectors."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._waiting: list[tuple[Sequence[str], asyncio.Future[list[Vector]]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._counter: Tokenizer

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def dimensions(self) -> int: ...

    @property
    @abstractmethod
    def window(self) -> int: ...

    @abstractmethod
    def load(self) -> None:
        """Raises ModelMissing. Calls `counts_with`."""

    @abstractmethod
    def encode(self, texts: list[str]) -> list[Vector]:
        """At most STRETCH texts of a documentation."""

    @abstractmethod
    def encode_query(self, text: str) -> Vector: ...

    def counts_with(self, tokenizer: str) -> None:
        """`tokenizer` as JSON: a copy, for the one that the model uses truncates and pads."""
        from tokenizers import Tokenizer

        self._counter = Tokenizer.from_str(tokenizer)
        self._counter.no_truncation()
        self._counter.no_padding()

    def count(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    async def __aenter__(self) -> Self:
        await asyncio.get_running_loop().run_in_executor(self._thread, self.load)
        log.debug("embedding_model_loaded", model=self.name, dimensions=self.dimensions, window=self.window)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker is not None:
            await asyncio.wait([self._worker])
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[Vector]] = loop.create_future()
        self._waiting.append((texts, done))
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
        return await done

    async def embed_query(self, text: str) -> Vector:
        query = text[:MAX_QUERY_CHARACTERS]
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.encode_query, query)

    async def _work(self) -> None:
        """Embed what waits, all callers' texts together, until nothing waits. What nobody waits for any more
        is left alone, so that an interrupted run ends soon."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = [row for row in self._waiting if not row[1].done()], []
            texts = [text for wanted, _ in batch for text in wanted]
            vectors: list[Vector] = []
            try:
                for start in range(0, len(texts), STRETCH):
                    if all(done.done() for _, done in batch):
                        break
                    part = texts[start : start + STRETCH]
                    vectors += await loop.run_in_executor(self._thread, self.encode, part)
            except Exception as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            start = 0
            for wanted, done in batch:
                if not done.done():
                    done.set_result(vectors[start : start + len(wanted)])
                start += len(wanted)
