"""The Model port's contract: what every adapter keeps, whatever it runs on.

An adapter joins by a factory in FACTORIES: an async context manager that gives an open model which, asked
as the navigator asks, searches, reads and then answers from what it read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from datetime import UTC, datetime

import pytest

from ingest.model import Block
from navigator.agent.prompts import RIT_TOOLS, RitBounds, opening, rit_system_prompt
from navigator.answer import Passage
from navigator.extracts.choice import Bounds
from navigator.extracts.model import ExtractiveModel
from navigator.models.anthropic import AnthropicModel
from navigator.ports import (
    CitationDelta,
    Model,
    ModelEvent,
    ModelTurn,
    TextDelta,
    ToolCall,
    ToolCallEvent,
    ToolResult,
    ToolTurn,
    Turn,
    TurnEnd,
    UserTurn,
)
from navigator.retrieval.forest import Forest, ForestNode, ForestTree
from navigator.retrieval.toc import render_toc
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.messages_api import Answer, MessagesApi, Request, cited, text, tool

QUESTION = "Which port does the gateway listen on?"
SECTIONS = {
    1: ("Gateway", "Ports", "The gateway listens on port 8443. Another port is set by listen_port."),
    2: ("Gateway", "Logs", "Logs are written to /var/log/gateway. They rotate at midnight."),
}


def good_model(request: Request) -> Answer:
    """Behind the local Messages API: searches, reads the first section it is shown, cites it."""
    if request.search_results:
        quoted = request.search_results[0]["content"][0]["text"]
        return Answer((text("It says: "), cited(quoted, (0, 0, 0)), text(" That is all.")))
    if request.body["tool_choice"]["type"] == "none":
        return Answer((text("NOT_FOUND nothing was read"),))
    results = [block for block in request.last if block["type"] == "tool_result"]
    shown = re.search(r"^\s*(\d+):", results[-1]["content"], re.MULTILINE) if results else None
    if shown:
        return Answer((text("Reading."), tool("read", {"sections": [int(shown.group(1))]})))
    return Answer((text("Looking."), tool("get_toc", {"query": QUESTION})))


@asynccontextmanager
async def anthropic_over_http() -> AsyncIterator[Model]:
    async with MessagesApi() as api:
        api.always(good_model)
        async with AnthropicModel(api_key="key", base_url=api.url) as model:
            yield model


@asynccontextmanager
async def extractive() -> AsyncIterator[Model]:
    yield ExtractiveModel(HashingEmbedder(), bounds=Bounds(found=0.0, adds=1.0, tied=1.0))


FACTORIES: list[Callable[[], AbstractAsyncContextManager[Model]]] = [anthropic_over_http, extractive]


@pytest.fixture(params=FACTORIES, ids=lambda factory: factory.__name__)
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Model]:
    async with request.param() as opened:
        yield opened


def passage(number: int) -> Passage:
    page, title, words = SECTIONS[number]
    url = f"https://docs.example.test/{page.lower()}"
    blocks = tuple(Block("text", sentence) for sentence in re.split(r"(?<=\.) ", words))
    return Passage(
        number,
        f"node-{number}",
        "hash",
        url,
        url,
        f"{url}#{number}",
        (page, title),
        blocks,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


def forest() -> Forest:
    sections = tuple(
        ForestNode(f"node-{number}", title, True, number, 1.0 / number) for number, (_, title, _) in SECTIONS.items()
    )
    root = ForestNode("root", "Gateway", False, None, None, sections)
    return Forest(QUESTION, (ForestTree("gateway", "https://docs.example.test/gateway", "", (), root, 1.0),))


def result(call: ToolCall) -> ToolResult:
    if call.name == "get_toc":
        return ToolResult(call.id, render_toc(forest()), forest=forest())
    assert call.name == "read"
    return ToolResult(call.id, passages=tuple(passage(number) for number in call.arguments["sections"]))


async def one_turn(model: Model, turns: Sequence[Turn], *, must_answer: bool = False) -> list[ModelEvent]:
    system = rit_system_prompt(RitBounds(), model_cites=model.cites)
    return [event async for event in model.turn(system, turns, RIT_TOOLS, must_answer=must_answer)]


async def conversation(model: Model, question: str = QUESTION) -> tuple[list[Turn], list[list[ModelEvent]]]:
    """The navigator's loop at its barest: every call is answered until the model answers."""
    turns: list[Turn] = [UserTurn(opening(question))]
    heard: list[list[ModelEvent]] = []
    for _ in range(5):
        events = await one_turn(model, turns)
        heard.append(events)
        calls = tuple(event.call for event in events if isinstance(event, ToolCallEvent))
        if not calls:
            return turns, heard
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        ended = events[-1]
        assert isinstance(ended, TurnEnd)
        turns.append(ModelTurn(said, calls, ended.echo))
        turns.append(ToolTurn(tuple(result(call) for call in calls), note="[Left: some calls.]"))
    pytest.fail("the model never answered")


