"""Sign in with Slack, as strict as Slack's own (docs.slack.dev, "Sign in with Slack", "openid.connect.token").

    slack.sign_in.redirect_urls = {"https://kb.example.test/web/signed-in"}    # as the app's settings name them
    slack.sign_in.browser = ada.user                                           # who is signed in to Slack there
    slack.sign_in.declines = True                                              # and says no

What is wrong with a request is told on a page of Slack's, and nobody is sent back. A code is good once, for ten minutes, for
the address that it was sent to. ID tokens are signed with RS256; `rotate` takes another key into use, `claims` spoils what
the next ones say.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from tests.fakes.slack.state import Json, State, User

CODE_LASTS = 600.0
"""Seconds (docs.slack.dev, "Installing with OAuth")."""
TOKEN_LASTS = 300
SCOPES = {"openid", "email", "profile"}
LOOPBACK = ("localhost", "127.0.0.1")


@dataclass
class Granted:
    user: User
    redirect_uri: str
    nonce: str
    scopes: set[str]
    at: float


@dataclass
class SignIn:
    state: State
    client_id: str
    client_secret: str
    redirect_urls: set[str] = field(default_factory=set)
    browser: User | None = None
    declines: bool = False
    claims: Json = field(default_factory=dict)
    key: str = "key-1"
    signs_with: str = ""
    """The name of a key that is not among the public ones; "": `key`."""
    codes: dict[str, Granted] = field(default_factory=dict)

    def rotate(self) -> None:
        self.key = f"key-{int(self.key.partition('-')[2]) + 1}"

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/openid/connect/authorize", self._authorize), web.get("/openid/connect/keys", self._keys)]

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        asked = dict(request.query)
        scopes = set(asked.get("scope", "").replace(",", " ").split())
        redirect_uri = asked.get("redirect_uri", "")
        at = urlsplit(redirect_uri)
        refusals = {
            "invalid_client_id": asked.get("client_id") != self.client_id,
            "invalid_response_type": asked.get("response_type") != "code",
            "invalid_scope": "openid" not in scopes or not scopes <= SCOPES,
            "bad_redirect_uri": not any(redirect_uri.startswith(url) for url in self.redirect_urls),
            "redirect_uri must be https": at.scheme != "https" and at.hostname not in LOOPBACK,
            "PKCE is not turned on for this app": "code_challenge" in asked,
            "nobody is signed in to Slack here": self.browser is None,
        }
        if wrong := [name for name, is_so in refusals.items() if is_so]:
            return web.Response(status=400, text=f"Something went wrong when authorizing this app: {wrong[0]}")
        answer = {"state": asked.get("state", "")}
        if self.declines:
            answer["error"] = "access_denied"
        else:
            assert self.browser
            answer["code"] = secrets.token_urlsafe(16)
            now = self.state.clock.now()
            self.codes[answer["code"]] = Granted(self.browser, redirect_uri, asked.get("nonce", ""), scopes, now)
        raise web.HTTPFound(f"{redirect_uri}?{urlencode(answer)}")

    async def _keys(self, _: web.Request) -> web.Response:
        algorithm = jwt.algorithms.RSAAlgorithm
        public: Json = algorithm.to_jwk(_key(self.key).public_key(), as_dict=True)
        return web.json_response({"keys": [{**public, "kid": self.key, "use": "sig", "alg": "RS256"}]})

    def token(self, arguments: Json, issuer: str) -> Json:
        """openid.connect.token, of an app that has said who it is."""
        granted = self.codes.pop(str(arguments.get("code", "")), None)
        if arguments.get("grant_type", "authorization_code") != "authorization_code":
            return {"ok": False, "error": "invalid_grant_type"}
        if granted is None or self.state.clock.now() - granted.at > CODE_LASTS:
            return {"ok": False, "error": "invalid_code"}
        if arguments.get("redirect_uri") != granted.redirect_uri:
            return {"ok": False, "error": "bad_redirect_uri"}
        id_token = self._id_token(granted, issuer)
        return {"ok": True, "access_token": "xoxp-fake", "token_type": "Bearer", "id_token": id_token}

    def _id_token(self, granted: Granted, issuer: str) -> str:
        user, now = granted.user, int(self.state.clock.now())
        enterprise = self.state.teams[user.team].enterprise
        claims: dict[str, Any] = {
            "iss": issuer,
            "sub": user.id,
            "aud": self.client_id,
            "exp": now + TOKEN_LASTS,
            "iat": now,
            "auth_time": now,
            "https://slack.com/team_id": user.team,
            "https://slack.com/user_id": user.id,
            **({"nonce": granted.nonce} if granted.nonce else {}),
            **({"https://slack.com/enterprise_id": enterprise} if enterprise else {}),
            **({"name": user.name} if "profile" in granted.scopes else {}),
        }
        said = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        return jwt.encode(said, _key(self.signs_with or self.key), "RS256", headers={"kid": self.key})


@cache
def _key(_: str) -> RSAPrivateKey:
    """One for each name."""
    return generate_private_key(public_exponent=65537, key_size=2048)
