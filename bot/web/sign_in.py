"""Who may see sections: whom Slack vouches for, and ritbot would answer there.

Whoever comes without a session is sent to Slack and back to the page that they wanted. Nothing of it is kept here, so that any
replica goes on where another one began: the session is a signed cookie, and so is what a sign-in must remember. Whether
they may still ask is looked at again with each page.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt
import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bot.errors import DeliveryFailed
from bot.slack.inbound.sign_in import SlackPerson, SlackSignIn
from bot.web.access import Visitor
from bot.web.pages import Message
from bot.web.responses import HEADERS, plainly, told
from ingest.ports import Clock

log = structlog.get_logger()

SIGNED_IN_PATH = "/web/signed-in"
"""Where Slack sends people back to; the app's settings name it."""
SIGN_OUT_PATH = "/web/sign-out"
SESSION_COOKIE = "ritbot_session"
BROWSER_COOKIE = "ritbot_sign_in"
"""A secret that ties a sign-in to the browser that began it."""
SESSION_LASTS = timedelta(hours=12)
SIGN_IN_LASTS = timedelta(minutes=10)
"""So long one may take at Slack."""
MAX_WANTED_CHARACTERS = 500
"""Of the page that somebody is sent back to; the links of ritbot are shorter."""
EXPIRED = Message(
    "Please open the link again",
    "You were not signed in: it took longer than ten minutes, was begun in another browser, or cookies are turned off.",
)
NOT_VOUCHED = Message(
    "Slack did not sign you in",
    "Open the link again. If it stays so, tell whoever runs ritbot: its log has the reason.",
)
SLACK_DOWN = Message("Try again in a minute", "Slack does not answer just now. The link itself is all right.")
CLOSED = Message(
    "You are not let in",
    "These pages are for people who may ask ritbot in Slack: members of a workspace that has it. Open the link again to sign "
    "in with another account.",
)
SIGNED_OUT = Message(
    "You are signed out", "Your session at Slack goes on: whoever opens a link here is signed in by it again."
)


class SlackAccess:
    """`public_url`: where people reach these pages. `secret`: what cookies are signed under; another one ends all sessions."""

    def __init__(self, slack: SlackSignIn, clock: Clock, *, public_url: str, secret: str) -> None:
        self._slack = slack
        self._clock = clock
        self._public_url = public_url.rstrip("/")
        self._key = hmac.digest(secret.encode(), b"cookies of ritbot's pages", "sha256")

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(SIGNED_IN_PATH, plainly(self.signed_in), methods=["GET"]),
            Route(SIGN_OUT_PATH, plainly(self.sign_out), methods=["POST"]),
        ]

    async def visitor(self, request: Request) -> Visitor | Response:
        session = self._opened(request.cookies.get(SESSION_COOKIE, ""), "session")
        if session is None:
            return self._to_slack(request)
        person = SlackPerson(session["team"], session["user"], session["enterprise"], session["name"])
        if trouble := await self._trouble(request, person):
            return trouble
        return Visitor(person.name or person.user, signs_out=True, account=person.user)

    async def signed_in(self, request: Request) -> Response:
        """Back from Slack, with a code or without."""
        asked, browser = request.query_params, request.cookies.get(BROWSER_COOKIE, "")
        begun = self._opened(asked.get("state", ""), "sign-in")
        if begun is None or not hmac.compare_digest(begun["browser"], _digest("browser", browser)):
            return told(request, EXPIRED, 400)
        wanted = f"{self._public_url}{begun['wanted']}"
        if "code" not in asked:
            log.info("sign_in_declined", error=asked.get("error", "")[:100])
            text = "Slack asked whether ritbot may know who you are, and was told no. It is all that it learns."
            return told(request, Message("You did not sign in", text, wanted, "Sign in with Slack"), 403)
        try:
            person = await self._slack.person(asked["code"], self._redirect_uri, _digest("nonce", browser))
        except DeliveryFailed as error:
            log.warning("sign_in_failed", reason=str(error))
            return told(request, SLACK_DOWN, 503) if error.passing else told(request, NOT_VOUCHED, 403)
        if trouble := await self._trouble(request, person):
            return trouble
        log.info("signed_in", team=person.team, user=person.user)
        held = {name: getattr(person, name) for name in ("team", "user", "enterprise", "name")}
        response = RedirectResponse(wanted, 303, HEADERS)
        self._give(response, SESSION_COOKIE, self._signed("session", SESSION_LASTS, held), SESSION_LASTS)
        self._give(response, BROWSER_COOKIE, "", timedelta())
        return response

    async def sign_out(self, request: Request) -> Response:
        response = told(request, SIGNED_OUT, 200)
        if SESSION_COOKIE in request.cookies:  # another site's form sends none
            self._give(response, SESSION_COOKIE, "", timedelta())
        return response

    def _to_slack(self, request: Request) -> Response:
        """A sign-in that is under way in another tab goes on."""
        browser = request.cookies.get(BROWSER_COOKIE) or secrets.token_urlsafe(32)
        wanted = f"{request.url.path}{f'?{request.url.query}' if request.url.query else ''}"[:MAX_WANTED_CHARACTERS]
        state = self._signed("sign-in", SIGN_IN_LASTS, {"wanted": wanted, "browser": _digest("browser", browser)})
        address = self._slack.address(self._redirect_uri, state, _digest("nonce", browser))
        response = RedirectResponse(address, 302, HEADERS)
        self._give(response, BROWSER_COOKIE, browser, SIGN_IN_LASTS)
        return response

    async def _trouble(self, request: Request, person: SlackPerson) -> Response | None:
        """What somebody gets who is not let in; their session ends, so that they can sign in as somebody else."""
        try:
            if await self._slack.lets_in(person):
                return None
        except DeliveryFailed as error:
            log.warning("sign_in_unchecked", reason=str(error))
            if error.passing:
                return told(request, SLACK_DOWN, 503)
        log.info("sign_in_refused", team=person.team, user=person.user)
        response = told(request, CLOSED, 403)
        self._give(response, SESSION_COOKIE, "", timedelta())
        return response

    @property
    def _redirect_uri(self) -> str:
        return f"{self._public_url}{SIGNED_IN_PATH}"

    def _give(self, response: Response, name: str, value: str, lasts: timedelta) -> None:
        at = urlsplit(self._public_url)
        response.set_cookie(
            name,
            value,
            max_age=int(lasts.total_seconds()),
            path=at.path or "/",
            secure=at.scheme == "https",
            httponly=True,
            samesite="lax",
        )

    def _signed(self, purpose: str, lasts: timedelta, held: dict[str, str]) -> str:
        until = int((self._clock.now() + lasts).timestamp())
        return jwt.encode({**held, "aud": purpose, "exp": until}, self._key, "HS256")

    def _opened(self, token: str, purpose: str) -> dict[str, Any] | None:
        """What was signed here for that purpose, and is not over."""
        try:
            held: dict[str, Any] = jwt.decode(
                token, self._key, algorithms=["HS256"], audience=purpose, options={"verify_exp": False}
            )
        except jwt.InvalidTokenError:
            return None
        return held if held["exp"] > self._clock.now().timestamp() else None


def _digest(purpose: str, browser: str) -> str:
    """Of the browser's secret, for others to see (OpenID Connect Core 1.0, 15.5.2)."""
    return hashlib.sha256(f"{purpose} {browser}".encode()).hexdigest()
