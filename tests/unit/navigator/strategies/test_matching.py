"""Names, words of one page, neighbours: the finer ways to choose among chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Chunk
from ingest.ports import Hit
from navigator.strategies.matching import around, by_words, naming


def found(name: str, *texts: str) -> list[str]:
    """The texts that hold the name, in the order in which they are given."""
    hits = [(Hit(text, "n", "p", 1.0), text) for text in texts]
    return [hit.chunk_id for hit in naming(name, hits)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ORA-00942", "The error ORA-00942 means it."),
        ("--force", "Run with --force, always."),
        ("C++", "Written in C++."),
        ("ray.init", "Call ray.init() first."),
        ("Ray Serve", "Use Ray\n  Serve for it."),
        ("(beta)", "The pump (beta) runs."),
        ("東京", "これは東京です"),
        ("Kafka", "東京のKafkaを使う"),
        ("ポンプ", "新しいポンプを買う"),
        ("카프카", "아파치카프카는"),
        ("Zoë", "ask Zoë."),
        ("kafka", "Kafka is a log."),
        ("KAFKA", "kafka is a log."),
    ],
)
def test_a_name_is_found_as_it_stands(name: str, text: str) -> None:
    assert found(name, text) == [text]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ray", "An array of things."),
        ("Ray", "Rays of light."),
        ("caf", "The café is open."),
        ("ray.init", "Call rayXinit() first."),
        ("Ray Serve", "RayServe is one word."),
        ("port", "import it"),
        ("Ray", ""),
    ],
)
def test_a_part_of_a_longer_word_is_no_name(name: str, text: str) -> None:
    assert found(name, text) == []


def test_chunks_that_write_the_name_exactly_come_first_and_else_the_order_stays() -> None:
    assert found("PATH", "a path", "the PATH", "Path too", "PATH again") == [
        "the PATH",
        "PATH again",
        "a path",
        "Path too",
    ]


def chunk(number: int, node: str, terms: str = "") -> Chunk:
    return Chunk(f"c{number}", node, "page", "docs", "", "Path", "text", terms)


def test_chunks_that_hold_more_and_rarer_words_come_first() -> None:
    chunks = [chunk(0, "a", "pump water"), chunk(1, "a", "pump prime"), chunk(2, "b", "pump"), chunk(3, "b", "valve")]
    assert [each.id for each in by_words(chunks, ["pump", "prime"])] == ["c1", "c0", "c2"]
    assert by_words(chunks, ["rocket"]) == []
    assert by_words(chunks, []) == []
    assert by_words([], ["pump"]) == []


def test_one_rare_word_outweighs_one_that_all_hold() -> None:
    chunks = [chunk(0, "a", "pump"), chunk(1, "a", "pump"), chunk(2, "b", "seal"), chunk(3, "b", "pump")]
    assert by_words(chunks, ["pump", "seal"])[0].id == "c2"


PAGE = [chunk(n, node) for n, node in enumerate("aabbbbcc")]
ALL = {each.id for each in PAGE}


def near(centre: str, count: int, allowed: set[str] = ALL) -> list[str]:
    return [each.id for each in around(PAGE, {centre}, allowed - {centre}, count)]


def test_around_a_chunk_stand_the_others_of_its_node_then_what_is_nearest() -> None:
    assert near("c3", 1) == ["c4"], "what follows before what is as far in front"
    assert near("c3", 2) == ["c2", "c4"]
    assert near("c3", 3) == ["c2", "c4", "c5"], "the node's own before a nearer one of another"
    assert near("c3", 4) == ["c1", "c2", "c4", "c5"]
    assert near("c2", 4) == ["c1", "c3", "c4", "c5"]


def test_around_a_whole_node_stands_what_is_before_and_after_it() -> None:
    assert near("b", 2, ALL - {"c2", "c3", "c4", "c5"}) == ["c1", "c6"]


def test_what_was_read_is_passed_over() -> None:
    assert near("c3", 2, ALL - {"c2", "c4", "c5"}) == ["c1", "c6"]
    assert near("c3", 5, set()) == []


def test_nothing_stands_around_what_is_gone() -> None:
    assert near("gone", 3) == []


@given(st.sampled_from(PAGE), st.sets(st.sampled_from(sorted(ALL))), st.integers(0, 9))
def test_neighbours_are_in_document_order_as_many_as_there_are(centre: Chunk, allowed: set[str], count: int) -> None:
    given_back = around(PAGE, {centre.id}, allowed, count)
    assert given_back == [each for each in PAGE if each in given_back]
    assert {each.id for each in given_back} <= allowed
    assert len(given_back) == min(count, len(allowed))


def test_around_neighbours_that_were_read_as_one_stands_what_is_before_and_after_them() -> None:
    unread = ALL - {"c3", "c4"}
    assert [each.id for each in around(PAGE, {"c3", "c4"}, unread, 3)] == ["c2", "c5", "c6"]
