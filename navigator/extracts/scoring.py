"""How well a unit of reading answers: what of the question it covers, how near its meaning comes, and what speaks for its
section. Pure.

Signals are 0 to 1 each; `Weights` joins them. What is not known of a unit before its text is embedded (its meaning) is left
out of `promise`, by which the few are chosen that are embedded at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.text.words import names
from navigator.answer import Passage
from navigator.extracts.question_form import DEFAULT, Wanted
from navigator.extracts.units import Unit

TITLE_WEIGHS, NEARBY_WEIGHS, PATH_WEIGHS = 0.85, 0.4, 0.5
"""A word of the question that only the section's title holds, only a unit beside this one, or only a title above it, covers
so much of its weight."""
NEARBY_UNITS = 2
TYPED_EXACTNESS = 0.65
"""Whoever asks with little but what stands in one line of code asks where that code stands."""
FEW_NEW_WORDS = 4
"""A unit that says fewer words than this beside the question's own says nothing that answers it, unless one is a number; nor does a term without a
definition."""

_GENERAL = frozenset(
    """about abstract description general introduction intro name overview summary beschreibung einführung einleitung
    überblick übersicht aperçu présentation résumé descripción introducción resumen""".split()
)
"""What sections are called on any page: such a one is about what the title above it names."""
MIN_PAGES_ALIKE = 3
"""What so many titles of pages have in common ("… Manual Page") names none of them."""

_ARGUMENTS = re.compile(r"<[^<>]{0,60}>|\[[^\[\]]{0,100}\]|\{[^{}|]{0,60}\|[^{}]{0,100}\}")
"""Of the form of a command or option: what it takes, which is no part of its name."""

_DEFINES = re.compile(
    r"^(?:(?:the|an?|each|every|de[rs]|die|das|une?|le|la|el)\s{1,3})?(?P<subject>[^.;:]{0,80}?)\s?\b(?:is|are|means|refers to|was|defines?|represents?|allows?|lets?|specif(?:y|ies)"
    r"|sets?|enables?|disables?|controls?|creates?|returns?|performs?|shows?|provides?|ist|sind|est|es)\b",
    re.IGNORECASE,
)
_DESTROYS = re.compile(
    r"--hard\b|\brm\s{1,3}-[a-z]{0,8}[rf]|--force\b|\bpush\s{1,3}-f\b|\bclean\s{1,3}-[a-z]{0,8}f|--delete\b|\b(?:DROP|TRUNCATE|DELETE)\s{1,3}(?:FROM|TABLE|DATABASE|INDEX|SCHEMA)\b"
    r"|\b(?:discard|destroy|erase|wipe|purge|irrevocabl|permanently (?:delet|remov|los))|\bmkfs|\bbreak-lock\b",
    re.IGNORECASE,
)
_WANTS_GONE = re.compile(
    r"\b(?:delet|remov|discard|destroy|erase|wipe|purge|drop|truncat|throw|get rid|clean|forc|hard|reset|lösch|supprim|elimin|borra|free|break)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal is worth; calibrated by tests/bench (make bench-extracts)."""

    covers: float = 0.45
    means: float = 0.45
    retrieved: float = 0.30
    named: float = 0.25
    keyed: float = 0.25
    first: float = 0.05
    called: float = 0.40
    formed: float = 0.15
    spoilt: float = 0.30


@dataclass(slots=True)
class Signals:
    """Of one unit. `covers`: the share of the question's weight that it holds, its titles counted for less; `held`: without
    titles. `called`: how many of the question's identifiers, codes and versions it or its title holds. `named`, `keyed`: how exactly the section's title, the unit's own key, is what is asked for. `formed`: it has the
    form of an answer to this form of question. `spoilt`: it says nothing new, or what nobody should do. `means`: the cosine
    of its vector and the question's. `about`: it, or what stands around it, holds the proper names of the question."""

    covers: float
    held: float
    called: float
    named: float
    keyed: float
    formed: float
    spoilt: float
    first: float
    retrieved: float
    means: float = 0.0
    about: bool = True
    terms: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    key: frozenset[str] = frozenset()

    def promise(self, weights: Weights) -> float:
        return (
            weights.covers * self.covers
            + weights.called * self.called
            + weights.named * self.named
            + weights.keyed * self.keyed
            + weights.retrieved * self.retrieved
            + weights.first * self.first
            + weights.formed * self.formed
            - weights.spoilt * self.spoilt
        )

    def score(self, weights: Weights) -> float:
        return self.promise(weights) + weights.means * self.means


