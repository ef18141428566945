"""Slack over HTTP: what Slack calls, handed to the Bolt app, and the two addresses at which workspaces install it.

A request without a sound signature gets 401 and nothing else: it is checked here, before its body is understood, for
Bolt answers what it cannot read (a timestamp that is no number, a signature that is not ASCII, a broken body) with 500.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import structlog
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

log = structlog.get_logger()

EVENTS_PATH = "/slack/events"
"""Where the manifest sends events, interactivity and commands."""
MAX_SLACK_BODY_BYTES = 3_000_000

Step = Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]


def routes(app: AsyncApp, signing_secret: str, installer: AsyncOAuthFlow | None = None) -> Sequence[BaseRoute]:
    """The app as routes to mount; with an `installer`, also those at which it is installed."""
    verifier = SignatureVerifier(signing_secret)

    async def called(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return JSONResponse({"error": "too large"}, 413)
        if not _sound(verifier, request, body):
            log.warning("slack_request_refused", reason="no sound signature")
            return JSONResponse({"error": "the signature is missing or wrong"}, 401)
        try:
            asked = to_async_bolt_request(request, body)
        except ValueError:
            return JSONResponse({"error": "the body cannot be read"}, 400)
        return to_starlette_response(await app.async_dispatch(asked))

    return [Route(EVENTS_PATH, called, methods=["POST"]), *(_installing(installer) if installer else ())]


def _installing(installer: AsyncOAuthFlow) -> Sequence[BaseRoute]:
    async def begun(_: AsyncBoltRequest) -> BoltResponse:
        return await installer.handle_installation(AsyncBoltRequest(body=""))  # nothing of its query goes to Slack

    return [
        Route(installer.install_path, _step(begun), methods=["GET"]),
        Route(installer.redirect_uri_path, _step(installer.handle_callback), methods=["GET"]),
    ]


def _step(step: Step) -> Callable[[Request], Awaitable[Response]]:
    """A step of an installation; whoever takes it gets a plain word, whatever goes wrong."""

    async def taken(request: Request) -> Response:
        try:
            return to_starlette_response(await step(to_async_bolt_request(request, b"")))
        except Exception as error:
            log.error("installation_failed", kind=type(error).__name__, reason=str(error))
            return PlainTextResponse("This did not work. Please try again in a minute.", 503)

    return taken


async def _body(request: Request) -> bytes | None:
    """None where there is more of it than Slack ever sends."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_SLACK_BODY_BYTES:
            return None
    return bytes(body)


def _sound(verifier: SignatureVerifier, request: Request, body: bytes) -> bool:
    """Whether Slack signed it, not more than five minutes ago (docs.slack.dev, "Verifying requests from Slack")."""
    stamp = request.headers.get("x-slack-request-timestamp", "")
    signature = request.headers.get("x-slack-signature", "")
    if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= 12 and signature.isascii()):
        return False
    try:
        return verifier.is_valid(body, stamp, signature)
    except UnicodeDecodeError:
        return False
