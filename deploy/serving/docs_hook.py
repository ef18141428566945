"""The webhook by which a publishing pipeline says that pages changed, as a small ASGI application.

    POST /hooks/docs
    X-Ritbot-Timestamp: 1767225600
    X-Ritbot-Signature: v1=<hex HMAC-SHA256 of "v1:TIMESTAMP:BODY" under the shared secret>

    {"site": "docs", "urls": ["https://docs.example.com/a", …]}      or  "urls": "all"

Answers 202 as soon as the wish is written down: the watcher looks afterwards. A timestamp that is too old or too far
ahead is refused, and a call that comes again within that time is answered like the first and does nothing.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ingest.errors import IngestError

log = structlog.get_logger()

TellWatcher = Callable[[Sequence[str] | None], Awaitable[int]]
"""Tells a site's watcher which pages may have changed, None: all; how many of them are pages of the site."""

HOOK_PATH = "/hooks/docs"
MAX_CLOCK_DIFFERENCE_SECONDS = 300
"""Seconds by which the sender's clock may differ."""
MAX_CALL_BYTES = 1_000_000
MAX_CALL_URLS = 1_000


class HookRefused(Exception):
    """A call that is not carried out: the status, and a sentence for whoever set it up."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """What the signature header must hold."""
    return "v1=" + hmac.new(secret.encode(), b"v1:%d:%s" % (timestamp, body), sha256).hexdigest()


class DocsHook:
    """`sites`: whom to tell, by site name. `secret` must not be empty."""

    def __init__(self, secret: str, sites: Mapping[str, TellWatcher], now: Callable[[], datetime]) -> None:
        if not secret:
            raise ValueError("the webhook needs a secret")
        self._secret = secret
        self._sites = sites
        self._now = now
        self._seen: dict[str, float] = {}

    def app(self) -> Starlette:
        return Starlette(routes=[Route(HOOK_PATH, self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> Response:
        try:
            body = await _body(request)
            signature = self._checked(request, body)
            site, urls = _wish(body)
            if site not in self._sites:
                raise HookRefused(404, f"there is no site called {site!r}")
            accepted = 0 if signature in self._seen else await self._sites[site](urls)
        except HookRefused as refused:
            log.warning("hook_refused", status=refused.status, reason=str(refused))
            return JSONResponse({"error": str(refused)}, refused.status)
        except IngestError as error:
            log.warning("hook_failed", reason=str(error))
            return JSONResponse({"error": "the store does not answer; call again later"}, 503)
        self._seen[signature] = self._now().timestamp()
        log.info("hook_called", site=site, urls="all" if urls is None else len(urls), accepted=accepted)
        return JSONResponse({"accepted": accepted}, 202)

    def _checked(self, request: Request, body: bytes) -> str:
        """The call's signature, proved to be ours and of now."""
        now = self._now().timestamp()
        stamp, signature = request.headers.get("x-ritbot-timestamp", ""), request.headers.get("x-ritbot-signature", "")
        if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= 12):
            raise HookRefused(401, "X-Ritbot-Timestamp must be the time of the call in seconds since 1970")
        if not hmac.compare_digest(sign(self._secret, int(stamp), body).encode(), signature.encode()):
            raise HookRefused(401, "X-Ritbot-Signature is not the signature of this body under the shared secret")
        if abs(now - int(stamp)) > MAX_CLOCK_DIFFERENCE_SECONDS:
            raise HookRefused(
                401,
                f"X-Ritbot-Timestamp is more than {MAX_CLOCK_DIFFERENCE_SECONDS} seconds away from this machine's time",
            )
        # What was seen later than now was seen before the clock was set back: the call of that second may come once more.
        remembered = 2 * MAX_CLOCK_DIFFERENCE_SECONDS
        self._seen = {seen: when for seen, when in self._seen.items() if 0 <= now - when <= remembered}
        return signature


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_CALL_BYTES:
            raise HookRefused(413, f"the body is larger than {MAX_CALL_BYTES:,} bytes")
    return bytes(body)


def _wish(body: bytes) -> tuple[str, list[str] | None]:
    """The site, and the URLs that changed; None: all."""
    try:
        wish: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise HookRefused(400, "the body is not JSON") from None
    if not isinstance(wish, dict) or not isinstance(wish.get("site"), str):
        raise HookRefused(400, 'the body must be an object with a "site"')
    urls = wish.get("urls")
    if urls == "all":
        return wish["site"], None
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise HookRefused(400, '"urls" must be a list of addresses, or "all"')
    if len(urls) > MAX_CALL_URLS:
        raise HookRefused(400, f'at most {MAX_CALL_URLS:,} "urls" in one call; send "all" instead')
    return wish["site"], urls
