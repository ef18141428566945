"""What RIT's model is told that an outline does not show, and how it asks for that."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from navigator.agent.prompts import RitBounds
from navigator.answer import Answer, Step
from navigator.navigator import Navigator
from navigator.ports import ModelEvent, TextDelta, ToolCall, ToolCallEvent, ToolTurn
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.retrieval.toc import OutlineForm
from navigator.strategies.rit import MAX_LISTED_BELOW, Rit
from tests.fakes.model import ScriptedModel, read, toc
from tests.fakes.site import IndexedSite, html, indexed_site

PUMP = "https://docs.example.test/pump.html"
COPY = "https://docs.example.test/copy.html"
PARTS = "".join(f"<h3 id='p{n}'>Part {n}</h3><p>Weighs {n} grams.</p>" for n in range(12))
PAGES = {
    PUMP: html(
        "Pump",
        f"<h2 id='prime'>Priming</h2><p>Prime the pump with water.</p><h2 id='parts'>Parts</h2>{PARTS}"
        "<h2 id='care'>Care</h2><p>Grease it.</p><h3 id='seal'>Seal</h3><p>Twice a year.</p>",
    ),
    COPY: html("Old pump", "<p>Of another make.</p><h2 id='old'>Oiling</h2><p>Grease it.</p>"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("outline"), PAGES) as open_site:
        yield open_site


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(
    site: IndexedSite, *script: list[ModelEvent], question: str = "prime water", outline: OutlineForm = "outline"
) -> tuple[Answer, list[str]]:
    """With one section found by the question's own words; and what the model was told in each turn of tools."""
    model = ScriptedModel(*script, [TextDelta("NOT_FOUND")])
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe(n=1), describes=outline == "outline")
    rit = Rit(retriever, site.trees, RitBounds(outline=outline))
    answer = await Navigator({"rit": rit}, model, lambda _: "rit").ask(question)
    turns = [turn for turn in model.asked[-1][1] if isinstance(turn, ToolTurn)]
    return answer, [" ".join(result.text for result in turn.results) for turn in turns]


def under(number: Any, **other: Any) -> list[ModelEvent]:
    return [ToolCallEvent(ToolCall("u", "get_toc", {"under": number, **other}))]


def titles(steps: Sequence[Step], at: int) -> list[str]:
    return [line.strip() for line in (steps[at].shown or "").split("\n")]


async def test_the_outline_counts_what_it_does_not_show_and_gives_it_under_a_number(site: IndexedSite) -> None:
    answer, _ = await ask(site, under(1))
    assert titles(answer.trace.steps, 0) == ["- 1: Pump +15 more", "2: Priming [5w]"]
    assert titles(answer.trace.steps, 1)[0].startswith("- 1: Pump"), "n is the bound here too"
    wide, _ = await ask(site, under(1))
    assert wide.trace.steps[1].query == "Pump"


@pytest.mark.parametrize("number", [1, "1", [1], "1: Pump", {"id": 1}, 1.0])
async def test_the_number_is_read_generously(site: IndexedSite, number: Any) -> None:
    answer, _ = await ask(site, under(number))
    assert answer.trace.steps[1].error is None
    assert answer.trace.steps[1].query == "Pump"


@pytest.mark.parametrize("number", [99, 0, "abc"])
async def test_a_number_that_was_not_shown_is_refused_unless_there_is_a_query_too(
    site: IndexedSite, number: Any
) -> None:
    answer, _ = await ask(site, under(number))
    assert answer.trace.steps[1].error
    searched, _ = await ask(site, under(number, query="grease it"), under(None, query="grease"))
    assert [step.query for step in searched.trace.steps] == ["prime water", "grease it", "grease"]


async def test_asking_for_more_counts_as_a_search(site: IndexedSite) -> None:
    answer, _ = await ask(site, under(1), under(1), under(1))
    assert [step.error is None for step in answer.trace.steps] == [True, True, True, False]


async def test_a_read_lists_what_stands_under_the_section_and_it_can_be_read_next(site: IndexedSite) -> None:
    answer, told = await ask(site, read(2), read(3), question="grease")
    number = answer.trace.passages[0].number
    assert answer.trace.passages[0].path == ("Pump", "Care")
    assert told[0] == f"Under {number} stand 3: Seal."
    assert answer.trace.passages[1].path == ("Pump", "Care", "Seal")
    assert told[1] == ""


async def test_a_read_of_a_group_gives_no_text_but_what_it_holds_and_says_how_much_more(site: IndexedSite) -> None:
    answer, told = await ask(site, read(1), read(4))
    assert told[0].startswith("No text of its own: 1. Under 1 stand 2: Priming; - 3: Parts; 4: Care")
    assert answer.trace.passages[0].path == ("Pump", "Care")
    _, parts = await ask(site, read(1), read(3))
    assert parts[1].count("Part ") == MAX_LISTED_BELOW
    assert parts[1].endswith("+4 more.")


async def test_equal_text_is_read_once(site: IndexedSite) -> None:
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe(n=9))
    model = ScriptedModel(read(*range(1, 12)), [TextDelta("NOT_FOUND")])
    answer = await Navigator({"rit": Rit(retriever, site.trees, RitBounds())}, model, lambda _: "rit").ask(
        "Grease what?"
    )
    texts = ["".join(block.text for block in passage.blocks) for passage in answer.trace.passages]
    assert texts.count("Grease it.") == 1
    last = model.asked[-1][1][-1]
    assert isinstance(last, ToolTurn)
    assert "says word for word what" in last.results[0].text


@pytest.mark.parametrize("form", ["titles", "json"])
async def test_the_papers_forms_tell_nothing_of_that(site: IndexedSite, form: OutlineForm) -> None:
    answer, told = await ask(site, toc("grease"), under(1), read(1), outline=form)
    assert "more" not in (answer.trace.steps[0].shown or "")
    assert "get_toc takes" in (answer.trace.steps[1].error or "")
    assert "Under" not in told[-1]
    assert answer.trace.passages
