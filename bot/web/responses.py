"""What every answer of ritbot's pages has in common: its headers, a page that says one thing, and trouble told in plain words.

Nothing here is for search engines, no script but ritbot's own runs, and nobody learns from a referrer what was looked at.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.web.pages import Message, message_page
from ingest.errors import StoreUnavailable

log = structlog.get_logger()

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
UNAVAILABLE = Message("Try again in a minute", "ritbot cannot read its stores just now. The link itself is all right.")
BROKEN = Message(
    "Something went wrong", "ritbot could not make this page. Whoever runs it finds the reason in its log."
)

Endpoint = Callable[[Request], Awaitable[Response]]


def told(request: Request, message: Message, status: int) -> Response:
    return HTMLResponse(message_page(message, root=root(request)), status, HEADERS)


def root(request: Request) -> str:
    """The way back from the page, so that a proxy may serve all of it under a path of its own."""
    return "../" * (request.url.path.count("/") - 1)


def plainly(endpoint: Endpoint) -> Endpoint:
    """The same endpoint; what goes wrong in it is told in a page, whatever it is."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except StoreUnavailable as error:
            log.warning("page_unavailable", path=request.url.path, reason=str(error))
            return told(request, UNAVAILABLE, 503)
        except Exception as error:  # a defect of ours: whoever followed a link is told in a page
            log.exception("page_failed", path=request.url.path, reason=repr(error))
            return told(request, BROKEN, 500)

    return answered
