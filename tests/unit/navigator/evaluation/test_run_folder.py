"""A run's folder: nothing that was written is lost, and nothing torn is taken for whole."""

from pathlib import Path

import pytest

from navigator.answer import Usage
from navigator.batch.lines import JsonLines
from navigator.evaluation.folder import OPINIONS, RESULTS, RunFolder
from navigator.evaluation.results import Result, load_result
from tests.unit.navigator.evaluation.made import answer, result

ONE = result("q1", "rit", answer("Äh\u2028 \n ja", ["install#apt"]))
TWO = result("q2", "rit", answer("No."))


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.keep(ONE, "a")
        folder.keep_opinion("k", {"right": True}, Usage(3, cost=0.1))
    with RunFolder(tmp_path / "run") as folder:
        assert folder.result("rit", "q1", "a") == ONE
        assert folder.opinion("k") == ({"right": True}, Usage(3, cost=0.1))
        assert folder.questions == {"q1"}
        assert folder.unreadable == 0


def test_an_answer_to_something_else_is_there_and_is_not_given(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
        assert folder.result("rit", "q1", "b") is None
        assert folder.has("rit", "q1")
        assert not folder.has("rit", "q2")
        assert folder.opinion("k") is None


def test_the_later_of_two_answers_counts(tmp_path: Path) -> None:
    again = result("q1", "rit", answer("Yes."))
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
        folder.keep(again, "a")
    with RunFolder(tmp_path) as folder:
        assert folder.result("rit", "q1", "a") == again


def test_every_line_is_a_result_for_who_wants_to_read_it(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
        folder.keep(TWO, "b")
        lines = (tmp_path / RESULTS).read_bytes().splitlines()
    assert [load_result(line) for line in lines] == [ONE, TWO]


@pytest.mark.parametrize("cut", [1, 2, 40, -1])
def test_a_torn_last_line_is_taken_away_and_what_follows_stands_on_its_own(tmp_path: Path, cut: int) -> None:
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
        folder.keep(TWO, "b")
    path = tmp_path / RESULTS
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + cut] if cut > 0 else whole[:cut])
    with RunFolder(tmp_path) as folder:
        assert folder.result("rit", "q1", "a") == ONE
        assert folder.result("rit", "q2", "b") is None
        assert folder.unreadable == 0
        folder.keep(TWO, "b")
    assert path.read_bytes() == whole


def test_a_line_that_cannot_be_read_is_counted_and_passed_over(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
    for name in (RESULTS, OPINIONS):
        with (tmp_path / name).open("ab") as file:
            file.write(b'{"contender": "rit"}\n\xff\xfe\n')
    with RunFolder(tmp_path) as folder:
        assert folder.unreadable == 4
        assert folder.result("rit", "q1", "a") == ONE


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.keep(ONE, "a")
        with pytest.raises(OSError, match="another process writes here"), RunFolder(tmp_path):
            pass
        folder.keep(TWO, "b")
    with RunFolder(tmp_path) as folder:
        assert folder.questions == {"q1", "q2"}


def test_a_line_with_a_line_break_in_it_is_refused(tmp_path: Path) -> None:
    with JsonLines(tmp_path / "lines") as lines, pytest.raises(ValueError, match="line break"):
        lines.append("one\ntwo")


def test_text_that_is_not_unicode_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    broken: Result = result("q1", "rit", answer("\ud800"))
    with RunFolder(tmp_path) as folder, pytest.raises(ValueError, match=r"surrogates|utf-8|unicode"):
        folder.keep(broken, "a")
    assert (tmp_path / RESULTS).read_bytes() == b""
