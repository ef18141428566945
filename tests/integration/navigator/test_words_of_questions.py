"""Questions that one word decides: a name that stands only in a heading, a term or code, a version, a compound's part. The
retr-* cases of the `shared` folder, and neighbours; extracts answer, and the embedder knows no language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navigator.agent.prompts import RitBounds
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.fakes.site import html, indexed_site

Sections = dict[str, str]
CODES: Sections = {
    "ACM-0942": "The table or view does not exist. Check its name and your rights.",
    "ACM-0943": "The column is ambiguous. Write the table in front of it.",
    "0x80070005": "Access is denied. Run the installer with more rights.",
    "E1100: duplicate key": "A row with the same key is there already. Choose another one or update the row.",
    "max_retry_count": "How often a request is sent again before it is given up. The default is 5.",
    "Command line": "<dl><dt id='f'>-f</dt><dd>Reads the jobs from a file.</dd><dt id='F'>-F</dt><dd>Stops early.</dd></dl>",
    "Boot": "<pre>systemctl enable acme-agent.service</pre>",
    "C#": "Add the package to the project.",
    "C++": "Link the library.",
}
RELEASES: Sections = {
    "3.10": "New: exports as CSV, a dark theme, and quicker searches.",
    "3.1": "New: imports from a folder, and a report of what failed.",
    "3.0.1": "New: a fix for logins that hang.",
    "2.0": "New: the second generation of the editor.",
}
GERMAN: Sections = {
    "Zugriffsberechtigungen": "Sie werden im Bereich Verwaltung für jede Gruppe gesetzt. Nur Administratoren dürfen das.",
    "Netzwerkeinstellungen": "Adresse und Port stehen in einer Datei. Danach wird der Dienst neu gestartet.",
    "Datensicherung": "Jede Nacht um zwei Uhr wird ein Abbild auf das Band geschrieben.",
    "Rechnungen": "Sie werden am Monatsende verschickt.",
    "Anschlussnummer": "Sie steht auf dem Vertrag, oben rechts.",
}
ENGLISH: Sections = {
    "Indexing": "The agent reads all of the folders once a night. What was indexed is not read again.",
    "Stopping": "It is stopped with the other services.",
}
PAGES = {"codes": CODES, "releases": RELEASES, "handbuch": GERMAN, "agent": ENGLISH}


def page(title: str, sections: Sections) -> str:
    body = (
        f"<h2>{heading}</h2>" + (text if text[0] == "<" else f"<p>{text}</p>") for heading, text in sections.items()
    )
    return html(title, "".join(body))


async def cited(folder: Path, questions: list[str], **site: object) -> dict[str, list[str]]:
    """The titles of the sections that each question's answer cites, best first."""
    pages = {f"https://docs.example.test/{name}.html": page(name, sections) for name, sections in PAGES.items()}
    async with indexed_site(folder, pages, **site) as docs:
        retriever = Retriever(docs.trees, docs.index, docs.embedder, Recipe(), (docs.site.language,))
        strategy = Rit(retriever, docs.trees, RitBounds())
        navigator = Navigator({"rit": strategy}, ExtractiveModel(docs.embedder), lambda _: "rit")
        answers = [await navigator.ask(question) for question in questions]
        return {
            question: [source.first.path[-1] for source in answer.sources]
            for question, answer in zip(questions, answers, strict=True)
        }


def asked_in(shared: Path, case: str) -> list[str]:
    """The questions of a case; what stands in brackets behind one says where its answer is."""
    rows = json.loads((shared / "cases" / case / "input.json").read_text(encoding="utf-8"))["questions"]
    return [row.partition(" (")[0] for row in rows]


@pytest.mark.parametrize(
    ("case", "sections"),
    [
        ("retr-02", ["E1100: duplicate key"] * 3 + ["max_retry_count"]),
        ("retr-03", ["3.1", "3.1", "3.10"]),
        ("retr-05", ["Zugriffsberechtigungen", "Netzwerkeinstellungen", "Datensicherung", "Zugriffsberechtigungen"]),
    ],
)
async def test_a_case_finds_its_section_first(shared: Path, tmp_path: Path, case: str, sections: list[str]) -> None:
    questions = asked_in(shared, case)
    found = await cited(tmp_path, questions)
    assert {question: found[question][:1] for question in questions} == {
        question: [section] for question, section in zip(questions, sections, strict=True)
    }
    if case == "retr-03":
        assert all(len(titles) == 1 for titles in found.values())


NEIGHBOURS = {
    "acm0943": "ACM-0943",
    "What is 0x80070005?": "0x80070005",
    "--max-retry-count": "max_retry_count",
    "What does -F do?": "-F",
    "What does -f do?": "-f",
    "acme-agent.service": "Boot",
    "And in C#?": "C#",
    "And in C++?": "C++",
    "What came with v2.0.0?": "2.0",
    "Changes of 3.0.1": "3.0.1",
    "Was bedeutet E1100?": "E1100: duplicate key",
    "Was ist neu in 3.1?": "3.1",
    "Wo finde ich die Nummer?": "Anschlussnummer",
    "Sicherung": "Datensicherung",
    "What are Netzwerkeinstellungen?": "Netzwerkeinstellungen",
    "What was indexed?": "Indexing",
}


@pytest.mark.parametrize("language", ["en", "de", "fr"])
async def test_neighbours_are_found_whatever_language_the_site_is_said_to_be_in(tmp_path: Path, language: str) -> None:
    found = await cited(tmp_path, list(NEIGHBOURS), language=language)
    assert {question: titles[:1] for question, titles in found.items()} == {
        question: [section] for question, section in NEIGHBOURS.items()
    }


async def test_a_name_that_no_page_has_is_not_found(tmp_path: Path) -> None:
    questions = ["What does E9999 mean?", "What is new in 7.4?", "frobnicate_all", "Wie wird das Wetter in Berlin?"]
    assert await cited(tmp_path, questions) == {question: [] for question in questions}
