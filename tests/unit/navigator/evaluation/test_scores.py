"""The figures of one answer and of one contender (navigator/evaluation/report/scores.py)."""

from __future__ import annotations

import pytest

from navigator.answer import Answer, Step, Usage
from navigator.evaluation.gold import Resolved, resolve
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.report.scores import Judging, Proportion, Row, Score, paid, row, score_answer, share
from navigator.evaluation.results import Contender, Preprocessing
from navigator.evaluation.statistics import wilson
from tests.unit.navigator.evaluation.made import INSTALL, PAGES, answer, result

RIT = Contender("rit", "rit")
READER = Contender("rit, oracle", "rit", reader="oracle")
ASKED = EvalQuestion("q", "Which?", ("the red fox",), ("red fox", "blue"), (Gold(INSTALL.key, "apt"),))
BARE = EvalQuestion("q", "Which?")
EVERYTHING = Judging(verdicts=True, nuggets=True)


def scored(
    given: Answer,
    question: EvalQuestion = ASKED,
    contender: Contender = RIT,
    judging: Judging = EVERYTHING,
    **other: object,
) -> Score:
    return score_answer(
        result(question, contender.label, given, **other), question, contender, resolve(question, PAGES), judging
    )  # type: ignore[arg-type]


def test_an_answer_is_scored_by_judge_words_and_reading() -> None:
    steps = [Step("get_toc", "", query="q"), Step("read", "", numbers=(1, 2)), Step("read", "", numbers=(3,))]
    usage = Usage(100, 10, 5, 6, 0.25)
    given = answer("A red fox. [1]", ["install#apt", "install#pip", "install#apt"], steps=steps, usage=usage, seconds=3)
    found = scored(given, right=True, nuggets=(True, True), grades={"diversity": 7})
    assert found == Score(
        "q",
        "rit",
        "answered",
        synthetic=False,
        right=True,
        exact=True,
        em_recall=True,
        f1=1.0,
        token_recall=1.0,
        nuggets=0.5,
        judged_nuggets=1.0,
        precision=0.5,
        recall=1.0,
        nodes_read=2,
        calls={"get_toc": 1, "read": 2},
        asked=3,
        usage=usage,
        cost=0.25,
        seconds=3,
        grades={"diversity": 7},
    )


def test_what_has_no_ground_is_none() -> None:
    found = scored(answer("Yes."), BARE)
    grounds = (found.right, found.exact, found.em_recall, found.f1, found.token_recall)
    assert {*grounds, found.nuggets, found.judged_nuggets, found.precision, found.recall} == {None}


def test_gold_that_is_not_in_the_index_leaves_reading_out() -> None:
    question = EvalQuestion("q", "?", gold=(Gold(INSTALL.key, "apt"), Gold("lost.html")))
    found = scored(answer("Yes.", ["install#apt"]), question)
    assert (found.precision, found.recall) == (None, None)


@pytest.mark.parametrize("outcome", ["not_found", "failed", "greeting"])
def test_an_answer_that_was_not_given_is_worth_nothing(outcome: str) -> None:
    found = scored(answer("The red fox was not found.", outcome=outcome))  # type: ignore[arg-type]
    assert (found.right, found.exact, found.f1, found.nuggets, found.judged_nuggets) == (False, False, 0.0, 0.0, 0.0)


def test_an_answer_that_was_not_given_has_no_verdict_where_nobody_judges() -> None:
    found = scored(answer("", outcome="failed"), judging=Judging())
    assert (found.right, found.judged_nuggets) == (None, None)
    assert scored(answer("", outcome="failed"), BARE).right is None


def test_the_judge_has_the_last_word_on_what_was_not_found() -> None:
    assert scored(answer("It is not there.", outcome="not_found"), right=True).right is True


@pytest.mark.parametrize("outcome", ["answered", "not_found"])
def test_a_scripted_reader_is_scored_on_what_it_read_alone(outcome: str) -> None:
    found = scored(answer("red fox", ["install#apt"], outcome=outcome), contender=READER)  # type: ignore[arg-type]
    assert (found.right, found.f1, found.nuggets, found.judged_nuggets) == (None, None, None, None)
    assert (found.precision, found.recall) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [(Usage(), 0.0), (Usage(1), None), (Usage(cache_read_tokens=1), None), (Usage(1, cost=0.5), 0.5)],
)
def test_cost_is_unknown_where_tokens_have_no_price_and_nothing_where_there_are_none(
    usage: Usage, cost: float | None
) -> None:
    assert paid(usage) == cost


