"""The HTML page of a run (navigator/evaluation/report/page.py and its template)."""

from __future__ import annotations

import re
from dataclasses import replace

import html5lib
import pytest

from navigator.answer import CitedSource
from navigator.evaluation.questions import EvalQuestion, Gold
from navigator.evaluation.report.page import to_html
from navigator.evaluation.report.summary import summarise
from navigator.evaluation.results import Contender, JudgeVerdict, Result
from tests.unit.navigator.evaluation.made import INSTALL, PAGES, answer, passage, result, run

SVG = "{http://www.w3.org/2000/svg}"
RIT, VANILLA = Contender("rit", "rit", n=50), Contender("vanilla", "vanilla", k=5)


def page(questions: list[EvalQuestion], who: list[Contender], results: list[Result], title: str = "Evaluation") -> str:
    return to_html(summarise(questions, who, results, outlines=PAGES), questions, results, title)


def made(*contenders: tuple[Contender, float, float | None, float], count: int = 8, judged: bool = True) -> str:
    questions, who, results = run(contenders, count, judged=judged)
    return page(questions, who, results)


def one(question: EvalQuestion, *answers: tuple[str, object]) -> str:
    """The page of one question and what contenders answered."""
    results = [result(question, label, given) for label, given in answers]  # type: ignore[arg-type]
    return page([question], [Contender(label, label) for label, _ in answers], results)


@pytest.mark.parametrize(
    "contenders",
    [
        [],
        [(RIT, 0.5, None, 1.0)],
        [(Contender(f"c{i}", "rit", n=i + 1), i / 11, 0.001 * i, 1.0) for i in range(12)],
    ],
)
def test_a_page_is_valid_html(contenders: list[tuple[Contender, float, float | None, float]]) -> None:
    html5lib.HTMLParser(strict=True).parse(made(*contenders))


