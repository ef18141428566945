"""BM25 as the books have it, to measure the stores' own by."""

from __future__ import annotations

import math
from collections.abc import Sequence


def bm25(documents: Sequence[str], query: set[str], k: float = 1.2, b: float = 0.75) -> dict[int, float]:
    """Score of each document (by its number) that holds a term of the query. Documents are split at white space.
    Robertson and Zaragoza 2009, with the idf of Lucene, which is never negative."""
    texts = [document.split() for document in documents]
    mean = sum(map(len, texts)) / len(texts)
    scores: dict[int, float] = {}
    for term in query:
        holding = [number for number, text in enumerate(texts) if term in text]
        idf = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number in holding:
            count, length = texts[number].count(term), len(texts[number])
            saturated = count * (k + 1) / (count + k * (1 - b + b * length / mean))
            scores[number] = scores.get(number, 0.0) + idf * saturated
    return scores
