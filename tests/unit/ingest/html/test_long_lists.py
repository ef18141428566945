"""Terms of long definition lists are sections, in whatever way a generator writes the list; other terms are text."""

from __future__ import annotations

import pytest

from ingest.html.parse import parse
from ingest.html.sections.definitions import MIN_LONG_LIST_TERMS
from ingest.model import Node

WORDS = "Says what it does at some length, so that the list is long enough to be looked things up in. " * 6
ASCIIDOC = '<div class="dlist"><dl><dt class="hdlist1">{}</dt><dd><p>{}</p></dd></dl></div>'
DOCBOOK = (
    '<dl class="variablelist"><dt><span class="term"><code class="option">{}</code></span></dt><dd><p>{}</p></dd></dl>'
)
SPHINX = '<dl class="simple"><dt>{}</dt><dd><p>{}</p></dd></dl>'
PANDOC = "<dl><dt><strong>{}</strong></dt><dd>{}</dd></dl>"
WRAPPED = '<dl class="row"><div><dt class="col-3">{}</dt><dd class="col-9">{}</dd></div></dl>'


def listed(form: str, terms: list[str], text: str = WORDS) -> str:
    """The terms as the generator lists them."""
    opening, _, rest = form.partition("<dl")
    attributes, _, item = rest.partition(">")
    item, _, closing = item.rpartition("</dl>")
    return f"{opening}<dl{attributes}>" + "".join(item.format(term, text) for term in terms) + f"</dl>{closing}"


def nodes_of(body: str) -> list[Node]:
    found = parse(f"<title>T</title><main><h1 id=t>T</h1>{body}</main>".encode(), "https://docs.example.test/t").page
    assert found is not None
    return list(found.nodes)


TERMS = [f"--option-{n}" for n in range(8)]


@pytest.mark.parametrize("form", [ASCIIDOC, DOCBOOK, SPHINX, PANDOC, WRAPPED])
def test_each_term_of_a_long_list_is_a_section_with_its_definition(form: str) -> None:
    nodes = nodes_of(f"<p>Before.</p>{listed(form, TERMS)}<p>After.</p>")
    assert [node.title for node in nodes] == ["T", *TERMS]
    assert {(node.kind, node.parent, node.anchor) for node in nodes[1:]} == {("definition", "0", None)}
    assert {node.text for node in nodes[1:]} == {WORDS.strip()}
    assert [block.text for block in nodes[0].blocks] == ["Before.", "After."]


def test_a_list_in_a_definition_is_looked_at_by_itself() -> None:
    inner = listed(SPHINX, [f"value-{n}" for n in range(5)])
    short = listed(SPHINX, ["yes", "no"], "Says so.")
    nodes = nodes_of(f"<dl><dt>format<dd>{inner}<dt>jobs<dd>{short}<dt>mode<dd>{WORDS}<dt>size<dd>{WORDS}</dl>")
    assert [(node.title, node.parent) for node in nodes[:3]] == [("T", None), ("format", "0"), ("value-0", "1")]
    assert [node.text for node in nodes if node.title == "jobs"] == ["yes\nSays so.\nno\nSays so."]
    assert [node.parent for node in nodes if node.title in ("jobs", "mode", "size")] == ["0"] * 3


@pytest.mark.parametrize(
    "body",
    [
        listed(SPHINX, TERMS, "Short."),
        listed(SPHINX, TERMS[: MIN_LONG_LIST_TERMS - 1], WORDS * 3),
        listed(SPHINX, [f"<a href='p{n}.html'>page {n}</a>" for n in range(8)]),
        listed(SPHINX, [f"What do people ask at great length, {WORDS} number {n}?" for n in range(8)]),
        f"<table><tr><th>A<th>B<tr><td>1<td>{listed(SPHINX, TERMS)}<tr><td>2<td>x</table>",
    ],
    ids=["short", "few terms", "an index", "an interview", "in a cell"],
)
def test_other_lists_are_text(body: str) -> None:
    assert len(nodes_of(body)) == 1


def test_terms_that_lead_to_places_on_the_page_are_sections_all_the_same() -> None:
    assert len(nodes_of(listed(SPHINX, [f"<a href='#t'>option {n}</a>" for n in range(8)]))) == 9
