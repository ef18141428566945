"""What a question asks for."""

import pytest

from ingest.text.words import terms
from navigator.extracts.question_form import Form, wanted


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("what is a bare repository?", "definition"),
        ("What does --mixed do?", "definition"),
        ("default of max_connections", "default"),
        ("how long is the timeout by default?", "default"),
        ("difference between Rc and RefCell", "difference"),
        ("VACUUM vs. ANALYZE", "difference"),
        ("how does fetch differ from pull?", "difference"),
        ("should I use repokey or keyfile?", "difference"),
        ("error: cannot bind to port 80", "error"),
        ("what is ORA-00942?", "error"),
        ("how do I rename a branch", "how"),
        ("rename a branch", "how"),
        ("Where are logs kept?", "other"),
    ],
)
def test_the_form_of_a_question(question: str, form: Form) -> None:
    assert wanted(question, {}, 0).form == form


def test_the_sides_of_a_difference_are_its_things() -> None:
    assert wanted("what is the difference between git fetch and git pull?", {}, 0).sides == (
        frozenset({"git", "fetch"}),
        frozenset({"git", "pull"}),
    )


def test_weights_add_up_to_one_and_rare_words_weigh_more() -> None:
    asked = wanted("set the valve of the pump", {"set": 300, "valve": 2, "pump": 300}, 300)
    weights = {word.text: word.weight for word in asked.words}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["valve"] > weights["pump"] > weights["set"]


def test_an_identifier_counts_whole_and_its_parts_for_less() -> None:
    asked = wanted("shared_buffers", {}, 0)
    assert asked.share(set(terms("the shared_buffers setting"))) == pytest.approx(1.0)
    assert 0 < asked.share({"buffer"}) < asked.share({"share", "buffer"}) < 1


def test_of_two_words_that_no_page_holds_a_name_weighs_more() -> None:
    counts = {"port": 20, "Redis": 0, "knob": 0}
    asked = wanted("port knob Redis", counts, 100)
    assert [word.absent for word in asked.words] == [False, True, True]
    weights = {word.text: word.weight for word in asked.words}
    assert weights["Redis"] == pytest.approx(2 * weights["knob"])


def test_words_of_a_follow_up_are_told_from_those_of_the_question_before() -> None:
    asked = wanted("What is huge_pages? – and on Windows?", {}, 0)
    assert [word.text for word in asked.words if word.new] == ["Windows"]


@pytest.mark.parametrize(
    ("question", "held", "foreign"),
    [
        ("wie mache ich den letzten commit wieder weg", ["den", "commit"], True),
        ("how do I undo the last commit", ["how", "do", "I", "undo", "the", "last", "commit"], False),
        ("who won the world cup", ["who", "the", "world"], False),
        ("元に戻す方法 コミット 最後", [], True),
        ("Redis sentinel", [], False),
    ],
)
def test_a_question_is_foreign_if_no_page_holds_most_of_its_words(
    question: str, held: list[str], foreign: bool
) -> None:
    counts = {word: int(word in held) for word in question.split()}
    assert wanted(question, counts, 10).foreign is foreign
