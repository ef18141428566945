"""What a question asks for: which of its words name the thing, which say what to tell of it. Pure.

The forms are few and closed (what is, difference between, default of, an error message); everything else is words, weighed
by how rare they are in the index.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ingest.text.languages import spoken
from ingest.text.words import names, terms
from navigator.answer import Passage
from navigator.question import JOINT
from navigator.question.word_counts import is_foreign, words_of

Form = Literal["definition", "default", "difference", "error", "how", "other"]

_BETWEEN = re.compile(
    r"\b(?:differences?|differs?|distinction|unterschied|différence|diferencia)\s{1,3}(?:between|zwischen|entre)\s"
    r"|\bshould i (?:use|choose|take|prefer)\s",
    re.IGNORECASE,
)
_AND = re.compile(r"\s(?:and|or|und|oder|et|ou|y)\s", re.IGNORECASE)
_VERSUS = re.compile(r"\s(?:vs\.?|versus|differ(?:s|ent)? from|compared? (?:to|with))\s", re.IGNORECASE)
"""How two things are set side by side; question words and verbs around them carry no terms."""
DEFAULT = re.compile(
    r"\b(?:defaults?|by default|standard(?:wert)?|voreinstellung|défaut|predeterminado)\b", re.IGNORECASE
)
_DEFINITION = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| does| do| did)|explain|define|meaning of|was (?:ist|sind|bedeutet|macht)|qu(?:['’]est-ce|e fait)|qué (?:es|son))\b",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\b(?:how (?:do|does|can|could|to|would|should|might)|how['’]?d|wie|comment|cómo|way to|steps? to|can i|is it possible)\b"
    r"|^\W*[a-z]{3,20} (?:a|an|the|my|all|only|one|two|from|files?)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:errors?|fatal|failed|failure|warning|exception|cannot|can't|could not|couldn't|unable to|denied|refused|not found|no such|panicked"
    r"|traceback|fehler)\b|\b[A-Z]+[-_]?\d{3,}\b|[\"“'`][^\"”'`]{12,300}[\"”'`]",
    re.IGNORECASE,
)
_FRAMING = frozenset(
    """default value mean difference between possible option use make want need way work happen explain get thing best
    exactly really simply easily someone anyone help know tell show please example set""".split()
)
"""Words, as stems, with which one asks about anything: they name nothing."""
NEW_WORDS_WEIGH = 2.0
"""In a follow-up the words of the new question weigh so much more than those of the one before."""
FRAMING_WEIGHS = 0.35
UNKNOWN_NAME_WEIGHS = 2.0
"""What is said of other things does not answer a question about a thing that no page names."""
PARTS_WEIGH = 0.6
RARE_SHARE = 0.01
"""A proper name that fewer chunks hold is none of the product's own: the pages mention it (another product)."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question. `whole`: the term that all spellings of it have; `terms`: all. `weight`: of all words together they add up to 1. No page
    holds an `absent` word; a `name` is no word of the language. A `new` word was not asked before in the conversation. A
    `called` one is how something is called (ingest.text.words.names): an identifier, a code, an option, a version. A `proper` one is a
    rare proper name."""

    text: str
    whole: str
    terms: tuple[str, ...]
    weight: float
    absent: bool = False
    new: bool = False
    name: bool = False
    called: bool = False
    proper: bool = False

    def match(self, held: Set[str]) -> float:
        """0 to 1: an identifier counts whole, its parts for less; those of one that no page holds are of other names."""
        if self.absent:
            return 0.0
        if self.whole in held:
            return 1.0
        parts = [term for term in self.terms if term != self.whole]
        return PARTS_WEIGH * sum(part in held for part in parts) / len(parts) if parts else 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. `sides`: of a difference what is to be compared. `foreign`: most words of the question, those that
    are stop words in the pages' language not among them, stand on no page. `language`: how its words were analysed, and
    those of texts are that are weighed by it."""

    form: Form
    words: tuple[Word, ...]
    sides: tuple[frozenset[str], ...] = ()
    foreign: bool = False
    language: str = "en"

    def told(self, held: Set[str]) -> float:
        """How many of the question's words these terms hold in some form, 0 to 1, each counted once."""
        return sum(not held.isdisjoint(word.terms) for word in self.words) / max(1, len(self.words))

    def called(self, held: Set[str], title: Set[str]) -> float:
        """How many of the question's names stand in these terms or in a title's; a bare number counts in a title only:
        elsewhere it may count anything. 0 where the question has none."""
        names = [word.whole for word in self.words if word.called]
        found = (name in title or (name in held and not name.isdigit()) for name in names)
        return sum(found) / len(names) if names else 0.0

    def about(self, held: Set[str]) -> bool:
        """Whether these terms hold each rare proper name of the question: what does not is said of something else."""
        return all(not held.isdisjoint(word.terms) for word in self.words if word.proper)

    def terms_of(self, text: str) -> frozenset[str]:
        return frozenset(terms(text, self.language))

    def share(self, held: Set[str]) -> float:
        """How much of the question these terms hold, 0 to 1."""
        return sum(word.weight * word.match(held) for word in self.words)

    def held_in(self, text: str) -> float:
        """How much of the question a text seems to hold, by the letters of its terms alone: quick."""
        folded = text.casefold()
        return sum(word.weight for word in self.words if word.terms[0] in folded)

    def within(self, part: str) -> Wanted:
        """What a part of the question asks for: one of two sides."""
        held = self.terms_of(part)
        return replace(self, words=tuple(word for word in self.words if not held.isdisjoint(word.terms)))

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for word in self.words for term in word.terms)

    @property
    def new(self) -> frozenset[str]:
        return frozenset(term for word in self.words if word.new for term in word.terms)


