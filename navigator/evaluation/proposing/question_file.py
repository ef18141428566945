"""The file of proposed questions, and beside it what was asked already.

The file belongs to the people who check it: lines are only added to its end, and what they correct, mark or delete stays so.
What was asked about, and came to nothing or was deleted later, is remembered in a second file (`.asked`), which also keeps
two runs from writing the same file. A question is in the first file before its material is in the second: a run that is
killed between the two finds it by its gold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from navigator.batch.lines import JsonLines
from navigator.evaluation.proposing.material import Material
from navigator.evaluation.questions import EvalQuestion, QuestionsError, dump_question, load_questions

_BEGINNING = b'{"id": "'
"""Of a line as dump_question writes it. What people leave unfinished begins otherwise, and is reported as a mistake."""


class QuestionsFile:
    """`with` opens it. Raises OSError, also where another run holds it, and QuestionsError where it is not a file of
    questions, and then it is as it was. `torn`: the beginning of a last line that was not whole, which was taken away.
    `look_only`: nothing is locked, mended or written."""

    def __init__(self, path: Path, *, look_only: bool = False) -> None:
        self._path = path
        self._beside = path.with_name(path.name + ".asked")
        self._look_only = look_only
        self._lines = JsonLines(self._beside)
        self._open = ExitStack()
        self._asked: set[str] = set()
        self._golds: set[frozenset[str]] = set()
        self.questions: list[EvalQuestion] = []
        self.torn = ""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._asked = {key for line in self._found(stack) if (key := _key(line))}
            text = self._whole(self._path.read_bytes()) if self._path.exists() else ""
            self.questions = load_questions(text) if text.strip("\ufeff \t\r\n") else []
            self._golds = {_nodes(question) for question in self.questions}
            if self.torn and not self._look_only:
                os.truncate(self._path, len(text.encode()))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _found(self, stack: ExitStack) -> Iterable[bytes]:
        """The lines of the second file."""
        if not self._look_only:
            return stack.enter_context(self._lines).found
        return self._beside.read_bytes().splitlines() if self._beside.exists() else ()

    def asked(self, material: Material) -> bool:
        """Whether the model was asked about these sections as they are now."""
        return material.key in self._asked or frozenset(s.id for s in material.sections) in self._golds

    def accept(self, question: EvalQuestion, material: Material) -> None:
        """Raises OSError."""
        with open(self._path, "ab+") as file:
            file.write(_break_before(file.seek(0, os.SEEK_END), self._path) + _line(question).encode() + b"\n")
        self.questions.append(question)
        self._remember(material, question=question.id)

    def refuse(self, material: Material, check: str) -> None:
        """Raises OSError."""
        self._remember(material, refused=check)

    def _remember(self, material: Material, **outcome: str) -> None:
        self._asked.add(material.key)
        row = {"material": material.key, "nodes": [section.id for section in material.sections], **outcome}
        self._lines.append(json.dumps(row))

    def _whole(self, data: bytes) -> str:
        """The text without a last line that a run which was killed left unfinished."""
        whole = data.rfind(b"\n") + 1
        last = data[whole:]
        if last and last[: len(_BEGINNING)] == _BEGINNING[: len(last)] and not _is_json(last):
            self.torn = last.decode("utf-8", "replace")[:60]
            data = data[:whole]
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise QuestionsError([(0, "This is no text in UTF-8; save it as that.")]) from None


def _break_before(size: int, path: Path) -> bytes:
    """A line break, where an editor left the last line without one."""
    if not size:
        return b""
    with open(path, "rb") as file:
        file.seek(size - 1)
        return b"" if file.read(1) == b"\n" else b"\n"


def _line(question: EvalQuestion) -> str:
    """With its "checked", also while that is false: who checks it changes one word."""
    return json.dumps({**json.loads(dump_question(question)), "checked": question.checked}, ensure_ascii=False)


def _nodes(question: EvalQuestion) -> frozenset[str]:
    return frozenset(gold.node for gold in question.gold if gold.node)


def _key(line: bytes) -> str:
    row: Mapping[str, Any] = json.loads(line) if _is_json(line) else {}
    return str(row.get("material", ""))


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
