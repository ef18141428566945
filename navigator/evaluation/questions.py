"""Questions to measure with, and their file: JSON Lines, one question a line. Pure.

    {"question": "How do I pin a version?", "answer": "Set `pin` in site.toml.", "pages": ["guide/pin.html"]}

Only "question" is needed. "answer" is one gold answer, "answers" are several of which any one suffices.
"nuggets" are facts that a good answer holds. What should be read ("gold") is named by "pages" (URLs, or
paths that end one page's URL), "sections" (url#anchor) and "nodes" (node ids), or by "page" with "anchor".
"kind" groups questions; "synthetic" says that a model proposed one, "checked" that a person has looked at
it, "quotes" are the words that support its answer. "id" names it; without one it is made from the question
and its gold, so that it stays the same while the file around it changes.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ingest.urls import fragment

_TEXT_KEYS = ("id", "question", "answer", "page", "kind")
_LIST_KEYS = ("answers", "nuggets", "pages", "sections", "nodes", "quotes")
_FLAG_KEYS = ("synthetic", "checked")
QUESTION_KEYS = (*_TEXT_KEYS, "anchor", *_LIST_KEYS, *_FLAG_KEYS)
"""All keys that a line may have."""


class QuestionsError(ValueError):
    """A file of questions that cannot be used. `mistakes` are all that were found, each with its line
    number (0: the file as a whole) and what to do."""

    def __init__(self, mistakes: Sequence[tuple[int, str]]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(f"line {line}: {what}" if line else what for line, what in mistakes))


@dataclass(frozen=True, slots=True)
class Gold:
    """What should be read: a whole page, a section of a page by its anchor (as the page has it, not
    escaped) with all below it, or a node by its id with all below it. Raises ValueError for anything else."""

    page: str = ""
    anchor: str | None = None
    node: str = ""

    def __post_init__(self) -> None:
        if bool(self.page) == bool(self.node) or self.anchor == "" or (self.node and self.anchor):
            raise ValueError("Gold is a page, a page and an anchor, or a node.")
        if "#" in self.page:
            raise ValueError(f"{self.page!r} names a section: give its anchor apart from its page.")

    def __str__(self) -> str:
        return self.node or (self.page if self.anchor is None else f"{self.page}#{fragment(self.anchor)}")


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """`answers`: any one suffices. The order of `gold` says nothing: it is kept sorted, each once."""

    id: str
    question: str
    answers: tuple[str, ...] = ()
    nuggets: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    kind: str = ""
    synthetic: bool = False
    checked: bool = False
    quotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ordered = sorted(set(self.gold), key=lambda gold: (gold.node, gold.page, gold.anchor or ""))
        object.__setattr__(self, "gold", tuple(ordered))


def load_questions(text: str) -> list[EvalQuestion]:
    """The questions of a file, in its order. Raises QuestionsError with everything that is wrong in it."""
    mistakes: list[tuple[int, str]] = []
    found: list[EvalQuestion] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):  # JSON may hold other separators
        if not line.strip():
            continue
        row, wrong = _row(line)
        if wrong:
            mistakes += [(number, what) for what in wrong]
            continue
        question = _question(row)
        if (first := lines.setdefault(question.id, number)) == number:
            found.append(question)
        elif "id" in row:
            mistakes.append((number, f"the id {question.id!r} is taken by line {first}; give each question its own."))
        else:
            mistakes.append((number, f"this is the question of line {first} again; leave one out."))
    if not found and not mistakes:
        mistakes.append((0, 'There is no question in this file; write one a line: {"question": "…"}.'))
    if mistakes:
        raise QuestionsError(mistakes)
    return found


def dump_question(question: EvalQuestion) -> str:
    """One line without its line break; what says nothing is left out. Loads back equal."""
    row = {
        "id": question.id,
        "question": question.question,
        "answers": question.answers,
        "nuggets": question.nuggets,
        "pages": [gold.page for gold in question.gold if gold.page and gold.anchor is None],
        "sections": [str(gold) for gold in question.gold if gold.anchor is not None],
        "nodes": [gold.node for gold in question.gold if gold.node],
        "kind": question.kind,
        "synthetic": question.synthetic,
        "checked": question.checked,
        "quotes": question.quotes,
    }
    return json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False)


def question_id(question: str, gold: Sequence[Gold]) -> str:
    """A name made from the question and its gold: ten hexadecimal digits."""
    said = json.dumps([question, sorted(map(str, set(gold)))])
    return hashlib.sha256(said.encode()).hexdigest()[:10]


def _row(line: str) -> tuple[dict[str, Any], list[str]]:
    """The object on a line, and what is wrong with it."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        twice.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return dict(pairs)

    try:
        row = json.loads(line, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        return {}, [f"this is not JSON ({error.msg} at column {error.colno}); write one object in braces a line."]
    except (ValueError, RecursionError):
        return {}, ["this is no JSON that can be read; write one object in braces a line."]
    if not isinstance(row, dict):
        return {}, ['this is not an object in braces; write {"question": "…"}.']
    return row, [f"{key!r} stands here twice; keep one." for key in twice] + list(_mistakes(row))


def _mistakes(row: dict[str, Any]) -> Iterator[str]:
    for key in row:
        if key not in QUESTION_KEYS:
            alike = difflib.get_close_matches(key.lower(), QUESTION_KEYS, n=1)
            hint = f"did you mean {alike[0]!r}?" if alike else f"leave it out; known are {', '.join(QUESTION_KEYS)}."
            yield f"{key!r} is not known: {hint}"
    if "question" not in row:
        yield 'there is no "question"; add it.'
    if not row.get("page") and row.get("anchor"):
        yield '"anchor" needs the "page" that it stands on.'
    if "answer" in row and "answers" in row:
        yield 'give "answer" or "answers", not both.'
    checks: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
        (_TEXT_KEYS, _is_text, "a text that is not empty"),
        (("anchor",), lambda value: value is None or _is_text(value), "null or a text that is not empty"),
        (
            _LIST_KEYS,
            lambda value: isinstance(value, list) and all(map(_is_text, value)),
            "a list of texts, none empty",
        ),
        (_FLAG_KEYS, lambda value: isinstance(value, bool), "true or false"),
    )
    for keys, fits, must in checks:
        for key in keys:
            if key in row and not fits(row[key]):
                yield f"{key!r} must be {must}{_because(row[key])}."
    if _is_text(row.get("page")) and "#" in row["page"]:
        yield '"page" holds a "#"; put what follows it into "anchor".'
    for key, fits, must in (
        ("pages", lambda name: "#" not in name, 'names a section: move it to "sections".'),
        ("sections", lambda name: all(name.partition("#")[::2]), "must be a URL or path, then # and an anchor."),
    ):
        values = row.get(key)
        names = filter(_is_text, values) if isinstance(values, list) else ()
        yield from (f"{name!r} in {key!r} {must}" for name in names if not fits(name))


