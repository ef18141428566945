"""The Anthropic adapter through the real SDK over HTTP: what goes out, what comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from navigator.agent.prompts import RIT_TOOLS
from navigator.answer import Usage
from navigator.citations.markup import without_reasoning
from navigator.models.anthropic import AnthropicModel
from navigator.models.prices import Prices
from navigator.ports import (
    CitationDelta,
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
from tests.fakes.messages_api import MessagesApi, cited, text, thinking, tool
from tests.fakes.turns import passage, read_turns

QUESTION: list[Turn] = [UserTurn("Which port?")]


def open_model(api: MessagesApi, **options: Any) -> AnthropicModel:
    settings: dict[str, Any] = {"api_key": "key", "base_url": api.url, "retry_wait": 0.0, "timeout": 5.0}
    return AnthropicModel(**settings | options)


async def ask(model: AnthropicModel, turns: list[Turn] = QUESTION, **options: Any) -> list[ModelEvent]:
    return [event async for event in model.turn("Rules.", turns, RIT_TOOLS, **options)]


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def ended(events: list[ModelEvent]) -> TurnEnd:
    assert isinstance(events[-1], TurnEnd)
    return events[-1]


async def test_text_is_given_piece_by_piece_as_it_is_written() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.say("Grüße: der Port ist 8443 — 漢字.")
        events = await ask(model)
    assert said(events) == "Grüße: der Port ist 8443 — 漢字."
    assert len(events) > 3
    assert ended(events).reason == "end"


async def test_a_call_is_given_whole_however_its_arguments_were_cut() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.call("read", {"sections": [1, 22], "warum": "wegen „ü“"}, say="Reading.")
        events = await ask(model)
    assert events[:-1] == [
        TextDelta("Reading."),
        ToolCallEvent(ToolCall("toolu_1", "read", {"sections": [1, 22], "warum": "wegen „ü“"})),
    ]
    assert ended(events).reason == "calls"


async def test_several_calls_in_one_turn_keep_their_order() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.send(tool("read", {"sections": [1]}), tool("read", {"sections": [2]}))
        calls = [event.call for event in await ask(model) if isinstance(event, ToolCallEvent)]
    assert [call.arguments["sections"] for call in calls] == [[1], [2]]
    assert len({call.id for call in calls}) == 2


async def test_citations_point_at_the_blocks_of_the_passages_read_in_any_turn() -> None:
    turns = read_turns((passage(1, "A.", "B."), passage(2, "C.")), (passage(3, "D.", "", "E.", "F."),))
    async with MessagesApi() as api, open_model(api, citations=True) as model:
        api.say("First. ", cited("Second.", (0, 1, 1)), cited("Third.", (2, 1, 2), (1, 0, 0)), " Last.")
        events = await ask(model, turns)
    assert [event for event in events if isinstance(event, CitationDelta)] == [
        CitationDelta(0, 1, 1, "B."),
        CitationDelta(2, 2, 3, "E.F."),
        CitationDelta(1, 0, 0, "C."),
    ]
    behind = [said(events[:position]) for position, event in enumerate(events) if isinstance(event, CitationDelta)]
    assert behind == ["First. Second.", "First. Second.Third.", "First. Second.Third."]


async def test_passages_go_out_as_search_results_with_link_path_and_blocks() -> None:
    turns = read_turns((passage(7, "Text.", path=("Manual", "Network", "Ports")),))
    async with MessagesApi() as api, open_model(api, citations=True) as model:
        api.say("So.")
        await ask(model, turns)
    assert api.requests[0].search_results == [
        {
            "type": "search_result",
            "source": "https://docs.example.test/page-7#s",
            "title": "Manual › Network › Ports",
            "content": [{"type": "text", "text": "Text."}],
            "citations": {"enabled": True},
        }
    ]


async def test_a_citation_of_another_kind_or_of_nothing_read_is_left_out() -> None:
    async with MessagesApi() as api, open_model(api, citations=True) as model:
        api.say(cited("Well.", (5, 0, 0), (0, 3, 3), {"type": "page_location", "document_index": 0}))
        events = await ask(model, read_turns((passage(1, "A."),)))
    assert events[:-1] == [TextDelta("Well.")]


async def test_a_model_that_must_answer_may_not_call_but_is_still_shown_the_tools() -> None:
    turns = read_turns((passage(1, "A."),))
    async with MessagesApi() as api, open_model(api, citations=True) as model:
        api.say("So.", cite=(0, 0, 0))
        await ask(model, turns, must_answer=True)
        api.say("So.")
        await ask(model, turns)
    assert [request.body["tool_choice"]["type"] for request in api.requests] == ["none", "auto"]
    assert all(len(request.body["tools"]) == len(RIT_TOOLS) for request in api.requests)


async def test_the_next_turn_reads_from_the_cache_what_this_one_wrote() -> None:
    turns = read_turns((passage(1, "word " * 1_000),))
    async with MessagesApi() as api, open_model(api, citations=True) as model:
        api.call("read", {"sections": [2]}, say="More.")
        first = ended(await ask(model, turns)).usage
        call = ToolCall("toolu_1", "read", {"sections": [2]})
        turns += [ModelTurn("More.", (call,)), ToolTurn((ToolResult(call.id, passages=(passage(2, "B."),)),))]
        api.say("So.")
        second = ended(await ask(model, turns)).usage
        api.say("So.")
        last = ended(await ask(model, turns, must_answer=True)).usage
    assert first.cache_read_tokens == 0
    assert second.cache_read_tokens >= first.cache_write_tokens > 1_000
    assert last.cache_write_tokens == 0, "nobody would read it"


async def test_usage_context_and_cost_are_told() -> None:
    usage = {
        "input_tokens": 1_000,
        "output_tokens": 200,
        "cache_read_input_tokens": 30_000,
        "cache_creation_input_tokens": 4_000,
    }
    async with MessagesApi() as api, open_model(api, prices=Prices(1.0, 5.0, 0.1, 1.25)) as model:
        api.say("So.", usage=usage)
        end = ended(await ask(model))
    assert replace(end.usage, cost=None) == Usage(1_000, 200, 30_000, 4_000)
    assert end.usage.cost == pytest.approx(0.001 + 0.001 + 0.003 + 0.005)
    assert end.context_tokens == 35_000


async def test_a_call_cut_in_two_by_the_token_limit_is_no_call() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.send(text("Reading."), tool("read", '{"sections": [1, 2'), stop="max_tokens")
        events = await ask(model)
    assert events[:-1] == [TextDelta("Reading.")]
    assert ended(events).reason == "max_tokens"


@pytest.mark.parametrize("written", ['{"sections": [1', "[1, 2]", '"one"', "nonsense"])
async def test_arguments_that_are_no_object_reach_the_loop_as_a_call_it_can_refuse(written: str) -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.call("read", written)
        events = await ask(model)
        assert events[0] == ToolCallEvent(ToolCall("toolu_1", "read", {"_invalid": written}))
        called = events[0]
        assert isinstance(called, ToolCallEvent)
        api.say("So.")
        refusal = ToolTurn((ToolResult(called.call.id, "read takes sections.", error=True),))
        assert said(await ask(model, [*QUESTION, ModelTurn("", (called.call,)), refusal])) == "So."
    assert api.requests[1].last[0]["is_error"] is True


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("pause_turn", "end"),
        ("something_new", "end"),
        ("tool_use", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
    ],
)
async def test_every_way_to_stop_has_a_reason(stop: str, reason: str) -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.say("So.", stop=stop)
        assert ended(await ask(model)).reason == reason


async def test_a_refusal_takes_its_calls_back() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.call("read", {"sections": [1]}, stop="refusal")
        assert [type(event) for event in await ask(model)] == [TurnEnd]


async def test_a_reply_without_content_is_an_end() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.send()
        events = await ask(model)
    assert [type(event) for event in events] == [TurnEnd]
    assert ended(events).reason == "end"


async def test_signed_reasoning_goes_back_with_the_results_unchanged() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.send(thinking("sig-1"), text("Reading."), tool("read", {"sections": [1]}))
        events = await ask(model)
        calls = tuple(event.call for event in events if isinstance(event, ToolCallEvent))
        turn = ModelTurn(said(events), calls, ended(events).echo)
        api.say("So.")
        await ask(model, [*QUESTION, turn, ToolTurn((ToolResult(calls[0].id, "text"),))])
    assert api.requests[1].body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "sig-1"},
        {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"sections": [1]}},
    ]


async def test_only_what_was_configured_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-mine: from-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with MessagesApi() as api:
        for key in ("key", None):
            api.say("So.")
            async with open_model(api, api_key=key, model="some-model", max_tokens=77) as model:
                await ask(model)
    keyed, keyless = api.requests
    assert keyed.headers["authorization"] == "Bearer key"
    assert keyed.headers["x-api-key"] == "key"
    assert not {"authorization", "x-api-key"} & set(keyless.headers)
    assert "from-the-environment" not in str([request.headers for request in api.requests])
    assert (keyed.body["model"], keyed.body["max_tokens"]) == ("some-model", 77)
    assert "temperature" not in keyed.body


async def test_a_temperature_is_sent_where_one_is_set() -> None:
    async with MessagesApi() as api, open_model(api, temperature=0.2) as model:
        api.say("So.")
        await ask(model)
    assert api.requests[0].body["temperature"] == 0.2


async def test_the_address_may_have_a_path() -> None:
    async with MessagesApi(path="/proxy/anthropic") as api, open_model(api) as model:
        api.say("So.")
        await ask(model)
    assert api.requests[0].path == "/proxy/anthropic/v1/messages"


async def test_turns_side_by_side_keep_apart() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        for _ in range(8):
            api.say("So.")
        answers = await asyncio.gather(*(ask(model, [UserTurn(f"Question {n}?")]) for n in range(8)))
    assert {said(events) for events in answers} == {"So."}
    asked = {request.last[0]["text"] for request in api.requests}
    assert asked == {f"Question {n}?" for n in range(8)}


async def test_a_turn_that_is_cancelled_hangs_up() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.say("one two three four", breaks="hang")
        speaking = asyncio.Event()

        async def listen() -> None:
            async for _ in model.turn("Rules.", QUESTION, RIT_TOOLS):
                speaking.set()

        listening = asyncio.create_task(listen())
        async with asyncio.timeout(20):
            await speaking.wait()
            listening.cancel()
            await asyncio.wait([listening])
            await api.disconnected.wait()
    assert listening.cancelled()


async def test_a_model_that_is_not_open_says_so() -> None:
    model = AnthropicModel(api_key="key")
    with pytest.raises(RuntimeError, match="async with"):
        await ask(model)


@pytest.mark.parametrize("reasoning", [thinking(), text("<think>Let me see.")])
async def test_reasoning_that_used_up_the_reply_is_tried_once_more_with_more_room(reasoning: dict[str, Any]) -> None:
    async with MessagesApi() as api, open_model(api, max_tokens=100) as model:
        api.send(reasoning, stop="max_tokens", usage={"input_tokens": 5, "output_tokens": 100})
        api.say("Port 8443.", usage={"input_tokens": 5, "output_tokens": 9})
        events = await ask(model)
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert without_reasoning(said).strip() == "Port 8443."
    assert (ended(events).reason, ended(events).usage.output_tokens) == ("end", 109)
    assert [request.body["max_tokens"] for request in api.requests] == [100, 200]


async def test_where_there_is_no_more_room_the_turn_ends_as_it_did() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.send(thinking(), stop="max_tokens")
        api.fail(400, "max_tokens: too many")
        assert ended(await ask(model)).reason == "max_tokens"
        for _ in range(2):
            api.send(thinking(), stop="max_tokens")
        assert ended(await ask(model)).reason == "max_tokens"
    assert len(api.requests) == 4
