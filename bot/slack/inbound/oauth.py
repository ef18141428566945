"""Workspaces that install the app themselves: Slack's OAuth, kept in the bot's store.

Who wants the app opens /slack/install, is sent to Slack to agree, and comes back to /slack/oauth_redirect with a code,
which Slack exchanges for a token. What the way takes to be safe is kept in no process: any replica goes on where another
one began.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin

import structlog
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Installation as Granted
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.model import Installation
from bot.ports import BotStore
from ingest.ports import Clock

log = structlog.get_logger()

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
AUTHORIZE_PATH = "/oauth/v2/authorize"
"""Where people agree, on the host of Slack's Web API."""
STATE_LASTS = timedelta(minutes=10)
"""So long one may take to agree."""


def installer(
    store: BotStore,
    clock: Clock,
    client: AsyncWebClient,
    *,
    client_id: str,
    client_secret: str,
    scopes: Sequence[str],
) -> AsyncOAuthFlow:
    """Both steps of an installation. `client` carries Slack's address and proxy."""
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret,
        scopes=scopes,
        user_scopes=(),
        install_path=INSTALL_PATH,
        install_page_rendering_enabled=False,
        redirect_uri_path=REDIRECT_PATH,
        authorization_url=urljoin(client.base_url, AUTHORIZE_PATH),
        callback_options=AsyncCallbackOptions(success=_went_well, failure=_failed),
        installation_store=Installations(store),
        state_store=SignedStates(store, clock, client_secret),
        state_expiration_seconds=int(STATE_LASTS.total_seconds()),
    )
    return AsyncOAuthFlow(client=client, settings=settings)


class Installations(AsyncInstallationStore):
    """Keeps what Slack granted. Who is installed where is looked up by bot.slack.workspaces."""

    def __init__(self, store: BotStore) -> None:
        self._store = store

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger("slack_bolt")

    async def async_save(self, installation: Granted) -> None:
        """In place of an earlier installation in the same workspace. Raises BoltError for what cannot be kept."""
        kept = installation_of(installation)
        await self._store.install(kept)
        log.info("workspace_installed", team=kept.team, enterprise=kept.enterprise, name=installation.team_name)


def installation_of(granted: Granted) -> Installation:
    """What Slack granted, in our words. Raises BoltError where it is no bot's lasting token."""
    if not granted.bot_token or not (granted.enterprise_id if granted.is_enterprise_install else granted.team_id):
        raise BoltError("Slack granted no bot token: the app must ask for bot scopes")
    if granted.bot_refresh_token or granted.bot_token_expires_at:
        raise BoltError("the token would expire: turn token rotation off in the app's settings, and install it again")
    data = {
        "app_id": granted.app_id,
        "bot_id": granted.bot_id,
        "installer": granted.user_id,
        "name": granted.enterprise_name if granted.is_enterprise_install else granted.team_name,
    }
    return Installation(
        team="" if granted.is_enterprise_install else granted.team_id or "",
        enterprise=granted.enterprise_id or "",
        bot_token=granted.bot_token,
        bot_user=granted.bot_user_id or "",
        scopes=tuple(granted.bot_scopes or ()),
        installed_at=datetime.fromtimestamp(granted.installed_at, UTC),
        data=json.dumps(data),
    )


class SignedStates(AsyncOAuthStateStore):
    """Proofs that who comes back from Slack has left from here, not long ago and once: signed, so that any replica can
    tell, and counted in the store, so that none is taken twice."""

    def __init__(self, store: BotStore, clock: Clock, secret: str) -> None:
        self._store = store
        self._clock = clock
        self._secret = secret.encode()

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger("slack_bolt")

    async def async_issue(self, *_: object, **__: object) -> str:
        until = self._clock.now() + STATE_LASTS
        return self._signed(f"{int(until.timestamp())}.{secrets.token_urlsafe(16)}")

    async def async_consume(self, state: str) -> bool:
        said = state.rpartition(".")[0]
        if not hmac.compare_digest(self._signed(said).encode(), state.encode("utf-8", "replace")):
            return False
        until = datetime.fromtimestamp(int(said.partition(".")[0]), UTC)
        return self._clock.now() < until and await self._store.add(f"installing:{said}", 1, until) == 1

    def _signed(self, said: str) -> str:
        return f"{said}.{hmac.digest(self._secret, said.encode('utf-8', 'replace'), 'sha256').hex()}"


async def _went_well(args: AsyncSuccessArgs) -> BoltResponse:
    return await args.default.success(args)


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    """Slack's library shows the page; the log says what the page does not."""
    log.warning("installation_refused", reason=args.reason, error=str(args.error or ""))
    return await args.default.failure(args)
