"""The words of a question, and what it says of the question how often the pages hold them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MAX_COUNTED_CHUNKS = 300
"""A word that more chunks hold is common; how common no longer matters."""
MIN_FOREIGN_WORDS, FOREIGN_SHARE = 3, 0.5
"""A question in another language has at least so many words that no page holds, and mostly such."""
_AROUND = ".,;:!?¿¡()[]{}<>\"'`“”‘’«»„…"


def words_of(question: str) -> list[str]:
    """What stands between spaces, each once, without the punctuation around it."""
    return [
        word
        for word in dict.fromkeys(token.strip(_AROUND) for token in question.split())
        if any(map(str.isalnum, word))
    ]


def is_foreign(words: Sequence[str], counts: Mapping[str, int]) -> bool:
    """Whether a question is in another language than the pages: they hold few of its words, and those it shares with them
    are not the common ones, of which a sentence in their language has many."""
    absent = sum(not counts.get(word) for word in words)
    common = sum(counts.get(word, 0) >= MAX_COUNTED_CHUNKS for word in words)
    return absent >= MIN_FOREIGN_WORDS and (absent > common or absent >= FOREIGN_SHARE * len(words))
