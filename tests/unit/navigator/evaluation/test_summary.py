"""A run in figures, and what its headline says (navigator/evaluation/report/summary.py, headline.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from navigator.answer import Usage
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.report.headline import headline
from navigator.evaluation.report.summary import RetrievalFigures, RunSummary, summarise
from navigator.evaluation.results import Contender, Preprocessing, Ranked, Result
from tests.unit.navigator.evaluation.made import INSTALL, PAGES, answer, node, result, run

RIT, VANILLA = Contender("rit", "rit"), Contender("vanilla", "vanilla")
ORACLE = Contender("rit, oracle reader", "rit", reader="oracle")
NONE = Contender("none", "none")


def of_run(*contenders: tuple[Contender, float, float | None, float], judged: bool = True) -> RunSummary:
    questions, who, results = run(contenders, judged=judged)
    return summarise(questions, who, results, outlines=PAGES)


def test_every_contender_has_a_row_also_without_results() -> None:
    summary = summarise([EvalQuestion("q", "?")], [RIT, VANILLA], [result("q", "rit", answer())])
    assert [(row.contender, row.asked) for row in summary.rows] == [(RIT, 1), (VANILLA, 0)]
    assert "vanilla was asked 0 of 1 questions: compare it with care." in summary.notes


def test_the_later_of_two_results_counts_and_scores_follow_the_questions() -> None:
    asked = [EvalQuestion("b", "?", ("x",)), EvalQuestion("a", "?", ("x",))]
    results = [result("a", "rit", answer("y")), result("b", "rit", answer("x")), result("a", "rit", answer("x"))]
    summary = summarise(asked, [RIT], results)
    assert [(score.question_id, score.f1) for score in summary.scores] == [("b", 1.0), ("a", 1.0)]


def test_results_of_others_are_left_out_and_told() -> None:
    results = [result("q", "rit", answer()), result("old", "rit", answer()), result("q", "gone", answer())]
    summary = summarise([EvalQuestion("q", "?")], [RIT], results)
    assert len(summary.scores) == 1
    assert any(note.startswith("2 results belong to questions or contenders") for note in summary.notes)


def test_gold_that_is_not_in_the_index_is_told_and_left_out() -> None:
    asked = [EvalQuestion("a", "?", gold=(Gold("lost.html"),)), EvalQuestion("b", "?", gold=(Gold(INSTALL.key),))]
    results = [result(q, "rit", answer(read=["install#apt"])) for q in asked]
    summary = summarise(asked, [RIT], results, outlines=PAGES)
    assert (summary.rows[0].with_gold, summary.rows[0].precision) == (1, 1.0)
    assert summary.notes == ("Question a is left out of the figures of reading: the index has no page lost.html.",)


def test_without_an_index_there_is_one_note_and_no_figure_of_reading() -> None:
    asked = [EvalQuestion(name, "?", gold=(Gold("a.html"),)) for name in "abc"]
    summary = summarise(asked, [RIT], [result(q, "rit", answer(read=["use#first"])) for q in asked])
    assert summary.rows[0].recall is None
    assert len(summary.notes) == 1


def test_retrieval_is_measured_as_far_as_the_rankings_go() -> None:
    asked = [
        EvalQuestion("a", "?", gold=(Gold(INSTALL.key, "linux"),)),
        EvalQuestion("b", "?", gold=(Gold(INSTALL.key),)),
        EvalQuestion("c", "?"),
    ]
    nodes = (node("use#first"), node("install#apt"), node("use#second"))
    ranked = [Ranked(question, nodes) for question in ("a", "b", "c", "unknown")]
    summary = summarise(asked, [RIT], [], ranked=ranked, outlines=PAGES)
    assert summary.retrieval == (RetrievalFigures(1, 0.0, 0.0), RetrievalFigures(3, 1.0, 1.0))
    assert (summary.with_section, summary.with_page) == (1, 2)
    pages_only = summarise(asked[1:], [RIT], [], ranked=ranked, outlines=PAGES)
    assert pages_only.retrieval[1] == RetrievalFigures(3, None, 1.0)
    assert summarise(asked, [RIT], [], outlines=PAGES).retrieval == ()


def test_preprocessing_belongs_to_a_contender_or_to_its_strategy() -> None:
    rit, special = Preprocessing("rit", 1, 0.1), Preprocessing("rit n=9", 2, 0.2)
    who = [RIT, Contender("rit n=9", "rit", n=9), VANILLA]
    summary = summarise([], who, [], preprocessing=[rit, special])
    assert [row.preprocessing for row in summary.rows] == [rit, special, None]


def test_what_judging_took_is_added_up() -> None:
    asked = EvalQuestion("q", "?", ("x",))
    results = [
        result(asked, "rit", answer(), True, judge_usage=Usage(5, cost=0.5)),
        result(asked, "vanilla", answer(), None, grades={"diversity": 1}, judge_usage=Usage(7)),
    ]
    summary = summarise([asked], [RIT, VANILLA], results)
    assert summary.judging == Usage(22, 1, cost=0.501)
    assert summarise([asked], [RIT], [result(asked, "rit", answer())]).judging is None


def test_an_answer_not_given_is_wrong_as_soon_as_the_run_has_a_judge() -> None:
    asked = [EvalQuestion("a", "?", ("x",)), EvalQuestion("b", "?", ("x",))]
    results: list[Result] = [result("a", "rit", answer(), True), result("b", "rit", answer("", outcome="failed"))]
    row = summarise(asked, [RIT], results).rows[0]
    assert row.accuracy is not None
    assert (row.accuracy.hits, row.accuracy.of) == (1, 2)


def test_synthetic_questions_are_counted_and_marked() -> None:
    asked = [
        EvalQuestion("a", "?", synthetic=True),
        EvalQuestion("b", "?", synthetic=True, checked=True),
        EvalQuestion("c", "?", checked=False),
    ]
    summary = summarise(asked, [RIT], [result(q, "rit", answer()) for q in asked])
    assert (summary.questions, summary.synthetic, summary.unchecked) == (3, 2, 1)
    assert [score.synthetic for score in summary.scores] == [True, True, False]
    assert "2 of 3 questions are synthetic, 1 of them checked by nobody." in headline(summary)


def test_the_headline_names_the_best_the_cheapest_and_whether_chance_may_have_done_it() -> None:
    first, second = headline(of_run((RIT, 0.95, 0.02, 4.0), (VANILLA, 0.3, 0.001, 1.0)))
    assert first.startswith("rit is right most often: ")
    assert "a question and" in first
    assert second.startswith("vanilla costs least, $0.00")
    assert second.endswith("the difference from rit is beyond chance (p < 0.001).")
    assert "may be chance (p = " in headline(of_run((RIT, 0.85, 0.02, 4.0), (VANILLA, 0.7, 0.001, 1.0)))[1]


def test_the_headline_never_lets_a_scripted_reader_win() -> None:
    questions, who, results = run([(RIT, 0.5, 0.1, 1.0), (ORACLE, 1.0, None, 1.0)])
    assert headline(summarise(questions, who, results, outlines=PAGES))[0].startswith("rit is right on ")


@pytest.mark.parametrize(
    ("contenders", "judged", "says"),
    [
        ([(RIT, 1.0, 0.1, 1.0), (VANILLA, 1.0, 0.2, 1.0)], True, ["All 2 contenders are level: 100.0%.", "Nothing costs less than rit."]),
        ([(RIT, 0.0, 0.1, 1.0)], True, ["rit is right on 0.0% of 60 questions (95% interval 0–6%), at $0.0"]),
        ([(RIT, 0.9, None, 1.0), (VANILLA, 0.1, 0.2, 1.0)], True, ["rit is right most often", "Costs are not known"]),
        ([(RIT, 0.9, 0.2, 1.0), (NONE, 0.1, 0.01, 1.0)], True, ["rit is right most", "Of those that read the documentation, nothing costs less than rit."]),
        ([(RIT, 0.9, None, 1.0)], False, ["No model judged the answers.", "rit has a token recall of"]),
        ([(RIT, 0.9, None, 1.0), (VANILLA, 0.1, None, 1.0)], False, ["No model judged", "rit has the highest token recall"]),
    ],
)  # fmt: skip
def test_the_headline_says_what_the_figures_allow(
    contenders: list[tuple[Contender, float, float | None, float]], judged: bool, says: list[str]
) -> None:
    told = headline(of_run(*contenders, judged=judged))
    assert len(told) == len(says)
    assert all(sentence.startswith(start) for sentence, start in zip(told, says, strict=True))


def test_nobody_is_the_cheapest_where_one_cost_is_unknown() -> None:
    questions, who, results = run([(RIT, 0.9, 0.1, 1.0), (VANILLA, 0.5, 0.01, 1.0)])
    trace = results[0].answer.trace
    unpriced = replace(results[0].answer, trace=replace(trace, usage=replace(trace.usage, cost=None)))
    told = headline(summarise(questions, who, [replace(results[0], answer=unpriced), *results[1:]]))
    assert told[1].startswith("Costs are not known for all answers")


def test_the_headline_of_scripted_readers_compares_what_was_read() -> None:
    questions, who, results = run([(ORACLE, 0.9, None, 1.0)], judged=False)
    told = headline(summarise(questions, who, results, outlines=PAGES))
    assert told[0].startswith("No model answered: scripted readers played in its place")
    assert told[1].startswith("rit, oracle reader (scripted) reads with an F1 of ")
    assert "cost" not in told[1]


def test_the_headline_of_nothing_says_so() -> None:
    assert headline(summarise([], [], [])) == (
        "There is no judge, no gold answer and no gold section: nothing here says who is better.",
    )


def test_the_headline_says_when_contenders_were_judged_on_different_questions() -> None:
    questions, who, results = run([(RIT, 0.9, 0.1, 1.0), (VANILLA, 0.5, 0.1, 1.0)])
    assert "They were not all judged on the same questions." in headline(summarise(questions, who, results[:-5]))
