"""The one analysis of words, for documents and questions alike. Pure.

A text becomes terms: identifiers whole and in their parts (`Dataset.map_batches` gives the whole, the
word map_batches, and dataset, map, batch), words as Snowball stems of the language, without stop words;
scripts written without spaces as overlapping pairs of characters. No term holds white space: a store
keeps them joined by spaces and splits at white space. Both columns index these terms and rank by BM25.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

import snowballstemmer

ANALYSER_VERSION = "1"
"""Raised whenever the same text may give other terms."""

LONGEST = 120
"""Characters; a longer identifier is kept in its parts only."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_IDENTIFIER = re.compile(r"[@$%./-]{0,2}\w+(?:(?:\.|-{1,2}|/|::?|->)\w+)*(?:\+\+|#)?")
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PART = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_\d]+|\d+|[^\W_]")
_SPACELESS = re.compile(rf"[{_UNSPACED}]")

_ENGLISH_STOPS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below between both but
    by can cannot could did do does doing down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just me more most my myself no nor not of off on once only or other our ours
    out over own please same she should so some such than that the their theirs them then there these they this those
    through to too under until up us very want was way we were what when where which while who whom why will with would
    you your yours""".split()
)
_STOPS = {"en": _ENGLISH_STOPS}
_LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def terms(text: str, language: str = "en") -> list[str]:
    """The terms of a text in reading order, repeated as often as they occur."""
    code = language.lower().partition("-")[0]
    stem, stops = _stemmer(code), _STOPS.get(code, frozenset())
    found: list[str] = []
    for match in _IDENTIFIER.finditer(unicodedata.normalize("NFKC", text)):
        found.extend(_terms_of(match.group(), stem, stops))
    return found


def _terms_of(identifier: str, stem: Callable[[str], str], stops: frozenset[str]) -> Iterator[str]:
    """The identifier whole (with and without the signs in front), its words, their parts."""
    words = _WORD.findall(identifier)
    if not words:
        return
    whole = identifier.casefold()
    given: set[str] = set()
    if whole != words[0].casefold() and len(whole) <= LONGEST:
        given.update((whole, whole.lstrip("@$%./-")) if len(words) > 1 else (whole,))
        yield from sorted(given)
    for word in words:
        folded = word.casefold()
        parts = [part for piece in _PART.findall(word) for part in _parts(piece)]
        if len(parts) > 1 and not _SPACELESS.search(word) and folded not in given and len(folded) <= LONGEST:
            yield folded
        for part in parts:
            if part not in stops:
                yield stem(part)


def _parts(piece: str) -> list[str]:
    """A run of letters and digits by its humps; a run without spaces by its pairs."""
    if _SPACELESS.match(piece):
        return [piece[i : i + 2] for i in range(max(1, len(piece) - 1))]
    return [hump.casefold() for hump in _HUMP.findall(piece)]


@lru_cache(maxsize=64)
def _stemmer(code: str) -> Callable[[str], str]:
    """The stemmer of a language, remembering what it has seen; without one, words stay as they are."""
    if code not in _LANGUAGES:
        return lambda word: word

    @lru_cache(maxsize=200_000)
    def stem(word: str) -> str:
        # A stemmer holds the word it works on: threads must not share one.
        stemmed: str = snowballstemmer.stemmer(_LANGUAGES[code]).stemWord(word)
        return stemmed or word

    return stem
