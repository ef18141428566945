"""A run's folder: what was answered and what was thought of it, line by line, so that a run goes on where it stopped.

    FOLDER/results.jsonl    a Result a line, without verdicts, and the fingerprint of what it is an answer to
    FOLDER/opinions.jsonl   what judges said: key, JSON object, tokens

Of two lines with one key the later counts. A line that cannot be read counts as not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter

from navigator.answer import Usage
from navigator.batch.lines import JsonLines
from navigator.evaluation.results import Result, dump_result, load_result

RESULTS = "results.jsonl"
OPINIONS = "opinions.jsonl"


@dataclass(frozen=True, slots=True)
class _Opinion:
    key: str
    said: dict[str, Any]
    usage: Usage


_OPINION = TypeAdapter(_Opinion)


class RunFolder:
    """`with` opens and holds it. Raises OSError, so where another run holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[tuple[str, str], tuple[str, Result]] = {}
        self._opinions: dict[str, _Opinion] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._answered = stack.enter_context(JsonLines(self.path / RESULTS))
            self._said = stack.enter_context(JsonLines(self.path / OPINIONS))
            for fingerprint, result in self._answered.rows(_load_answered):
                self._results[result.contender, result.question_id] = fingerprint, result
            self._opinions = {opinion.key: opinion for opinion in self._said.rows(_OPINION.validate_json)}
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def unreadable(self) -> int:
        """Lines that could not be read."""
        return self._answered.unreadable + self._said.unreadable

    @property
    def questions(self) -> frozenset[str]:
        """The ids of all questions that were answered here."""
        return frozenset(question for _, question in self._results)

    def has(self, contender: str, question: str) -> bool:
        """Whether there is an answer, be it to what the question was before."""
        return (contender, question) in self._results

    def result(self, contender: str, question: str, fingerprint: str) -> Result | None:
        """The answer to just that, without verdict."""
        kept, result = self._results.get((contender, question), ("", None))
        return result if kept == fingerprint else None

    def keep(self, result: Result, fingerprint: str) -> None:
        """Raises OSError, and ValueError for text that is not Unicode."""
        self._answered.append(f'{{"fingerprint":{json.dumps(fingerprint)},{dump_result(result)[1:]}')
        self._results[result.contender, result.question_id] = fingerprint, result

    def opinion(self, key: str) -> tuple[Mapping[str, Any], Usage] | None:
        found = self._opinions.get(key)
        return (found.said, found.usage) if found else None

    def keep_opinion(self, key: str, said: Mapping[str, Any], usage: Usage) -> None:
        """Raises OSError."""
        found = _Opinion(key, dict(said), usage)
        self._said.append(json.dumps(_OPINION.dump_python(found, mode="json")))
        self._opinions[key] = found


def _load_answered(line: bytes) -> tuple[str, Result]:
    return str(json.loads(line)["fingerprint"]), load_result(line)
