"""The one analysis of words, for documents and questions alike. Pure.

A text becomes terms: words as Snowball stems of the language, without its small words, compounds also as their parts; an
identifier whole (`--max-old-space-size`, `ORA-00942`, `ray.data.Dataset`, `C++`), in its parts, down to the words that
CamelCase, snake_case and digits run together, and these as one, so that `maxRetryCount` is `MAX_RETRY_COUNT`; a version
number whole, never its digits; scripts written without spaces as overlapping pairs of characters. No term holds white
space: a store keeps them joined by spaces and splits at white space.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

import snowballstemmer

from ingest.text.compounds import parts
from ingest.text.languages import SMALL_WORDS, code_of
from ingest.text.scripts import UNSPACED

ANALYSER_VERSION = "2"
"""Raised whenever the same text may give other terms."""

MAX_TERM_CHARACTERS = 120
"""A longer term is cut: search servers split or refuse those of a few hundred."""
MAX_REMEMBERED_WORDS = 50_000
"""How many words and identifiers are remembered with their terms, for each language."""

_MARKS = "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")
_LETTERS = rf"\w[\w{_MARKS}]*"
_RUN = re.compile(
    r"(?:(?<![\w+#])(?:--|~/|\.{1,2}/|[-@$%#./~\\]))?"  # a sign in front: --flag @decorator $VARIABLE %s .NET /etc
    rf"{_LETTERS}(?:(?:://|[-./:@\\$']{{1,2}}|#){_LETTERS})*"  # joined: dotted.name kebab-case a/path std::vector don't
    r"(?:\+\+|#(?!\w))?"  # a sign behind: C++ C#
    r"|[\u2600-\u27bf\U0001f300-\U0001faff]"  # a pictogram
)
_SEGMENT = re.compile(r"[^/:\\@#]+")
_NAME = re.compile(r"[^.$']+")
_VERSION = re.compile(r"(?<!\d)(?<!\d\.)(?:(?<![^\W\d_])v)?(\d+(?:\.\d+)+(?:\.x(?!\w))?|\d+\.x(?!\w))", re.IGNORECASE)
"""3.10, v3.1, 3.1.x; in python3.10 and in 3.1.0-rc1 too."""
_OPTION = re.compile(r"-[A-Z]")
"""The one place where a capital tells two names apart: -f and -F."""
_PATH = re.compile(r"[^:\\@#]*(?:::|[:\\@#])\w|[~./]{0,2}/")
_DOTTED = re.compile(r"[^\W\d]\w+(?:\.\w{2,})+")
_SPELLED = re.compile(r"[^\W_]_[^\W_]|(?<![A-Za-z])[a-z]{2,}(?:[A-Z][a-z]|[A-Z]{3})|[a-z](?:Error|Exception)$")
_ONE_NAME = re.compile(rf"[\w{_MARKS}-]+")
_QUANTITY = re.compile(r"[\d.,]+-?[^\W\d]+(?:-[^\W\d]+)*|[\d-]+")
"""16GB, 24-hour, 2024-01-31."""
MIN_CODE_DIGITS, MIN_NUMBER_DIGITS = 2, 3
"""In a code (H10, E0382; k8s is a word), and of a bare number that is a name (404)."""
_PIECE = re.compile(_LETTERS)
_SMALL = r"[^\W\dA-Z_]"
_WORD = re.compile(rf"[A-Z]{{2,}}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?{_SMALL}(?:{_SMALL}|[{_MARKS}])*|[A-Z]+|\d+")
"""HTTPServer2 is HTTP, Server and 2; the plural of an abbreviation (URLs) is one word."""
_SCRIPT = re.compile(rf"([{UNSPACED}]+)|[^{UNSPACED}]+")
_JOINTS, _SIGNS = "-./:@\\$'", "-./:@\\$'~%#+_"
_CLIPPED = {
    "ca": re.compile(r"^[dlmnst]'", re.IGNORECASE),
    "en": re.compile(r"'(?:s|t|d|m|re|ve|ll)$", re.IGNORECASE),
    "fr": re.compile(r"^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'", re.IGNORECASE),
    "it": re.compile(r"^(?:[cdlmst]|un|(?:d|n|qu|s)?(?:a|e|u)ll|quest|dov|com)'", re.IGNORECASE),
}
"""Small words that an apostrophe joins to the next or the last."""
_MARK_STORM = re.compile(rf"([{_MARKS}\U00010000-\U0001ffff]{{30}})[{_MARKS}\U00010000-\U0001ffff]+")
"""More marks in a row than Unicode's stream-safe format allows (UAX 15): to normalise them takes quadratic time. The
whole first supplementary plane counts as marks here; thirty of its letters in a row are still enough to find a word."""
_ALIKE = {"’": "'", "\u2010": "-", "\u2212": "-", **dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")}
"""Typographic twins of signs, and characters that only say where a line may break."""

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

LANGUAGES = tuple(sorted({*_STEMMERS, *SMALL_WORDS}))
"""Those whose words are analysed in a way of their own, by code."""


def terms(text: str, language: str = "en", spoken: str = "") -> list[str]:
    """The terms of a text in reading order, repeated as often as they occur. `language` is a tag such as "en" or
    "pt-BR"; where Snowball has no stemmer for it, words stay as they are. `spoken`: the language that the text is in,
    where it is looked for in pages of another: its small words go too. Takes time linear in the text."""
    analyser = _analyser(_known(language), _known(spoken))
    return list(chain.from_iterable(map(analyser.__getitem__, _RUN.findall(_plain(text)))))


def names(text: str, language: str = "en") -> list[str]:
    """What a question calls by its own name, each once, as the term that all its spellings have in that language:
    identifiers, error codes, options, paths, versions, numbers of three digits or more (HTTP's 502). Not words that prose
    joins (read-only, GitHub), nor quantities (16GB)."""
    analyser = _analyser(_known(language), "")
    runs = (part[0] for run in _RUN.findall(_plain(text)) for part in _SCRIPT.finditer(run) if not part[1])
    return list(dict.fromkeys(name for run in runs if (name := analyser.name(run))))


def language_term(language: str) -> str:
    """The term that says in which language a chunk's words were analysed. No text gives it."""
    return f"language={language}"


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MARK_STORM.sub(r"\1", text))
        for char, plain in _ALIKE.items():
            text = text.replace(char, plain)
    return text


