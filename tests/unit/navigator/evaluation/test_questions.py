"""Files of questions (navigator/evaluation/questions.py)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.evaluation.questions import (
    EvalQuestion,
    Gold,
    QuestionsError,
    dump_question,
    load_questions,
    question_id,
)

texts = st.text(min_size=1, max_size=12).filter(str.strip)
several = st.lists(texts, max_size=3).map(tuple)
pages = texts.filter(lambda text: "#" not in text)
golds = st.one_of(
    st.builds(Gold, page=pages, anchor=st.none() | texts),
    st.builds(Gold, node=texts),
)
questions = st.builds(
    EvalQuestion,
    id=texts,
    question=texts,
    answers=several,
    nuggets=several,
    gold=st.lists(golds, max_size=4).map(tuple),
    kind=st.just("") | texts,
    synthetic=st.booleans(),
    checked=st.booleans(),
    quotes=several,
)


def line(**row: object) -> str:
    return json.dumps(row)


def mistakes(text: str) -> list[tuple[int, str]]:
    with pytest.raises(QuestionsError) as raised:
        load_questions(text)
    return list(raised.value.mistakes)


@given(questions)
def test_a_dumped_question_is_one_line_that_loads_back_equal(question: EvalQuestion) -> None:
    dumped = dump_question(question)
    assert "\n" not in dumped
    assert load_questions(dumped) == [question]


def test_a_question_says_nothing_that_it_does_not_have() -> None:
    assert json.loads(dump_question(EvalQuestion("a", "Why?"))) == {"id": "a", "question": "Why?"}


def test_every_form_of_gold_is_read() -> None:
    (found,) = load_questions(
        line(
            question="Why?",
            pages=["guide/a.html", "https://docs.test/b"],
            sections=["guide/a.html#caf%C3%A9"],
            nodes=["n-1"],
        )
    )
    assert set(found.gold) == {
        Gold("guide/a.html"),
        Gold("https://docs.test/b"),
        Gold("guide/a.html", "café"),
        Gold(node="n-1"),
    }


@pytest.mark.parametrize(("anchor", "gold"), [(None, Gold("a.html")), ("x%41", Gold("a.html", "x%41"))])
def test_page_and_anchor_name_one_section_as_the_page_has_it(anchor: str | None, gold: Gold) -> None:
    assert load_questions(line(question="Why?", page="a.html", anchor=anchor))[0].gold == (gold,)


def test_one_answer_or_several() -> None:
    one, two = load_questions("\n".join((line(question="a", answer="x"), line(question="b", answers=["x", "y"]))))
    assert (one.answers, two.answers) == (("x",), ("x", "y"))


def test_blank_lines_a_byte_order_mark_and_other_line_endings_are_fine() -> None:
    text = "\ufeff\r\n" + line(question="a") + "\r\n\n  \n" + '{"question": "b\u2028c"}'
    assert [question.question for question in load_questions(text)] == ["a", "b\u2028c"]


def test_an_id_is_made_of_the_question_and_its_gold_and_nothing_else() -> None:
    plain, gold = EvalQuestion("", "Why?"), Gold("a.html")
    (a,) = load_questions(line(question="Why?", answer="x"))
    (b,) = load_questions(line(question="Why?", answer="y", kind="k"))
    (c,) = load_questions(line(question="Why?", pages=["a.html"]))
    assert a.id == b.id == question_id("Why?", ())
    assert c.id == question_id("Why?", [gold]) != a.id
    assert len(a.id) == 10
    assert plain.id == ""


def test_the_order_of_gold_says_nothing() -> None:
    a, b = Gold("a"), Gold("b", "c")
    assert EvalQuestion("q", "?", gold=(a, b, a)) == EvalQuestion("q", "?", gold=(b, a))
    assert question_id("?", [a, b, a]) == question_id("?", [b, a])


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"page": "a", "node": "n"},
        {"node": "n", "anchor": "x"},
        {"anchor": "x"},
        {"page": "a", "anchor": ""},
        {"page": "a#b"},
    ],
)
def test_gold_is_a_page_a_section_or_a_node(made: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"Gold is|names a section"):
        Gold(**made)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "There is no question"),
        (" \n\n", "There is no question"),
        ("{", "not JSON"),
        ("[" * 100_000, "no JSON that can be read"),
        ("[1]", "not an object"),
        ("null", "not an object"),
        (line(answer="x"), 'no "question"'),
        (line(question=" "), "'question' must be a text that is not empty"),
        (line(question=1), "'question' must be a text"),
        (line(question="a", id=7), "'id' must be a text"),
        (line(question="a", answers="x"), "'answers' must be a list of texts"),
        (line(question="a", answers=["x", ""]), "'answers' must be a list of texts"),
        (line(question="a", nuggets=None), "'nuggets' must be a list of texts"),
        (line(question="a", synthetic="yes"), "'synthetic' must be true or false"),
        (line(question="a", checked=1), "'checked' must be true or false"),
        (line(question="a", page="p", anchor=3), "'anchor' must be null or a text"),
        (line(question="a", anchor="x"), '"anchor" needs the "page"'),
        (line(question="a", page="p#x"), 'put what follows it into "anchor"'),
        (line(question="a", pages=["p#x"]), 'move it to "sections"'),
        (line(question="a", sections=["p"]), "then # and an anchor"),
        (line(question="a", sections=["#x"]), "then # and an anchor"),
        (line(question="a", answer="x", answers=["y"]), "not both"),
        (line(question="a", answr="x"), "did you mean 'answer'?"),
        (line(question="a", colour="x"), "leave it out"),
        ('{"question": "a", "question": "b"}', "'question' stands here twice"),
        ('{"question": "a\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_what_is_wrong_is_told(text: str, says: str) -> None:
    ((_, told),) = mistakes(text)
    assert says in told


def test_all_mistakes_are_told_at_once_with_their_lines() -> None:
    text = "\n".join(("", "{", line(question="a"), line(question=1, answers=1)))
    assert [number for number, _ in mistakes(text)] == [2, 4, 4]
    with pytest.raises(QuestionsError, match=r"(?s)line 2: .*\nline 4: .*\nline 4: "):
        load_questions(text)


def test_a_question_or_an_id_given_twice_is_told_with_the_first_line() -> None:
    (again,) = mistakes("\n".join((line(question="a"), line(question="a"))))
    assert again == (2, "this is the question of line 1 again; leave one out.")
    (taken,) = mistakes("\n".join((line(question="a", id="x"), line(question="b", id="x"))))
    assert taken[0] == 2
    assert "taken by line 1" in taken[1]


def test_the_same_question_about_another_page_is_another_question() -> None:
    text = "\n".join((line(question="a", page="x.html"), line(question="a", page="y.html")))
    assert len({question.id for question in load_questions(text)}) == 2


def test_real_questions_load(shared: Path) -> None:
    found = load_questions((shared / "data/ray/questions.jsonl").read_text(encoding="utf-8"))
    assert len(found) == 145
    assert sum(question.gold[0].anchor is not None for question in found) >= 113
