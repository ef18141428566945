"""HTTP mode: signed requests to the app's URL, as Slack sends them where Socket Mode is off.

Source: docs.slack.dev "Verifying requests from Slack": HMAC-SHA256 of "v0:timestamp:body" with the signing secret.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.fakes.slack.delivery import Attempt, Delivery, NotCarried, last_failure


class Webhook:
    def __init__(self, url: str, signing_secret: str) -> None:
        self._url = url
        self._secret = signing_secret

    async def carry(self, delivery: Delivery, attempt: Attempt, within: float) -> None:
        body, headers = self._body(delivery)
        if attempt.number:
            reason = {"timeout": "http_timeout"}.get(last_failure(delivery), last_failure(delivery))
            headers |= {"X-Slack-Retry-Num": str(attempt.number), "X-Slack-Retry-Reason": reason}
        attempt.to = self._url
        attempt.sent_at = time.monotonic()
        status, attempt.answer = await self._post(body, headers | self.signed(body), within)
        attempt.seconds = time.monotonic() - attempt.sent_at
        if status >= 300:
            raise NotCarried("http_error")

    def signed(self, body: str, *, at: float | None = None) -> dict[str, str]:
        """The headers that prove where a body comes from."""
        timestamp = str(int(time.time() if at is None else at))
        mac = hmac.new(self._secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={mac.hexdigest()}"}

    async def verify(self) -> bool:
        """Whether the app answers the challenge that Slack sends when the URL is entered."""
        body = json.dumps({"type": "url_verification", "token": "verification", "challenge": "c0ffee"})
        status, answer = await self._post(body, {"Content-Type": "application/json"} | self.signed(body), 3.0)
        return status == 200 and (answer == "c0ffee" or answer == {"challenge": "c0ffee"})

    def _body(self, delivery: Delivery) -> tuple[str, dict[str, str]]:
        if delivery.kind == "events_api":
            return json.dumps(delivery.payload), {"Content-Type": "application/json"}
        form = delivery.payload if delivery.kind == "slash_commands" else {"payload": json.dumps(delivery.payload)}
        return urlencode(form), {"Content-Type": "application/x-www-form-urlencoded"}

    async def _post(self, body: str, headers: dict[str, str], within: float) -> tuple[int, Any]:
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=within)) as session,
                session.post(self._url, data=body.encode(), headers=headers) as response,
            ):
                text = await response.text()
                status, is_json = response.status, response.content_type == "application/json"
        except TimeoutError:
            raise NotCarried("timeout") from None
        except ClientError:
            raise NotCarried("connection_failed") from None
        if not text:
            return status, None
        return status, json.loads(text) if is_json else text
