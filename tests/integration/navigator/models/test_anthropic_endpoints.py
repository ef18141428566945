"""The Anthropic adapter at endpoints that can do less than the real one, and what `probe` says of them."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpx2
import pytest

from navigator.agent.prompts import RIT_TOOLS
from navigator.errors import ModelRejected
from navigator.models.anthropic import AnthropicModel
from navigator.models.capabilities import Capabilities
from navigator.ports import CitationDelta, ModelEvent, TextDelta, Turn, TurnEnd, UserTurn
from tests.fakes.messages_api import MessagesApi, cited, text, tool
from tests.fakes.turns import passage, read_turns

QUESTION: list[Turn] = [UserTurn("Which port?")]
READ_TOOL = read_turns((passage(12, "Port 8443."),))


def open_model(api: MessagesApi, **options: Any) -> AnthropicModel:
    settings: dict[str, Any] = {"api_key": "key", "base_url": api.url, "retry_wait": 0.0, "timeout": 5.0}
    return AnthropicModel(**settings | options)


async def ask(model: AnthropicModel, turns: list[Turn]) -> list[ModelEvent]:
    return [event async for event in model.turn("Rules.", turns, RIT_TOOLS)]


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def result_text(api: MessagesApi) -> Any:
    return api.requests[-1].last[0]["content"]


async def test_an_endpoint_that_cites_is_given_search_results_after_one_tiny_request() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        for _ in range(2):
            api.say(cited("Port 8443.", (0, 0, 0)))
            assert CitationDelta(0, 0, 0, "Port 8443.") in await ask(model, READ_TOOL)
        assert model.cites
    assert len(api.probes) == 1


async def test_questions_without_passages_cost_no_tiny_request() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.say("So.")
        await ask(model, QUESTION)
    assert not api.probes


async def test_many_questions_at_once_cost_one_tiny_request() -> None:
    async with MessagesApi(ignores=["citations"]) as api, open_model(api) as model:
        for _ in range(5):
            api.say("Port 8443 [12].")
        answers = await asyncio.gather(*(ask(model, READ_TOOL) for _ in range(5)))
    assert {said(events) for events in answers} == {"Port 8443 [12]."}
    assert len(api.probes) == 1


@pytest.mark.parametrize("how", [{"rejects": ["citations"]}, {"ignores": ["citations"]}])
async def test_an_endpoint_without_citations_is_shown_text_with_numbers(how: dict[str, Any]) -> None:
    async with MessagesApi(**how) as api, open_model(api) as model:
        assert model.cites
        api.say("Port 8443 [12].")
        assert said(await ask(model, READ_TOOL)) == "Port 8443 [12]."
        assert not model.cites
    assert "[12] Manual › Section\n\nPort 8443." in result_text(api)
    assert "like [12]" in result_text(api)
    assert len(api.requests) == 1


async def test_what_is_set_about_citations_is_not_tried() -> None:
    async with MessagesApi() as api:
        async with open_model(api, citations=False) as model:
            api.say("Port 8443 [12].")
            await ask(model, READ_TOOL)
            assert not model.cites
            assert isinstance(result_text(api), str)
        async with open_model(api, citations=True) as model:
            api.say(cited("Port 8443.", (0, 0, 0)))
            await ask(model, READ_TOOL)
            assert result_text(api)[0]["type"] == "search_result"
    assert not api.probes


async def test_citations_that_are_insisted_on_and_refused_are_an_error() -> None:
    async with MessagesApi(rejects=["citations"]) as api, open_model(api, citations=True) as model:
        with pytest.raises(ModelRejected, match="refused the request"):
            await ask(model, READ_TOOL)
        assert model.cites


class Diverted(httpx2.AsyncHTTPTransport):
    """Takes what is meant for the real API to the local one."""

    def __init__(self, api: MessagesApi) -> None:
        super().__init__()
        self._url = httpx2.URL(api.url)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.host == "api.anthropic.com"
        request.url = request.url.copy_with(scheme="http", host=self._url.host, port=self._url.port)
        return await super().handle_async_request(request)


async def test_the_real_api_is_believed_to_cite_until_it_refuses() -> None:
    async with (
        MessagesApi(rejects=["citations"]) as api,
        open_model(api, base_url=None, transport=Diverted(api)) as model,
    ):
        for _ in range(2):
            api.say("Port 8443 [12].")
            assert said(await ask(model, READ_TOOL)) == "Port 8443 [12]."
            assert not model.cites
    assert not api.probes
    assert [bool(request.search_results) for request in api.requests] == [True, True, False, False]
    assert "cache_control" in str(api.requests[-1].body)
    assert "x-api-key" not in api.requests[0].headers


async def test_an_endpoint_that_refuses_prompt_caching_is_asked_without_it_from_then_on() -> None:
    async with MessagesApi(rejects=["cache_control"]) as api, open_model(api) as model:
        for _ in range(2):
            api.say("So.")
            assert said(await ask(model, QUESTION)) == "So."
    assert ["cache_control" in str(request.body) for request in api.requests] == [True, False, False]


async def test_an_endpoint_that_refuses_both_is_asked_without_both() -> None:
    async with MessagesApi(rejects=["cache_control", "citations"]) as api, open_model(api) as model:
        api.say("Port 8443 [12].")
        assert said(await ask(model, READ_TOOL)) == "Port 8443 [12]."
        assert not model.cites
    assert len(api.requests) == 1


async def test_a_refusal_of_something_else_switches_nothing_off() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        api.fail(400, "prompt is too long: 300000 tokens > 200000 maximum")
        with pytest.raises(ModelRejected, match="too long"):
            await ask(model, QUESTION)
        api.fail(400, "tools: the word is forbidden", times=2)
        with pytest.raises(ModelRejected, match="refused"):
            await ask(model, QUESTION)
        api.say("So.")
        await ask(model, QUESTION)
    assert "cache_control" in str(api.requests[-1].body)


async def test_an_answer_in_one_piece_is_read_like_a_stream() -> None:
    async with MessagesApi(ignores=["stream"]) as api, open_model(api, citations=True) as model:
        api.send(text("It is "), cited("8443", (0, 0, 0)), tool("read", {"sections": [1]}))
        events = await ask(model, READ_TOOL)
    assert [type(event).__name__ for event in events] == [
        "TextDelta",
        "TextDelta",
        "CitationDelta",
        "ToolCallEvent",
        "TurnEnd",
    ]
    end = events[-1]
    assert isinstance(end, TurnEnd)
    assert end.reason == "calls"
    assert end.usage.output_tokens > 0


async def test_what_is_not_counted_is_estimated_from_the_request() -> None:
    async with MessagesApi(ignores=["usage"]) as api, open_model(api, citations=True) as model:
        api.say("So.")
        api.say("So.")
        small = (await ask(model, QUESTION))[-1]
        large = (await ask(model, read_turns((passage(1, "word " * 4000),))))[-1]
    assert isinstance(small, TurnEnd)
    assert isinstance(large, TurnEnd)
    assert 0 < small.context_tokens < 1000 < 5000 < large.context_tokens < 8000
    assert large.usage.cost is None


@pytest.mark.parametrize("field", ["id", "start", "stop", "message_start", "event names", "message_stop"])
async def test_a_stream_that_leaves_something_out_is_still_understood(field: str) -> None:
    events = [
        ("message_start", '{"type": "message_start", "message": {"usage": null}}'),
        ("content_block_start", '{"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}'),
        ("content_block_delta", '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "So."}}'),
        ("content_block_stop", '{"type": "content_block_stop", "index": 0}'),
        ("content_block_start", '{"type": "content_block_start", "index": 1, "content_block": '
         '{"type": "tool_use", "name": "read", "input": {"sections": [1]}}}'),
        ("message_delta", '{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}'),
        ("message_stop", '{"type": "message_stop"}'),
    ]  # fmt: skip
    left_out = {"start": {1}, "stop": {3}, "message_start": {0}, "message_stop": {6}}.get(field, set())
    name = "" if field == "event names" else "event: {}\n"
    body = "".join(name.format(e) + f"data: {d}\n\n" for n, (e, d) in enumerate(events) if n not in left_out)
    async with MessagesApi() as api, open_model(api) as model:
        api.raw(body)
        heard = await ask(model, QUESTION)
    assert said(heard) == "So."
    assert [type(event).__name__ for event in heard] == ["TextDelta", "ToolCallEvent", "TurnEnd"]


async def test_probe_finds_everything_at_a_full_endpoint() -> None:
    async with MessagesApi() as api, open_model(api) as model:
        assert await model.probe() == Capabilities(True, True, True, True, True, True, True)
    assert len(api.probes) == 2


@pytest.mark.parametrize(
    ("endpoint", "field", "note"),
    [
        ({"ignores": ["stream"]}, "streaming", "does not stream"),
        ({"ignores": ["tools"]}, "tools", "called no tool"),
        ({"ignores": ["citations"]}, "citations", "section numbers"),
        ({"rejects": ["citations"]}, "citations", "section numbers"),
        ({"rejects": ["cache_control"]}, "caching", "Prompt caching"),
        ({"ignores": ["cache_control"]}, "caching", "Prompt caching"),
        ({"ignores": ["usage"]}, "caching", "Prompt caching"),
    ],
)
async def test_probe_says_in_plain_words_what_is_missing(endpoint: dict[str, Any], field: str, note: str) -> None:
    async with MessagesApi(**endpoint) as api, open_model(api) as model:
        found = await model.probe()
    able = {name: getattr(found, name) for name in ("streaming", "tools", "citations", "caching")}
    assert able == dict.fromkeys(able, True) | {field: False}
    assert len(found.notes) == 1
    assert note in found.notes[0]


async def test_probe_says_that_citations_which_are_insisted_on_do_not_come() -> None:
    for endpoint in (MessagesApi(rejects=["citations"]), MessagesApi(ignores=["citations"])):
        async with endpoint as api, open_model(api, citations=True) as model:
            found = await model.probe()
        assert found.citations is False
        assert "no answer can be cited" in found.notes[0]


async def test_probe_tells_a_wrong_key_from_an_unknown_model() -> None:
    async with MessagesApi(key="right", models=["known"]) as api:
        async with open_model(api) as model:
            found = await model.probe()
            assert (found.reachable, found.key_accepted, found.model_known) == (True, False, None)
        async with open_model(api, api_key="right") as model:
            found = await model.probe()
            assert (found.reachable, found.key_accepted, found.model_known) == (True, True, False)
            assert "claude-haiku-5-5" in found.notes[0]


async def test_probe_repeats_what_an_endpoint_has_against_the_request() -> None:
    async with MessagesApi() as api, open_model(api, prompt_caching=False) as model:
        api.fail(400, "max_tokens: 8192 > 4096")
        found = await model.probe()
    assert (found.reachable, found.key_accepted, found.model_known) == (True, True, None)
    assert "It says: max_tokens: 8192 > 4096" in found.notes


async def test_probe_of_an_endpoint_that_has_no_time_or_is_not_there() -> None:
    async with MessagesApi() as api, open_model(api, max_retries=0) as model:
        api.fail(429)
        limited = await model.probe()
        api.fail(500)
        faulty = await model.probe()
        api.raw("<html></html>", "text/html")
        another = await model.probe()
    assert (limited.reachable, limited.key_accepted, limited.streaming) == (True, True, None)
    assert (faulty.reachable, another.reachable) == (False, False)
    assert "asked too much" in limited.notes[0]
    assert "HTTP 500" in faulty.notes[0]
    assert "does not speak the Messages API" in another.notes[0]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with AnthropicModel(api_key=None, base_url=f"http://127.0.0.1:{port}", max_retries=0) as model:
        nobody = await model.probe()
    assert nobody == Capabilities(False, notes=(f"The model at 127.0.0.1:{port} cannot be reached.",))
