"""A run as one HTML file that needs nothing else: no script, no font, no network; it opens from disk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.charts import Chart, charts
from navigator.evaluation.report.each import each_question
from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.markdown import shown_notes
from navigator.evaluation.report.markup import Markup, element, joined
from navigator.evaluation.report.style import STYLE
from navigator.evaluation.report.summary import RunSummary
from navigator.evaluation.report.sweeps import sweeps
from navigator.evaluation.report.tables import ReportTable, tables
from navigator.evaluation.results import Result

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def to_html(
    summary: RunSummary, questions: Sequence[EvalQuestion], results: Iterable[Result], title: str = "Evaluation"
) -> str:
    """`questions` and `results` are those that the summary was made from."""
    scores = {(score.contender, score.question_id): score for score in summary.scores}
    by_question = {(result.contender, result.question_id): result for result in results}
    contenders = [row.contender for row in summary.rows]
    drawn = (*charts(summary), *sweeps(summary))
    body = element(
        "body",
        element("h1", title),
        element("p", " ".join(headline(summary)), class_="lead"),
        _marks(summary),
        element("h2", "Pictures"),
        map(_figure, drawn),
        [_table(table, "h2") for table in tables(summary)],
        element("h2", "Questions"),
        element("p", "Those that most contenders got wrong come first. Open one to see every answer.", class_="soft"),
        each_question(questions, contenders, scores, by_question),
        _notes(summary),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(STYLE)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _marks(summary: RunSummary) -> list[Markup]:
    """What must not be taken for more than it is."""
    warnings = []
    if summary.synthetic:
        warnings.append(
            "Synthetic questions were proposed by a model: they favour what is written plainly in one place."
        )
    if any(row.contender.reader for row in summary.rows):
        warnings.append(
            "Scripted readers choose by a fixed rule in the place of a model: they show limits, not answers."
        )
    if any(row.contender.strategy == "none" for row in summary.rows):
        warnings.append("“No documentation” answers from the model's memory: it is here to compare with, not to use.")
    return [element("p", warning, class_="warn small") for warning in warnings]


def _figure(chart: Chart) -> Markup:
    kind = "drawn" if chart.plot is not None else None
    return element("figure", chart.plot, element("figcaption", _table(chart.table, "h3")), class_=kind)


def _table(table: ReportTable, heading: str) -> Markup:
    head = element("tr", (element("th", name, scope="col") for name in table.head))
    rows = [
        element("tr", element("th", cells[0], scope="row"), (element("td", cell) for cell in cells[1:]))
        for cells in table.rows
    ]
    shown = element("table", element("thead", head), element("tbody", rows)) if rows else None
    return joined(
        element(heading, table.title),
        element("p", table.about, class_="soft"),
        element("div", shown, class_="scroll", tabindex="0", role="region", aria_label=table.title) if shown else None,
    )


def _notes(summary: RunSummary) -> Markup:
    if not summary.notes:
        return Markup()
    return joined(element("h2", "Notes"), element("ul", (element("li", note) for note in shown_notes(summary.notes))))
