"""The workspaces that ritbot is installed in: the one that a token belongs to, or those in the bot's store.

Whom a token belongs to is asked once (auth.test) and remembered. A wrong token is found out at the start, not when the
first question comes: Slack's library would acknowledge events and lose them.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass

import structlog
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryFailed, SlackClosed
from bot.gaps.report import MayQuote
from bot.model import Installation, Question
from bot.ports import BotStore
from bot.slack.outbound.client import SCOPES_KEY, JsonObject, SlackRefused, call, quiet_client

log = structlog.get_logger()

NEEDED_SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "users:read",
)
"""The scopes that ritbot needs; deploy/slack/manifest.yaml gives each its reason."""
DEAD_TOKEN_ERRORS = frozenset("account_inactive invalid_auth not_authed token_expired token_revoked".split())
"""What Slack says of a token that is good for nothing any more."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a token belongs to. `name`: the bot's; `bot_id` "": the token is a person's."""

    team: str
    team_name: str
    enterprise: str
    bot_id: str
    bot_user: str
    name: str
    scopes: frozenset[str]

    @property
    def missing(self) -> tuple[str, ...]:
        """Scopes that are needed and not granted; none where Slack did not say which are."""
        return tuple(sorted(set(NEEDED_SCOPES) - self.scopes)) if self.scopes else ()


PERSON_KNOWN_SECONDS = 3_600.0
"""So long it is believed who is a guest, and of which company."""
CHECKED_SECONDS = 60.0
"""So long it is believed that Slack takes the token: a health check that comes every second asks Slack once a minute."""


class Workspaces:
    """One object a process. `token` None: installations are looked up in the store."""

    def __init__(self, store: BotStore, *, token: str | None, base_url: str, proxy: str | None = None) -> None:
        self._store = store
        self._token = token
        self._base_url = base_url
        self._proxy = proxy
        self._identities: dict[str, Identity] = {}
        self._checked_at = -math.inf
        self._clients: dict[str, AsyncWebClient] = {}
        self._people: dict[tuple[str, str], tuple[JsonObject, float]] = {}

    def client(self, token: str) -> AsyncWebClient:
        """With one's own retries; the library's are off."""
        if token not in self._clients:
            self._clients[token] = quiet_client(token, self._base_url, self._proxy)
        return self._clients[token]

    async def identity(self, token: str) -> Identity:
        """Raises SlackRefused where Slack does not take the token or does not answer."""
        if token not in self._identities:
            self._identities[token] = await identify(self.client(token))
        return self._identities[token]

    async def check(self) -> Identity | None:
        """Whether Slack takes the token and what it may do, asked once a minute; None where workspaces install the app
        themselves. Raises SlackClosed as `sound`, and then asks again each time."""
        if self._token is None:
            return None
        if time.monotonic() - self._checked_at >= CHECKED_SECONDS:
            self._identities[self._token] = await sound(self.client(self._token))
            self._checked_at = time.monotonic()
        return self._identities[self._token]

    async def client_of(self, enterprise: str, team: str) -> AsyncWebClient:
        """Raises DeliveryFailed where ritbot is not installed there (any more)."""
        if self._token is not None:
            return self.client(self._token)
        found = await self._installation(enterprise, team)
        if found is None:
            raise DeliveryFailed(f"ritbot is not installed in the workspace {team or enterprise}", passing=False)
        return self.client(found.bot_token)

    def asked_in_public(self) -> MayQuote:
        """Whether everybody in its workspace may read a question; each channel is looked up once."""
        known: dict[str, bool] = {}

        async def is_quotable(question: Question) -> bool:
            if question.private:
                return False
            if question.channel not in known:
                try:
                    client = await self.client_of(question.enterprise, question.team)
                except DeliveryFailed:  # ritbot is there no more
                    return False
                known[question.channel] = await is_public(client, question.channel)
            return known[question.channel]

        return is_quotable

    async def authorize(self, enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        """For Bolt: with whose token a request is handled; None where ritbot is not installed."""
        if self._token is not None:
            known = await self.identity(self._token)
            token, bot_id, bot_user = self._token, known.bot_id, known.bot_user
        else:
            found = await self._installation(enterprise_id or "", team_id or "")
            if found is None:
                log.warning("not_installed", team=team_id, enterprise=enterprise_id)
                return None
            token, bot_id, bot_user = found.bot_token, json.loads(found.data).get("bot_id"), found.bot_user
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_token=token, bot_id=bot_id, bot_user_id=bot_user
        )

    async def removed(self, team: str) -> None:
        """Slack says that a workspace took the app away, or its token: installations are removed whose token is dead. It
        is asked of Slack, for such an event may come late, after the app was installed again. Raises Refused where
        Slack does not answer."""
        if self._token is not None:
            log.error("slack_token_revoked", team=team)
            return
        for found in [each async for each in self._store.installations() if each.team in (team, "")]:
            try:
                await identify(self.client(found.bot_token))
            except SlackRefused as error:
                if error.code not in DEAD_TOKEN_ERRORS:
                    raise
                await self._store.uninstall(found.enterprise, found.team)
                self._clients.pop(found.bot_token, None)
                log.info("workspace_removed", team=found.team, enterprise=found.enterprise)

    async def installed_in(self, enterprise: str, team: str) -> bool:
        """Whether ritbot is in that workspace, or in all of its organisation. Raises SlackRefused, StoreUnavailable."""
        if self._token is None:
            return await self._installation(enterprise, team) is not None
        own = await self.identity(self._token)
        return team == own.team or (bool(enterprise) and enterprise == own.enterprise)

    async def has_left(self, question: Question) -> bool:
        """Whether the asker's account is switched off, or Slack does not say whose it is."""
        user = await self._person(question)
        return not user or bool(user.get("deleted"))

    async def is_guest(self, question: Question) -> bool:
        """Whether the asker is a guest of the workspace, or a stranger to it. Where Slack does not say, nobody is let in."""
        if question.user.startswith("B"):  # a workflow: members build it, and it is no person whom Slack knows
            return False
        user = await self._person(question)
        return not user or any(user.get(f) for f in ("is_restricted", "is_ultra_restricted", "is_stranger"))

    async def is_outsider(self, question: Question) -> bool:
        """Whether the asker is of another company: neither of the workspace nor of its organisation (Enterprise Grid), whose
        workspaces have channels in common."""
        if question.asker_team in ("", question.team, question.enterprise):
            return False
        if not question.enterprise:
            return True
        of = (await self._person(question)).get("enterprise_user") or {}
        return bool(of.get("enterprise_id") != question.enterprise)

    async def _person(self, question: Question) -> JsonObject:
        """Who asks (users.info), asked once an hour; empty where Slack does not say."""
        person = (question.team, question.user)
        now = time.monotonic()
        self._people = {who: known for who, known in self._people.items() if now - known[1] < PERSON_KNOWN_SECONDS}
        if person not in self._people:
            client = await self.client_of(question.enterprise, question.team)
            try:
                user: JsonObject = (await call(client.users_info, user=question.user)).get("user", {})
            except SlackRefused as error:
                if error.passing:
                    raise
                return {}
            self._people[person] = user, now
        return self._people[person][0]

    async def _installation(self, enterprise: str, team: str) -> Installation | None:
        """The workspace's own, else its organisation's. Looked up each time: it may have changed in any process."""
        found = await self._store.installation(enterprise, team)
        if found is None and enterprise:
            found = await self._store.installation(enterprise, "")
        return found


