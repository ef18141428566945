"""The part of the report's page that shows each question and what each contender made of it. Pure.

The questions that most contenders got wrong come first. Addresses become links only where a browser may
follow them safely (http, https, file).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from navigator.answer import CitedSource
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.figures import MISSING, money, named, percent, seconds
from navigator.evaluation.report.markup import Markup, element, joined
from navigator.evaluation.report.scores import Score
from navigator.evaluation.results import Contender, Result

OUTCOMES = {
    "answered": "answered",
    "not_found": "nothing found",
    "greeting": "taken for a greeting",
    "failed": "failed",
}
FOLLOWED = frozenset({"http", "https", "file"})
LONGEST = 6000
"""Characters of an answer that are shown."""


def each_question(
    questions: Sequence[EvalQuestion],
    contenders: Sequence[Contender],
    scores: Mapping[tuple[str, str], Score],
    results: Mapping[tuple[str, str], Result],
) -> Markup:
    """`scores` and `results` by contender and question."""
    asked = []
    for question in questions:
        got = [scores[c.label, question.id] for c in contenders if (c.label, question.id) in scores]
        asked.append((_order(got), question, got))
    asked.sort(key=lambda each: each[0])
    return joined(_question(question, got, contenders, results) for _, question, got in asked)


def _order(scores: Sequence[Score]) -> tuple[float, float]:
    """By the share of contenders that got it right, then by recall of reading; what is unknown comes last."""
    right = [score.right for score in scores if score.right is not None]
    recall = [score.recall for score in scores if score.recall is not None]
    return sum(right) / len(right) if right else 2.0, sum(recall) / len(recall) if recall else 2.0


def _question(
    question: EvalQuestion,
    scores: Sequence[Score],
    contenders: Sequence[Contender],
    results: Mapping[tuple[str, str], Result],
) -> Markup:
    judged = [score.right for score in scores if score.right is not None]
    count = f"{sum(judged)} of {len(judged)} right" if judged else f"{len(scores)} answers, not judged"
    said = {score.contender: score for score in scores}
    answers = [
        _answer(contender, said[contender.label], results[contender.label, question.id])
        for contender in contenders
        if contender.label in said
    ]
    return element(
        "details",
        element("summary", element("span", count, class_="count"), question.question, _badges(question)),
        element("div", _wanted(question), answers, class_="inside"),
    )


def _badges(question: EvalQuestion) -> list[Markup]:
    checked = "synthetic" if question.checked else "synthetic, not checked"
    names = [name for name in (question.kind, checked if question.synthetic else "") if name]
    return [joined(" ", element("span", name, class_="badge")) for name in names]


def _wanted(question: EvalQuestion) -> list[Markup]:
    """What a right answer says, and where it stands."""
    parts = []
    for title, texts in (("Gold answer", question.answers), ("Nuggets", question.nuggets), ("Quotes", question.quotes)):
        if texts:
            parts.append(element("p", element("strong", f"{title}: "), " / ".join(texts), class_="small"))
    if question.gold:
        links = [joined(", " if at else "", address(str(gold), str(gold))) for at, gold in enumerate(question.gold)]
        parts.append(element("p", element("strong", "Gold: "), links, class_="small"))
    return parts


def _answer(contender: Contender, score: Score, result: Result) -> Markup:
    verdict = {True: "right", False: "wrong", None: "not judged"}[score.right]
    reason = f": {result.verdict.reason}" if result.verdict and result.verdict.reason else ""
    figures = [
        OUTCOMES[score.outcome],
        *(
            f"{name} {percent(value)}"
            for name, value in (("P", score.precision), ("R", score.recall))
            if value is not None
        ),
        *(f"{tool} × {times}" for tool, times in score.calls.items()),
        *([] if score.cost is None else [money(score.cost)]),
        *([seconds(score.seconds)] if score.seconds else []),
    ]
    answer = result.answer
    cut = f"{answer.text[:LONGEST]} …" if len(answer.text) > LONGEST else answer.text
    return element(
        "div",
        element("h3", named(contender), " ", element("span", verdict, class_="verdict small")),
        element("p", " · ".join(figures), class_="soft"),
        element("p", f"Judge{reason}", class_="small") if reason else None,
        element("p", answer.note, class_="small") if answer.note else None,
        element("div", cut or MISSING, class_="said"),
        element("ul", map(_source, answer.sources), class_="small") if answer.sources else None,
        class_=f"answer {verdict if score.right is not None else ''}".rstrip(),
    )


def _source(source: CitedSource) -> Markup:
    cited = source.first
    return element("li", f"[{source.number}] ", address(cited.link, " › ".join(cited.path) or cited.node_link))


def address(url: str, words: str) -> Markup:
    """A link, or the words alone where the address is none that may be followed."""
    try:
        followed = urlsplit(url).scheme in FOLLOWED
    except ValueError:
        followed = False
    return element("a", words, href=url, rel="noreferrer") if followed else joined(words)
