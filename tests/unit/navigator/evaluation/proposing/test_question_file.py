"""The file of proposed questions: only added to, mended where a run was killed, never another's edits undone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from navigator.evaluation.proposing.material import Material
from navigator.evaluation.proposing.question_file import QuestionsFile
from navigator.evaluation.questions import EvalQuestion, Gold, QuestionsError, load_questions
from tests.unit.navigator.evaluation.proposing.made import PORT, sections

A, B, C = [Material((section,)) for section in sections(PORT, PORT + " B.", PORT + " C.")]


def question(name: str) -> EvalQuestion:
    return EvalQuestion(name, f"What is {name}?", ("It.",), ("It is.",), (Gold(node=name),), "single-section", True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


def fill(path: Path) -> None:
    with QuestionsFile(path) as file:
        file.accept(question("a"), A)
        file.refuse(B, "quotes")


def test_what_is_accepted_stands_in_the_file_at_once_and_says_that_it_is_unchecked(path: Path) -> None:
    with QuestionsFile(path) as file:
        assert file.questions == []
        file.accept(question("a"), A)
        row = json.loads(path.read_text(encoding="utf-8"))
        assert (row["synthetic"], row["checked"]) == (True, False)
        assert load_questions(path.read_text(encoding="utf-8")) == file.questions == [question("a")]


def test_what_was_asked_is_known_again(path: Path) -> None:
    fill(path)
    with QuestionsFile(path) as file:
        assert [file.asked(each) for each in (A, B, C)] == [True, True, False]
        assert file.questions == [question("a")]


def test_sections_that_say_something_else_now_may_be_asked_about_again(path: Path) -> None:
    fill(path)
    (changed, *_) = sections(PORT + " Now.")
    with QuestionsFile(path) as file:
        file.refuse(C, "form")
        moved = replace(changed, located=replace(changed.located, node=replace(changed.located.node, id="c")))
        assert file.asked(C)
        assert not file.asked(Material((moved,)))


def test_a_run_killed_between_its_two_files_finds_the_question_by_its_gold(path: Path) -> None:
    fill(path)
    path.with_name("questions.jsonl.asked").unlink()
    with QuestionsFile(path) as file:
        assert [file.asked(each) for each in (A, B)] == [True, False]


def test_edits_marks_and_deletions_stay(path: Path) -> None:
    with QuestionsFile(path) as file:
        file.accept(question("a"), A)
        file.accept(question("b"), B)
    edited = path.read_text(encoding="utf-8").splitlines()[0].replace("What is a?", "What  is  a, then?")
    path.write_text(edited.replace('"checked": false', '"checked": true'), encoding="utf-8")
    with QuestionsFile(path) as file:
        assert [(q.question, q.checked) for q in file.questions] == [("What  is  a, then?", True)]
        assert file.asked(B)
        file.accept(question("c"), C)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == edited.replace('"checked": false', '"checked": true')
    assert json.loads(lines[1])["id"] == "c"


def test_a_file_that_an_editor_replaces_meanwhile_is_the_one_that_is_added_to(path: Path) -> None:
    with QuestionsFile(path) as file:
        file.accept(question("a"), A)
        other = path.with_name("editor")
        other.write_bytes(path.read_bytes().rstrip(b"\n"))
        other.replace(path)
        file.accept(question("b"), B)
    assert [q.id for q in load_questions(path.read_text(encoding="utf-8"))] == ["a", "b"]


def test_a_torn_last_line_is_taken_away_wherever_it_was_torn(path: Path) -> None:
    fill(path)
    whole = path.read_bytes()
    for length in range(1, len(whole) - 1):
        path.write_bytes(whole + whole[:length])
        with QuestionsFile(path) as file:
            assert file.torn
            assert path.read_bytes() == whole
            assert len(file.questions) == 1


def test_an_unfinished_line_of_a_person_is_reported_and_left(path: Path) -> None:
    fill(path)
    broken = path.read_bytes() + b'{"question": "How do I'
    path.write_bytes(broken)
    with pytest.raises(QuestionsError, match="line 2: this is not JSON"), QuestionsFile(path):
        pass
    assert path.read_bytes() == broken
    path.write_bytes(broken + b'?"}')
    with QuestionsFile(path) as file:
        assert [q.question for q in file.questions] == ["What is a?", "How do I?"]


@pytest.mark.parametrize("there", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_one_without_questions(path: Path, there: bytes) -> None:
    path.write_bytes(there)
    with QuestionsFile(path) as file:
        assert file.questions == []
        file.accept(question("a"), A)
    assert len(load_questions(path.read_text(encoding="utf-8"))) == 1


def test_a_file_in_another_encoding_is_refused(path: Path) -> None:
    path.write_bytes('{"question": "Wie groß?"}\n'.encode("utf-16"))
    with pytest.raises(QuestionsError, match="UTF-8"), QuestionsFile(path):
        pass


def test_two_runs_cannot_write_one_file(path: Path) -> None:
    with QuestionsFile(path), pytest.raises(OSError, match="another process"), QuestionsFile(path):
        pass
    with QuestionsFile(path):
        pass


def test_who_only_looks_writes_nothing(path: Path) -> None:
    with QuestionsFile(path, look_only=True) as file:
        assert not file.asked(A)
    assert list(path.parent.iterdir()) == []
    fill(path)
    torn = path.read_bytes() + b'{"id": "tor'
    path.write_bytes(torn)
    with QuestionsFile(path), QuestionsFile(path, look_only=True) as looking:
        assert [looking.asked(each) for each in (A, B, C)] == [True, True, False]
    path.write_bytes(torn)
    with QuestionsFile(path, look_only=True) as looking:
        assert looking.torn
    assert path.read_bytes() == torn
