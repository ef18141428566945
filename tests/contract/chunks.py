"""Chunks to put into a ChunkIndex, and shorthands to find them again."""

from __future__ import annotations

import math
from uuid import NAMESPACE_URL, uuid5

from ingest.model import Chunk, Scope
from ingest.ports import ChunkIndex, Vector

DIMENSIONS = 4
EVERYWHERE = Scope()
EAST, NORTH, UP = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)


def chunk(
    name: object, terms: str = "", *, page: str = "page", site: str = "docs", version: str = "", text: str = ""
) -> Chunk:
    """A chunk whose id and node are made from its name; its text is its name too, if no other is given."""
    identity = str(uuid5(NAMESPACE_URL, str(name)))
    return Chunk(identity, f"node of {name}", page, site, version, "Path > Title", text or str(name), terms)


async def with_terms(index: ChunkIndex, *terms: str, **fields: str) -> list[str]:
    """Put one chunk for each; their ids."""
    chunks = [chunk(number, text, **fields) for number, text in enumerate(terms)]
    await index.upsert(chunks, [EAST] * len(chunks))
    return [chunk.id for chunk in chunks]


async def found(index: ChunkIndex, *terms: str, k: int = 100, scope: Scope = EVERYWHERE) -> list[str]:
    return [hit.chunk_id for hit in await index.words(terms, k, scope)]


def direction(vector: Vector) -> list[float]:
    length = math.hypot(*vector)
    return [value / length for value in vector]
