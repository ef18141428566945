"""Tables, Markdown and JSON of a run (navigator/evaluation/report/formats.py, tables.py, text_report.py)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.report.formats import (
    MISSING,
    chance,
    interval,
    money,
    named,
    number,
    percent,
    points,
    seconds,
)
from navigator.evaluation.report.scores import Proportion
from navigator.evaluation.report.summary import Overlap, RunSummary, summarise
from navigator.evaluation.report.tables import SETS_SHOWN, ReportTable, tables
from navigator.evaluation.report.text_report import NOTES_SHOWN, to_json, to_markdown
from navigator.evaluation.results import Contender, Preprocessing, Ranked
from tests.unit.navigator.evaluation.made import PAGES, answer, node, result, run

RIT, VANILLA = Contender("rit", "rit"), Contender("vanilla", "vanilla")
ORACLE = Contender("oracle", "rit", reader="oracle")


@pytest.fixture(scope="module")
def summary() -> RunSummary:
    questions, who, results = run([(RIT, 0.9, 0.02, 4.0), (VANILLA, 0.4, 0.001, 1.0)])
    ranked = [Ranked(question.id, (node("use#first"), node("install#apt"), node("use#"))) for question in questions]
    return summarise(
        questions, who, results, ranked=ranked, outlines=PAGES, preprocessing=[Preprocessing("rit", 12345, 0.5)]
    )


def table(summary: RunSummary, title: str) -> ReportTable:
    (found,) = [each for each in tables(summary) if each.title == title]
    return found


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (percent(0.8214), "82.1%"),
        (percent(None), MISSING),
        (points(-0.05), "\u22125.0"),
        (points(0.05), "+5.0"),
        (points(None), MISSING),
        (interval(Proportion(3, 4, 0.301, 0.954)), "75.0% (30–95) of 4"),
        (interval(None), MISSING),
        (money(0.00421), "$0.00421"),
        (money(0.5), "$0.500"),
        (money(1234.5), "$1,234.50"),
        (money(0.0), "$0"),
        (money(None), MISSING),
        (seconds(0.123), "0.12 s"),
        (seconds(6.14), "6.1 s"),
        (seconds(1234), "1,234 s"),
        (seconds(None), MISSING),
        (number(2.345), "2.3"),
        (number(12345.6), "12,346"),
        (number(None), MISSING),
        (chance(0.0004), "< 0.001"),
        (chance(0.034), "0.034"),
        (chance(None), MISSING),
        (named(RIT), "rit"),
        (named(ORACLE), "oracle (scripted)"),
        (named(Contender("none", "none")), "none (no documentation)"),
    ],
)
def test_figures_as_people_read_them(shown: str, wanted: str) -> None:
    assert shown == wanted


def test_every_table_is_as_wide_as_its_head(summary: RunSummary) -> None:
    made = tables(summary)
    assert [each.title for each in made] == [
        "Answers",
        "Reading",
        "Cost and time",
        "Retrieval",
        "Pairs",
        "Overlap of right answers",
    ]
    assert all(len(row) == len(each.head) for each in made for row in each.rows)


def test_a_cell_stands_under_its_own_title(summary: RunSummary) -> None:
    rit = summary.rows[0]
    answers = dict(zip(table(summary, "Answers").head, table(summary, "Answers").rows[0], strict=True))
    assert answers["Right (95% interval)"] == interval(rit.accuracy)
    assert answers["Gold in answer"] == percent(rit.em_recall)
    reading = dict(zip(table(summary, "Reading").head, table(summary, "Reading").rows[0], strict=True))
    assert (reading["P"], reading["R"], reading["F1"]) == (
        percent(rit.precision),
        percent(rit.recall),
        percent(rit.reading_f1),
    )
    costs = dict(zip(table(summary, "Cost and time").head, table(summary, "Cost and time").rows[0], strict=True))
    assert (costs["Tokens before"], costs["Cost before"]) == ("12,345", "$0.500")
    assert costs["Cost known for"] == "60 of 60"


def test_what_nobody_measured_is_a_dash_and_never_a_zero() -> None:
    asked = EvalQuestion("q", "?")
    row = summarise([asked], [RIT], [result(asked, "rit", answer(usage=replace(answer().trace.usage, input_tokens=5)))])
    cells = {cell for each in tables(row)[:1] for cell in each.rows[0][1:-1]}
    assert cells == {MISSING}
    costs = dict(zip(tables(row)[2].head, tables(row)[2].rows[0], strict=True))
    assert (costs["Cost a question"], costs["Cost in all"], costs["Cost known for"]) == (MISSING, MISSING, "0 of 1")


def test_grades_have_a_table_where_there_are_any() -> None:
    asked = EvalQuestion("q", "?")
    given = summarise([asked], [RIT, VANILLA], [result(asked, "rit", answer(), grades={"relevance": 7})])
    graded = table(given, "Graded answers")
    assert graded.rows == (("rit", MISSING, "0.700", *[MISSING] * 5),)


def test_overlap_ticks_who_is_right_and_says_what_it_leaves_out(summary: RunSummary) -> None:
    many = replace(summary, overlap=tuple(Overlap(("rit",), 1) for _ in range(SETS_SHOWN + 4)))
    shown = table(many, "Overlap of right answers")
    assert shown.head == ("Questions", "rit", "vanilla")
    assert shown.rows[0] == ("1", "✓", "·")
    assert len(shown.rows) == SETS_SHOWN
    assert "4 smaller sets, of 4 questions together" in shown.about


def test_markdown_begins_with_what_wins_and_its_tables_are_tables(summary: RunSummary) -> None:
    text = to_markdown(summary, "Docs")
    assert text.startswith("# Docs\n\nrit is right most often: ")
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<table>") == len(tables(summary))
    assert html.count("<tr>") == sum(1 + len(each.rows) for each in tables(summary))
    assert html.count("<td") == sum(len(each.head) * len(each.rows) for each in tables(summary))


def test_names_cannot_break_markdown() -> None:
    name = "a|b\n# c <b> [x](y) `z` *w* \\"
    asked = EvalQuestion("q", "?")
    text = to_markdown(summarise([asked], [Contender(name, "s")], [result(asked, name, answer())]), name)
    html = MarkdownIt("commonmark").enable("table").render(text)
    shown = "a|b # c &lt;b&gt; [x](y) `z` *w* \\"
    assert f"<h1>{shown}</h1>" in html
    assert f">{shown}</td>" in html


def test_many_notes_are_counted_not_shown() -> None:
    asked = [EvalQuestion(str(i), "?") for i in range(3)]
    many = replace(summarise(asked, [RIT], []), notes=tuple(f"note {i}" for i in range(NOTES_SHOWN + 3)))
    text = to_markdown(many)
    assert f"- note {NOTES_SHOWN - 1}\n" in text
    assert f"- note {NOTES_SHOWN}\n" not in text
    assert "- 3 more notes stand in the JSON report." in text


def test_json_holds_every_figure_and_the_contenders_marks(summary: RunSummary) -> None:
    figures = json.loads(to_json(summary))
    assert figures["headline"][0].startswith("rit is right")
    assert figures["rows"][0]["accuracy"]["of"] == 60
    assert figures["rows"][0]["contender"] == {
        "label": "rit",
        "strategy": "rit",
        "n": None,
        "k": None,
        "expansions": None,
        "structure": True,
        "reader": "",
    }
    assert len(figures["scores"]) == 120
    assert figures["scores"][0]["synthetic"] is False
    assert figures["retrieval"][0]["n"] == 1
    assert set(figures) >= {"pairs", "overlap", "notes", "judging", "synthetic", "questions"}


def test_a_report_of_nothing_can_be_made() -> None:
    empty = summarise([], [], [])
    assert "nothing here says who is better" in to_markdown(empty)
    assert json.loads(to_json(empty))["rows"] == []
