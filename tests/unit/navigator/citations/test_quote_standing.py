"""Whether what an answer quoted still stands: examples, and what no edit may break."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ingest.model import Block, Node
from navigator.answer import Citation, Passage
from navigator.citations.quote_standing import quote_standing

AT = datetime(2026, 1, 1, tzinfo=UTC)


def node(*texts: str, title: str = "Limits", node_id: str = "n") -> Node:
    return Node(node_id, "p", 2, title, blocks=tuple(Block("text", text) for text in texts))


def cited(was: Node, block: int, quote: str | None = None, last: int | None = None) -> tuple[Citation, Passage]:
    read = Passage(1, was.id, was.own_hash, "k", "u", "u#a", ("Guide", was.title), was.blocks, AT)
    return read.cite(block, last, quote), read


LIMITS = node(
    "Uploads may have 5 MB. Larger ones are refused.", "Ask an admin for more.", "Files are kept for 30 days."
)
FIRST, ASK, KEPT = (block.text for block in LIMITS.blocks)
BIG = "Uploads may have 5 MB."

EXAMPLES = {
    "nothing changed": (LIMITS, "stands", "", ""),
    "another title": (replace(LIMITS, title="Bounds"), "marked", "", ""),
    "other words of the block": (node("Uploads may have 5 MB. Larger ones fail.", ASK, KEPT), "marked", "", ""),
    "other blocks": (node("New here.", FIRST, KEPT), "marked", "", ""),
    "another order": (node(KEPT, ASK, FIRST), "marked", "", ""),
    "white space": (node("Uploads\u00a0may  have\n5 MB. Larger ones are refused.", ASK, KEPT), "marked", "", ""),
    "with something behind it": (node("Uploads may have 5 MB. (Since 2.0.)", ASK), "marked", "", ""),
    "another number": (node("Uploads may have 8 MB. Larger ones are refused.", ASK), "stale", BIG, "Uploads may have 8 MB."),
    "a digit more": (node("Uploads may have 5 MB.5 Larger ones.", ASK), "stale", BIG, "Uploads may have 5 MB.5 Larger ones."),
    "another case": (node("Uploads may have 5 mb.", ASK), "stale", BIG, "Uploads may have 5 mb."),
    "a word inserted": (node("Uploads may not have 5 MB.", ASK), "stale", BIG, "Uploads may not have 5 MB."),
    "removed": (node(ASK, KEPT), "stale", BIG, ""),
    "emptied": (node(), "stale", BIG, ""),
    "the section went": (None, "gone", BIG, ""),
}  # fmt: skip


@pytest.mark.parametrize(("now", "state", "before", "after"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_it_is_judged_by_the_words_that_were_quoted(now: Node | None, state: str, before: str, after: str) -> None:
    found = quote_standing(*cited(LIMITS, 0, BIG), now)
    assert (found.state, found.before, found.after) == (state, before, after)


@pytest.mark.parametrize("now", [None, node(ASK, KEPT), node(ASK.upper())], ids=["went", "split", "split and edited"])
def test_words_that_stand_in_another_section_now_have_moved(now: Node | None) -> None:
    assert quote_standing(*cited(LIMITS, 0, BIG), now, [node(FIRST, node_id="part")]).state == "marked"
    found = quote_standing(*cited(LIMITS, 0, BIG), now, [node(FIRST.replace("5", "8"), node_id="part")])
    assert (found.state, found.after) == ("stale" if now else "gone", "Uploads may have 8 MB.")


def test_what_was_quoted_of_several_blocks_may_go_to_several_sections() -> None:
    citation, read = cited(LIMITS, 0, last=1)
    assert quote_standing(citation, read, node(FIRST), [node(ASK, node_id="part")]).state == "marked"
    assert quote_standing(citation, read, node(FIRST, "Between them.", ASK)).state == "marked"
    found = quote_standing(citation, read, node(FIRST), [node("Ask nobody for more.", node_id="part")])
    assert (found.state, found.before, found.after) == ("stale", ASK, "Ask nobody for more.")


TWICE = node("Press OK.", "Then wait a minute.", "Press OK.", "Then leave.")


@pytest.mark.parametrize(
    ("texts", "state"),
    [
        (("Press OK.", "Then wait a minute.", "Press Cancel.", "Then leave."), "stale"),
        (("Press Cancel.", "Then wait a minute.", "Press OK.", "Then leave."), "marked"),
        (("Then wait a minute.", "Press OK.", "Then go."), "marked"),
    ],
    ids=["the quoted one", "the other one", "another around it"],
)
def test_of_equal_sentences_the_quoted_one_is_told_by_its_neighbours(texts: tuple[str, ...], state: str) -> None:
    assert quote_standing(*cited(TWICE, 2), node(*texts)).state == state


@pytest.mark.parametrize(
    ("was", "now", "state"),
    [
        ("Set it to 5", "Set it to 5.5", "stale"),
        ("Set it to 5", "Set it to 5.", "marked"),
        ("Set it to 5", "Unset it to 5 Set it to 5", "marked"),
        ("set it to 5", "reset it to 5", "stale"),
        ("run --all", "run --all-sites", "stale"),
        ("port\t8080", "port\t80801", "stale"),
        ("port\t8080", "port\t8080\nhost\tany", "marked"),
        ("It’s “on”", 'It\'s "on"', "marked"),
        ("1–2 pumps", "1-2 pumps", "marked"),
        ("caf\u00e9", "cafe\u0301", "marked"),
        ("soft\u00adware", "software", "marked"),
        ("水泵必须先注满水。", "新的。水泵必须先注满水。好的。", "marked"),
        ("水泵必须先注满水。", "水泵不必先注满水。", "stale"),
        ("x²", "x2", "stale"),
    ],
)
def test_a_sentence_stands_whole_or_not_at_all(was: str, now: str, state: str) -> None:
    assert quote_standing(*cited(node(was), 0), node(now)).state == state


def test_what_was_quoted_from_within_a_word_is_looked_for_so() -> None:
    """A passage is cut where it is too long, and a model quotes as it likes."""
    section = node("ritbot_settings are read first.")
    assert quote_standing(*cited(section, 0, "settings are read"), node(section.text, "More.")).state == "marked"


def test_a_passage_that_is_part_of_a_section_is_cited_by_its_own_blocks() -> None:
    part = Passage(1, "n", LIMITS.own_hash, "k", "u", "u#a", ("Limits",), LIMITS.blocks[1:], AT, at=1)
    assert quote_standing(part.cite(1), part, node(FIRST, KEPT)).state == "marked"
    assert quote_standing(part.cite(0), part, node(FIRST, KEPT)).state == "stale"


def test_of_an_answer_without_passages_the_words_are_enough() -> None:
    citation, _ = cited(LIMITS, 0, BIG)
    assert quote_standing(citation, None, node(ASK, FIRST)).state == "marked"
    assert quote_standing(citation, None, node(ASK)).state == "stale"


words = st.lists(st.sampled_from("pump valve seal 5 30 MB water 水 --all".split()), min_size=1, max_size=5)
sentence = st.builds(lambda number, said: f"Rule {number}: {' '.join(said)}.", st.integers(100, 999), words)
blocks = st.lists(st.lists(sentence, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=5)
choices = st.integers(0, 10)


@given(blocks, choices, blocks, choices, st.booleans())
def test_an_edit_elsewhere_never_makes_an_answer_stale(
    texts: list[str], which: int, others: list[str], place: int, moved: bool
) -> None:
    """Whatever stands around the quoted block, which no other says again, and whether it stands in a part now."""
    quoted = texts[which % len(texts)]
    assume(all(" ".join(texts).count(rule) == 1 for rule in quoted.split("Rule ")[1:]))
    citation, read = cited(node(*texts), which % len(texts))
    around = [*others]
    around.insert(place % (len(around) + 1), quoted)
    now = node(*around, title="Other")
    assert quote_standing(citation, read, now).state == "marked"
    assert quote_standing(citation, read, node(*others) if moved else None, [now]).state in ("stands", "marked")


@given(blocks, choices, st.sampled_from(["Not so.", "7", "pumps"]), choices)
def test_an_edit_of_the_quoted_words_always_does(texts: list[str], which: int, other: str, place: int) -> None:
    """A word in the place of another, in a block that stands once."""
    at = which % len(texts)
    said = texts[at].split()
    said[place % len(said)] = other
    edited = [*texts[:at], " ".join(said), *texts[at + 1 :]]
    rules = [rule.strip() for rule in " ".join(texts).split("Rule ")[1:]]
    assume(len(set(rules)) == len(rules))
    found = quote_standing(*cited(node(*texts), at), node(*edited))
    assert found.state == "stale"
    assert found.before


@given(blocks, choices, st.text(max_size=20))
def test_a_section_that_says_the_same_under_any_title_or_id_is_never_stale(
    texts: list[str], which: int, title: str
) -> None:
    was = node(*texts)
    citation, read = cited(was, which % len(texts))
    assert quote_standing(citation, read, replace(was, parent="elsewhere", level=4, anchor="x")).state == "stands"
    assert quote_standing(citation, read, replace(was, title=title)).state in ("stands", "marked")
    assert quote_standing(citation, read, None, [replace(was, id="other")]).state == "marked"
