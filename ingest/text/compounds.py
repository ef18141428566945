"""Words that are written as one, and what they are made of. Pure but for dictionaries that are read once.

A compound is split where both halves are words of the language: "Netzwerkeinstellungen" into "Netzwerk" and
"Einstellungen". The words are those of simplemma (MIT, from Wiktionary and Universal Dependencies), looked up in its
packed files: 2 to 10 MB of memory a language (Finnish 50), read in a second or two when its first long word comes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache

MIN_COMPOUND_CHARACTERS, MAX_COMPOUND_CHARACTERS = 7, 40
"""What is longer is no word of a text."""
MIN_PART_CHARACTERS, MIN_NEW_PART_CHARACTERS = 4, 3
"""Of a word that the dictionary has whole ("Auftrag" is no "auf" and "trag"), and of one that it has not ("Logdatei")."""
MIN_DEEPER_CHARACTERS = 10
"""A part so long may be made of parts."""
MIN_TAIL_CHARACTERS = 6
"""Of the known half of a compound whose other half is a name: "Kubernetesumgebung"."""
_LINKS = {
    "da": ("s", "e"),
    "de": ("s", "es", "n", "en", "er", "e"),
    "fi": (),
    "nb": ("s", "e"),
    "nl": ("s", "en", "e"),
    "sv": ("s", "e", "u", "o"),
}
"""What may stand between two parts, by language. A Finnish part is bent, and the dictionary knows its forms."""
_CODES = {"no": "nb", "nn": "nb"}
_lock = threading.Lock()


def parts(word: str, language: str) -> tuple[str, ...]:
    """The words that a word is made of, in lower case, without what joins them; empty for one that is no compound, and in
    languages that write none. `word` as it stands in the text: German nouns are told by their capital."""
    code = _CODES.get(language, language)
    if code not in _LINKS or not MIN_COMPOUND_CHARACTERS <= len(word) <= MAX_COMPOUND_CHARACTERS or not word.isalpha():
        return ()
    with _lock:
        return tuple(dict.fromkeys(_Splitter(code).split(word)))


@cache
def _lexicon(code: str) -> Mapping[str, str]:
    from simplemma.strategies.dictionaries import StreamDictionaryFactory  # most processes never meet such a word

    return StreamDictionaryFactory().get_dictionary(code)


class _Splitter:
    """Splits one word of one language."""

    def __init__(self, code: str) -> None:
        self._words = _lexicon(code)
        self._links = _LINKS[code]
        self._german = code == "de"

    def split(self, word: str) -> list[str]:
        lower = word.lower()
        known = self._known(lower)
        if found := self._halves(lower, MIN_PART_CHARACTERS if known else MIN_NEW_PART_CHARACTERS):
            return found
        return self._behind_a_name(lower) if self._german and word[:1].isupper() and not known else []

    def _halves(self, word: str, least: int) -> list[str]:
        """The two words that it is made of, and what these are made of; the border nearest to the middle wins."""
        borders = sorted(range(least, len(word) - least + 1), key=lambda border: abs(2 * border - len(word)))
        heads = [(head, word[border:]) for border in borders if (head := self._head(word[:border]))]
        for head, tail in heads:
            if self._known(tail):
                return [head, tail, *self._deeper(head), *self._deeper(tail)]
        for head, tail in heads:
            if deeper := self._deeper(tail):
                return [head, *deeper]
        return []

    def _deeper(self, part: str) -> list[str]:
        return self._halves(part, MIN_PART_CHARACTERS) if len(part) >= MIN_DEEPER_CHARACTERS else []

    def _behind_a_name(self, word: str) -> list[str]:
        """The longest noun that ends it, behind something that no dictionary has."""
        borders = range(MIN_PART_CHARACTERS, len(word) - MIN_TAIL_CHARACTERS + 1)
        found = next((border for border in borders if word[border:].capitalize() in self._words), 0)
        return [word[:found], word[found:]] if found else []

    def _head(self, written: str) -> str:
        """The word that the first part is; "" where it is none."""
        bare = (written.removesuffix(link) for link in self._links if written.endswith(link))
        return next((word for word in (written, *bare) if self._known(word)), "")

    def _known(self, word: str) -> bool:
        if len(word) < MIN_NEW_PART_CHARACTERS:
            return False
        return word in self._words or (self._german and word.capitalize() in self._words)