async def identify(client: AsyncWebClient) -> Identity:
    """auth.test. Raises SlackRefused."""
    answer = await call(client.auth_test)
    return Identity(
        team=str(answer.get("team_id") or ""),
        team_name=str(answer.get("team") or ""),
        enterprise=str(answer.get("enterprise_id") or ""),
        bot_id=str(answer.get("bot_id") or ""),
        bot_user=str(answer.get("user_id") or ""),
        name=str(answer.get("user") or ""),
        scopes=frozenset(scope.strip() for scope in answer[SCOPES_KEY].split(",") if scope.strip()),
    )


async def is_in(client: AsyncWebClient, channel: str) -> bool:
    """Whether ritbot may speak in that channel, or conversation with it alone. Where Slack does not say, it may."""
    try:
        found = await call(client.conversations_info, tries=1, channel=channel)
    except SlackRefused as error:
        return error.code != "channel_not_found"
    return bool(found.get("channel", {}).get("is_member", True))


async def is_public(client: AsyncWebClient, channel: str) -> bool:
    """Whether everybody in the workspace may read it, and nobody else. Where Slack does not say, it is not."""
    try:
        about = (await call(client.conversations_info, tries=1, channel=channel)).get("channel", {})
    except SlackRefused:
        return False
    return bool(about.get("is_channel")) and not (about.get("is_private") or about.get("is_ext_shared"))


async def sound(client: AsyncWebClient) -> Identity:
    """Whom the client's token belongs to. Raises SlackClosed, with what to do, where ritbot cannot work with it."""
    try:
        known = await identify(client)
    except SlackRefused as error:
        if error.passing:
            raise SlackClosed(f"Slack cannot be reached at {client.base_url}: {error}") from error
        raise SlackClosed(
            f"Slack does not take the bot token ({error.code}): slack.bot_token must begin with xoxb-; copy it again"
            " from OAuth & Permissions of the app"
        ) from error
    if not known.bot_id:
        raise SlackClosed(
            "slack.bot_token is the token of a person: set the bot's, which begins with xoxb-, from OAuth & Permissions"
        )
    if known.missing:
        raise SlackClosed(
            f"the bot token lacks {', '.join(known.missing)}: add to the app what deploy/slack/manifest.yaml asks for,"
            " and install it again"
        )
    return known
