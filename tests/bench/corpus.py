"""What the benchmarks run on: a folder of HTML and questions with gold sections, indexed once and kept.

Defaults are the Ray documentation and questions in the `shared` folder beside the checkout; HTML= and
QUESTIONS= name others, MODEL= another embedding model: a folder with its weights. Embeddings are cached by model and
content hash, so that only the first run pays.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tarfile
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.embedding.batching import BatchingEmbedder
from ingest.embedding.minilm import MiniLMEmbedder
from ingest.embedding.sentence_transformers import SentenceTransformerEmbedder
from ingest.ports import Vector

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / ".cache" / "bench"
SHARED = Path(os.environ.get("RITBOT_SHARED", REPOSITORY.parent / "shared"))


@dataclass(frozen=True, slots=True)
class Question:
    """`page` is a path under the HTML folder; `anchor` is None where only the page is known."""

    text: str
    page: str
    anchor: str | None


def html_folder() -> Path:
    """The folder to index: HTML=, or the Ray pages, unpacked once."""
    if given := os.environ.get("HTML"):
        return Path(given).resolve()
    folder = CACHE / "ray"
    if not folder.is_dir():
        half = CACHE / "ray.half"
        with tarfile.open(SHARED / "data/ray/html.tar.xz") as archive:
            archive.extractall(half, filter="data")
        half.rename(folder)
    return folder


def questions() -> list[Question]:
    path = Path(os.environ.get("QUESTIONS", SHARED / "data/ray/questions.jsonl"))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Question(row["question"], row["page"], row.get("anchor")) for row in rows]


class CachedEmbedder:
    """An Embedder that remembers, in one SQLite file, every text it ever embedded."""

    def __init__(self, inner: BatchingEmbedder, path: Path) -> None:
        self._inner = inner
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
        self.misses = 0

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def window(self) -> int:
        return self._inner.window

    def count(self, text: str) -> int:
        return self._inner.count(text)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        keys = [hashlib.sha256(f"{self.name}\n{text}".encode()).digest() for text in texts]
        known = {key: vector for key in set(keys) if (vector := self._get(key)) is not None}
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        self.misses += len(wanted)
        for key, vector in zip(wanted, await self._inner.embed(list(wanted.values())), strict=True):
            known[key] = vector
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, array("f", vector).tobytes()))
        self._db.commit()
        return [known[key] for key in keys]

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed([text]))[0]

    def _get(self, key: bytes) -> Vector | None:
        row = self._db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return array("f", row[0]) if row else None


@asynccontextmanager
async def embedder() -> AsyncIterator[CachedEmbedder]:
    model = os.environ.get("MODEL")
    async with SentenceTransformerEmbedder(model) if model else MiniLMEmbedder() as inner:
        yield CachedEmbedder(inner, CACHE / "vectors.sqlite")
