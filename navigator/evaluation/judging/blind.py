"""Answers for people to judge who do not know whose they are, and what people said of them. Pure.

    answers.md       each question with its gold answers, and the contenders' answers under letters
    verdicts.csv     the form: question, letter, right (yes or no; empty: not judged), reason
    the key          JSON, kept apart: whose answer each letter is, and which words it stands for

Letters are shuffled question by question, by the seed and nothing else, so that the same answers always make the same form.
Every answer is shown in the same way, text and sources, whichever strategy found it; remarks that name its way are left out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from ingest.model import sha256
from navigator.answer import Answer
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import JudgeVerdict, Result

COLUMNS = ("question", "letter", "right", "reason")
NO_ANSWER = "(No answer was given.)"
SEED = "ritbot"
_YES = frozenset({"yes", "y", "true", "1", "right", "x"})
_NO = frozenset({"no", "n", "false", "0", "wrong"})

Verdicts = Mapping[tuple[str, str], JudgeVerdict]
"""By question id and contender."""


class VerdictsError(ValueError):
    """A filled form that cannot be read; says all that is wrong with it, one a line."""


@dataclass(frozen=True, slots=True)
class BlindForm:
    """The text of each file."""

    answers: str
    verdicts: str
    key: str


def blind_form(questions: Sequence[EvalQuestion], results: Sequence[Result], seed: str = SEED) -> BlindForm:
    """Of the questions that have an answer, with all answers that they have."""
    parts, rows = [_INTRODUCTION], [",".join(COLUMNS)]
    key: dict[str, dict[str, dict[str, str]]] = {}
    for question in questions:
        given = [result for result in results if result.question_id == question.id]
        given.sort(key=lambda result: sha256(seed, question.id, result.contender))
        lettered = dict(zip(_letters(), given, strict=False))
        if not lettered:
            continue
        parts.append(_question(question))
        parts += [f"### {letter}\n\n{_quoted(_shown(result.answer))}" for letter, result in lettered.items()]
        rows += [f"{_cell(question.id)},{letter},," for letter in lettered]
        key[question.id] = {
            letter: {"contender": result.contender, "answer": _digest(result)} for letter, result in lettered.items()
        }
    return BlindForm(
        "\n\n".join(parts) + "\n", "\n".join(rows) + "\n", json.dumps(key, ensure_ascii=False, indent=1) + "\n"
    )


def read_verdicts(filled: str, key: str, results: Sequence[Result]) -> Verdicts:
    """What people said, of the answers that there are. Raises VerdictsError, also where an answer is another than the one
    that was judged."""
    known: dict[str, dict[str, dict[str, str]]] = json.loads(key)
    digests = {(result.question_id, result.contender): _digest(result) for result in results}
    found: dict[tuple[str, str], JudgeVerdict] = {}
    wrong: list[str] = []
    for line, row in _rows(filled):
        said = (row.get("right") or "").strip().casefold()
        if not said:
            continue
        question, letter = _uncell(row.get("question") or ""), (row.get("letter") or "").strip().upper()
        entry = known.get(question, {}).get(letter)
        if said not in _YES | _NO:
            wrong.append(f"line {line}: right is {said!r}; it takes yes or no, or nothing")
        elif entry is None:
            wrong.append(f"line {line}: the key has no answer {letter!r} to the question {question!r}")
        elif digests.get((question, entry["contender"])) != entry["answer"]:
            wrong.append(f"line {line}: the answer {letter} to {question!r} has changed since the form was made")
        elif (question, entry["contender"]) in found:
            wrong.append(f"line {line}: the answer {letter} to {question!r} is judged twice")
        else:
            found[question, entry["contender"]] = JudgeVerdict(said in _YES, (row.get("reason") or "").strip())
    if wrong:
        raise VerdictsError("\n".join(wrong))
    return found


def is_filled(form: str) -> bool:
    """Whether anybody wrote into it; raises nothing for what is no form."""
    try:
        return any((row.get("right") or "").strip() for _, row in _rows(form))
    except VerdictsError:
        return True


_INTRODUCTION = """\
# Answers to judge

For each answer, write yes or no into the column "right" of verdicts.csv, and if you like why. An answer is right if it says \
what a gold answer says, in whatever words; more than that is right too, if it is not wrong. A vague answer is wrong, and so is \
one that names another command, setting or number. Where there is no gold answer, an answer that says that the documentation \
does not tell is right if that is so."""


def _question(question: EvalQuestion) -> str:
    golds = "\n\n".join(map(_quoted, question.answers)) or "> (none)"
    nuggets = "\n".join(f"- {' '.join(nugget.split())}" for nugget in question.nuggets)
    facts = f"\n\nA good answer holds:\n\n{nuggets}" if nuggets else ""
    return f"## Question {question.id}\n\n{_quoted(question.question)}\n\nGold answer:\n\n{golds}{facts}"


def _shown(answer: Answer) -> str:
    """Text and sources. What people see beside these tells of the way to them."""
    text = answer.text.strip() if answer.outcome != "failed" else ""
    rows = [f"[{source.number}] {' › '.join(source.first.path)}: {source.first.node_link}" for source in answer.sources]
    return "\n\n".join([text or NO_ANSWER, *(["Sources:\n\n" + "\n".join(f"- {row}" for row in rows)] if rows else [])])


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _digest(result: Result) -> str:
    return sha256(_shown(result.answer))[:16]


def _letters() -> Iterator[str]:
    """A to Z, AA, AB …"""
    yield from ascii_uppercase
    yield from (first + second for first in ascii_uppercase for second in ascii_uppercase)


def _cell(text: str) -> str:
    """As CSV has it. No spreadsheet takes it for a formula, or for a number."""
    return "\"'" + text.replace('"', '""') + '"'


def _uncell(text: str) -> str:
    return text.strip().removeprefix("'")


def _rows(filled: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a form as a spreadsheet may have saved it: with commas, semicolons or tabs. Raises VerdictsError."""
    text = filled.removeprefix("\ufeff")
    head = text.partition("\n")[0]
    reader = csv.DictReader(text.splitlines(keepends=True), delimiter=max(",;\t", key=head.count))
    names = [name.strip().casefold() for name in reader.fieldnames or ()]
    if missing := [column for column in COLUMNS[:3] if column not in names]:
        raise VerdictsError(f"line 1: there is no column {', '.join(missing)}; the form has {', '.join(COLUMNS)}")
    reader.fieldnames = names
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise VerdictsError(f"line {reader.line_num}: {error}") from error
