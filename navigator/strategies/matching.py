"""Finer ways to choose among chunks: those that name something, those of a page by words, those around one. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from math import log

from ingest.model import Chunk
from ingest.ports import Hit

_NAME_LETTER = (
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff]"
)
"""What makes a name longer where it stands beside it. Scripts without spaces between words are left out: there a name
stands right beside other letters."""


def naming(name: str, texts: Sequence[tuple[Hit, str]]) -> list[Hit]:
    """The chunks whose text holds the name as a whole: not as a part of a longer word, however its words are spaced. Case
    does not keep a chunk out, because people and models write `kafka` and `Kafka`; but chunks that write the name exactly
    so come first, because `PATH` is not `path`. Else the order stays."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    pattern = rf"(?<!{_NAME_LETTER}){words}(?!{_NAME_LETTER})"
    exactly, anyhow = re.compile(pattern), re.compile(pattern, re.IGNORECASE)
    found = [(hit, text) for hit, text in texts if anyhow.search(text)]
    return [hit for hit, _ in sorted(found, key=lambda pair: exactly.search(pair[1]) is None)]


def by_words(chunks: Sequence[Chunk], wanted: Sequence[str]) -> list[Chunk]:
    """Chunks of a page that hold at least one of the terms, those first that hold more of them and rarer ones: a term
    counts log(1 + chunks / chunks that hold it)."""
    held = [set(chunk.terms.split()) for chunk in chunks]
    among = Counter(term for terms in held for term in terms)
    scores = [sum(log(1 + len(chunks) / among[term]) for term in terms.intersection(wanted)) for terms in held]
    order = sorted(range(len(chunks)), key=lambda i: -scores[i])
    return [chunks[i] for i in order if scores[i] > 0]


def around(chunks: Sequence[Chunk], centre: Set[str], allowed: Set[str], count: int) -> list[Chunk]:
    """Of a page's chunks the `count` nearest to one, in document order: first the others of its node, then what stands
    after and before (of two equally near the later). `centre`: the ids of neighbouring chunks, or of
    a node; none where the page no longer holds them. `allowed`: the ids to choose from."""
    at = [index for index, chunk in enumerate(chunks) if not centre.isdisjoint((chunk.id, chunk.node_id))]
    if not at:
        return []
    own = chunks[at[0]].node_id

    def distance(index: int) -> tuple[bool, int, int]:
        return chunks[index].node_id != own, min(abs(index - at[0]), abs(index - at[-1])), -index

    nearest = sorted((i for i, chunk in enumerate(chunks) if chunk.id in allowed), key=distance)[:count]
    return [chunks[index] for index in sorted(nearest)]
