"""The fake Slack in HTTP mode: signed requests to the real Bolt app behind its Starlette adapter."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from aiohttp import ClientSession
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.fakes.slack import FakeSlack

Json = dict[str, Any]


@asynccontextmanager
async def bolt_over_http(slack: FakeSlack, heard: list[Any], *, slow: float = 0.0) -> AsyncIterator[str]:
    app = AsyncApp(client=AsyncWebClient(slack.bot_token, base_url=slack.base_url), signing_secret=slack.signing_secret)

    @app.middleware
    async def remember(req: Any, next: Any) -> None:  # noqa: A002
        heard.append(req.headers.get("x-slack-retry-num"))
        await asyncio.sleep(slow)
        await next()

    @app.event("app_mention")
    @app.event("message")
    async def listen(event: Json) -> None: ...

    @app.command("/ask")
    async def ask(ack: Any, command: Json) -> None:
        await ack(f"You asked: {command['text']}")

    handler = AsyncSlackRequestHandler(app)

    async def endpoint(request: Request) -> Response:
        return await handler.handle(request)

    starlette = Starlette(routes=[Route("/slack/events", endpoint, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(starlette, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/slack/events"
    finally:
        server.should_exit = True
        await serving
        listener.close()


async def test_events_and_commands_arrive_signed_and_are_acknowledged() -> None:
    heard: list[Any] = []
    async with FakeSlack() as slack, bolt_over_http(slack, heard) as url:
        assert await slack.over_http(url).verify()
        heard.clear()
        general, ada = slack.channel("general"), slack.person("Ada")
        await ada.mention(general, "How?")
        await slack.settled()
        assert [one.acked for one in slack.deliveries.all] == [True, True]
        assert heard == [None, None]
        assert (await ada.command(general, "/ask", "How & why?")).answer == "You asked: How & why?"
        assert [one.text for one in slack.said_in(general) if one.only_for] == ["You asked: How & why?"]


async def test_a_wrong_secret_or_an_old_timestamp_is_no_acknowledgement() -> None:
    async with FakeSlack() as slack, bolt_over_http(slack, []) as url, ClientSession() as session:
        webhook = slack.over_http(url)
        old = webhook.signed("{}", at=time.time() - 301)
        async with session.post(url, data="{}", headers=old) as response:
            assert response.status == 401
        slack.signing_secret = "another"
        slack.over_http(url)
        slack.deliveries.retries_after = ()
        await slack.person("Ada").mention(slack.channel("general"), "How?")
        await slack.settled()
        assert {one.attempts[0].failed for one in slack.deliveries.all} == {"http_error"}


async def test_an_app_that_is_too_slow_hears_it_again_with_the_number_of_the_retry() -> None:
    heard: list[Any] = []
    async with FakeSlack() as slack, bolt_over_http(slack, heard, slow=0.5) as url:
        slack.over_http(url)
        slack.deliveries.ack_within = 0.2
        slack.deliveries.retries_after = (0,)
        ada = slack.person("Ada")
        await ada.say(ada.direct(), "hello")
        await slack.settled()
        assert heard == [None, ["1"]]
        assert {attempt.failed for attempt in slack.deliveries.all[0].attempts} == {"timeout"}
