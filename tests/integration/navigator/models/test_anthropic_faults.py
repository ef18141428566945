"""The Anthropic adapter when things go wrong: every failure is a plain sentence of the right kind."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from time import monotonic
from typing import Any

import httpx2
import pytest

from navigator.agent.prompts import RIT_TOOLS
from navigator.errors import ModelError, ModelLimited, ModelRejected, ModelUnreachable
from navigator.models.anthropic import AnthropicModel
from navigator.ports import ModelEvent, TextDelta
from tests.fakes.messages_api import Break, MessagesApi, cited
from tests.fakes.turns import passage, read_turns

TURNS = read_turns((passage(1, "The launch code is 1234."),), question="What is the launch code?")
KEY = "sk-ant-very-secret"


def open_model(url: str, **options: Any) -> AnthropicModel:
    settings: dict[str, Any] = {
        "api_key": KEY,
        "base_url": url,
        "retry_wait": 0.0,
        "max_retries": 2,
        "timeout": 5.0,
        "citations": True,
    }
    return AnthropicModel(**settings | options)


async def ask(model: AnthropicModel, heard: list[ModelEvent] | None = None) -> str:
    events: list[ModelEvent] = [] if heard is None else heard
    async for event in model.turn("Rules.", TURNS, RIT_TOOLS):
        events.append(event)
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def failure(model: AnthropicModel, heard: list[ModelEvent] | None = None) -> ModelError:
    """The error of one turn, which tells a reader nothing that is not theirs."""
    with pytest.raises(ModelError) as caught:
        await ask(model, heard)
    message = str(caught.value)
    assert message.endswith(".")
    assert len(message) < 160
    for secret in (KEY, "1234", "launch", "Traceback", "{"):
        assert secret not in message
    return caught.value


@pytest.mark.parametrize(
    ("status", "says", "words"),
    [
        (401, "invalid x-api-key", "does not accept the API key"),
        (402, "Your credit balance is too low", "no credit left"),
        (403, "no permission", "may not use the model claude-haiku-5-5"),
        (404, "model: x", "no model claude-haiku-5-5"),
        (405, "method not allowed", "not that of a Messages API"),
        (413, "Request exceeds the maximum size", "grown too long"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "grown too long"),
        (400, "Your credit balance is too low to access the API", "no credit left"),
        (400, "temperature: may only be 1; launch code 1234", "refused the request (HTTP 400)"),
        (422, "launch code 1234: Input should be a valid string", "refused the request (HTTP 422)"),
        (418, "teapot", "refused the request (HTTP 418)"),
    ],
)
async def test_what_trying_again_cannot_help_is_rejected_at_once(status: int, says: str, words: str) -> None:
    async with MessagesApi() as api, open_model(api.url, prompt_caching=False) as model:
        api.fail(status, says)
        error = await failure(model)
    assert isinstance(error, ModelRejected)
    assert words in str(error)
    assert len(api.requests) == 1


async def test_a_wrong_key_and_an_unknown_model_are_told_apart() -> None:
    async with MessagesApi(key="right", models=["known"]) as api:
        api.say("So.")
        async with open_model(api.url) as model:
            assert "API key" in str(await failure(model))
        async with open_model(api.url, api_key="right") as model:
            assert "no model claude-haiku-5-5" in str(await failure(model))
        async with open_model(api.url, api_key="right", model="known") as model:
            assert await ask(model) == "So."


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
async def test_a_passing_fault_is_tried_again(status: int) -> None:
    async with MessagesApi() as api, open_model(api.url) as model:
        api.fail(status, times=2)
        api.say("So.")
        assert await ask(model) == "So."
    assert len(api.requests) == 3


@pytest.mark.parametrize(("status", "words"), [(500, "has a fault (HTTP 500)"), (529, "is overloaded")])
async def test_a_lasting_fault_is_told_after_the_last_try(status: int, words: str) -> None:
    async with MessagesApi() as api, open_model(api.url) as model:
        api.fail(status, times=3)
        error = await failure(model)
    assert isinstance(error, ModelUnreachable)
    assert words in str(error)


async def test_tries_wait_longer_each_time() -> None:
    async with MessagesApi() as api, open_model(api.url, retry_wait=0.05) as model:
        api.fail(500, times=2)
        api.say("So.")
        started = monotonic()
        await ask(model)
        assert monotonic() - started >= 0.075


async def test_an_endpoint_that_asks_for_patience_is_given_it() -> None:
    async with MessagesApi() as api, open_model(api.url, retry_wait=20.0) as model:
        api.fail(429, retry_after=0.02, times=2)
        api.say("So.")
        assert await ask(model) == "So."


async def test_an_endpoint_that_never_has_time_is_a_limit() -> None:
    async with MessagesApi() as api, open_model(api.url) as model:
        api.fail(429, retry_after=0.01, times=3)
        error = await failure(model)
    assert isinstance(error, ModelLimited)
    assert error.retry_after == 0.01


async def test_nobody_is_kept_waiting_for_an_hour() -> None:
    async with MessagesApi() as api, open_model(api.url) as model:
        api.fail(429, retry_after=3600)
        error = await failure(model)
    assert isinstance(error, ModelLimited)
    assert error.retry_after == 3600
    assert len(api.requests) == 1


async def test_nobody_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with open_model(f"http://user:word@127.0.0.1:{port}") as model:
        error = await failure(model)
    assert isinstance(error, ModelUnreachable)
    assert str(error) == f"The model at 127.0.0.1:{port} cannot be reached."


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://127.0.0.1", "nothing"])
async def test_an_address_that_is_none_is_told_as_such(url: str) -> None:
    async with open_model(url) as model:
        assert isinstance(await failure(model), ModelRejected)


async def test_a_key_that_cannot_be_sent_is_told_as_such() -> None:
    async with MessagesApi() as api, open_model(api.url, api_key="two\nlines") as model:
        error = await failure(model)
    assert isinstance(error, ModelRejected)
    assert "malformed" in str(error)


@pytest.mark.parametrize("settings", [{"base_url": "http://host:port"}, {"ca_file": "/no/such/file.pem"}])
async def test_a_connection_that_cannot_be_set_up_is_told_at_the_start(settings: dict[str, str]) -> None:
    with pytest.raises(ModelRejected, match="cannot be set up"):
        async with open_model(settings.pop("base_url", "http://127.0.0.1:9"), **settings):
            pass


async def test_a_ca_file_without_certificates_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(ModelRejected, match="cannot be set up"):
        async with open_model("https://127.0.0.1:9", ca_file=str(tmp_path / "ca.pem")):
            pass


async def test_a_certificate_that_is_not_trusted_is_told_as_such() -> None:
    def untrusted(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", request=request)

    async with open_model("https://gateway.example.test", transport=httpx2.MockTransport(untrusted)) as model:
        error = await failure(model)
    assert isinstance(error, ModelRejected)
    assert "certificate of gateway.example.test" in str(error)


async def test_a_slow_start_is_tried_again_and_then_told() -> None:
    async with MessagesApi() as api, open_model(api.url, timeout=0.4, max_retries=1) as model:
        for _ in range(2):
            api.say("So.", delay=2.0)
        error = await failure(model)
    assert isinstance(error, ModelUnreachable)
    assert "did not answer in time" in str(error)
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("drop", "broke off"),
        ("end", "broke off"),
        ("garbage", "broke off"),
        ("error", "is overloaded"),
        ("hang", "did not answer in time"),
    ],
)
async def test_a_reply_that_stops_in_the_middle_is_never_said_twice(how: Break, words: str) -> None:
    heard: list[ModelEvent] = []
    async with MessagesApi() as api, open_model(api.url, timeout=0.6) as model:
        api.say("one two three four five", breaks=how, after=5)
        error = await failure(model, heard)
    assert isinstance(error, ModelUnreachable)
    assert words in str(error)
    assert heard == [TextDelta("one two t"), TextDelta("hree four")]
    assert len(api.requests) == 1


@pytest.mark.parametrize("how", ["drop", "end", "error", "hang"])
async def test_a_reply_that_stops_before_a_word_was_said_is_tried_again(how: Break) -> None:
    async with MessagesApi() as api, open_model(api.url, timeout=0.6) as model:
        api.say("lost", breaks=how, after=2)
        api.say("So.")
        assert await ask(model) == "So."
    assert len(api.requests) == 2


async def test_an_end_of_the_connection_after_the_last_event_harms_nothing() -> None:
    async with MessagesApi() as api, open_model(api.url, timeout=60.0) as model, asyncio.timeout(10):
        for how in ("drop", "hang", "garbage"):
            api.say("So.", breaks=how, after=99)
            assert await ask(model) == "So."
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<html><body>Sign in</body></html>", "text/html"),
        ("Hello!", "text/plain"),
        ("", "text/event-stream"),
        ("data: {broken\n\n", "text/event-stream"),
        ("data: [1, 2]\n\n", "text/event-stream"),
        ('data: {"object": "chat.completion.chunk"}\n\ndata: [DONE]\n\n', "text/event-stream"),
        ('{"choices": []}', "application/json"),
        ("[]", "application/json"),
        ("{broken", "application/json"),
        (b"data: \xff\xfe\n\n", "text/event-stream"),
    ],
)
async def test_what_is_no_messages_api_is_told_as_such_at_once(body: str | bytes, content_type: str) -> None:
    async with MessagesApi() as api, open_model(api.url) as model:
        api.raw(body, content_type)
        error = await failure(model)
    assert isinstance(error, ModelRejected)
    assert "does not speak the Messages API" in str(error)


async def test_an_error_that_comes_as_an_answer_is_still_an_error() -> None:
    async with MessagesApi() as api, open_model(api.url, max_retries=0) as model:
        api.raw('{"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}', "application/json")
        assert isinstance(await failure(model), ModelLimited)
        api.raw('data: {"type": "error", "error": "what"}\n\n')
        assert isinstance(await failure(model), ModelUnreachable)


async def test_after_a_failure_the_next_turn_goes_well() -> None:
    async with MessagesApi() as api, open_model(api.url, max_retries=0) as model:
        api.say("one two three four five", breaks="drop", after=5)
        await failure(model)
        api.say(cited("So.", (0, 0, 0)))
        assert await ask(model) == "So."
