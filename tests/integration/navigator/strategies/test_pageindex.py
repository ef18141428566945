"""PageIndex: one document is picked by its chunks, its whole contents are shown, and there is no way to another."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from navigator.agent.prompts import RitBounds, question_of
from navigator.models.anthropic import AnthropicModel
from navigator.navigator import Navigator
from navigator.ports import ModelEvent
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.pageindex import PageIndex
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Answer as Reply
from tests.fakes.messages_api import MessagesApi, cited, text
from tests.fakes.site import IndexedSite, html, indexed_site
from tests.integration.navigator.strategies.setting import BASE, PUMPS, QUESTION, asking, parts_of

PUMP_CONTENTS = "1: Pumps\n 2: Priming\n 3: Seals\n  4: Rings\n - Empty"


def crumbs(title: str, body: str, *above: tuple[str, str]) -> str:
    """A page below others, by its breadcrumb."""
    items = [
        {"@type": "ListItem", "position": n, "item": {"@id": url, "name": name}}
        for n, (name, url) in enumerate([*above, (title, "")], start=1)
    ]
    data = json.dumps({"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": items})
    return html(title, body, f'<script type="application/ld+json">{data}</script>')


GUIDE = ("Guide", f"{BASE}/guide.html")
SHELF = ("Shelf", f"{BASE}/shelf.html")
SUBTREES = {
    GUIDE[1]: html("Guide", "<p>This guide is about tanks.</p>"),
    SHELF[1]: html("Shelf", "<p>This shelf holds the rest.</p>"),
    f"{BASE}/a.html": crumbs("Alpha", "<p>Prime the pump with oil.</p>", GUIDE),
    f"{BASE}/b.html": crumbs("Beta", "<p>Prime the pump with water.</p><h2>Later</h2><p>Rest.</p>", GUIDE),
    f"{BASE}/c.html": crumbs("Gamma", "<p>Paint the fence.</p>", GUIDE),
    f"{BASE}/d.html": crumbs("Delta", "<p>Prime the pump with paint.</p>", SHELF),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def subtrees(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("subtrees"), SUBTREES) as open_site:
        yield open_site


async def contents(
    site: IndexedSite,
    limit: int = 60_000,
    bounds: StrategyBounds | None = None,
    rules: RitBounds | None = None,
    pages: int = 500,
) -> str:
    """The table of contents that the model is shown."""
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    strategy = PageIndex(
        retriever,
        site.trees,
        parts_of(site),
        rules or RitBounds(),
        bounds or StrategyBounds(),
        contents=limit,
        pages=pages,
    )
    async with MessagesApi() as api, AnthropicModel(api_key="k", base_url=api.url, citations=True) as model:
        api.always(lambda _: Reply((text("NOT_FOUND"),)))
        answer = await Navigator({"pageindex": strategy}, model, lambda _: "pageindex").ask(QUESTION)
        opened = api.requests[0].last[0]["text"]
    step = answer.trace.steps[0]
    assert (step.tool, step.query, step.error) == ("pick_page", QUESTION, None)
    assert step.shown is not None
    assert step.shown in opened
    assert question_of(opened) == QUESTION
    return step.shown


async def test_the_whole_contents_of_the_best_page_are_in_the_first_turn(site: IndexedSite) -> None:
    assert await contents(site) == PUMP_CONTENTS


async def test_sections_of_that_page_are_read_by_their_numbers_and_cited(site: IndexedSite) -> None:
    async with asking(site, "pageindex") as asked:
        asked.api.call("read", {"sections": [4, 1]})
        asked.api.say(cited("A ring.", (1, 0, 0)))
        answer = await asked.ask()
    assert [step.tool for step in answer.trace.steps] == ["pick_page", "read"]
    assert answer.trace.steps[1].numbers == (4, 1)
    assert answer.sources[0].first.path == ("Pumps", "Seals", "Rings")
    assert [tools["name"] for tools in asked.api.requests[0].body["tools"]] == ["read"]
    assert {number for number, *_ in answer.trace.shown} == {1, 2, 3, 4}


@pytest.mark.parametrize("number", [0, 5, 6, 99])
async def test_what_its_contents_do_not_number_cannot_be_read(site: IndexedSite, number: int) -> None:
    async with asking(site, "pageindex") as asked:
        asked.api.call("read", {"sections": [number]})
        asked.api.call("read", {"sections": [2, number]})
        asked.api.say(cited("So.", (0, 0, 0)))
        answer = await asked.ask()
    not_shown = f"No section {number} was shown"
    assert [not_shown in (step.error or "") for step in answer.trace.steps[1:]] == [True, False]
    assert not_shown in str(asked.api.requests[-1].last), "of a mixed list, what was shown is read"
    assert [passage.number for passage in answer.trace.passages] == [2]


async def test_the_first_look_takes_no_read_of_the_budget(site: IndexedSite) -> None:
    async with asking(site, "pageindex", StrategyBounds(budget=1)) as asked:
        asked.api.call("read", {"sections": [2]})
        asked.api.say(cited("So.", (0, 0, 0)))
        answer = await asked.ask()
    assert "Left: 1 tool calls" in asked.api.requests[0].last[0]["text"]
    assert answer.outcome == "answered"


async def test_many_fair_chunks_pick_a_page_before_one_good_one(tmp_path: Path) -> None:
    fair = "".join(f"<h2>Pump {n}</h2><p>how do I prime the pump {n} with water</p>" for n in range(3))
    pages = {
        f"{BASE}/one.html": html("One", "<p>how do I prime the pump</p>"),
        f"{BASE}/many.html": html("Many", fair),
    }
    async with indexed_site(tmp_path, pages) as site:
        assert (await contents(site)).startswith("- Many")
        assert (await contents(site, bounds=StrategyBounds(document_chunks=1))).startswith("1: One")


async def test_the_form_of_the_contents_is_a_setting(site: IndexedSite) -> None:
    shown = json.loads(await contents(site, rules=RitBounds(outline="json")))
    assert shown[0]["title"] == "Pumps"
    assert [node["title"] for node in shown[0]["nodes"]] == ["Priming", "Seals", "Empty"]


async def test_a_sub_tree_is_all_pages_under_one_place_the_best_first(subtrees: IndexedSite) -> None:
    shown = await contents(subtrees, bounds=StrategyBounds(document="subtree"))
    lines = shown.splitlines()
    assert lines[0] == "# Guide"
    assert {line.strip("0123456789: ") for line in lines[1:]} == {"Alpha", "Beta", "Later", "Gamma"}
    assert lines[-1].endswith("Gamma"), "the search found all but this one first"


async def test_a_page_under_no_place_is_a_sub_tree_by_itself(site: IndexedSite) -> None:
    assert await contents(site, bounds=StrategyBounds(document="subtree")) == PUMP_CONTENTS


async def test_contents_that_do_not_fit_are_cut_to_the_best_pages_and_say_so(subtrees: IndexedSite) -> None:
    shown = await contents(subtrees, limit=35, bounds=StrategyBounds(document="subtree"))
    assert "Gamma" not in shown
    assert shown.endswith("(Cut: 2 of 3 pages of this document.)")


async def test_of_a_large_sub_tree_only_so_many_pages_are_looked_at(subtrees: IndexedSite) -> None:
    bounds = StrategyBounds(document="subtree", document_chunks=2)
    shown = await contents(subtrees, bounds=bounds, pages=1)
    assert shown.endswith("of 3 pages of this document.)")
    assert "Gamma" not in shown


async def test_a_sub_tree_is_of_one_version(tmp_path: Path) -> None:
    pages = {
        f"{BASE}/v{n}/{name}.html": crumbs(f"{name} {n}", f"<p>{said}</p>", ("Guide", ""))
        for n, said in ((1, "Prime the pump with water, and wait."), (2, "How do I prime the pump?"))
        for name in ("One", "Two")
    }
    async with indexed_site(tmp_path, pages, versions="/(v[0-9]+)/", default_version="v1") as site:
        shown = await contents(site, bounds=StrategyBounds(document="subtree", document_chunks=1))
    assert [line.strip("0123456789:#").strip() for line in shown.splitlines()] == ["Guide", "One", "Two"]
    assert "1: One 2" in shown


async def test_a_page_that_does_not_fit_by_itself_is_cut_to_upper_levels_and_what_was_found(tmp_path: Path) -> None:
    body = "".join(f"<h2>Chapter {n}</h2><p>Chapter {n}.</p><h3>Detail {n}</h3><p>Detail {n}.</p>" for n in range(20))
    body += "<h2>Last</h2><h3>Start</h3><p>How do I prime the pump?</p>"
    async with indexed_site(tmp_path, {f"{BASE}/book.html": html("Book", body)}) as site:
        shown = await contents(site, limit=400, bounds=StrategyBounds(document_chunks=1))
        upper = shown.splitlines()
        none = (await contents(site, limit=60, bounds=StrategyBounds(document_chunks=1))).splitlines()
    assert sum("Chapter" in line for line in upper) == 20
    assert not any("Detail" in line for line in upper)
    assert any("Start" in line for line in upper)
    assert [line.strip("0123456789: -") for line in none[:-1]] == ["Book", "Last", "Start"]
    assert upper[-1] == none[-1] == "(Cut: upper levels, and what matches the question.)"


class Vanishing(AnthropicModel):
    """The page goes while the model thinks about its contents."""

    site: IndexedSite

    async def turn(self, *args: Any, **options: Any) -> AsyncIterator[ModelEvent]:
        await self.site.remove(PUMPS)
        async for event in super().turn(*args, **options):
            yield event


async def test_a_page_that_goes_before_it_is_read_is_reported(tmp_path: Path) -> None:
    pages = {PUMPS: html("Pumps", "<p>Prime the pump.</p>")}
    async with indexed_site(tmp_path, pages) as site, asking(site, "pageindex") as asked:
        asked.model = Vanishing(api_key="key", base_url=asked.api.url, citations=True)
        asked.model.site = site
        asked.api.call("read", {"sections": [1]})
        asked.api.say("NOT_FOUND")
        async with asked.model:
            answer = await asked.ask()
        assert "no longer there" in str(asked.api.requests[1].last)
    assert (answer.outcome, answer.trace.passages) == ("not_found", ())


async def test_nothing_retrieved_is_not_found_without_a_call(empty_site: IndexedSite) -> None:
    async with asking(empty_site, "pageindex") as asked:
        answer = await asked.ask()
    assert (answer.outcome, answer.trace.turns) == ("not_found", 0)
    assert [(step.tool, step.shown) for step in answer.trace.steps] == [("pick_page", "")]