def test_a_page_needs_nothing_else_and_runs_nothing() -> None:
    text = made((RIT, 0.9, 0.02, 4.0), (VANILLA, 0.4, 0.001, 1.0))
    tree = html5lib.parse(text, namespaceHTMLElements=False)
    assert not [each for each in tree.iter() if each.tag in ("script", "link", "img", "iframe", "object", "base")]
    assert not [name for each in tree.iter() for name in each.attrib if name.startswith("on") or name == "src"]
    assert not re.search(r"url\((?!#)|@import|@font-face|<\?xml|<!DOCTYPE svg", text)
    policy = [each.get("content", "") for each in tree.iter("meta") if each.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(set(ids)) == len(ids)
    assert {each.get("role") for each in tree.iter("div") if each.find(f"{SVG}svg") is not None} == {"img"}


def test_a_page_is_the_same_on_every_writing_and_takes_its_colours_from_its_style_sheet() -> None:
    text = made((RIT, 0.9, 0.02, 4.0), (VANILLA, 0.4, 0.001, 1.0))
    assert made((RIT, 0.9, 0.02, 4.0), (VANILLA, 0.4, 0.001, 1.0)) == text
    style, body = text.split("</style>", 1)
    for used in set(re.findall(r"var\((--\w+)\)", body)):
        assert style.count(f"{used}: #") == 2  # in light and in dark
    assert set(re.findall(r"(?:fill|stroke): (#\w+)", body)) == set()


def test_text_of_people_pages_and_models_is_never_markup() -> None:
    evil = '</details><script>alert(1)</script>&amp;\x00\x1b\ud800"'
    question = EvalQuestion(evil, evil, (evil,), (evil,), (Gold(evil.replace("#", "")),), evil, True, False, (evil,))
    cited = replace(passage("use#first").cite(0), link="javascript:alert(1)", path=(evil, evil))
    given = answer(evil, ["use#first"], note=evil, sources=(CitedSource(1, (cited,)),))
    results = [Result(question.id, evil, given, JudgeVerdict(False, evil))]
    text = page([question], [Contender(evil, "none", reader=evil)], results, evil)
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    assert not list(tree.iter("script"))
    assert not [each for each in tree.iter("a") if not each.get("href", "").startswith(("http:", "https:", "file:"))]
    assert text.encode("utf-8")
    assert "\x00" not in text


def test_questions_that_most_got_wrong_come_first_and_unjudged_ones_last() -> None:
    asked = [EvalQuestion(name, f"Question {name}?", ("x",)) for name in ("good", "unjudged", "bad", "half")]
    verdicts = {"good": (True, True), "unjudged": (None, None), "bad": (False, False), "half": (True, False)}
    results = [
        result(question, label, answer("x"), verdicts[question.id][at])
        for question in asked
        for at, label in enumerate(("rit", "vanilla"))
    ]
    text = page(asked, [RIT, VANILLA], results)
    assert re.findall(r"Question (\w+)\?", text) == ["bad", "half", "good", "unjudged"]
    assert re.findall(r'class="count">([^<]+)<', text) == [
        "0 of 2 right",
        "1 of 2 right",
        "2 of 2 right",
        "2 answers, not judged",
    ]


def test_an_answer_shows_its_verdict_figures_and_the_sections_that_it_cites() -> None:
    question = EvalQuestion(
        "q", "Which?", ("The fox.",), gold=(Gold(INSTALL.key, "apt"),), kind="single", synthetic=True
    )
    cited = passage("install#apt").cite(0)
    given = answer("It is [1].", ["install#apt"], sources=(CitedSource(1, (cited,)),), seconds=2.5)
    text = page([question], [RIT], [result(question, "rit", given, True)])
    assert f'<a href="{cited.link.replace("&", "&amp;")}" rel="noreferrer">install › apt</a>' in text
    assert "answered · P 100.0% · R 100.0% · $0 · 2.5 s" in text
    assert '<div class="answer right">' in text
    assert "Judge: because it says so" in text
    assert "synthetic, not checked" in text
    assert f'<a href="{INSTALL.key}#apt"' in text


def test_what_was_not_found_or_failed_is_said_in_words() -> None:
    question = EvalQuestion("q", "Which?")
    text = one(
        question,
        ("a", answer("", outcome="not_found")),
        ("b", answer("", outcome="failed", note="The model is away.")),
        ("c", answer("", outcome="greeting")),
    )
    for words in ("nothing found", "failed", "The model is away.", "taken for a greeting"):
        assert words in text


def test_a_very_long_answer_is_cut() -> None:
    assert len(one(EvalQuestion("q", "Which?"), ("a", answer("x" * 500_000)))) < 100_000


def test_what_must_not_be_taken_for_more_is_marked() -> None:
    assert 'class="warn' not in made((RIT, 0.9, 0.1, 1.0))
    marked = made((RIT, 0.9, 0.1, 1.0), (Contender("o", "rit", reader="oracle"), 1.0, 0.0, 1.0))
    assert "Scripted readers choose by a fixed rule" in marked
    assert "o (scripted)" in marked
    assert "answers from the model's memory" in made((Contender("none", "none"), 0.9, 0.1, 1.0))
    assert "Synthetic questions were proposed by a model" in one(
        EvalQuestion("q", "?", synthetic=True), ("a", answer())
    )


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://docs.test/a", True),
        ("file:///docs/a.html#b", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("guide/a.html", False),
        ("https://[half", False),
    ],
)
def test_only_addresses_that_are_safe_become_links(url: str, linked: bool) -> None:
    question = EvalQuestion("q", "Which?")
    cited = replace(passage("use#first").cite(0), link=url, path=("words",))
    text = one(question, ("a", answer("It is [1].", sources=(CitedSource(1, (cited,)),))))
    found = html5lib.parse(text, namespaceHTMLElements=False).findall(".//li")[0]
    assert "".join(found.itertext()) == "[1] words"
    assert [each.get("href") for each in found.findall("a")] == ([url] if linked else [])
