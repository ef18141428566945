"""Slack over HTTP: what Slack calls, handed to the Bolt app. Requests without a sound signature get 401 and nothing else.

Bolt checks the signature; what it cannot read (a timestamp that is no number, a signature that is not ASCII) it answers
with 500, so that is sorted out before.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

log = structlog.get_logger()

EVENTS = "/slack/events"
"""Where the manifest sends events, interactivity and commands."""
MOST_BYTES = 3_000_000


def routes(app: AsyncApp) -> Sequence[BaseRoute]:
    """The app as routes to mount."""
    handler = AsyncSlackRequestHandler(app)

    async def called(request: Request) -> Response:
        stamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        sound = stamp.isascii() and stamp.isdecimal() and len(stamp) <= 12 and signature.isascii()
        if not sound or not signature:
            log.warning("slack_request_refused", reason="no sound signature")
            return JSONResponse({"error": "the signature is missing or not one"}, 401)
        if int(request.headers.get("content-length") or 0) > MOST_BYTES:
            return JSONResponse({"error": "too large"}, 413)
        return await handler.handle(request)

    return (Route(EVENTS, called, methods=["POST"]),)