def _known(language: str) -> str:
    code = code_of(language)
    return code if code in _STEMMERS or code in SMALL_WORDS else ""


class _Analyser(dict[str, tuple[str, ...]]):
    """What stands between spaces and punctuation -> its terms, each once, in one language. Remembers the short ones,
    for most of a text is the same few thousand words."""

    def __init__(self, code: str, spoken: str) -> None:
        super().__init__()
        self._code = code
        self._stops = SMALL_WORDS.get(code, frozenset()) | SMALL_WORDS.get(spoken, frozenset())
        self._clipped = _CLIPPED.get(code)
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

    def name(self, run: str) -> str:
        """The term of a run that is a name; "" of any other."""
        run = self._clip(run)
        bare = run.strip(_SIGNS)
        pieces = len(_PIECE.findall(bare))
        if not bare:
            return ""
        if version := _VERSION.search(bare):
            return next(_version(version[1]))
        if bare.isdigit():
            return bare if len(bare) >= MIN_NUMBER_DIGITS else ""
        if pieces > 1 and (_PATH.match(run) or _DOTTED.fullmatch(bare)):
            return _fold(bare)
        if _is_code(bare) or (pieces > 1 and run.startswith("--")):
            joined = (_joined(_WORD.findall(bare)) if _ONE_NAME.fullmatch(bare) else "") or _fold(bare)
            return self._stem(joined) if joined.isalpha() else joined
        if pieces and run == bare:
            return ""
        return run if _OPTION.fullmatch(run) else _fold(run)

    def _clip(self, run: str) -> str:
        run = run.rstrip(_JOINTS)
        return self._clipped.sub("", run) if self._clipped else run

    def _identifier(self, run: str) -> Iterator[str]:
        """The run whole, with and without its signs; its segments likewise; their names, as one and in words."""
        run = self._clip(run)
        bare = run.strip(_SIGNS)
        segments, pieces = _SEGMENT.findall(run), _PIECE.findall(bare)
        if _OPTION.fullmatch(run) or (bare and not pieces):
            yield run
        elif (bare and run != bare) or len(pieces) > 1:
            yield from (_fold(run), _fold(bare)) if len(pieces) > 1 else (_fold(run),)
        if len(segments) > 1:
            for segment in segments:
                yield from self._identifier(segment)
            return
        for version in _VERSION.finditer(bare):
            yield from _version(version[1])
        for name in _NAME.findall(_VERSION.sub(".", bare)):
            yield from self._named(name)

    def _named(self, name: str) -> Iterator[str]:
        """A name without dots, its words as one and each; so are those that a hyphen joins."""
        words = _WORD.findall(name)
        if joined := _joined(words):
            yield self._stem(joined) if joined.isalpha() else joined
        for piece in _PIECE.findall(name):
            words = _WORD.findall(piece)
            if len(words) > 1:
                yield self._stem(_fold(piece)) if piece.isalpha() else _fold(piece)
            for word in words:
                yield from self._word(word)

    def _word(self, word: str) -> Iterator[str]:
        """Its stem, and those of the words that it is made of; nothing for a small word, unless capitals make it a keyword
        (SQL's WHERE, IN, NOT)."""
        folded = _fold(word)
        if folded not in self._stops or (len(word) > 1 and word.isupper()):
            yield self._stem(folded)
            yield from (self._stem(_fold(part)) for part in parts(word, self._code))

    def _stem_anew(self, word: str) -> str:
        if self._stemmer is None:
            return word
        with self._lock:  # a stemmer holds the word that it works on
            return self._stemmer.stemWord(word) or word


_analyser = cache(_Analyser)


def _fold(name: str) -> str:
    return name.casefold().replace("i\u0307", "i")[:MAX_TERM_CHARACTERS]


def _joined(words: list[str]) -> str:
    """The words of a name as one; "" where there is only one, and of figures alone (2024-01-31)."""
    return _fold("".join(words)) if len(words) > 1 and not all(word.isdigit() for word in words) else ""


def _is_code(word: str) -> bool:
    """Whether a word is spelled as no word of a text is: snake_case, camelCase, KeyError, E0382, 42P01, ORA-00942."""
    if _SPELLED.search(word):
        return True
    digits = sum(char.isdigit() for char in word)
    return digits >= MIN_CODE_DIGITS and any(map(str.isalpha, word)) and not _QUANTITY.fullmatch(word)


def _version(number: str) -> Iterator[str]:
    """The number, without zeros that say nothing (3.1.0 is 3.1), and the line that it is of: 3.1 and 3.1.4 are 3.1.x. A
    long part is a year, or no version at all: it is found by itself."""
    figures = number.casefold().split(".")
    while len(figures) > 2 and figures[-1] == "0":
        figures.pop()
    yield _fold(".".join(figures))
    if "x" not in figures:
        yield _fold(".".join((*figures[:2], "x")))
    yield from (_fold(figure) for figure in figures if len(figure) >= 4)


def _pairs(text: str) -> Iterator[str]:
    return (text[i : i + 2] for i in range(max(1, len(text) - 1)))
