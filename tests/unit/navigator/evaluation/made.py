"""A small index, questions on it, and runs with any figures: what tests of evaluation measure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ingest.model import Block
from ingest.ports import Outline, OutlineHeading
from navigator.answer import Answer, CitedSource, Outcome, Passage, Step, Trace, Usage
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.results import Contender, JudgeVerdict, Result

SITE = "https://docs.test"
NOTHING = Usage()
THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def outline(path: str, *sections: tuple[str, str | None], canonical: str = "") -> Outline:
    """A page at `path` (or a whole URL). Sections are (anchor, parent's anchor); a node's id is page#anchor."""
    key = path if "://" in path else f"{SITE}/{path}"
    headings = [OutlineHeading(f"{key}#", None, 0, path, None, "page", True)]
    for anchor, parent in sections:
        headings.append(
            OutlineHeading(f"{key}#{anchor}", f"{key}#{parent or ''}", 1, anchor.title(), anchor, "section", True)
        )
    return Outline(key, "docs", "", path, canonical or key, tuple(headings), frozenset(), THEN)


def index(*pages: Outline) -> dict[str, Outline]:
    return {page.key: page for page in pages}


INSTALL = outline(
    "guide/install.html", ("linux", None), ("apt", "linux"), ("ppa", "apt"), ("pip", "linux"), ("windows", None)
)
USE = outline("guide/use.html", ("first", None), ("second", None))
PAGES = index(INSTALL, USE)


def node(name: str) -> str:
    """ "install#apt" -> its node id."""
    page, _, anchor = name.partition("#")
    return f"{SITE}/guide/{page}.html#{anchor}"


def passage(name: str, number: int = 1) -> Passage:
    page, _, anchor = name.partition("#")
    url = f"{SITE}/guide/{page}.html"
    block = Block("text", f"The words that stand under {anchor or page}.")
    return Passage(number, node(name), "h", url, url, f"{url}#{anchor}", (page, anchor), (block,), THEN)


def answer(
    text: str = "Yes.",
    read: Sequence[str] = (),
    *,
    outcome: Outcome = "answered",
    steps: Sequence[Step] = (),
    usage: Usage = NOTHING,
    seconds: float = 1.0,
    **other: Any,
) -> Answer:
    passages = tuple(passage(name, number) for number, name in enumerate(read, start=1))
    trace = Trace(tuple(steps), (), passages, usage, len(steps), seconds)
    return Answer("?", text, outcome, trace=trace, **other)


def result(
    question: EvalQuestion | str, contender: str, given: Answer, right: bool | None = None, **other: Any
) -> Result:
    verdict = None if right is None else JudgeVerdict(right, "because it says so", Usage(10, 1, cost=0.001))
    return Result(question if isinstance(question, str) else question.id, contender, given, verdict, **other)


def run(
    contenders: Sequence[tuple[Contender, float, float | None, float]], count: int = 60, *, judged: bool = True
) -> tuple[list[EvalQuestion], list[Contender], list[Result]]:
    """A run made up by chance, always the same: (contender, chance to be right, dollars, seconds) each."""
    chance = random.Random(7)
    anchors = ["install#apt", "install#windows", "use#first", "use#second"]
    questions = [
        EvalQuestion(
            f"q{i}",
            f"How do I do thing number {i}?",
            (f"With tool {i}",),
            ("tool",),
            (Gold(node=node(anchors[i % 4])),),
        )
        for i in range(count)
    ]
    results = []
    for contender, accuracy, dollars, seconds in contenders:
        for i, question in enumerate(questions):
            right = chance.random() < accuracy
            read = [anchors[i % 4]] if right else ["install#pip"]
            read += ["use#first"] if chance.random() < 0.4 else []
            usage = Usage(1000 + i, 90, cost=None if dollars is None else dollars * (0.7 + 0.6 * chance.random()))
            steps = (Step("get_toc", "", query="q"), Step("read", "", numbers=(1, 2)))
            text = f"With tool {i}, of course. [1]" if right else "With the other *tool*."
            given = answer(
                text,
                read,
                steps=steps,
                usage=usage,
                seconds=seconds * (0.6 + 0.9 * chance.random()),
                sources=(CitedSource(1, (passage(read[0]).cite(0),)),),
            )
            results.append(result(question, contender.label, given, right if judged else None))
    return questions, [contender for contender, *_ in contenders], results
