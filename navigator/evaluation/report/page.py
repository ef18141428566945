"""A run as one HTML file that needs nothing else: no script, no font, no network; it opens from disk.

templates/page.html says what stands where, and Jinja2 escapes all that it is given. Needs the extra `eval`
(matplotlib): import this module only where a page is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.charts import charts
from navigator.evaluation.report.formats import MISSING, money, named, percent, seconds, xml_text
from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.plots import svg
from navigator.evaluation.report.scores import Score
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.tables import tables
from navigator.evaluation.report.text_report import shown_notes
from navigator.evaluation.results import Contender, Result

OUTCOMES = {
    "answered": "answered",
    "not_found": "nothing found",
    "greeting": "taken for a greeting",
    "failed": "failed",
}
LINKED_SCHEMES = frozenset({"http", "https", "file"})
"""Where a browser may follow an address of an answer or a question safely."""
MAX_ANSWER_CHARACTERS = 6000

ScoredAnswer = tuple[Contender, Score, Result]


def to_html(
    summary: RunSummary, questions: Sequence[EvalQuestion], results: Iterable[Result], title: str = "Evaluation"
) -> str:
    """`questions` and `results` are those that the summary was made from."""
    contenders = [row.contender for row in summary.rows]
    drawn = charts(summary)
    page = _ENVIRONMENT.get_template("page.html").render(
        title=title,
        summary=summary,
        contenders=contenders,
        headline=headline(summary),
        pictures=[
            (chart, Markup(svg(chart.plot, f"chart-{at}")) if chart.plot else "") for at, chart in enumerate(drawn)
        ],
        tables=tables(summary),
        questions=_hardest_first(questions, contenders, summary.scores, results),
        notes=shown_notes(summary.notes),
        missing=MISSING,
    )
    return xml_text(page)


def _hardest_first(
    questions: Sequence[EvalQuestion],
    contenders: Sequence[Contender],
    scores: Iterable[Score],
    results: Iterable[Result],
) -> list[tuple[EvalQuestion, list[ScoredAnswer]]]:
    """Each question with its answers in the contenders' order. Questions by the share of contenders that got them
    right, then by recall of reading; what is unknown comes last."""
    by_key = {(score.contender, score.question_id): score for score in scores}
    said = {(result.contender, result.question_id): result for result in results}
    asked = [
        (
            question,
            [(c, by_key[key], said[key]) for c in contenders if (key := (c.label, question.id)) in by_key],
        )
        for question in questions
    ]

    def hardness(answers: list[ScoredAnswer]) -> tuple[float, float]:
        right = [score.right for _, score, _ in answers if score.right is not None]
        recall = [score.recall for _, score, _ in answers if score.recall is not None]
        return sum(right) / len(right) if right else 2.0, sum(recall) / len(recall) if recall else 2.0

    return sorted(asked, key=lambda each: hardness(each[1]))


def _count_right(answers: Sequence[ScoredAnswer]) -> str:
    judged = [score.right for _, score, _ in answers if score.right is not None]
    return f"{sum(judged)} of {len(judged)} right" if judged else f"{len(answers)} answers, not judged"


def _badges(question: EvalQuestion) -> list[str]:
    checked = "synthetic" if question.checked else "synthetic, not checked"
    return [name for name in (question.kind, checked if question.synthetic else "") if name]


def _figures(score: Score) -> list[str]:
    """What an answer is worth and what it took."""
    shares = (("P", score.precision), ("R", score.recall))
    return [
        OUTCOMES[score.outcome],
        *(f"{name} {percent(value)}" for name, value in shares if value is not None),
        *(f"{tool} × {times}" for tool, times in score.calls.items()),
        *([] if score.cost is None else [money(score.cost)]),
        *([seconds(score.seconds)] if score.seconds else []),
    ]


def _cut(text: str) -> str:
    return f"{text[:MAX_ANSWER_CHARACTERS]} …" if len(text) > MAX_ANSWER_CHARACTERS else text


def followed(url: str) -> bool:
    """Whether the address may become a link; else its words stand alone."""
    try:
        return urlsplit(url).scheme in LINKED_SCHEMES
    except ValueError:
        return False


_ENVIRONMENT = Environment(
    loader=PackageLoader("navigator.evaluation.report"), autoescape=True, undefined=StrictUndefined
)
_ENVIRONMENT.tests["followed"] = followed
_ENVIRONMENT.filters |= {
    "named": named,
    "figures": _figures,
    "badges": _badges,
    "count_right": _count_right,
    "cut": _cut,
}
