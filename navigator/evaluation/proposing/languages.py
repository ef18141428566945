"""Whether a question is in the language of its pages, by scripts and by small words. Pure.

It only says no where it is sure: languages without an entry, and texts without small words, pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_LISTED_WORDS = {
    "da": "af at den der det en er et for fra hvad hvilken hvor hvordan ikke jeg med og på som til",
    "de": "das dem den der die ein eine einen für ich ist kann mit nicht oder sich und von was welche welcher wenn wie zu",
    "en": "a an and are can do does for how i if in is it of on or the to what when which why with",
    "es": "como cómo con cuál cuando de del el en es la las lo los para por puedo que qué se si un una",
    "fr": "avec comment dans de des du est et la le les ne ou par pas peut pour quand que quel quelle si un une",
    "it": "che come con cosa da del della di e gli i il in la le lo non per posso quale quando se si un una",
    "nl": "de een en het hoe ik in is kan met niet of op te van voor waar wanneer wat welke worden",
    "pl": "co czy dla do i jak jest jaki jaka jakie można na nie od po się w z za że",
    "pt": "a as com como da de do e em é não o os para por posso qual quando que se um uma",
    "sv": "att av den det en ett för från hur i inte jag kan med och om på som till vad vilken är",
}
SMALL_WORDS = {language: frozenset(words.split()) for language, words in _LISTED_WORDS.items()}
_LETTERS_OF_A_WORD = re.compile(r"[^\W\d_]+")
MIN_FOREIGN_RATIO = 3
"""So many small words of another language for one of the pages' own are no chance."""
MIN_OTHER_SHARE, MIN_OTHER_LETTERS = 0.1, 3
"""Of the letters, and letters: where so many are not Latin, the Latin ones are names and commands. A single λ is one."""


def foreign(question: str, pages: str) -> bool:
    """Whether the question is surely not in the language of the text of its pages."""
    asked, written = _script(question), _script(pages)
    if asked and written and asked != written:
        return True
    said = Counter(_LETTERS_OF_A_WORD.findall(question.casefold()))
    own = _language(Counter(_LETTERS_OF_A_WORD.findall(pages.casefold())))
    other = _language(said)
    if own is None or other is None:
        return False
    return _hits(said, other) >= MIN_FOREIGN_RATIO * max(1, _hits(said, own))


def _language(words: Counter[str]) -> str | None:
    """The language of most small words; None where there are none."""
    hits = {language: _hits(words, language) for language in SMALL_WORDS}
    best = max(hits, key=lambda language: hits[language])
    return best if hits[best] else None


def _hits(words: Counter[str], language: str) -> int:
    return sum(count for word, count in words.items() if word in SMALL_WORDS[language])


def _script(text: str) -> str | None:
    """LATIN, CYRILLIC, …; Japanese counts as Chinese does. None without letters."""
    names = Counter(unicodedata.name(char, "?").partition(" ")[0] for char in text if char.isalpha())
    for kana in ("HIRAGANA", "KATAKANA"):
        names["CJK"] += names.pop(kana, 0)
    letters, latin = names.total(), names.pop("LATIN", 0)
    other, count = max(names.items(), key=lambda pair: pair[1])
    if count >= (max(MIN_OTHER_LETTERS, MIN_OTHER_SHARE * letters) if latin else 1):
        return other
    return "LATIN" if latin else None
