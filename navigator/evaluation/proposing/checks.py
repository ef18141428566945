"""What a proposed question must hold before a model is asked about it again. Pure.

Each check has a name under which its refusals are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from navigator.evaluation.proposing.languages import foreign
from navigator.evaluation.proposing.material import SourceSection, kind_of
from navigator.evaluation.questions import EvalQuestion, question_id

Refusal = Literal["nothing", "form", "language", "quotes", "pointing", "twice", "titles", "gold"]
REFUSALS: dict[Refusal, str] = {
    "nothing": "the model found nothing to ask",
    "form": "the reply was of no use: not of the form that was asked for, cut off, or a refusal",
    "language": "in another language than its pages",
    "quotes": "no quote stands in the sections",
    "pointing": "speaks of “this section” or the like",
    "twice": "asked before, in these or in like words",
    "titles": "answered without reading, from titles or general knowledge",
    "gold": "not answered, or not as proposed, from its own sections alone",
}
"""In the order in which they are tried."""

MAX_QUESTION_CHARACTERS, MAX_ANSWER_CHARACTERS, MAX_NUGGET_CHARACTERS = 400, 2_000, 400
MIN_QUOTE_BYTES, MAX_QUOTE_CHARACTERS = 15, 800

_PART = r"(?:passages?|sections?|excerpts?|paragraphs?|pages?|articles?|chapters?|texts?|documents?|documentation|snippets?)"
_POINTING = re.compile(
    rf"\b(?:this|these|given|provided|above|preceding|following|mentioned) {_PART}\b"
    rf"|\b{_PART} (?:above|below|provided|given|\d)"
    rf"|\b(?:according to|based on|described in|mentioned in|as per) (?:the|this|these) {_PART}\b"
    r"|\bthe (?:passages?|excerpts?)\b"
    r"|\b(?:diese[mnrs]?|obige[mnrs]?|folgende[mnrs]?) (?:abschnitts?|absatz(?:es)?|textes|texte?|seiten?|dokument(?:s|e|en)?)\b"
    r"|\blaut (?:dem |der )?(?:abschnitt|absatz|text|seite|dokument\w*)\b"
    r"|\b(?:cette|ce|ces) (?:sections?|passages?|pages?|textes?|documents?|paragraphes?|extraits?)\b"
    r"|\b(?:selon|d.apr[èe]s) (?:le|la|les|ce|cette) (?:sections?|passages?|pages?|textes?|documents?)\b"
    r"|\b(?:esta|este|estas|estos) (?:secci[óo]n|secciones|pasajes?|p[áa]ginas?|textos?|documentos?)\b"
    r"|\bseg[úu]n (?:el|la|este|esta) (?:secci[óo]n|pasaje|p[áa]gina|texto|documento)\b",
    re.IGNORECASE,
)
"""Words that only make sense to somebody who has the text before them. English, German, French and Spanish; of other
languages the model is asked the same, and nothing more is done."""
_URL = re.compile(r"(?:https?|ftp)://[^\s<>()\[\]\"'`]+", re.IGNORECASE)


class Unfit(ValueError):
    """A proposal that is refused, by which check, and why."""

    def __init__(self, check: Refusal, why: str) -> None:
        super().__init__(why)
        self.check = check


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """What the model proposed, unchecked. `quotes`: number of the passage (from 1) and words."""

    question: str
    answer: str
    nuggets: tuple[str, ...]
    quotes: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question with the sections that its quotes stand in."""

    question: EvalQuestion
    sections: tuple[SourceSection, ...]


def checked_proposal(draft: QuestionDraft, sections: Sequence[SourceSection]) -> Proposal:
    """The proposal with the quotes that stand in the sections they name, and those sections alone as gold: what shrinks to
    one section is a question about one. Raises Unfit."""
    _form(draft, sections)
    if foreign(draft.question, "\n".join(section.text for section in sections)):
        raise Unfit("language", "the question is in another language")
    if found := _POINTING.search(draft.question):
        raise Unfit("pointing", f"the question says {found[0]!r}")
    quotes = [(n, words) for n, said in draft.quotes if (words := _standing(said, n, sections))]
    kept = tuple(section for n, section in enumerate(sections, start=1) if n in {number for number, _ in quotes})
    if not kept:
        raise Unfit("quotes", "no quote stands in its section")
    gold = tuple(gold for section in kept for gold in section.gold)
    question = EvalQuestion(
        id=question_id(draft.question, gold),
        question=draft.question,
        answers=(draft.answer,),
        nuggets=draft.nuggets,
        gold=gold,
        kind=kind_of(kept),
        synthetic=True,
        quotes=tuple(dict.fromkeys(words for _, words in quotes)),
    )
    return Proposal(question, kept)


def _form(draft: QuestionDraft, sections: Sequence[SourceSection]) -> None:
    sizes = [
        (draft.question, MAX_QUESTION_CHARACTERS),
        (draft.answer, MAX_ANSWER_CHARACTERS),
        *((nugget, MAX_NUGGET_CHARACTERS) for nugget in draft.nuggets),
    ]
    if any(len(text) > most for text, most in sizes):
        raise Unfit("form", "a text is too long")
    said = "\n".join(text for text, _ in sizes)
    read = "\n".join(section.text for section in sections)
    if foreign_addresses := [url for url in _URL.findall(said) if url.rstrip(".,;:!?") not in read]:
        raise Unfit("form", f"{len(foreign_addresses)} addresses are not in the sections")


def _standing(words: str, number: int, sections: Sequence[SourceSection]) -> str:
    """The quote in one line, if it stands in that passage, as text or as a reader sees it; else empty."""
    quote = _flat(words)
    if not 1 <= number <= len(sections) or len(quote) > MAX_QUOTE_CHARACTERS:
        return ""
    if len(quote.encode("utf-8", "replace")) < MIN_QUOTE_BYTES:
        return ""
    section = sections[number - 1]
    return quote if any(quote in _flat(text) for text in (section.located.node.text, section.text)) else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
