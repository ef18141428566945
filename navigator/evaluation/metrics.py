"""How near an answer's words are to a gold answer's, without a model. Pure.

Words are compared as SQuAD does (Rajpurkar 2016: case, punctuation and English articles do not count), with
three differences: any script's punctuation is left out, Chinese, Japanese and Korean count by characters,
and a number stays a number (1.2 is not 12, -5 is not 5). Marks such as [1] and Markdown are no words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from ingest.text.scripts import UNSPACED
from ingest.text.words import terms
from navigator.citations.markup import paragraphs

_ARTICLES = frozenset({"a", "an", "the"})
_SCORED_PIECE = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_WRITTEN_NUMBER = re.compile(r"([-+]?)(\d{1,3}(?:,\d{3}){1,9}|\d{1,30})(?:[.,](\d{1,30}))?(%?)")
_MARKDOWN_SIGNS = re.compile(
    r"(?<!`)(?P<ticks>`++)(?P<code>.+?)(?P=ticks)"
    r"|!?\[(?P<words>[^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"']*[\"'])?\)"
    r"|(?P<apart>(?<![ \t])(?:[ \t]*\[\d+(?:\s*,\s*\d+)*\])+|^(?=[|: \t]*-{3})[|: \t-]+$|\|)"
    r"|^[ \t]*(?:>[ \t]*|#{1,6}[ \t]+|[-*+][ \t]+|\d{1,3}[.)][ \t]+)+"
    r"|\*{1,3}|~~|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)",
    re.MULTILINE | re.DOTALL,
)
"""Markdown that is no word: code and links stay as their words; marks, table rules and borders of cells stand
between words; signs of lists, headings, quotations and emphasis go."""


def without_markdown(text: str) -> str:
    """The words of an answer in Markdown: no marks, links as their words, code without its fence."""
    return "".join(
        _without_fence(part) if code else _MARKDOWN_SIGNS.sub(_words, part) for part, code in paragraphs(text)
    )


def exact_match(answer: str, golds: Sequence[str]) -> bool:
    """The answer says one of the gold answers and nothing else; numbers are equal under rounding."""
    said = words(without_markdown(answer))
    return any(_same(said, words(gold)) for gold in golds)


def em_recall(answer: str, golds: Sequence[str]) -> bool:
    """One of the gold answers stands in the answer, word for word (the papers' short-form EM)."""
    said = words(without_markdown(answer))
    return any(_stands_in(words(gold), said) for gold in golds)


def string_f1(answer: str, golds: Sequence[str]) -> float:
    """F1 of the words that the answer shares with a gold answer, each as often as it stands in both; of the
    best gold answer."""
    said = words(without_markdown(answer))
    return max((_f1(said, words(gold)) for gold in golds), default=0.0)


def token_recall(answer: str, golds: Sequence[str]) -> float:
    """The share of a gold answer's words that stand in the answer (Adlakha 2024); of the best gold answer."""
    said = Counter(words(without_markdown(answer)))
    return max((_share(Counter(words(gold)), said) for gold in golds), default=0.0)


def nuggets_covered(answer: str, nuggets: Sequence[str], language: str = "en") -> tuple[bool, ...]:
    """For each nugget, whether all its terms occur in the answer; one without terms (stop words only) must
    stand there word for word."""
    text = without_markdown(answer)
    known = set(terms(text, language))
    found = []
    for nugget in nuggets:
        wanted = set(terms(nugget, language))
        found.append(wanted <= known if wanted else _stands_in(words(nugget), words(text)))
    return tuple(found)


def words(text: str) -> list[str]:
    """The words that count, in order."""
    pieces = _SCORED_PIECE.findall(unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-"))
    return [word for word in map(_word, pieces) if word and word not in _ARTICLES]


def equal_numbers(first: str, second: str) -> bool:
    """Two numbers that are one under rounding: they differ by at most half a unit in the last place of the
    less precise (1.2 and 1.23); a comma before three digits groups
    thousands; a percentage is its hundredth (79% and 0.79). A whole number is a count: it
    equals only itself (5 and 5.0, not 5 and 5.4). False for what is no number."""
    a, b = _number(first), _number(second)
    if a is None or b is None:
        return False
    (value, places), (other, other_places) = a, b
    coarser = min(places, other_places)
    return value == other or (coarser > 0 and abs(value - other) * 2 <= Decimal(1).scaleb(-coarser))


@lru_cache(maxsize=4096)
def _number(text: str) -> tuple[Decimal, int] | None:
    """The value, and how many decimal places were given."""
    written = _written(text)
    if written is None:
        return None
    digits = written.removesuffix("%")
    places = len(digits.partition(".")[2])
    return (Decimal(digits), places) if digits == written else (Decimal(digits).scaleb(-2), places + 2)


def _written(text: str) -> str | None:
    """A number in one form: commas that group thousands and a plus left out, a decimal comma as a point.
    None for what is no number."""
    match = _WRITTEN_NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, part, percent = match.groups()
    return f"{sign.strip('+')}{whole.replace(',', '')}{'' if part is None else f'.{part}'}{percent}"


def _word(piece: str) -> str:
    """The piece without its punctuation; a number in its one form."""
    bare = piece.strip("".join(char for char in set(piece) if _is_sign(char) and char not in "-+%"))
    return _written(bare) or "".join(char for char in piece if not _is_sign(char))


def _is_sign(char: str) -> bool:
    return unicodedata.category(char)[0] in "PSC"


def _same(first: Sequence[str], second: Sequence[str]) -> bool:
    return (
        bool(first)
        and len(first) == len(second)
        and all(a == b or equal_numbers(a, b) for a, b in zip(first, second, strict=True))
    )


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    return any(_same(part, whole[at : at + len(part)]) for at in range(len(whole) - len(part) + 1))


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    common = (Counter(said) & Counter(gold)).total()
    return 2 * common / (len(said) + len(gold)) if common else 0.0


def _share(gold: Counter[str], said: Counter[str]) -> float:
    return (gold & said).total() / gold.total() if gold else 0.0


def _words(match: re.Match[str]) -> str:
    return match["code"] or match["words"] or (" " if match["apart"] else "")


def _without_fence(code: str) -> str:
    lines = code.splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("```"))
