"""Extracts: which units of what was read answer a question."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.answer import Passage
from navigator.extracts.choice import MAX_EXTRACTS, Bounds, Extract, chosen, found
from navigator.extracts.question_form import Wanted, wanted
from navigator.extracts.scoring import Signals, Weights, signals_of, titles_of
from navigator.extracts.units import Unit, units_of
from tests.unit.navigator.extracts.made import code, list_block, passage, terms_block, text

PORTS = passage(
    text("Pumpkin is a server. It listens on port 8080 by default. It was written in 2020."),
    text("To change the port, set PUMPKIN_PORT:"),
    code("export PUMPKIN_PORT=9090\npumpkin start", "bash"),
    text("Logs go to a file."),
)


def weighed(question: str, *passages: Passage, known: str = "") -> tuple[Wanted, list[Unit], list[Signals]]:
    """Without meaning: words, titles and forms alone. `known`: words that the index holds beside those of the passages."""
    held = f"{known} {' '.join(block.text for p in passages for block in p.blocks)}".casefold()
    counts = {word: held.count(word.casefold().strip("?.,:")) for word in question.replace("?", "").split()}
    asked, units = wanted(question, counts, 1000), units_of(passages)
    return asked, units, signals_of(question, asked, units, passages, [1.0] * len(passages))


def extracts(question: str, *passages: Passage) -> list[Extract]:
    asked, units, signals = weighed(question, *passages)
    return chosen(asked, units, signals, Weights(), Bounds())


def shown(extract: Extract) -> str:
    return "\n".join(piece.text.strip("\n") for piece in extract.pieces)


def test_code_comes_with_the_line_that_announces_it_and_stays_whole() -> None:
    assert "PUMPKIN_PORT:\nexport PUMPKIN_PORT=9090\npumpkin start" in shown(extracts("change the port", PORTS)[0])


def test_one_extract_where_one_answers() -> None:
    noise = passage(
        text("A port is a harbour, and this is about something else altogether."), number=2, path=("Sea", "Ships")
    )
    (only,) = extracts("How do I change PUMPKIN_PORT?", PORTS, noise)
    assert only.passage == 0
    assert "Logs go to a file." not in shown(only)


def test_the_default_of_a_thing_is_its_own_not_its_neighbours() -> None:
    settings = passage(
        terms_block(
            "superuser_connections",
            "  Connections kept free of those that max_connections allows. The default is three connections.",
            "max_connections",
            "  How many clients may connect at once. The default is 100 connections.",
        )
    )
    first = shown(extracts("What is the default of max_connections?", settings)[0])
    assert first.startswith("max_connections\n")
    assert "three" not in first


def test_of_a_difference_both_sides_are_told() -> None:
    fetch = passage(text("Fetch downloads what is new and changes no branch of yours."), path=("Git", "fetch"))
    pull = passage(
        text("Pull downloads what is new and then merges it into your branch."), path=("Git", "pull"), number=2
    )
    found = extracts("What is the difference between fetch and pull?", fetch, pull)
    assert {extract.passage for extract in found} == {0, 1}


def test_an_error_message_gets_its_cause_and_cure_not_itself_again() -> None:
    errors = passage(
        text("You may see this:"),
        code("pumpkin: error: cannot bind to port 8080: address in use"),
        text("Another program holds that socket already. Stop it, or choose a free one with the option -p."),
    )
    (only, *_) = extracts("pumpkin: error: cannot bind to port 8080: address in use", errors)
    assert "Stop it, or choose a free one" in shown(only)
    assert "address in use" not in shown(only)


@pytest.mark.parametrize(
    ("question", "leads"),
    [
        ("undo a commit but keep the files", "pump reset --soft"),
        ("undo a commit and throw the files away", "pump reset --hard"),
    ],
)
def test_a_destructive_command_leads_only_where_that_is_asked_for(question: str, leads: str) -> None:
    undo = passage(
        terms_block(
            "pump reset --hard",
            "  Undo a commit and throw away the files.",
            "pump reset --soft",
            "  Undo a commit, the files stay.",
        ),
        path=("Pump", "reset"),
    )
    assert shown(extracts(question, undo)[0]).startswith(leads)


def test_code_marked_as_wrong_does_not_answer() -> None:
    borrow = passage(
        text("This code does not compile:"),
        code("let x = 5; let y = borrow_mutably(x);"),
        text("To borrow mutably, declare x with mut first:"),
        code("let mut x = 5; let y = borrow_mutably(x);"),
    )
    answer = "\n".join(map(shown, extracts("How do I borrow mutably?", borrow)))
    assert "let mut x" in answer
    assert "let x = 5" not in answer


def test_the_section_whose_title_is_asked_for_comes_first() -> None:
    titled = passage(text("Turn the valve to the left until water comes."), path=("Pumps", "Priming"))
    other = passage(
        text("Before priming, read about priming in the section on priming pumps."), path=("Pumps", "Safety"), number=2
    )
    assert extracts("priming", other, titled)[0].passage == 1


def test_what_a_follow_up_asks_anew_counts_more_than_what_was_asked_before() -> None:
    pages = passage(
        text("Huge pages are large blocks of memory, and the setting huge_pages asks for them on every start."),
        text("On Windows the right to lock memory must be given to the account first."),
    )
    assert "On Windows" in shown(extracts("What is huge_pages? – and on Windows?", pages)[0])


def test_a_name_that_no_page_holds_is_not_answered_from_what_sounds_like_it() -> None:
    bounds = Bounds()
    asked, _, named = weighed("How do I change the port of Pumpkin?", PORTS)
    other, _, absent = weighed("How do I change the port of Redis?", PORTS)
    assert max(s.covers for s in absent) < max(s.covers for s in named)
    assert found(asked, [replace_meaning(s, 0.4) for s in named], bounds)
    assert not found(other, [replace_meaning(s, 0.4) for s in absent], bounds)


def replace_meaning(signals: Signals, means: float) -> Signals:
    return replace(signals, means=means)


def test_nothing_read_gives_nothing() -> None:
    assert not found(wanted("x", {}, 0), [], Bounds())
    assert extracts("Who won the cup?", passage()) == []


BLOCK = st.builds(
    Block,
    st.sampled_from(["text", "code", "table", "terms", "quote"]),
    st.text(alphabet="ab .:\n\t`*", min_size=1, max_size=60).filter(str.strip),
)


@given(
    st.lists(BLOCK, min_size=1, max_size=6),
    st.sampled_from(["what is a b", "difference between a b and b", "error: a b"]),
)
def test_extracts_are_in_document_order_and_never_empty(blocks: list[Block], question: str) -> None:
    made = extracts(question, passage(*blocks), passage(list_block("a b", "b"), number=2))
    assert len(made) <= MAX_EXTRACTS
    for extract in made:
        places = [(piece.block, piece.at) for piece in extract.pieces]
        assert places == sorted(places)
        assert shown(extract).strip()


@pytest.mark.parametrize("title", ["DESCRIPTION", "Name", "Overview:", "Überblick"])
def test_a_section_that_any_page_has_is_about_what_stands_above_it(title: str) -> None:
    pages = [
        passage(text(words), path=("Site", f"pump-{name}(1) Manual Page", title), number=n)
        for n, (name, words) in enumerate(
            {
                "merge": "Join the waters of two tanks and let them out.",
                "rebase": "Let the water of one tank into the other once more.",
                "stash": "Put water away.",
                "add": "More water.",
            }.items()
        )
    ]
    question = "difference between pump merge and pump rebase"
    titles = titles_of(wanted(question, {}, 0), [p.path for p in pages])
    assert titles[:2] == [frozenset({"merg"}), frozenset({"rebas"})]
    both = passage(text("A pump merge is undone by a pump rebase."), path=("Site", "Questions", "Undoing"), number=9)
    told = extracts(question, both, *pages)
    assert [(both, *pages)[extract.passage].path[1][:9] for extract in told[:2]] == ["pump-merg", "pump-reba"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("timeout server <timeout>", "timeout server"),
        ("balance <algorithm> [ <arguments> ]", "balance"),
        ("load-state { global | local | none }", "load-state"),
        ("<refspec>", "<refspec>"),
    ],
)
def test_what_a_command_takes_is_no_part_of_its_name(title: str, name: str) -> None:
    asked = wanted("timeout", {}, 0)
    assert titles_of(asked, [("Manual", title)]) == [asked.terms_of(name)]


def test_where_no_side_has_a_place_of_its_own_what_tells_of_both_is_told() -> None:
    both = passage(text("A hose carries water, while a pipe carries gas."), path=("Site", "Parts"))
    other = passage(text("A pipe is long."), path=("Site", "Lengths"), number=2)
    assert [extract.passage for extract in extracts("difference between a hose and a pipe", both, other)] == [0]


@pytest.mark.parametrize(
    ("line", "leads"),
    [("pump drain tank", True), ("pump (drain | fill | open) [--slow | --fast] [--valve <number>] <tank>", False)],
)
def test_a_listing_alone_leads_where_a_line_of_it_says_little_but_what_was_asked(line: str, leads: bool) -> None:
    listing = passage(code(line), path=("Site", "Forms"))
    said = passage(text("To drain a pump that has a tank, open the valve."), path=("Site", "Care"), number=2)
    assert extracts("pump drain tank", listing, said)[0].passage == (0 if leads else 1)


def test_a_section_that_is_called_by_a_name_begins_with_its_definition() -> None:
    option = passage(text("--empty"), text("Let all water out of the tank."), path=("Pump", "-e"))
    told = passage(text("The tank lets out water at night. It is all of steel."), path=("Pump", "Nights"), number=2)
    (first, *_) = extracts("how do I let all water out of the tank?", option, told)
    assert shown(first) == "--empty\nLet all water out of the tank."


def test_two_parts_of_one_long_definition_are_not_told_one_behind_the_other() -> None:
    told = [
        f"  {n}. When the pump is merged with another pump it takes the water of both. {'Really so. ' * 30}"
        for n in range(3)
    ]
    (only,) = extracts("difference between pump merge and pump water", passage(terms_block("Why is it?", *told)))
    assert len(only.pieces) == 1


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("create a tank log", True),
        ("create a tank log in Hydra", False),
        ("create a tank log in Pumpkin", True),
    ],
)
def test_what_is_asked_of_a_product_that_the_pages_only_mention_is_not_answered(question: str, answered: bool) -> None:
    told = passage(text("To create a tank log, open the tank and write."), path=("Pumpkin", "Create a tank log"))
    asked, _, signals = weighed(question, told, known="Hydra Pumpkin")
    assert found(asked, signals, Bounds()) is answered
