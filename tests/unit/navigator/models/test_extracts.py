"""Extracts: which units of what was read answer a question, and how they are quoted."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.answer import Passage
from navigator.models.extractive import quoted
from navigator.models.extracts import (
    Extract,
    Nearness,
    Standing,
    Unit,
    Weights,
    choose_units,
    cosine,
    nearness,
    units_of,
)
from tests.fakes.embedder import HashingEmbedder


def passage(*blocks: Block, number: int = 1) -> Passage:
    return Passage(
        number, f"n{number}", "h", "k", "u", "l", ("P", f"S{number}"), blocks, datetime(2026, 1, 1, tzinfo=UTC)
    )


async def extracts(question: str, *passages: Passage, weights: Weights | None = None) -> list[Extract]:
    units, embedder = units_of(passages), HashingEmbedder()
    vectors = await embedder.embed([unit.text for unit in units])
    wanted = weights or Weights(threshold=0.3)
    query = await embedder.embed_query(question)
    titles = await embedder.embed([" › ".join(p.path) for p in passages])
    near = nearness(question, units, [p.path[-1] for p in passages], vectors, query, wanted)
    return choose_units(units, near, [Standing(0.0, cosine(v, query)) for v in titles], wanted)


def texts(extract: Extract) -> list[str]:
    return [unit.text for unit in extract.units]


PORTS = passage(
    Block("text", "Pumpkin is a server. It listens on port 8080 by default. It was written in 2020."),
    Block("text", "To change the port, set PUMPKIN_PORT:"),
    Block("code", "export PUMPKIN_PORT=9090\npumpkin start", "bash"),
    Block("text", "Logs go to a file."),
)


async def test_the_sentence_that_answers_is_quoted_whole() -> None:
    found = await extracts("Which port does Pumpkin listen on by default?", PORTS)
    assert "It listens on port 8080 by default." in texts(found[0])
    assert "Logs go to a file." not in texts(found[0])


async def test_code_comes_with_the_line_that_announces_it_and_stays_whole() -> None:
    found = await extracts("change the port, set PUMPKIN_PORT", PORTS)
    assert "To change the port, set PUMPKIN_PORT:" in texts(found[0])
    assert "export PUMPKIN_PORT=9090\npumpkin start" in texts(found[0])


async def test_a_short_list_stays_whole_with_its_announcement() -> None:
    steps = Block("list", "stop the pump\nopen the valve\nstart the pump", marks=("1. ", "2. ", "3. "))
    found = await extracts("open the valve", passage(Block("text", "To prime it:"), steps))
    assert texts(found[0]) == ["To prime it:", "1. stop the pump", "2. open the valve", "3. start the pump"]


async def test_nothing_near_gives_nothing() -> None:
    assert await extracts("Who won the cup?", PORTS, weights=Weights(threshold=0.9)) == []
    assert await extracts("Who won the cup?", passage()) == []


async def test_holding_the_questions_words_is_near_enough_whatever_the_vectors_say() -> None:
    found = await extracts("PUMPKIN_PORT", PORTS, weights=Weights(threshold=2.0))
    assert "PUMPKIN_PORT" in " ".join(texts(found[0]))


async def test_at_most_three_nodes_speak() -> None:
    many = [passage(Block("text", f"The port of server {n} is 80."), number=n) for n in range(6)]
    assert len(await extracts("the port of server", *many)) == 3


async def test_a_large_table_gives_rows_under_its_first() -> None:
    rows = ["name\tdefault", *(f"option{n}\tvalue{n}" for n in range(20))]
    found = await extracts("default of option7", passage(Block("table", "\n".join(rows))))
    assert "name | default\noption7 | value7" in texts(found[0])


def test_a_gap_shows_as_an_ellipsis_and_markup_in_quotations_is_plain() -> None:
    units = units_of([PORTS])
    assert quoted(units[:2], PORTS) == "Pumpkin is a server. It listens on port 8080 by default."
    assert quoted([units[0], units[2]], PORTS) == "Pumpkin is a server. … It was written in 2020."
    assert quoted([units[3], units[5]], PORTS) == "To change the port, set PUMPKIN\\_PORT:\n\n…\n\nLogs go to a file."


@pytest.mark.parametrize("code", ["a ``` b", "````", "plain"])
def test_a_fence_is_longer_than_any_run_of_backticks_in_the_code(code: str) -> None:
    block = passage(Block("code", code, "sh"))
    lines = quoted(units_of([block]), block).split("\n")
    assert lines[0].rstrip("sh").strip("`") == ""
    assert lines[-1] not in code
    assert "\n".join(lines[1:-1]) == code


BLOCK = st.builds(
    Block,
    st.sampled_from(["text", "code", "table", "terms", "quote"]),
    st.text(alphabet="ab .:\n\t`*", min_size=1, max_size=60).filter(str.strip),
)


@given(st.lists(BLOCK, max_size=6), st.lists(st.floats(0, 1), min_size=60, max_size=60))
def test_extracts_are_in_document_order_and_never_empty(blocks: list[Block], scores: list[float]) -> None:
    read = [passage(*blocks)]
    units: list[Unit] = units_of(read)[:60]
    near = [Nearness(s, s, s, s) for s in scores[: len(units)]]
    for extract in choose_units(units, near, [Standing(1.0)], Weights()):
        positions = [unit.position for unit in extract.units]
        assert positions == sorted(set(positions))
        assert positions
        assert quoted(extract.units, read[0]).strip()


async def test_a_definition_comes_with_its_term() -> None:
    options = Block("terms", "-l\nUse local time.\n-n\n--number\nKeep that many files.", marks=("", "  ", "", "", "  "))
    assert [unit.text for unit in units_of([passage(options)])] == [
        "-l\n  Use local time.",
        "-n\n--number\n  Keep that many files.",
    ]


def test_lines_of_a_paragraph_stay_lines() -> None:
    block = passage(Block("text", "curl http://a\ncurl https://a"))
    assert quoted(units_of([block]), block) == "curl http://a  \ncurl https://a"


async def test_a_section_whose_title_is_the_question_is_near_enough() -> None:
    titled = replace(passage(Block("text", "Set it in pump.toml.")), path=("Pump", "Change the port"))
    strict = Weights(threshold=2.0, held=2.0)
    assert texts((await extracts("change the port pump", titled, weights=strict))[0]) == ["Set it in pump.toml."]
    assert await extracts("completely other words", titled, weights=strict) == []


async def test_what_the_title_says_no_sentence_needs_to_say_again() -> None:
    memory = replace(
        passage(
            Block("text", "Set shared_buffers with care, shared_buffers matters. It is 128 MB as its default value.")
        ),
        path=("Memory", "shared_buffers"),
    )
    found = await extracts(
        "default value of shared_buffers", memory, weights=Weights(threshold=0.0, units=1, meaning=0.1, words=0.9)
    )
    assert texts(found[0]) == ["It is 128 MB as its default value."]


def test_a_long_definition_is_cut_into_its_paragraphs_under_the_term() -> None:
    lines = ["CASCADE", *("word " * 100 + str(n) for n in range(4))]
    block = Block("terms", "\n".join(lines), marks=("", *["  "] * 4))
    units = [unit.text for unit in units_of([passage(block)])]
    assert len(units) == 4
    assert all(unit.startswith("CASCADE\n  word") for unit in units)