def _because(value: Any) -> str:
    half = any("\ud800" <= char <= "\udfff" for char in str(value))
    return "; it holds half of a surrogate pair, which is no character" if half else ""


def _is_text(value: Any) -> bool:
    """Text that says something and that UTF-8 can hold (JSON can escape half a surrogate pair)."""
    return isinstance(value, str) and bool(value.strip()) and not any("\ud800" <= char <= "\udfff" for char in value)


def _question(row: dict[str, Any]) -> EvalQuestion:
    """The question of a row without mistakes."""
    gold = [Gold(page=page) for page in row.get("pages", ())]
    gold += [Gold(page=page, anchor=unquote(anchor)) for page, _, anchor in map(_parts, row.get("sections", ()))]
    gold += [Gold(node=node) for node in row.get("nodes", ())]
    if "page" in row:
        gold.append(Gold(page=row["page"], anchor=row.get("anchor")))
    return EvalQuestion(
        id=row.get("id") or question_id(row["question"], gold),
        question=row["question"],
        answers=(row["answer"],) if "answer" in row else tuple(row.get("answers", ())),
        nuggets=tuple(row.get("nuggets", ())),
        gold=tuple(gold),
        kind=row.get("kind", ""),
        synthetic=row.get("synthetic", False),
        checked=row.get("checked", False),
        quotes=tuple(row.get("quotes", ())),
    )


def _parts(section: str) -> tuple[str, str, str]:
    return section.partition("#")
