"""Sign in with Slack: who opens ritbot's pages, as Slack says it, and whether they may ask ritbot.

OpenID Connect's authorization code flow (OpenID Connect Core 1.0, 3.1; docs.slack.dev, "Sign in with Slack"). A nonce binds
the ID token to the browser that began. PKCE is left out: Slack takes it only from apps that were made public clients, for
good, and with a nonce a stolen code is of no use either (RFC 9700, 4.5.3).
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin

import httpx
import jwt
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Question
from bot.slack.inbound.intake import AccessPolicy
from bot.slack.outbound.client import SlackRefused, call
from bot.slack.workspaces import Workspaces
from ingest.ports import Clock

AUTHORIZE_PATH = "/openid/connect/authorize"
KEYS_PATH = "/openid/connect/keys"
"""On the host of Slack's Web API (slack.com/.well-known/openid-configuration)."""
SCOPES = "openid profile"
CLAIM = "https://slack.com/"
"""Before the names of Slack's own claims."""
NEEDED_CLAIMS = ("iss", "aud", "exp", "iat", "nonce", f"{CLAIM}team_id", f"{CLAIM}user_id")
SKEW_SECONDS = 60
"""That Slack's clock and this one may differ by."""
KEYS_SECONDS = 10.0
"""That fetching Slack's keys may take."""


@dataclass(frozen=True, slots=True)
class SlackPerson:
    """`enterprise`: the organisation of their workspace, "" for none. `name`: as they are called in Slack."""

    team: str
    user: str
    enterprise: str
    name: str


class SlackSignIn:
    """`client` carries Slack's address; `doors`: who may ask, as in Slack. Slack's keys are kept until it signs with another."""

    def __init__(
        self,
        workspaces: Workspaces,
        client: AsyncWebClient,
        doors: AccessPolicy,
        clock: Clock,
        *,
        client_id: str,
        client_secret: str,
        proxy: str | None = None,
    ) -> None:
        self._workspaces = workspaces
        self._client = client
        self._doors = doors
        self._clock = clock
        self._client_id = client_id
        self._client_secret = client_secret
        self._proxy = proxy
        self._keys: dict[str | None, jwt.PyJWK] = {}

    def address(self, redirect_uri: str, state: str, nonce: str) -> str:
        """Where somebody agrees that ritbot may know who they are; Slack sends them to `redirect_uri` then."""
        asked = {
            "response_type": "code",
            "scope": SCOPES,
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "nonce": nonce,
        }
        return f"{self._on_slack(AUTHORIZE_PATH)}?{urlencode(asked)}"

    async def person(self, code: str, redirect_uri: str, nonce: str) -> SlackPerson:
        """Who came back with that code. Raises SlackRefused where Slack does not vouch for them, or does not answer."""
        data = {
            "client_id": self._client_id,
            "client_secret": self._client_secret,
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
        }
        granted = await call(self._client.api_call, again=False, api_method="openid.connect.token", data=data)
        try:
            said = await self._claims(str(granted.get("id_token")))
        except jwt.PyJWTError as error:
            raise SlackRefused("id_token", str(error), passing=False) from error
        if not hmac.compare_digest(str(said["nonce"]).encode(), nonce.encode()):
            raise SlackRefused("id_token", "it was made for another browser", passing=False)
        return SlackPerson(
            team=str(said[f"{CLAIM}team_id"]),
            user=str(said[f"{CLAIM}user_id"]),
            enterprise=str(said.get(f"{CLAIM}enterprise_id") or ""),
            name=str(said.get("name") or ""),
        )

    async def lets_in(self, person: SlackPerson) -> bool:
        """Whether their workspace has the app, and they may ask there. Raises DeliveryFailed where Slack does not answer, and
        StoreUnavailable."""
        if not await self._workspaces.installed_in(person.enterprise, person.team):
            return False
        asks = Question(
            id="",
            team=person.team,
            channel="",
            user=person.user,
            text="",
            kind="direct",
            asked_at=self._clock.now(),
            asker_team=person.team,
            enterprise=person.enterprise,
        )
        return not await self._workspaces.has_left(asks) and (
            self._doors.guests or not await self._workspaces.is_guest(asks)
        )

    async def _claims(self, token: str) -> dict[str, Any]:
        """Of an ID token that Slack made for this app, not long ago (OpenID Connect Core 1.0, 3.1.3.7). Raises PyJWTError."""
        name = jwt.get_unverified_header(token).get("kid")
        if name not in self._keys:
            self._keys = await self._fetched_keys()
        if name not in self._keys:
            raise jwt.InvalidKeyError("Slack knows of no such key")
        return jwt.decode(
            token,
            self._keys[name],
            algorithms=["RS256"],
            audience=self._client_id,
            issuer=self._on_slack("/").rstrip("/"),
            leeway=SKEW_SECONDS,
            options={"require": list(NEEDED_CLAIMS)},
        )

    async def _fetched_keys(self) -> dict[str | None, jwt.PyJWK]:
        try:
            async with httpx.AsyncClient(proxy=self._proxy, timeout=KEYS_SECONDS) as client:
                answer = (await client.get(self._on_slack(KEYS_PATH))).raise_for_status()
            return {key.key_id: key for key in jwt.PyJWKSet.from_dict(answer.json()).keys}
        except (httpx.HTTPError, ValueError, jwt.PyJWTError) as error:
            raise SlackRefused("", f"Slack's keys cannot be had: {type(error).__name__}", passing=True) from error

    def _on_slack(self, path: str) -> str:
        return urljoin(self._client.base_url, path)