def made(*scores: Score) -> Row:
    return row(RIT, scores)


def test_a_row_counts_outcomes_and_takes_means_over_what_has_ground() -> None:
    found = made(
        Score("a", "rit", "answered", right=True, f1=1.0, exact=True, nodes_read=2, precision=1.0, recall=1.0),
        Score("b", "rit", "not_found", right=False, f1=0.5, exact=False, precision=0.0, recall=0.5),
        Score("c", "rit", "greeting"),
        Score("d", "rit", "failed"),
    )
    assert (found.asked, found.answered, found.not_found, found.failed) == (4, 1, 2, 1)
    assert found.accuracy == Proportion(1, 2, *wilson(1, 2))
    assert found.accuracy.value == 0.5
    assert (found.f1, found.exact, found.with_answers) == (0.75, 0.5, 2)
    assert (found.precision, found.recall, found.with_gold) == (0.5, 0.75, 2)
    assert found.reading_f1 == pytest.approx(0.6)
    assert (found.nuggets, found.judged_nuggets, found.token_recall) == (None, None, None)


def test_a_row_of_nothing_has_no_figures() -> None:
    found = made()
    assert (found.asked, found.accuracy, found.cost, found.seconds_p50, found.searches) == (0, None, None, None, None)


def test_a_contender_that_never_reads_has_no_precision() -> None:
    found = made(Score("a", "none", "answered", precision=0.0, recall=0.0))
    assert (found.precision, found.recall, found.reading_f1) == (None, None, None)


def test_calls_are_counted_by_tool_and_searches_are_all_but_reads() -> None:
    found = made(
        Score("a", "rit", "answered", calls={"get_toc": 2, "read": 1}, asked=4),
        Score("b", "rit", "answered", calls={"keyword": 1, "read": 2}, asked=5),
    )
    assert found.calls == {"get_toc": 1.0, "keyword": 0.5, "read": 1.5}
    assert (found.searches, found.reads, found.nodes_a_read) == (1.5, 1.5, 3.0)
    assert made(Score("a", "rit", "answered", calls={"search": 1})).nodes_a_read is None


def test_tokens_costs_and_times() -> None:
    found = made(
        Score("a", "rit", "answered", usage=Usage(100, 10, 4, 2), cost=0.2, seconds=1.0),
        Score("b", "rit", "answered", usage=Usage(200, 30, 0, 0), cost=None, seconds=3.0),
        Score("c", "rit", "failed", cost=0.0, seconds=0.0),
    )
    assert (found.input_tokens, found.output_tokens) == (100, pytest.approx(40 / 3))
    assert (found.cache_read_tokens, found.cache_write_tokens) == (pytest.approx(4 / 3), pytest.approx(2 / 3))
    assert (found.cost, found.cost_in_all, found.cost_known) == (0.1, 0.2, 2)
    assert (found.seconds_p50, found.seconds_p95) == (2.0, pytest.approx(2.9))


def test_costs_that_nobody_knows_are_none() -> None:
    found = made(Score("a", "rit", "answered", usage=Usage(1), cost=None))
    assert (found.cost, found.cost_in_all, found.cost_known) == (None, None, 0)


def test_grades_are_means_between_zero_and_one() -> None:
    found = made(
        Score("a", "rit", "answered", grades={"relevance": 10, "diversity": 4}),
        Score("b", "rit", "answered", grades={"relevance": 5}),
        Score("c", "rit", "answered"),
    )
    assert found.grades == {"relevance": 0.75, "diversity": 0.4}


def test_a_row_carries_what_preprocessing_cost() -> None:
    before = Preprocessing("rit", 5, None)
    assert row(RIT, [], before).preprocessing == before


def test_a_share_of_nothing_known_is_none() -> None:
    assert share([None, None]) is None
    assert share([]) is None


def test_resolved_nothing_is_the_default_of_a_question_without_gold() -> None:
    assert resolve(BARE, PAGES) == Resolved(())