def wanted(
    question: str,
    counts: Mapping[str, int],
    total: int,
    known: Callable[[str], bool] = lambda word: True,
    language: str = "en",
    *,
    native: bool = False,
) -> Wanted:
    """`counts`: in how many chunks of `total` each word of the question occurs; none: nothing is known of the index. `known`: whether
    a word is one of English, and not a name. `native`: the question's small words are those of a language that pages are in."""
    before, _, latest = question.rpartition(JOINT)
    asked = latest or question
    earlier = frozenset(terms(before, language))
    weighed: dict[tuple[str, ...], Word] = {}
    words = words_of(question)
    for text in words:
        if not (found := tuple(terms(text, language))):
            continue
        rarity = math.log(1 + max(1, total) / (1 + counts.get(text, 0)))
        new = bool(before) and earlier.isdisjoint(found)
        absent = bool(counts) and not counts.get(text)
        called = next(iter(names(text, language)), "")
        name = bool(called) or (
            language == "en" and (not known(text) or (text[:1].isupper() and not question.startswith(text)))
        )
        weight = (
            rarity
            * (UNKNOWN_NAME_WEIGHS if absent and name else 1.0)
            * (FRAMING_WEIGHS if _framing().issuperset(found) else 1.0)
            * (NEW_WORDS_WEIGH if new else 1.0)
        )
        proper = text[:1].isupper() and text[1:].islower() and not question.startswith(text)
        rare = 0 < counts.get(text, 0) < RARE_SHARE * total
        weighed[found] = Word(
            text,
            called or found[0],
            found,
            weight,
            absent,
            new,
            name,
            bool(called) and new in (True, bool(before)),
            proper and rare,
        )
    total_weight = sum(word.weight for word in weighed.values()) or 1.0
    sides = tuple(_subject(part, language) for part in sides_of(asked))
    return Wanted(
        form=_form(asked, bool(sides)),
        words=tuple(replace(word, weight=word.weight / total_weight) for word in weighed.values()),
        sides=sides,
        foreign=bool(counts) and not native and is_foreign(words, counts),
        language=language,
    )


def language_of(question: str, passages: Sequence[Passage]) -> str:
    """The language of the question; where that is not clear the one, of those in which the passages are, in which they
    share most words with it; English where these are none."""
    if own := spoken(question):
        return own
    texts = ["\n".join([*p.path, *(b.text for b in p.blocks if b.kind not in ("code", "math"))]) for p in passages]
    read = Counter(language for text in texts if (language := spoken(text)))
    whole = "\n".join(texts)

    def shared(language: str) -> int:
        return len(set(terms(question, language)).intersection(terms(whole, language)))

    return max(read, key=lambda language: (shared(language), read[language]), default="en")


@cache
def _framing() -> frozenset[str]:
    return frozenset(term for word in _FRAMING for term in terms(word))


def _form(asked: str, compares: bool) -> Form:
    if compares:
        return "difference"
    if DEFAULT.search(asked):
        return "default"
    if _ERROR.search(asked):
        return "error"
    if _HOW.search(asked):
        return "how"
    return "definition" if _DEFINITION.search(asked) else "other"


def sides_of(question: str) -> tuple[str, ...]:
    """The two things that a question sets side by side, in its words; none where it does not."""
    asked = question.rpartition(JOINT)[2]
    begin = _BETWEEN.search(asked)
    parts = _AND.split(asked[begin.end() :], maxsplit=1) if begin else _VERSUS.split(asked, maxsplit=1)
    found = [_subject(part) for part in parts]
    return tuple(parts) if len(found) == 2 and all(found) and found[0] != found[1] else ()


def _subject(part: str, language: str = "en") -> frozenset[str]:
    return frozenset(terms(part, language)) - _framing()
