"""Questions that say the same: in these words, or in words that mean it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.ports import Embedder, Vector

ALIKE = 0.9
"""The cosine from which two questions are taken for one."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Sense:
    """A question as it is compared."""

    words: tuple[str, ...]
    vector: Vector


class KnownQuestions:
    """The questions that there are."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._senses: list[Sense] = []

    async def senses(self, questions: Sequence[str]) -> list[Sense]:
        """Raises what the embedder raises."""
        vectors = await self._embedder.embed(questions) if questions else ()
        return [
            Sense(tuple(_WORD.findall(question.casefold())), _unit(vector))
            for question, vector in zip(questions, vectors, strict=True)
        ]

    def has(self, sense: Sense) -> bool:
        return any(known.words == sense.words or _cosine(known.vector, sense.vector) > ALIKE for known in self._senses)

    def add(self, sense: Sense) -> None:
        self._senses.append(sense)


def _cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(_cosine(vector, vector)) or 1.0
    return [x / length for x in vector]
