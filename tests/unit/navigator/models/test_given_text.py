"""A block as a model is given it (navigator/models/given_text.py)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Block
from navigator.markdown.blocks import Code, MarkdownTable
from navigator.markdown.parse import parse_markdown
from navigator.models.given_text import given_text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (Block("text", "Plain * words."), "Plain * words."),
        (Block("list", "one\ntwo", None, ("1. ", "2. ")), "1. one\n2. two"),
        (Block("code", "  x = 1\n\ny\n", "python"), "```python\n  x = 1\n\ny\n```"),
        (Block("code", "ls"), "```\nls\n```"),
        (Block("code", "```\na\n```", "md"), "````md\n```\na\n```\n````"),
        (Block("table", "Name\tPort\nweb\t80\n\t"), "| Name | Port |\n|---|---|\n| web | 80 |"),
        (
            Block("table", "Name\tPort\nweb\na|b\t1\t2"),
            "| Name | Port |  |\n|---|---|---|\n| web |  |  |\n| a\\|b | 1 | 2 |",
        ),
        (Block("table", "only\none\ncolumn"), "only\none\ncolumn"),
        (Block("table", "one\trow"), "one | row"),
        (Block("code", " \n "), ""),
        (Block("table", "\t\n\t"), ""),
        (Block("list", " ", None, ("1. ",)), ""),
    ],
)
def test_code_is_fenced_and_a_table_is_a_table(block: Block, text: str) -> None:
    assert given_text(block) == text


CELL = st.text(alphabet="ab|`\\ é漢", min_size=1, max_size=8).filter(str.strip)


@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=2, max_size=4))
def test_whatever_stands_in_its_cells_a_table_has_all_its_rows(rows: list[list[str]]) -> None:
    (made,) = parse_markdown(given_text(Block("table", "\n".join(map("\t".join, rows)))))
    assert isinstance(made, MarkdownTable)
    assert len(made.rows) == len(rows)
    assert {len(row) for row in made.rows} == {max(map(len, rows))}


@given(st.text(alphabet="a` \n", min_size=1).filter(str.strip))
def test_whatever_stands_in_it_code_stays_one_piece(code: str) -> None:
    made = parse_markdown(given_text(Block("code", code)))
    assert [type(piece) for piece in made] == [Code]
