"""Quotations as Markdown: word for word, in the form of the page."""

import pytest

from ingest.model import Block
from navigator.extracts.quotation import quoted
from navigator.extracts.units import Piece, units_of
from navigator.markdown.blocks import markdown_of
from navigator.markdown.parse import parse_markdown
from tests.unit.navigator.extracts.made import code, list_block, passage, terms_block, text

PORTS = passage(
    text("Pumpkin is a server. It listens on port 8080 by default. It was written in 2020."),
    text("To change the port, set PUMPKIN_PORT:"),
    code("export PUMPKIN_PORT=9090\npumpkin start", "bash"),
    text("Logs go to a file."),
)


def pieces_of(*blocks: Block) -> list[Piece]:
    found = (piece for unit in units_of([passage(*blocks)]) for piece in unit.pieces)
    return sorted(set(found), key=lambda piece: (piece.block, piece.at))


def test_a_gap_shows_as_an_ellipsis_and_markup_in_quotations_is_plain() -> None:
    pieces = pieces_of(*PORTS.blocks)
    assert quoted(pieces[:2], PORTS) == "Pumpkin is a server. It listens on port 8080 by default."
    assert quoted([pieces[0], pieces[2]], PORTS) == "Pumpkin is a server. … It was written in 2020."
    assert quoted([pieces[3], pieces[5]], PORTS) == "To change the port, set PUMPKIN\\_PORT:\n\n…\n\nLogs go to a file."


@pytest.mark.parametrize("listing", ["a ``` b", "````", "plain"])
def test_a_fence_is_longer_than_any_run_of_backticks_in_the_code(listing: str) -> None:
    block = passage(code(listing, "sh"))
    lines = quoted(pieces_of(*block.blocks), block).split("\n")
    assert lines[0].rstrip("sh").strip("`") == ""
    assert lines[-1] not in listing
    assert "\n".join(lines[1:-1]) == listing


def test_lines_of_a_paragraph_stay_lines() -> None:
    block = passage(text("curl http://a\ncurl https://a"))
    assert quoted(pieces_of(*block.blocks), block) == "curl http://a  \ncurl https://a"


def test_items_that_are_left_out_of_a_list_show() -> None:
    block = passage(list_block("one", "two", "three"))
    one, _, three = pieces_of(*block.blocks)
    assert quoted([one, three], block).split("\n") == ["1. one", "…  ", "3. three"]


def test_rows_are_a_table_under_their_header() -> None:
    block = passage(Block("table", "Code\tMeaning\n4.2\ta|b *x*\n5.0\t"))
    assert quoted(pieces_of(*block.blocks), block) == (
        "| Code | Meaning |\n| --- | --- |\n| 4.2 | a\\|b \\*x\\* |\n| 5.0 |  |"
    )
    one_column = passage(Block("table", "Code\n4.2"))
    assert quoted(pieces_of(*one_column.blocks), one_column) == "Code  \n4.2  "


def test_terms_are_bold_and_their_definitions_indented() -> None:
    block = passage(terms_block("--force", "    Do it anyway.", "gc.auto", "    How many loose objects."))
    written = quoted(pieces_of(*block.blocks), block)
    assert written == "- **--force**  \n  Do it anyway.  \n- **gc.auto**  \n  How many loose objects.  "
    read = markdown_of(parse_markdown(written))
    assert [line.rstrip() for line in read.split("\n")] == [line.rstrip() for line in written.split("\n")]
