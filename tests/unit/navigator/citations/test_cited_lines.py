"""Which lines of a block a citation points at."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingest.model import Block
from navigator.answer import Citation, Passage
from navigator.citations.cited_lines import as_in_text, nearest_unit, unit_lines
from navigator.citations.marks import AnswerDraft, cite_claim, from_marks

OPTIONS = Block(
    "terms",
    "-F format\n--format=format\nSelects the format of the output.\nCustom is the most flexible.\n-j njobs\nRuns the dump in parallel.",
    marks=("", "", "  ", "  ", "", "  "),
)
STEPS = Block(
    "list",
    "Close the valve.\nOpen the drain.\nOnly then wait.\nTurn the key.",
    marks=("1. ", "2. ", "   ", "3. "),
)
CODES = Block(
    "table", "Code\tMeaning\n23505\tunique violation\n23503\tforeign key violation\n40001\tserialization failure"
)
PARAGRAPH = Block("text", "One sentence of it.\nAnother line of the same paragraph.")


@pytest.mark.parametrize(
    ("block", "spans"),
    [
        (OPTIONS, [range(4), range(4, 6)]),
        (STEPS, [range(1), range(1, 3), range(3, 4)]),
        (CODES, [range(n, n + 1) for n in range(4)]),
        (PARAGRAPH, [range(2)]),
    ],
)
def test_units_are_items_terms_with_definitions_rows_and_whole_paragraphs(block: Block, spans: list[range]) -> None:
    assert unit_lines(block) == spans


@pytest.mark.parametrize(
    ("claim", "block", "first", "last"),
    [
        ("Use `-j` to dump in parallel.", OPTIONS, "-j njobs", "Runs the dump in parallel."),
        ("The format of the output is chosen by --format.", OPTIONS, "-F format", "Custom is the most flexible."),
        ("Then the drain is opened.", STEPS, "Open the drain.", "Only then wait."),
        ("Code 23503 means that a foreign key is violated.", CODES, "23503\tforeign key violation", ""),
    ],
)
def test_a_claim_rests_on_the_unit_that_shares_its_rare_words(claim: str, block: Block, first: str, last: str) -> None:
    unit = nearest_unit(claim, block)
    assert (unit.split("\n")[0], unit.split("\n")[-1]) == (first, last or first)


def test_a_long_list_is_cited_by_one_of_its_hundreds() -> None:
    lines = [part for n in range(400) for part in (f"option.number{n}", f"What option {n} is for, and its default.")]
    block = Block("terms", "\n".join(lines), marks=("", "  ") * 400)
    assert nearest_unit("Set option.number317 for it.", block).split("\n")[0] == "option.number317"


@pytest.mark.parametrize("claim", ["Nichts davon steht dort.", ""])
def test_a_claim_that_shares_no_word_rests_on_the_block(claim: str) -> None:
    assert nearest_unit(claim, OPTIONS) == ""


@pytest.mark.parametrize(
    ("quote", "block", "text"),
    [
        ("2. Open the drain.\n   Only then wait.", STEPS, "Open the drain.\nOnly then wait."),
        ("23505 | unique violation", CODES, "23505\tunique violation"),
        (
            "-F format\n--format=format\n  …\n  Custom is the most flexible.",
            OPTIONS,
            "-F format\n--format=format\nSelects the format of the output.\nCustom is the most flexible.",
        ),
        ("Not in it.", STEPS, ""),
    ],
)
def test_what_is_shown_is_found_in_the_text(quote: str, block: Block, text: str) -> None:
    assert as_in_text(quote, block) == text


def passage(*blocks: Block) -> Passage:
    link = "https://a.test/p#o"
    return Passage(1, "n", "h", "k", "https://a.test/p", link, ("P",), blocks, datetime(2026, 1, 1, tzinfo=UTC))


def cited(citations: tuple[Citation, ...]) -> list[str]:
    return [citation.quote.split("\n")[0] for citation in citations]


def test_a_mark_of_the_model_points_at_the_unit_of_its_claim() -> None:
    made = from_marks("The custom format is flexible [1]. Jobs run in parallel with -j [1].", {1: passage(OPTIONS)})
    assert cited(made.sources[0].citations) == ["-F format", "-j njobs"]


def test_a_citation_of_the_endpoint_points_at_the_unit_of_what_was_said_before_it() -> None:
    read, draft = passage(OPTIONS, CODES), AnswerDraft()
    for said, block in (("Jobs run in parallel.", 0), (" 40001 is a serialization failure.", 1)):
        draft.say(said)
        draft.cite(cite_claim(draft.claim, read, block, block, read.blocks[block].shown))
    draft.cite(cite_claim(draft.claim, read, 0, 1, ""))
    assert cited(draft.sources[0].citations) == ["-j njobs", "40001\tserialization failure", "-F format"]


def test_a_part_that_was_quoted_stays_what_is_cited() -> None:
    assert cite_claim("", passage(OPTIONS), 0, 0, "-j njobs").quote == "-j njobs"
    with pytest.raises(IndexError):
        cite_claim("", passage(OPTIONS), 1, 1, "")
