"""Judges are asked at temperature 0 where the endpoint takes one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from navigator.errors import ModelRejected
from navigator.models.anthropic import AnthropicModel
from navigator.models.complete import complete
from navigator.models.temperature_zero import TemperatureZeroModel
from tests.fakes.messages_api import Answer, Failure, MessagesApi, Request, Scripted, text


@asynccontextmanager
async def cold(api: MessagesApi) -> AsyncIterator[TemperatureZeroModel]:
    async with (
        AnthropicModel(api_key="k", base_url=api.url, model="judge", temperature=0.0) as asks_cold,
        AnthropicModel(api_key="k", base_url=api.url, model="judge") as plain,
    ):
        yield TemperatureZeroModel(asks_cold, plain)


async def test_an_endpoint_that_takes_a_temperature_gets_zero() -> None:
    async with MessagesApi() as api, cold(api) as model:
        api.say("Right.")
        assert (await complete(model, "Judge.", "This.")).text == "Right."
        assert model.name == "judge"
    assert [request.body.get("temperature") for request in api.requests] == [0.0]


async def test_one_that_takes_none_is_asked_without_and_that_is_remembered() -> None:
    def refuses(request: Request) -> Scripted:
        if "temperature" in request.body:
            return Failure(400, "temperature: not supported by this model")
        return Answer((text("Right."),))

    async with MessagesApi() as api, cold(api) as model:
        api.always(refuses)
        assert (await complete(model, "Judge.", "This.")).text == "Right."
        first = len(api.requests)
        assert (await complete(model, "Judge.", "That.")).text == "Right."
        assert len(api.requests) == first + 1
    assert "temperature" not in api.requests[-1].body


async def test_what_is_rejected_either_way_is_rejected_and_teaches_nothing() -> None:
    rejects = True

    def endpoint(request: Request) -> Scripted:
        return Failure(400, "prompt is too long") if rejects else Answer((text("Right."),))

    async with MessagesApi() as api, cold(api) as model:
        api.always(endpoint)
        with pytest.raises(ModelRejected):
            await complete(model, "Judge.", "This.")
        rejects = False
        await complete(model, "Judge.", "That.")
    assert api.requests[-1].body["temperature"] == 0.0
