"""What a question gave through one contender, and the lines in which a run keeps it. Pure.

A contender is one way of answering: a strategy with its settings, or a scripted reader in the place of a
model. Lines are JSON without line breaks; fields that this version does not know are passed over. Loading
raises ValueError on what is no such line (the torn last one of a run that was killed); dumping raises it on
text that is not Unicode (a lone surrogate).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from navigator.answer import Answer, Usage

DIMENSIONS = (
    "correctness",
    "relevance",
    "factuality",
    "comprehensiveness",
    "knowledgeability",
    "logical coherence",
    "diversity",
)
"""The seven dimensions of a graded answer (RIT-RAG Appendix F), each judged as an integer 0 to 10."""


@dataclass(frozen=True, slots=True)
class Contender:
    """`label` is unique within a run: "rit", "rit n=25", "rit, oracle reader". `n` is how many nodes make a
    forest, `k` how many chunks are retrieved, `expansions` RDR2's E; None: the strategy has no such number.
    `structure`: the model saw titles. `reader`: what stood in for the model; empty: the model itself."""

    label: str
    strategy: str
    n: int | None = None
    k: int | None = None
    expansions: int | None = None
    structure: bool = True
    reader: str = ""


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What the judge said, and what asking it took."""

    right: bool
    reason: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Result:
    """`verdict` is None where nobody judged. `nuggets`: for each nugget of the question, whether the judge
    found it; None: not asked. `grades`: dimension -> 0 to 10. `judge_usage` is what grading and nuggets took,
    the verdict's own usage not counted."""

    question_id: str
    contender: str
    answer: Answer
    verdict: JudgeVerdict | None = None
    nuggets: tuple[bool, ...] | None = None
    grades: Mapping[str, int] = field(default_factory=dict)
    judge_usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best nodes of plain retrieval for a question, best first."""

    question_id: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """What a strategy costs once, before its first question: tokens of models, and US dollars where known.
    `label` is a contender's label, or the name of a strategy whose contenders share it."""

    label: str
    tokens: int
    cost: float | None


_CONTENDER = TypeAdapter(Contender)
_RESULT = TypeAdapter(Result)


def dump_contender(contender: Contender) -> str:
    return _CONTENDER.dump_json(contender).decode()


def dump_result(result: Result) -> str:
    return _RESULT.dump_json(result).decode()


def load_result(line: str | bytes) -> Result:
    return _RESULT.validate_json(line)
