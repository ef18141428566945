"""The one analysis of words, for documents and questions alike. Pure.

A text becomes terms: words as Snowball stems of the language, without stop words; an identifier whole
(`--max-old-space-size`, `ORA-00942`, `ray.data.Dataset`, `C++`) and in its parts, down to the words that
CamelCase, snake_case and digits run together; scripts written without spaces as overlapping pairs of
characters. No term holds white space: a store keeps them joined by spaces and splits at white space.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

import snowballstemmer

from ingest.text.scripts import UNSPACED

ANALYSER_VERSION = "1"
"""Raised whenever the same text may give other terms."""

MAX_TERM_CHARACTERS = 120
"""A longer term is cut: search servers split or refuse those of a few hundred."""
MAX_REMEMBERED_WORDS = 50_000
"""How many words and identifiers are remembered with their terms, for each language."""

_MARKS = "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")
_LETTERS = rf"\w[\w{_MARKS}]*"
_RUN = re.compile(
    r"(?:(?<![\w+#])(?:--|~/|\.{1,2}/|[-@$%#./~\\]))?"  # a sign in front: --flag @decorator $VARIABLE %s .NET /etc
    rf"{_LETTERS}(?:(?:://|[-./:@\\$']{{1,2}}){_LETTERS})*"  # joined: dotted.name kebab-case a/path std::vector don't
    r"(?:\+\+|#(?!\w))?"  # a sign behind: C++ C#
)
_SEGMENT = re.compile(r"[^/:\\@]+")
_PIECE = re.compile(_LETTERS)
_SMALL = r"[^\W\dA-Z_]"
_WORD = re.compile(rf"[A-Z]{{2,}}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?{_SMALL}(?:{_SMALL}|[{_MARKS}])*|[A-Z]+|\d+")
"""HTTPServer2 is HTTP, Server and 2; the plural of an abbreviation (URLs) is one word."""
_SCRIPT = re.compile(rf"([{UNSPACED}]+)|[^{UNSPACED}]+")
_CONTRACTED = re.compile(r"'(?:s|t|d|m|re|ve|ll)$", re.IGNORECASE)
_MARK_STORM = re.compile(rf"([{_MARKS}\U00010000-\U0001ffff]{{30}})[{_MARKS}\U00010000-\U0001ffff]+")
"""More marks in a row than Unicode's stream-safe format allows (UAX 15): to normalise them takes quadratic time. The
whole first supplementary plane counts as marks here; thirty of its letters in a row are still enough to find a word."""
_ALIKE = {"’": "'", "\u2010": "-", "\u2212": "-", **dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")}
"""Typographic twins of signs, and characters that only say where a line may break."""

_STOPS = {
    "en": frozenset(
        """a about above after again against all am an and any are as at be because been before being below between both
        but by can cannot could did do does doing down during each few for from further had has have having he her here
        hers him his how i if in into is it its itself just me more most my myself no nor not of off on once only or
        other our ours out over own please same she should so some such than that the their theirs them then there these
        they this those through to too under until up us very want was way we were what when where which while who whom
        why will with would you your yours
        aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn""".split()
    )
}
"""For English only; in other languages the words that all texts hold weigh little by themselves."""
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def terms(text: str, language: str = "en") -> list[str]:
    """The terms of a text in reading order, repeated as often as they occur. `language` is a tag such as "en" or
    "pt-BR"; where Snowball has no stemmer for it, words stay as they are. Takes time linear in the text."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MARK_STORM.sub(r"\1", text))
        for char, plain in _ALIKE.items():
            text = text.replace(char, plain)
    code = re.split("[-_]", language.lower())[0]
    analyser = _analyser(code if code in _STEMMERS else "")
    return list(chain.from_iterable(map(analyser.__getitem__, _RUN.findall(text))))


class _Analyser(dict[str, tuple[str, ...]]):
    """What stands between spaces and punctuation -> its terms, each once, in one language. Remembers the short ones,
    for most of a text is the same few thousand words."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._english = code == "en"
        self._stops = _STOPS.get(code, frozenset())
        known = _STEMMERS.get(code) in snowballstemmer.algorithms()
        self._stemmer = snowballstemmer.stemmer(_STEMMERS[code]) if known else None
        self._lock = threading.Lock()
        self._stem = lru_cache(MAX_REMEMBERED_WORDS)(self._stem_anew)

    def __missing__(self, run: str) -> tuple[str, ...]:
        parts = ((match[0], match[1]) for match in _SCRIPT.finditer(run))
        found = chain.from_iterable(_pairs(part) if unspaced else self._identifier(part) for part, unspaced in parts)
        result = tuple(dict.fromkeys(found))
        if len(run) <= MAX_TERM_CHARACTERS and len(result) <= 12:
            if len(self) >= MAX_REMEMBERED_WORDS:
                self.clear()
            self[run] = result
        return result

    def _identifier(self, run: str) -> Iterator[str]:
        """The run whole, with and without its signs; its segments likewise; their pieces; the words of these."""
        run = run.rstrip("-./:@\\$'")
        if self._english:
            run = _CONTRACTED.sub("", run)
        bare = run.strip("-./:@\\$'~%#+_")
        segments, pieces = _SEGMENT.findall(run), _PIECE.findall(bare)
        if (bare and run != bare) or len(pieces) > 1:
            yield from (_fold(run), _fold(bare)) if len(pieces) > 1 else (_fold(run),)
        for segment in segments if len(segments) > 1 else ():
            yield from self._identifier(segment)
        for piece in pieces if len(segments) == 1 else ():
            words = _WORD.findall(piece)
            if len(words) > 1:
                yield from self._word(piece) if piece.isalpha() else (_fold(piece),)
            for word in words:
                yield from self._word(word)

    def _word(self, word: str) -> Iterator[str]:
        """Its stem; nothing for a stop word, unless capitals make it a keyword (SQL's WHERE, IN, NOT)."""
        folded = _fold(word)
        if folded not in self._stops or (len(word) > 1 and word.isupper()):
            yield self._stem(folded)

    def _stem_anew(self, word: str) -> str:
        if self._stemmer is None:
            return word
        with self._lock:  # a stemmer holds the word that it works on
            return self._stemmer.stemWord(word) or word


_analyser = cache(_Analyser)


def _fold(name: str) -> str:
    return name.casefold().replace("i\u0307", "i")[:MAX_TERM_CHARACTERS]


def _pairs(text: str) -> Iterator[str]:
    return (text[i : i + 2] for i in range(max(1, len(text) - 1)))
