"""Rows of long tables that are looked things up in by their first column are sections; other tables are read whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.html.parse import parse
from ingest.model import Node
from navigator.models.given_text import given_text

SAID = " ".join(["what it means, and what to do about it when it is seen,"] * 3)
HEADER = "<tr><th>Code<th>Meaning<th>Since"


def nodes_of(body: str) -> list[Node]:
    found = parse(f"<title>T</title><main><h1 id=t>T</h1>{body}</main>".encode(), "https://docs.example.test/t").page
    assert found is not None
    return list(found.nodes)


def row(number: int) -> str:
    return f"<tr id=e{number}><td><code>E{number:03}</code><td>{number}: {SAID}<td>1.{number}"


def table(header: str = HEADER, one: Callable[[int], str] = row, count: int = 40) -> str:
    return f"<p>Before.</p><table>{header}{''.join(map(one, range(count)))}</table><p>After.</p>"


def test_each_row_is_a_section_that_is_called_by_its_key_and_shown_under_the_header() -> None:
    page, *rows = nodes_of(table())
    assert [(n.title, n.anchor, n.parent) for n in rows] == [(f"E{i:03}", f"e{i}", "0") for i in range(40)]
    assert [block.text for block in page.blocks] == ["Before.", "Code\tMeaning\tSince", "After."]
    [block] = rows[7].blocks
    assert (block.text, block.header) == (f"7: {SAID}\t1.7", "Meaning\tSince")
    assert block.shown == f"Meaning | Since\n7: {SAID} | 1.7"
    assert given_text(block).split("\n")[0] == "| Meaning | Since |"


def test_a_row_of_one_cell_is_above_the_rows_that_it_names() -> None:
    body = table(one=lambda n: (f"<tr><td colspan=3><b>Class {n // 10}</b>" if n % 10 == 0 else "") + row(n))
    nodes = nodes_of(body)
    titles = {node.id: node.title for node in nodes}
    assert [
        titles[node.parent] for node in nodes if node.title in ("E000", "E009", "E010", "Class 3") and node.parent
    ] == [
        "Class 0",
        "Class 0",
        "Class 1",
        "T",
    ]
    assert nodes[0].blocks[-1].text == "After."


def test_what_stands_in_the_cells_of_a_row_stays_in_it() -> None:
    nodes = nodes_of(
        table(one=lambda n: f"<tr><td>E{n:03}<td><ul><li>{SAID} {n}<li>twice</ul><td><pre>a b</pre>" + SAID)
    )
    assert [len(node.blocks) for node in nodes[1:]] == [1] * 40


def test_in_a_definition_the_section_around_goes_on_after_the_table() -> None:
    nodes = nodes_of(f"<dl><dt id=a>One<dd>{table()}<dt id=b>Two<dd>Last.</dl>")
    titles = {node.id: node.title for node in nodes}
    assert {titles[node.parent] for node in nodes if node.title.startswith("E") and node.parent} == {"One"}
    assert [node.text for node in nodes if node.title == "Two"] == ["Last."]


@pytest.mark.parametrize(
    "body",
    [
        table(count=12),
        table(header="<tr><td>Code<td>Meaning<td>Since"),
        table(one=lambda n: f"<tr><td><a href='p.html#e{n}'>E{n}</a><td>{SAID}<td>1"),
        table(one=lambda n: f"<tr><td>E{n // 2}<td>{SAID} {n}<td>1"),
        table(one=lambda n: f"<tr><td>{n}<td>{SAID}<td>1"),
        table(one=lambda n: f"<tr><td>{SAID * 3} {n}<td>x<td>1"),
        table(one=lambda n: f"<tr><td>E{n}<td>{SAID} {n % 3}<td>1"),
        table(one=lambda n: f"<tr><td><td>E{n}<td>{SAID}"),
        table(one=lambda n: f"<tr><td rowspan=2>A{n}<td>{SAID}<td>1<tr><td>{SAID}<td>2"),
        table(one=lambda n: f"<tr><td>E{n}<td>{SAID}<dl><dt>a<dd>b</dl><td>1"),
    ],
    ids=[
        "short",
        "no header",
        "an index",
        "names twice",
        "counted rows",
        "sentences",
        "only marks",
        "an empty column",
        "joined rows",
        "lists",
    ],
)
def test_other_tables_are_read_whole(body: str) -> None:
    assert len(nodes_of(body)) == 1
