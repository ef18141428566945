"""Calls of Slack: every try is told to the log, by its method and how it went."""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from structlog.testing import capture_logs

from bot.slack.outbound.client import SlackRefused, call

CLIENT = AsyncWebClient()


def said(status: int, error: str = "") -> AsyncSlackResponse:
    data = {"ok": not error, "error": error}
    return AsyncSlackResponse(
        client=CLIENT, http_verb="POST", api_url="", req_args={}, data=data, headers={}, status_code=status
    )


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([said(200)], ["ok"]),
        ([said(429, "ratelimited"), said(200)], ["ratelimited", "ok"]),
        ([said(503), aiohttp.ServerDisconnectedError(), said(200)], ["refused", "no_answer", "ok"]),
        ([said(200, "channel_not_found")], ["refused"]),
    ],
)
async def test_every_try_is_told_by_its_method_and_how_it_went(
    answers: list[AsyncSlackResponse | Exception], told: list[str]
) -> None:
    following: Iterator[AsyncSlackResponse | Exception] = iter(answers)

    async def chat_update() -> AsyncSlackResponse:
        answer = next(following)
        if isinstance(answer, Exception):
            raise answer
        if answer.status_code != 200 or answer.data["error"]:
            raise SlackApiError("", answer)
        return answer

    async def at_once(_: float) -> None:
        pass

    with capture_logs() as events:
        try:
            await call(chat_update, sleep=at_once)
        except SlackRefused:
            assert told[-1] == "refused"
    calls = [event for event in events if event["event"] == "slack_called"]
    assert [(event["method"], event["result"]) for event in calls] == [("chat_update", result) for result in told]