def signals_of(
    question: str, asked: Wanted, units: Sequence[Unit], passages: Sequence[Passage], retrieved: Sequence[float]
) -> list[Signals]:
    """One a unit. `retrieved`: of each passage, its share of the retriever's best score."""
    own = [asked.terms_of(title_of(passage.path)) for passage in passages]
    titles = titles_of(asked, [passage.path for passage in passages])
    above = [asked.terms_of(" ".join(passage.path[:-1])) for passage in passages]
    named = [exactness(asked, title) for title in titles]
    calls = [bool(passage.path) and _is_called(passage.path[-1], asked.language) for passage in passages]
    safe = bool(_WANTS_GONE.search(question))
    found: list[Signals] = []
    every = [asked.terms_of(unit.text) for unit in units]
    for index, unit in enumerate(units):
        p, said = unit.passage, every[index]
        key = asked.terms_of(unit.key)
        core = asked.terms_of(unit.core) | key
        held = 0.7 * asked.share(core) + 0.3 * asked.share(said)
        titled = asked.share(said | own[p])
        near = (said | own[p]).union(*(every[i] for i in _beside(units, index)))
        nearby, whole = asked.share(near), asked.share(near | above[p])
        covers = (
            held
            + TITLE_WEIGHS * (titled - asked.share(said))
            + NEARBY_WEIGHS * (nearby - titled)
            + PATH_WEIGHS * (whole - nearby)
        )
        found.append(
            Signals(
                covers=covers,
                held=held,
                called=asked.called(said, own[p] | key),
                named=named[p],
                keyed=exactness(asked, key),
                formed=_formed(asked, unit, named=calls[p]),
                spoilt=_spoilt(asked, unit, core, safe=safe),
                first=float(unit.first),
                retrieved=retrieved[p],
                about=asked.about(near | above[p]),
                terms=said,
                titles=titles[p],
                key=key,
            )
        )
    return found


def title_of(path: Sequence[str]) -> str:
    """What a section is about, by its title or, where any page has a section that is called so, by the one above it."""
    general = len(path) > 1 and path[-1].strip(" .:").casefold() in _GENERAL
    return path[-2] if general else path[-1] if path else ""


def titles_of(asked: Wanted, paths: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    """The terms of each section's title_of, without what a command takes. Of a title above, the name of a page, the words
    (`git-merge` has two), without those that the names of all pages have in common."""
    titles = [(title_of(path), title_of(path) in path[-1:]) for path in paths]
    found = {
        (title, own): asked.terms_of(_ARGUMENTS.sub(" ", title)) or asked.terms_of(title)
        if own
        else asked.terms_of(title.replace("-", " "))
        for title, own in titles
    }
    pages = {found[title] for title in titles if not title[1]}
    alike = frozenset[str]().union(*pages).intersection(*pages) if len(pages) >= MIN_PAGES_ALIKE else frozenset[str]()
    return [found[title] if title[1] else found[title] - alike for title in titles]


def _beside(units: Sequence[Unit], index: int) -> list[int]:
    """The units that stand around this one in its section."""
    near = range(max(0, index - NEARBY_UNITS), min(len(units), index + NEARBY_UNITS + 1))
    return [i for i in near if i != index and units[i].passage == units[index].passage]


def exactness(asked: Wanted, title: frozenset[str]) -> float:
    """How exactly a title, or a key, is what is asked for: of the question's weight the share that it holds, and of its own
    terms the share that are asked for, as their harmonic mean."""
    if not title:
        return 0.0
    recall = asked.share(title)
    precision = len(title & asked.terms) / len(title)
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


def _is_called(title: str, language: str) -> bool:
    """Whether a title is how something is called (an option, a setting, a command), and its section tells what that is."""
    return title[:1] in "-<[" or bool(names(title, language))


def _formed(asked: Wanted, unit: Unit, *, named: bool) -> float:
    """`named`: its section is called by a name, so that its beginning is a definition."""
    defined = max(float(bool(unit.key)), 0.5 * (named and unit.first))
    match asked.form:
        case "default":
            return float(bool(DEFAULT.search(unit.core)))
        case "definition":
            return max(0.5 * bool(unit.key), _defines(asked, unit))
        case "how":
            return max(float(unit.has_code or unit.pieces[0].kind == "list"), defined)
        case "error":
            return float(not unit.code_alone)
        case _:
            return 0.0


def _defines(asked: Wanted, unit: Unit) -> float:
    """How exactly what the unit's first sentence speaks of is what is asked for; a verb without a subject, as under the
    name of a command, speaks of its section."""
    match = _DEFINES.match(unit.core)
    if match is None:
        return 0.0
    return exactness(asked, asked.terms_of(match["subject"])) if match["subject"] else 0.5


def _spoilt(asked: Wanted, unit: Unit, core: frozenset[str], *, safe: bool) -> float:
    if unit.wrong:
        return 1.0
    if not safe and _DESTROYS.search(unit.text):
        return 0.5
    if unit.code_alone:
        typed = max(exactness(asked, asked.terms_of(line)) for line in unit.core.split("\n"))
        return 0.0 if typed >= TYPED_EXACTNESS else 1.0
    if unit.key:
        return 0.0 if core - asked.terms_of(unit.key) else 0.7
    new = core - asked.terms
    return 0.7 if len(new) < FEW_NEW_WORDS and not any(map(str.isdigit, "".join(new))) else 0.0
