"""Slack's Web API as ritbot needs it: calls in turn, retries that do no harm, errors in our words.

Waits that Slack asks for (429) and its own failures (5xx, a broken connection) are tried again a few times. A call that
posts is not, because Slack may have carried it out: whoever called looks first what is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.webhook_response import WebhookResponse

from bot.errors import DeliveryFailed

log = structlog.get_logger()

JsonObject = dict[str, Any]

SCOPES_KEY = "x-oauth-scopes"
"""Under this name an answer carries the scopes that its token was granted, as Slack's header does."""
PASSING_ERRORS = frozenset(
    "ratelimited rate_limited internal_error fatal_error service_unavailable request_timeout team_added_to_org".split()
)
"""Errors of Slack that go by."""
MAX_TRIES = 4
FIRST_PAUSE_SECONDS = 0.5
"""Seconds after the first failure, then doubling."""
MAX_RETRY_AFTER_SECONDS = 30.0


class SlackRefused(DeliveryFailed):
    """Slack refused a call; `code` is its word for why, "" where it gave no answer at all. `unsure`: the call may have
    been carried out all the same."""

    def __init__(self, code: str, detail: str, *, passing: bool, unsure: bool = False) -> None:
        super().__init__(
            f"Slack refused: {code}{f' ({detail})' if detail else ''}" if code else detail, passing=passing
        )
        self.code = code
        self.unsure = unsure


async def call(
    method: Callable[..., Awaitable[Any]],
    *,
    again: bool = True,
    tries: int = MAX_TRIES,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    **arguments: Any,
) -> JsonObject:
    """One call of a method of AsyncWebClient. `again`: whether it may be carried out twice. Raises
    SlackRefused."""
    for attempt in range(tries):
        try:
            return _data(await method(**arguments))
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            refused, wait = _translated(error)
            wait = max(wait, FIRST_PAUSE_SECONDS * 2.0**attempt)
            surely_not_done = refused.code in ("ratelimited", "rate_limited")
            if (
                not refused.passing
                or attempt == tries - 1
                or wait > MAX_RETRY_AFTER_SECONDS
                or not (again or surely_not_done)
            ):
                raise refused from error
            log.info("slack_retried", code=refused.code, attempt=attempt + 1, wait=round(wait, 2))
            await sleep(wait)
    raise AssertionError("a call ends in its last try")


def _data(answer: Any) -> JsonObject:
    """What a method, or an address for private answers, gave back."""
    if isinstance(answer, WebhookResponse):
        return {"status_code": answer.status_code, "body": answer.body}
    data = dict(answer.data) if isinstance(answer.data, dict) else {}
    headers = {name.lower(): value for name, value in (answer.headers or {}).items()}
    return {**data, SCOPES_KEY: str(headers.get(SCOPES_KEY) or "")}


def _translated(error: Exception) -> tuple[SlackRefused, float]:
    """What Slack's answer means, and the seconds that it asked for."""
    if not isinstance(error, SlackApiError):
        return SlackRefused("", f"Slack does not answer: {type(error).__name__}", passing=True, unsure=True), 0.0
    response = error.response
    status = response.status_code if hasattr(response, "status_code") else 200
    data = response.data if hasattr(response, "data") and isinstance(response.data, dict) else {}
    code = "ratelimited" if status == 429 else str(data.get("error") or f"status {status}")
    details = data.get("response_metadata", {}).get("messages", []) if isinstance(data, dict) else []
    passing = code in PASSING_ERRORS or status >= 500
    wait = float(response.headers.get("Retry-After") or 0) if hasattr(response, "headers") and response.headers else 0.0
    unsure = status >= 500 or code in ("request_timeout", "internal_error", "fatal_error", "service_unavailable")
    return SlackRefused(code, "; ".join(map(str, details))[:500], passing=passing, unsure=unsure), wait


def quiet_client(token: str, base_url: str, proxy: str | None = None, timeout: int = 30) -> AsyncWebClient:
    """A client that neither retries nor waits by itself: `call` does."""
    return AsyncWebClient(token=token, base_url=base_url, proxy=proxy, timeout=timeout, retry_handlers=[])
