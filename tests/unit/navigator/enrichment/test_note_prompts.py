"""What the model is asked about a section, and what is taken of its reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.model import Block, Node
from ingest.notes import InducedOutline, SectionSummary
from navigator.enrichment.note_prompts import (
    MAX_OUTLINED_CHARACTERS,
    MAX_SUMMARISED_CHARACTERS,
    outline_prompts,
    read_outline,
    read_summary,
    summary_prompts,
)
from navigator.models.tokens import tokens_in

SENTENCE = "Set port in pump.toml to change where Pump listens, then restart the service with pumpctl restart. "
NODE = Node(
    "n", None, 1, "Change the port", blocks=(Block("text", SENTENCE * 2), Block("list", "a\nb", None, ("- ",) * 2))
)
LONG = Node("n", None, 0, "Manual", kind="page", blocks=tuple(Block("text", f"{n} {SENTENCE}") for n in range(60)))


def said(**fields: Any) -> str:
    return json.dumps(fields)


def summary(reply: str, words: int = 25) -> SectionSummary:
    return read_summary(reply, node=NODE, words=words)


# --- summaries


def test_a_section_is_asked_about_with_its_title_and_its_text_as_a_reader_sees_it() -> None:
    (question,) = summary_prompts([NODE], 25)
    assert question.hash == NODE.own_hash
    assert "Change the port" in question.prompt
    assert SENTENCE in question.prompt
    assert "- a\n- b" in question.prompt
    assert "at most 25 words" in question.system
    assert question.read(said(summary="How to change it.", keywords=[])) == SectionSummary("How to change it.", ())


def test_sections_as_short_as_their_summary_and_containers_are_not_asked_about() -> None:
    short = Node("s", None, 1, "Short", blocks=(Block("text", "Restart it once a week."),))
    unspaced = Node("u", None, 1, "中文", blocks=(Block("text", "把端口改成" * 12),))
    assert summary_prompts([short, Node("c", None, 1, "Container")], 25) == []
    assert len(summary_prompts([unspaced], 25)) == 1


def test_of_a_huge_section_the_beginning_is_shown() -> None:
    huge = Node("h", None, 1, "Huge", blocks=(Block("text", SENTENCE * 5_000),))
    (question,) = summary_prompts([huge], 25)
    assert len(question.prompt) < MAX_SUMMARISED_CHARACTERS + 100


def test_keywords_that_stand_in_the_section_are_kept_in_order_and_at_most_six() -> None:
    listed = [
        "pump.toml",
        "PORT",
        "kubernetes",
        "port",
        "pump.toml",
        7,
        "",
        "listens",
        "pumpctl restart",
        "service",
        "Pump",
        "a\nb",
    ]
    found = summary(said(summary="How to change the port.", keywords=listed))
    assert found.keywords == ("pump.toml", "PORT", "port", "listens", "pumpctl restart", "service")
    assert summary(said(summary="Ports.", keywords="port")).keywords == ()
    assert summary(said(summary="Ports.")).keywords == ()


def test_a_summary_becomes_one_line() -> None:
    assert summary(said(summary=" How to\n\tchange\u200b it. ")).summary == "How to change it."


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        said(keywords=["port"]),
        said(summary=""),
        said(summary=["How to change it."]),
        said(summary="word " * 31),
        said(summary="长" * 301),
    ],
)
def test_a_reply_without_a_summary_or_with_one_too_long_is_of_no_use(reply: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        summary(reply)


def test_a_fifth_more_words_than_asked_for_are_taken() -> None:
    assert summary(said(summary="word " * 30)).summary


# --- outlines


def test_only_long_sections_without_headings_are_asked_about() -> None:
    assert [q.hash for q in outline_prompts([LONG], 1_500)] == [LONG.own_hash]
    assert outline_prompts([LONG], 3_000) == []
    assert outline_prompts([LONG, Node("c", "n", 2, "Child")], 1_500) == []
    assert outline_prompts([NODE], 1) == []


def test_blocks_are_shown_with_their_numbers_and_beginnings() -> None:
    (question,) = outline_prompts([LONG], 1_500)
    lines = question.prompt.splitlines()
    assert lines[0] == "<title>Manual</title>"
    assert lines[2].startswith("0: 0 Set port")
    assert lines[61].startswith("59: 59 Set port")


def test_very_many_blocks_are_shown_within_bounds() -> None:
    for count in (599, 601, 5_000):
        huge = Node("h", None, 0, "Huge", blocks=(Block("code", SENTENCE * 30),) * count)
        (question,) = outline_prompts([huge], 1_500)
        shown = [int(line.partition(":")[0]) for line in question.prompt.splitlines()[2:-1]]
        assert len(question.prompt) < MAX_OUTLINED_CHARACTERS * 1.5
        assert shown[0] == 0
        assert shown == sorted(set(shown))
        assert max(shown) < count
        assert len(shown) >= 300


def test_titles_come_with_the_numbers_of_their_first_blocks() -> None:
    reply = said(sections=[{"first": 2, "title": "## Install *Pump*"}, {"first": 30, "title": "Use\nPump"}])
    assert read_outline(reply, blocks=60) == InducedOutline((("Install *Pump", 2), ("Use Pump", 30)))
    assert read_outline(said(sections=[]), blocks=60) == InducedOutline(())


@pytest.mark.parametrize(
    "reply",
    [
        "No.",
        said(parts=[]),
        said(sections="none"),
        said(sections=[1, 2]),
        said(sections=[{"first": "2", "title": "A"}, {"first": 3, "title": "B"}]),
        said(sections=[{"first": True, "title": "A"}, {"first": 3, "title": "B"}]),
        said(sections=[{"title": "A"}, {"first": 3, "title": "B"}]),
        said(sections=[{"first": 2, "title": None}, {"first": 3, "title": "B"}]),
        said(sections=[{"first": 2, "title": "A"}]),
        said(sections=[{"first": 2, "title": "A"}, {"first": 60, "title": "B"}]),
        said(sections=[{"first": 3, "title": "A"}, {"first": 2, "title": "B"}]),
    ],
)
def test_a_reply_that_does_not_say_parts_is_of_no_use(reply: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_outline(reply, blocks=60)


def test_an_estimate_of_tokens_is_not_too_small_for_any_script() -> None:
    assert tokens_in("") == 0
    assert tokens_in("abcd") == 2
    assert tokens_in("端口") == 2
    assert tokens_in("\ud800") == 1
