"""Misspelled words of a question, put right with the words of the index itself.

Only a word that neither the pages nor the embedding model knows is doubted, and only where the pages hold one that is a
single slip away (a letter too many, too few, wrong, or two exchanged: Damerau 1964). A name that is written with a capital
is somebody's name, not a slip.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ingest.model import EVERYWHERE
from navigator.question.rewrite import Earlier, Understand, Understood
from navigator.question.word_counts import is_foreign, words_of
from navigator.retrieval.lexicon import Lexicon

MIN_LETTERS = 5
"""A shorter word has too many neighbours."""
MAX_LETTERS = 24

_WORD = re.compile(r"[^\W\d_]+")


def with_spelling(understand: Understand, lexicon: Lexicon, count: Callable[[str], int]) -> Understand:
    """`count`: how many tokens the embedding model makes of a word; one means that it knows it."""

    async def spelled(question: str, earlier: Sequence[Earlier]) -> Understood:
        understood = await understand(question, earlier)
        text = understood.question
        doubted = [match for match in _doubtful(text) if count(match[0].lower()) > 1]
        if not doubted:
            return understood
        words = words_of(text)
        counts = await lexicon.counts({*words, *(match[0] for match in doubted)}, EVERYWHERE)
        unknown = [match for match in doubted if not counts[match[0]]]
        if is_foreign(words, counts):
            return understood
        for match in reversed(unknown):
            if right := await _put_right(match[0], lexicon):
                text = text[: match.start()] + right + text[match.end() :]
        return Understood(text, understood.usage)

    return spelled


def _doubtful(question: str) -> Iterator[re.Match[str]]:
    for match in _WORD.finditer(question):
        word = match[0]
        named = word[0].isupper() and not word.isupper() and question[: match.start()].strip() != ""
        if MIN_LETTERS <= len(word) <= MAX_LETTERS and not named:
            yield match


async def _put_right(word: str, lexicon: Lexicon) -> str:
    """The spelling that the pages use most of those one slip away; "" for none."""
    found: Counter[str] = await lexicon.spelled(frozenset(one_slip_from(word.casefold())), EVERYWHERE)
    return max(found, key=lambda spelling: (found[spelling], spelling), default="")


def one_slip_from(word: str) -> set[str]:
    """The word's neighbours, its first letter kept: people rarely miss that one."""
    letters = set("abcdefghijklmnopqrstuvwxyz") | set(word)
    heads = [(word[:i], word[i:]) for i in range(1, len(word) + 1)]
    near = {head + tail[1:] for head, tail in heads if tail}
    near |= {head + tail[1] + tail[0] + tail[2:] for head, tail in heads if len(tail) > 1}
    near |= {head + letter + tail[1:] for head, tail in heads if tail for letter in letters}
    near |= {head + letter + tail for head, tail in heads for letter in letters}
    return near - {word}
