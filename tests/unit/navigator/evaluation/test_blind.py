"""The form that people judge by, blind, and what they wrote into it (navigator/evaluation/judging/blind.py)."""

import csv
import json
import re
from io import StringIO

import pytest

from navigator.answer import Answer, CitedSource, Step
from navigator.evaluation.judging.blind import VerdictsError, blind_form, is_filled, read_verdicts
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import Result
from tests.unit.navigator.evaluation.made import answer, passage, result

STRATEGIES = ("rit", "vanilla", "agentic", "interact n=5")
QUESTIONS = [EvalQuestion(f"=q{n}", f"How do I do {n}?", ("With a\n\n# tool",), ("tool",)) for n in range(12)] + [
    EvalQuestion("open", "What is not told?")
]


def said(question: EvalQuestion, strategy: str) -> Answer:
    sources = (CitedSource(1, (passage("install#apt").cite(0),)),)
    note = f"Found by {strategy}."
    return answer(
        f"Answer {sum(map(ord, question.id + strategy))}. [1]\n\n### More\n\n```\ncode\n```",
        ("install#apt",),
        sources=sources,
        note=note,
        strategy=strategy,
        model="a-model",
        steps=(Step("get_toc", strategy, query=strategy),),
    )


RESULTS = [result(q, s, said(q, s)) for q in QUESTIONS for s in STRATEGIES if (q.id, s) != ("open", "rit")]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def filled(form: str, right: dict[tuple[str, str], str], delimiter: str = ",", reason: str = "") -> str:
    out = StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(["question", "letter", "right", "reason"])
    for row in rows(form):
        writer.writerow([row["question"], row["letter"], right.get((row["question"], row["letter"]), ""), reason])
    return out.getvalue()


def test_nothing_that_people_are_given_says_whose_an_answer_is() -> None:
    form = blind_form(QUESTIONS, RESULTS)
    for text in (form.answers, form.verdicts):
        assert not [name for name in (*STRATEGIES, "a-model", "get_toc", "Found by") if re.search(rf"\b{name}\b", text)]
    assert "[1] install › apt: https://docs.test/guide/install.html#apt" in form.answers
    assert ":~:text=" not in form.answers


def test_every_answer_has_a_letter_and_the_letters_differ_from_question_to_question() -> None:
    key = json.loads(blind_form(QUESTIONS, RESULTS).key)
    orders = {tuple(entry["contender"] for entry in letters.values()) for letters in key.values()}
    assert len(orders) > 4
    assert all(sorted(order) == sorted(STRATEGIES) for order in orders if len(order) == 4)
    assert [*key["open"]] == ["A", "B", "C"]


def test_the_same_answers_make_the_same_form_in_whatever_order_they_come_and_another_seed_another() -> None:
    form = blind_form(QUESTIONS, RESULTS)
    assert blind_form(QUESTIONS, RESULTS[::-1]) == form
    assert blind_form(QUESTIONS, RESULTS, "other").key != form.key


def test_no_answer_of_a_model_begins_a_heading_and_no_id_is_a_formula() -> None:
    form = blind_form(QUESTIONS, RESULTS)
    headings = [line for line in form.answers.split("\n") if line.startswith("#")]
    assert len(headings) == 1 + len(QUESTIONS) + len(RESULTS)
    assert not [row for row in rows(form.verdicts) if row["question"][0] in "=+-@"]


def test_what_was_not_answered_is_shown_as_such_without_its_reason() -> None:
    failed = [result(QUESTIONS[0], s, answer(f"{s} failed.", outcome="failed")) for s in STRATEGIES]
    assert "rit failed" not in blind_form(QUESTIONS, failed).answers
    assert blind_form(QUESTIONS, failed).answers.count("(No answer was given.)") == len(STRATEGIES)
    assert json.loads(blind_form(QUESTIONS, []).key) == {}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_a_filled_form_is_read_back_as_a_spreadsheet_saves_it(delimiter: str, mark: str) -> None:
    form = blind_form(QUESTIONS, RESULTS)
    right = {("'=q1", "A"): "Yes", ("'=q1", "B"): " no ", ("'open", "C"): "1"}
    text = mark + filled(form.verdicts, right, delimiter, "it, says; so")
    found = read_verdicts(text, form.key, RESULTS)
    key = json.loads(form.key)
    assert {(q, c): (v.right, v.reason) for (q, c), v in found.items()} == {
        (q.removeprefix("'"), key[q.removeprefix("'")][letter]["contender"]): (value != " no ", "it, says; so")
        for (q, letter), value in right.items()
    }
    assert is_filled(text)
    assert not is_filled(form.verdicts)


def test_all_that_is_wrong_with_a_form_is_said_at_once() -> None:
    form = blind_form(QUESTIONS, RESULTS)
    text = "question,letter,right\n'=q1,A,perhaps\n'=q1,Z,yes\n'none,A,yes\n'=q2,A,yes\n'=q2,a,no\n"
    with pytest.raises(VerdictsError) as caught:
        read_verdicts(text, form.key, RESULTS)
    lines = str(caught.value).split("\n")
    assert [line.partition(":")[0] for line in lines] == ["line 2", "line 3", "line 4", "line 6"]
    with pytest.raises(VerdictsError, match="no column right"):
        read_verdicts("question,letter\n", form.key, RESULTS)


def test_a_verdict_is_of_the_answer_that_was_judged() -> None:
    form = blind_form(QUESTIONS, RESULTS)
    changed = [Result(r.question_id, r.contender, answer("Other.")) for r in RESULTS]
    with pytest.raises(VerdictsError, match="has changed since"):
        read_verdicts(filled(form.verdicts, {("'=q1", "A"): "yes"}), form.key, changed)
