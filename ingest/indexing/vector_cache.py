"""Vectors of chunks that were removed a moment ago: text that moves to another page is not embedded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from ingest.ports import Vector


class VectorCache:
    """By input hash, the `most` last ones. In memory only: to lose them costs an embedding."""

    def __init__(self, most: int = 2_000) -> None:
        self._most = most
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors.update(vectors)
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)

    def among(self, input_hashes: Iterable[str]) -> dict[str, Vector]:
        """Those of the inputs that are there."""
        return {wanted: self._vectors[wanted] for wanted in input_hashes if wanted in self._vectors}
