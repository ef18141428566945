"""Words of an answer beside those of gold answers (navigator/evaluation/metrics.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navigator.evaluation.metrics import (
    em_recall,
    equal_numbers,
    exact_match,
    nuggets_covered,
    string_f1,
    token_recall,
    without_markdown,
    words,
)

PROSE = st.lists(st.sampled_from("the red fox 1.5 ran 東京 it's [1] **bold** A".split()), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The U.S. is, a “great” place!", ["us", "is", "great", "place"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("ｆｕｌｌ width", ["full", "width"]),
        ("東京は日本 now", ["東", "京", "は", "日", "本", "now"]),
        ("1.2 12 (3.5). -5 \u22125 5% 1,000 1,000.5 +7 3,5", "1.2 12 3.5 -5 -5 5% 1000 1000.5 7 3.5".split()),
        ("v1.2.3 --flag don't", ["v123", "flag", "dont"]),
        ("zero\u200bwidth", ["zerowidth"]),
        ("… — ¿?", []),
        ("", []),
    ],
)
def test_words_are_compared_without_case_punctuation_and_articles(text: str, said: list[str]) -> None:
    assert words(text) == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Set it. [1][2] Then [3, 4] go.", "Set it.  Then  go."),
        ("See [the guide](https://docs.test/a_(b)) and ![x](y).", "See the guide and x."),
        ("# Title\n- **one**\n* _two_\n1. ~~three~~\n> four", "Title\none\ntwo\nthree\nfour"),
        ("use `a_b[0]` in snake_case_name", "use a_b[0] in snake_case_name"),
        ("```python\nitems[0]\n```\n", "items[0]\n"),
        ("plain", "plain"),
    ],
)
def test_marks_and_markdown_are_no_words(text: str, shown: str) -> None:
    assert without_markdown(text) == shown


def test_cells_of_a_table_are_apart() -> None:
    assert words(without_markdown("|a|b|\n|---|:-:|\n|one|two|")) == ["b", "one", "two"]


@pytest.mark.parametrize(
    ("answer", "gold", "match"),
    [
        ("The Red Fox. [1]", "red fox", True),
        ("**red** fox", "the red fox", True),
        ("red fox ran", "red fox", False),
        ("about 1.23 s", "about 1.2 s", True),
        ("79%", "0.79", True),
        ("東京", "東京。", True),
        ("", "red", False),
        ("the", "...", False),
        ("...", "!!!", False),
    ],
)
def test_exact_match(answer: str, gold: str, match: bool) -> None:
    assert exact_match(answer, [gold]) is match
    assert exact_match(answer, ["something else", gold]) is match
    assert exact_match(answer, []) is False


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("1.2", "1.23", True),
        ("1.2", "1.25", True),
        ("1.3", "1.25", True),
        ("1.2", "1.26", False),
        ("79%", "0.79", True),
        ("79%", "0.793", True),
        ("79%", "79", False),
        ("80%", "0.79", False),
        ("1,000", "1000", True),
        ("1,000", "1.000", False),
        ("5", "5.0", True),
        ("5", "5.4", False),
        ("-5", "5", False),
        ("1,5", "1.5", True),
        ("five", "5", False),
        ("1.2.3", "1.2", False),
    ],
)
def test_numbers_are_equal_under_rounding(first: str, second: str, equal: bool) -> None:
    assert equal_numbers(first, second) is equal
    assert equal_numbers(second, first) is equal


def test_em_recall_finds_a_gold_answer_word_for_word() -> None:
    assert em_recall("It is the red\nfox, **1.23** m long. [1]", ["a red fox 1.2 m"])
    assert not em_recall("It is red, and a fox.", ["fox red"])
    assert not em_recall("12 of them", ["1"])
    assert not em_recall("anything", [])
    assert not em_recall("anything", ["..."])


def test_string_f1_is_of_shared_words_each_as_often_as_in_both() -> None:
    assert string_f1("red red fox", ["red fox ran"]) == pytest.approx(2 / 3)
    assert string_f1("red", ["blue", "red"]) == 1.0
    assert string_f1("red", ["blue"]) == 0.0
    assert string_f1("", ["blue"]) == string_f1("red", []) == 0.0


def test_token_recall_is_the_share_of_the_gold_answer() -> None:
    assert token_recall("a red fox ran very far away", ["the red fox sat"]) == pytest.approx(2 / 3)
    assert token_recall("red", ["red red"]) == 0.5
    assert token_recall("red", ["blue green", "red blue"]) == 0.5
    assert token_recall("red", []) == token_recall("red", ["…"]) == 0.0


def test_a_nugget_is_covered_by_all_its_terms_in_any_form() -> None:
    text = "Clusters are **scaled** with `--max-workers`. [1]"
    assert nuggets_covered(text, ["scaling a cluster", "--max-workers", "scale remote clusters"]) == (True, True, False)
    assert nuggets_covered("Das Haus der Häuser", ["Haus"], "de") == (True,)


def test_a_nugget_of_stop_words_must_stand_there_word_for_word() -> None:
    assert nuggets_covered("It is so.", ["it is", "is it"]) == (True, False)
    assert nuggets_covered("", ["it is"]) == (False,)
    assert nuggets_covered("x", []) == ()


@given(PROSE, PROSE)
def test_figures_are_shares_and_agree_with_one_another(answer: str, gold: str) -> None:
    f1, recall = string_f1(answer, [gold]), token_recall(answer, [gold])
    assert 0 <= f1 <= 1
    assert 0 <= recall <= 1
    if exact_match(answer, [gold]):
        assert em_recall(answer, [gold])
    if words(without_markdown(answer)) == words(gold) != []:
        assert f1 == recall == 1.0
        assert exact_match(answer, [gold])


@given(st.text(max_size=60))
def test_any_text_can_be_measured(text: str) -> None:
    assert token_recall(text, [text]) <= 1
    assert isinstance(nuggets_covered(text, [text])[0], bool)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", [" " * 50_000 + "[", "-" * 50_000, "|" * 50_000, "[1] " * 20_000, "9" * 50_000])
def test_odd_long_answers_take_no_longer(text: str) -> None:
    assert 0 <= string_f1(text, ["gold"]) <= 1
