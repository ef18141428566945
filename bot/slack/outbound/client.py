"""Slack's Web API as ritbot needs it: calls in turn, retries that do no harm, errors in our words.

Waits that Slack asks for (429) and its own failures (5xx, a broken connection) are tried again a few times. A call that
posts is not, because Slack may have carried it out: whoever called looks first what is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.webhook_response import WebhookResponse

from bot.errors import DeliveryFailed
from ingest.retry import RetryPolicy, Sleep, retry_after, retrying

log = structlog.get_logger()

JsonObject = dict[str, Any]

SCOPES_KEY = "x-oauth-scopes"
"""Under this name an answer carries the scopes that its token was granted, as Slack's header does."""
PASSING_ERRORS = frozenset(
    "ratelimited rate_limited internal_error fatal_error service_unavailable request_timeout team_added_to_org".split()
)
"""Errors of Slack that go by."""
_SURELY_NOT_DONE = ("ratelimited", "rate_limited")
RETRIES = RetryPolicy(attempts=4, pause=0.5, longest=30.0, asked=30.0)


class SlackRefused(DeliveryFailed):
    """Slack refused a call; `code` is its word for why, "" where it gave no answer at all. `unsure`: the call may have
    been carried out all the same. `after`: seconds that Slack asked for."""

    def __init__(self, code: str, detail: str, *, passing: bool, unsure: bool = False, after: float = 0.0) -> None:
        super().__init__(
            f"Slack refused: {code}{f' ({detail})' if detail else ''}" if code else detail, passing=passing
        )
        self.code = code
        self.unsure = unsure
        self.after = after


async def call(
    method: Callable[..., Awaitable[Any]],
    *,
    again: bool = True,
    tries: float = RETRIES.attempts,
    within: float | None = None,
    limited: Callable[[float], None] | None = None,
    sleep: Sleep = asyncio.sleep,
    **arguments: Any,
) -> JsonObject:
    """One call of a method of AsyncWebClient. `again`: whether it may be carried out twice. `within`: seconds that each try
    may take, None: the client's own. `limited` hears of every 429 and the seconds that Slack asked for. Raises
    SlackRefused."""

    async def once() -> JsonObject:
        try:
            async with asyncio.timeout(within):
                said = _data(await method(**arguments))
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            refused = _translated(error)
            limit_hit = refused.code in _SURELY_NOT_DONE
            called("ratelimited" if limit_hit else "refused" if refused.code else "no_answer")
            if limited and limit_hit:
                limited(refused.after)
            raise refused from error
        called("ok")
        return said

    def called(result: str) -> None:
        log.debug("slack_called", method=getattr(method, "__name__", "another"), result=result)

    def passing(error: Exception) -> float | None:
        if isinstance(error, SlackRefused) and error.passing and (again or error.code in _SURELY_NOT_DONE):
            return error.after
        return None

    return await retrying(once, replace(RETRIES, attempts=tries), passing, sleep=sleep)


def _data(answer: Any) -> JsonObject:
    """What a method, or an address for private answers, gave back."""
    if isinstance(answer, WebhookResponse):
        return {"status_code": answer.status_code, "body": answer.body}
    data = dict(answer.data) if isinstance(answer.data, dict) else {}
    headers = {name.lower(): value for name, value in (answer.headers or {}).items()}
    return {**data, SCOPES_KEY: str(headers.get(SCOPES_KEY) or "")}


def _translated(error: Exception) -> SlackRefused:
    """What Slack's answer means."""
    if isinstance(error, aiohttp.ClientConnectorError):  # nothing was sent
        return SlackRefused("", f"Slack does not answer: {type(error).__name__}", passing=True)
    if not isinstance(error, SlackApiError):
        return SlackRefused("", f"Slack does not answer: {type(error).__name__}", passing=True, unsure=True)
    response = error.response
    status = response.status_code if hasattr(response, "status_code") else 200
    data = response.data if hasattr(response, "data") and isinstance(response.data, dict) else {}
    code = "ratelimited" if status == 429 else str(data.get("error") or f"status {status}")
    details = data.get("response_metadata", {}).get("messages", []) if isinstance(data, dict) else []
    passing = code in PASSING_ERRORS or status >= 500
    after = retry_after(getattr(response, "headers", None) or {}) or 0.0
    unsure = status >= 500 or code in ("request_timeout", "internal_error", "fatal_error", "service_unavailable")
    return SlackRefused(code, "; ".join(map(str, details))[:500], passing=passing, unsure=unsure, after=after)


def quiet_client(token: str, base_url: str, proxy: str | None = None, timeout: int = 30) -> AsyncWebClient:
    """A client that neither retries nor waits by itself: `call` does."""
    return AsyncWebClient(token=token, base_url=base_url, proxy=proxy, timeout=timeout, retry_handlers=[])
