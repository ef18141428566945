"""An Embedder without a model: quick, deterministic, and near for texts that share words."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence

from ingest.ports import Vector

_TOKEN = re.compile(r"\w+|[^\w\s]")


class HashingEmbedder:
    """A text is the bag of its first `window` words, each word hashed to one of the dimensions but the last; the last
    stands for the empty text. Vectors have length 1. `embedded` lists all texts that were embedded."""

    name = "hashing"
    dimensions = 64
    window = 256

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def count(self, text: str) -> int:
        return len(_TOKEN.findall(text))

    def _vector(self, text: str) -> Vector:
        counts = [0.0] * self.dimensions
        for word in _TOKEN.findall(text.lower())[: self.window]:
            counts[zlib.crc32(word.encode("utf-8", "surrogatepass")) % (self.dimensions - 1)] += 1.0
        if not any(counts):
            counts[-1] = 1.0
        length = math.hypot(*counts)
        return [count / length for count in counts]
