"""Every case of tests/data/html/cases: what their README's fields say must come out, field by field."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from ingest.html.parse import parse
from ingest.html.printed import printed
from ingest.tree.site_tree import place
from ingest.urls import page_key

CASES = Path(__file__).resolve().parents[3] / "data" / "html" / "cases"
NAMES = sorted(folder.name for folder in CASES.iterdir())
COMPARED = ("breadcrumb", "breadcrumb_source", "canonical", "skip", "redirect_to", "page_title", "links")
NODE_FIELDS = ("level", "title", "anchor", "parent", "fragment")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def read_case(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    expected = json.loads((CASES / name / "expected.json").read_text(encoding="utf-8"))
    given = expected["input"]
    body = (CASES / name / "input.html").read_bytes()
    document = parse(body, given["url"], status=given["status"], content_type=given["content_type"])
    return json.loads(json.dumps(printed(document, given["url"]))), expected


def test_the_cases_are_here() -> None:
    assert len(NAMES) >= 56


@pytest.mark.parametrize("name", NAMES)
def test_a_case_gives_what_is_expected(name: str) -> None:
    got, expected = read_case(name)
    for field in COMPARED:
        if field in expected:
            assert got[field] == expected[field], field
    assert [node["title"] for node in got["nodes"]] == [node["title"] for node in expected["nodes"]]
    for node, wanted in zip(got["nodes"], expected["nodes"], strict=True):
        assert {f: node[f] for f in NODE_FIELDS if f in wanted} == {f: wanted[f] for f in NODE_FIELDS if f in wanted}
        assert squeezed(node["text"]) == squeezed(wanted["text"])
        assert wanted.get("kind", node["kind"]) == node["kind"]
        if "aliases" in wanted:
            assert node["aliases"] == wanted["aliases"]
    if "alternate_breadcrumbs" in expected:
        assert got["alternate_breadcrumbs"] == expected["alternate_breadcrumbs"]
    everything = "\n".join(f"{node['title']}\n{node['text']}" for node in got["nodes"])
    assert [text for text in expected.get("verbatim", ()) if text not in everything] == []
    assert [text for text in expected.get("absent", ()) if text in everything] == []


def test_two_pages_that_name_each_other_as_parent_make_no_circle() -> None:
    folder = CASES / "81-breadcrumb-cycle"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    here = expected["input"]["url"]
    read = {here: folder / "input.html", urljoin(here, "beta.html"): folder / "beta.html"}
    pages = [parse(file.read_bytes(), url).page for url, file in read.items()]
    places = place(page for page in pages if page is not None)
    parents = {key: above[-1].key if above else None for key, above in places.items()}
    assert parents == {page_key(url): up and page_key(up) for url, up in expected["parents"].items()}


def test_a_real_page_about_404_errors_is_no_soft_404() -> None:
    body = (CASES / "66-soft-404" / "real_page.html").read_bytes()
    document = parse(body, "https://docs.example.test/real.html")
    assert document.skip is None
    assert document.page is not None
    assert document.page.title == "HTTP 404 Not Found errors"


def test_a_page_of_13500_sections_is_read_in_one_pass(capsys: pytest.CaptureFixture[str]) -> None:
    argv, sys.argv = sys.argv, ["make_input.py", "13500"]
    try:
        runpy.run_path(str(CASES / "69-huge-page" / "make_input.py"))
    finally:
        sys.argv = argv
    body = capsys.readouterr().out.encode()
    page = parse(body, "https://docs.example.test/guide/page.html").page
    assert page is not None
    assert len(page.nodes) == 13501
    assert [n.title for n in page.nodes[1:]] == [f"Part {i}" for i in range(13500)]
    assert page.nodes[-1].anchor == "s13499"
    assert page.nodes[-1].text == "\n".join(["Line 13499.", *["item x"] * 12])
