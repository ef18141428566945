"""Agentic search and Interact-RAG: what each of their tools gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ingest.model import Scope
from navigator.answer import Answer
from navigator.models.anthropic import AnthropicModel
from navigator.ports import ModelEvent
from navigator.strategies.strategy import StrategyBounds
from tests.fakes.messages_api import Request, tool
from tests.fakes.site import IndexedSite, html, indexed_site
from tests.integration.navigator.strategies.setting import BASE, PUMPS, asking

LONG = f"{BASE}/long.html"
LONG_PAGE = html(
    "Reference",
    "<p>All parts are listed here.</p>"
    + "".join(
        f"<h2 id='s{section}'>Section {section}</h2>"
        + "".join(f"<p>Part {section}.{n} has a bolt, a nut and a washer, and weighs {n} grams.</p>" for n in range(9))
        for section in range(3)
    ),
)
"""Each section is a few chunks."""

Call = tuple[str, dict[str, Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def long_site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("long"), {LONG: LONG_PAGE}) as open_site:
        yield open_site


async def answered(
    site: IndexedSite,
    *calls: Call,
    strategy: str = "interact",
    bounds: StrategyBounds | None = None,
    scope: Scope | None = None,
) -> tuple[Answer, Sequence[Request]]:
    """A question for which these calls are made, one a turn."""
    async with asking(site, strategy, bounds) as asked:
        for call in calls:
            asked.api.call(*call)
        asked.api.say("NOT_FOUND")
        return await asked.ask(scope=scope), asked.api.requests


def read(answer: Answer, step: int) -> list[str]:
    """The texts that one step gave."""
    numbers = answer.trace.steps[step].numbers
    return ["\n".join(b.text for b in p.blocks) for p in answer.trace.passages if p.number in numbers]


def remark(request: Request) -> str:
    return "\n".join(block["text"] for block in request.last if block["type"] == "text")


async def test_a_search_gives_as_many_chunks_as_are_set_with_their_numbers(site: IndexedSite) -> None:
    calls = [("search", {"query": "prime the pump"})]
    answer, requests = await answered(site, *calls, strategy="agentic", bounds=StrategyBounds(search_chunks=2))
    assert answer.trace.steps[0].query == "prime the pump"
    assert answer.trace.steps[0].numbers == (1, 2)
    assert "Given by search, in this order: 1, 2." in remark(requests[1])
    assert requests[1].search_results[0]["title"] == "Pumps › Priming"


async def test_numbers_run_on_from_search_to_search(site: IndexedSite) -> None:
    calls = [("search", {"query": "prime the pump"}), ("search", {"query": "oil what is stuck"})]
    answer, _ = await answered(site, *calls, strategy="agentic", bounds=StrategyBounds(search_chunks=1))
    assert [step.numbers for step in answer.trace.steps] == [(1,), (2,)]


async def test_a_chunk_is_given_once_and_named_when_it_is_found_again(site: IndexedSite) -> None:
    calls = [("search", {"query": "prime the pump"}), ("search", {"query": "prime the pump, and fill it"})]
    answer, requests = await answered(site, *calls, strategy="agentic", bounds=StrategyBounds(search_chunks=1))
    assert [step.numbers for step in answer.trace.steps] == [(1,), ()]
    assert "You have read 1 already" in str(requests[2].last)
    assert len(requests[2].search_results) == 1


async def test_the_same_search_twice_in_one_turn_gives_its_chunks_once(site: IndexedSite) -> None:
    same = tool("search", {"query": "prime the pump"})
    async with asking(site, "agentic") as asked:
        asked.api.send(same, same)
        asked.api.say("NOT_FOUND")
        answer = await asked.ask()
    numbers = [result["title"] for result in asked.api.requests[1].search_results]
    assert len(numbers) == len(answer.trace.passages) == len(answer.trace.steps[0].numbers)


class Vanishing(AnthropicModel):
    """A page goes before its second turn."""

    site: IndexedSite
    turns_taken = 0

    async def turn(self, *args: Any, **options: Any) -> AsyncIterator[ModelEvent]:
        self.turns_taken += 1
        if self.turns_taken == 2:
            await self.site.remove(PUMPS)
        async for event in super().turn(*args, **options):
            yield event


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("search", {"query": "prime the pump"}), ""),
        (("page", {"passage": 1, "query": "seal"}), "no longer there"),
        (("around", {"passage": 1}), "no longer there"),
        (("entity", {"name": "XR-200"}), "Nothing matches"),
    ],
)
async def test_what_goes_between_two_calls_is_not_read(tmp_path: Path, call: tuple[str, Any], said: str) -> None:
    pages = {PUMPS: html("Pumps", "<p>Prime the pump XR-200.</p><h2>Seal</h2><p>Grease it.</p>")}
    async with (
        indexed_site(tmp_path, pages) as site,
        asking(site, "interact", StrategyBounds(search_chunks=1)) as asked,
    ):
        asked.model = Vanishing(api_key="key", base_url=asked.api.url, citations=True)
        asked.model.site = site
        asked.api.call("search", {"query": "prime the pump"})
        asked.api.call(*call)
        asked.api.say("NOT_FOUND")
        async with asked.model:
            answer = await asked.ask()
    assert len(answer.trace.passages) == 1
    assert answer.trace.steps[1].numbers == ()
    assert said in remark(asked.api.requests[2]) + str(asked.api.requests[2].last)


async def test_search_goes_by_meaning_alone_and_keyword_by_words_alone(site: IndexedSite) -> None:
    calls = [("keyword", {"query": "XR-200"}), ("keyword", {"query": "rocket"}), ("search", {"query": "rocket"})]
    answer, requests = await answered(site, *calls)
    assert read(answer, 0) == ["The ring XR-200 is a spare part."]
    assert answer.trace.steps[1].numbers == ()
    assert "Nothing matches" in str(requests[2].last)
    assert answer.trace.steps[2].numbers, "by meaning something is always nearest"


async def test_search_hears_no_words(site: IndexedSite) -> None:
    query = {"query": "it with the: XR"}
    answer, _ = await answered(site, ("search", query), ("keyword", query), bounds=StrategyBounds(search_chunks=1))
    assert [passage.path[-1] for passage in answer.trace.passages] == ["Priming", "Rings"]


async def test_entity_gives_as_many_as_are_set(long_site: IndexedSite) -> None:
    sizes = []
    for chunks in (1, 2):  # neighbours are one passage
        bounds = StrategyBounds(search_chunks=chunks)
        answer, _ = await answered(long_site, ("entity", {"name": "washer"}), bounds=bounds)
        sizes.append(sum(map(len, read(answer, 0))))
    assert 1.5 * sizes[0] < sizes[1] < 3 * sizes[0]


async def test_entity_gives_only_what_holds_the_name(site: IndexedSite) -> None:
    calls = [("entity", {"name": "xr-200"}), ("entity", {"name": "XR"}), ("entity", {"name": "moves oil"})]
    answer, _ = await answered(site, *calls)
    assert read(answer, 0) == ["The ring XR-200 is a spare part."]
    assert answer.trace.steps[0].query == "xr-200"
    assert answer.trace.steps[1].numbers == (), "it has been read"
    assert answer.trace.steps[2].numbers == ()


async def test_entity_looks_at_titles_too(site: IndexedSite) -> None:
    answer, _ = await answered(site, ("entity", {"name": "Priming"}))
    assert read(answer, 0) == ["Prime the pump: fill it with water first.\npump --prime"]


async def test_page_searches_one_page_and_goes_on_where_it_was(long_site: IndexedSite) -> None:
    calls: list[Call] = [
        ("keyword", {"query": "listed"}),
        ("page", {"passage": 1, "query": "Part 2.7"}),
        ("page", {"passage": 1, "query": "Part 2.7"}),
    ]
    answer, _ = await answered(long_site, *calls, bounds=StrategyBounds(search_chunks=1))
    assert read(answer, 0) == ["All parts are listed here."]
    assert "Part 2.7" in read(answer, 1)[0]
    assert answer.trace.steps[1].query == "Part 2.7"
    assert read(answer, 2) != read(answer, 1)


async def test_page_stays_on_the_page(site: IndexedSite) -> None:
    calls: list[Call] = [("entity", {"name": "XR-200"}), ("page", {"passage": 1, "query": "valves open and shut"})]
    answer, _ = await answered(site, *calls, bounds=StrategyBounds(search_chunks=20))
    assert {passage.page_url for passage in answer.trace.passages} == {PUMPS}
    assert len(answer.trace.passages) == 4, "all of it"
    assert answer.trace.steps[1].numbers


async def test_a_page_that_is_read_to_its_end_says_so(site: IndexedSite) -> None:
    calls: list[Call] = [
        ("entity", {"name": "XR-200"}),
        ("page", {"passage": 1, "query": "seal"}),
        ("page", {"passage": 1, "query": "seal"}),
        ("around", {"passage": 1}),
    ]
    _, requests = await answered(site, *calls, bounds=StrategyBounds(search_chunks=20))
    assert all("all of this page" in str(request.last) for request in requests[3:])


async def test_around_gives_the_rest_of_the_section_then_what_stands_next(long_site: IndexedSite) -> None:
    calls: list[Call] = [
        ("entity", {"name": "Part 1.4"}),
        ("around", {"passage": 1}),
        ("around", {"passage": 1}),
    ]
    bounds = StrategyBounds(search_chunks=1)
    answer, _ = await answered(long_site, *calls, bounds=bounds)
    paths = [passage.path for passage in answer.trace.passages]
    assert paths[:2] == [("Reference", "Section 1")] * 2
    first, second = answer.trace.passages[:2]
    assert first.at < second.at <= first.at + len(first.blocks), "the chunk that follows"
    whole, _ = await answered(long_site, calls[0], calls[1], bounds=StrategyBounds(search_chunks=50))
    order = [(passage.path, passage.at) for passage in whole.trace.passages if passage.number != 1]
    assert order == sorted(order)
    assert len(order) == len(set(order)) == 5, "four sections, the first passage between two parts of its own"
    assert answer.trace.steps[1].query == "Reference › Section 1"


async def test_neighbouring_chunks_are_one_passage_and_agentic_search_reads_on_from_it(long_site: IndexedSite) -> None:
    calls: list[Call] = [("search", {"query": "Part 1 bolt nut washer"}), ("around", {"passage": 1})]
    answer, requests = await answered(long_site, *calls, strategy="agentic", bounds=StrategyBounds(search_chunks=50))
    assert {len(step.numbers) for step in answer.trace.steps} == {4, 0}, "four sections, each whole"
    assert "all of this page" in str(requests[2].last)
    some, _ = await answered(long_site, *calls, strategy="agentic", bounds=StrategyBounds(search_chunks=1))
    assert len(some.trace.passages) == 2
    assert len({passage.path for passage in some.trace.passages}) == 1


async def test_the_papers_agentic_search_has_nothing_but_search(long_site: IndexedSite) -> None:
    calls: list[Call] = [("search", {"query": "Part 1.4"}), ("around", {"passage": 1})]
    answer, requests = await answered(long_site, *calls, strategy="agentic", bounds=StrategyBounds(read_on=False))
    assert [tool["name"] for tool in requests[0].body["tools"]] == ["search"]
    assert "around" not in str(requests[0].body["system"])
    assert "no tool" in (answer.trace.steps[1].error or "")


@pytest.mark.parametrize("passage", [99, "abc", [1, 2], None, 0, -1])
@pytest.mark.parametrize("name", ["page", "around"])
async def test_a_passage_that_was_not_read_is_refused(site: IndexedSite, name: str, passage: Any) -> None:
    calls: list[Call] = [("search", {"query": "prime the pump"}), (name, {"passage": passage, "query": "x"})]
    answer, _ = await answered(site, *calls)
    assert f"{name} takes" in (answer.trace.steps[1].error or "")


async def test_page_and_around_before_any_search_are_refused_and_do_not_count_as_reading(site: IndexedSite) -> None:
    async with asking(site, "interact") as asked:
        asked.api.call("around", {"passage": 1})
        for _ in range(3):
            asked.api.say("I know it.")
        answer = await asked.ask()
    assert answer.trace.steps[0].error
    assert answer.outcome == "not_found"


async def test_every_tool_keeps_to_the_version_asked_for(tmp_path: Path) -> None:
    pages = {
        f"{BASE}/v{n}/port.html": html("Port", f"<p>The pump listens on port {n}000.</p><h2>More</h2><p>TCP {n}.</p>")
        for n in (1, 2)
    }
    calls: list[Call] = [
        ("search", {"query": "port"}),
        ("keyword", {"query": "port"}),
        ("entity", {"name": "TCP"}),
        ("page", {"passage": 1, "query": "tcp"}),
        ("around", {"passage": 1}),
    ]
    async with indexed_site(tmp_path, pages, versions="/(v[0-9]+)/", default_version="v1") as site:
        answer, _ = await answered(site, *calls, scope=Scope(versions=frozenset({"v2"})))
    assert {passage.version for passage in answer.trace.passages} == {"v2"}
    assert len(answer.trace.passages) == 2