async def test_a_model_says_what_it_is(model: Model) -> None:
    assert model.name
    assert model.context_window > 0
    assert isinstance(model.cites, bool)


async def test_every_turn_ends_once_and_says_nothing_after(model: Model) -> None:
    _, heard = await conversation(model)
    for events in heard:
        assert [isinstance(event, TurnEnd) for event in events].index(True) == len(events) - 1


async def test_calls_name_offered_tools_have_ids_of_their_own_and_are_the_reason_for_the_end(model: Model) -> None:
    _, heard = await conversation(model)
    calls = [event.call for events in heard for event in events if isinstance(event, ToolCallEvent)]
    assert {call.name for call in calls} <= {tool.name for tool in RIT_TOOLS}
    for events in heard:
        in_turn = [event.call.id for event in events if isinstance(event, ToolCallEvent)]
        assert len(set(in_turn)) == len(in_turn)
        ended = events[-1]
        assert isinstance(ended, TurnEnd)
        assert (ended.reason == "calls") == bool(in_turn)


async def test_it_searches_then_reads_then_answers_with_a_citation_of_what_it_read(model: Model) -> None:
    turns, heard = await conversation(model)
    names = [[event.call.name for event in events if isinstance(event, ToolCallEvent)] for events in heard]
    assert names == [["get_toc"], ["read"], []]
    read = [p for turn in turns if isinstance(turn, ToolTurn) for each in turn.results for p in each.passages]
    citations = [event for event in heard[-1] if isinstance(event, CitationDelta)]
    assert citations
    for found in citations:
        made = read[found.index].cite(found.first, found.last, found.quote)
        assert "8443" in made.quote
    assert isinstance(heard[-1][0], TextDelta), "a citation belongs to words that were said before it"


async def test_a_model_that_must_answer_calls_nothing(model: Model) -> None:
    turns, _ = await conversation(model)
    for asked in (turns, turns[:1]):
        events = await one_turn(model, asked, must_answer=True)
        assert not [event for event in events if isinstance(event, ToolCallEvent)]
        assert isinstance(events[-1], TurnEnd)
        assert events[-1].reason == "end"


async def test_questions_side_by_side_do_not_mix(model: Model) -> None:
    _, alone = await conversation(model)
    together = await asyncio.gather(*(conversation(model) for _ in range(6)))
    for _, heard in together:
        assert [_words(events) for events in heard] == [_words(events) for events in alone]


async def test_a_turn_that_is_left_early_leaves_the_model_usable(model: Model) -> None:
    turns = [UserTurn(opening(QUESTION))]
    stream = model.turn(rit_system_prompt(RitBounds(), model_cites=model.cites), turns, RIT_TOOLS)
    async with aclosing(stream) as events:  # type: ignore[type-var]
        assert isinstance(await anext(events), TextDelta)
    assert isinstance((await one_turn(model, turns))[-1], TurnEnd)


async def test_the_same_turns_may_be_asked_again(model: Model) -> None:
    turns, heard = await conversation(model)
    assert _words(await one_turn(model, turns)) == _words(heard[-1])


async def test_usage_is_never_negative(model: Model) -> None:
    _, heard = await conversation(model)
    for events in heard:
        ended = events[-1]
        assert isinstance(ended, TurnEnd)
        usage = ended.usage
        counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        assert min(*counts, ended.context_tokens, usage.cost or 0) >= 0


def _words(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
