"""A Slack on a loopback port: the real slack-bolt and slack_sdk talk to it as they talk to Slack.

    async with FakeSlack() as slack:
        general = slack.channel("general")
        ada = slack.person("Ada")
        client = AsyncWebClient(slack.bot_token, base_url=slack.base_url)
        handler = AsyncSocketModeHandler(AsyncApp(client=client), slack.app_token)
        await handler.connect_async()
        question = await ada.mention(general, "How do I scale?")
        await slack.until(lambda: len(slack.thread(general, question)) == 2)

People and channels are made by name when they are first asked for: `person("Gil", guest="single")`,
`person("Olga", team=slack.team("Other Inc"))`, `channel("plans", private=True)`, `channel("with-other", shared_with=
[…])`, `channel("old", archived=True)`. The bot and every person of the workspace are in a channel, unless `members`
says who is.

It records `calls` and `deliveries.all`; `faults` says which calls go wrong, `socket` and `deliveries` how payloads
travel; `clock.advance` moves rates, streams, triggers and retries on. `rates=False`: nothing is limited.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Self

from aiohttp import web

from tests.fakes.slack import messages
from tests.fakes.slack.events import SCOPE_OF, Carrier, Deliveries, Events, SocketMode, Webhook
from tests.fakes.slack.limits import Rates
from tests.fakes.slack.methods import Recorded
from tests.fakes.slack.person import Person
from tests.fakes.slack.sign_in import SignIn
from tests.fakes.slack.state import (
    Channel,
    Clock,
    Guest,
    Installation,
    Json,
    Message,
    ResponseUrl,
    State,
    Status,
    Team,
    User,
)
from tests.fakes.slack.web_api import Faults, WebApi
from tests.waiting import WITHIN_SECONDS

SCOPES = (
    "app_mentions:read", "assistant:write", "channels:history", "channels:read", "chat:write", "commands",
    "groups:history", "groups:read", "im:history", "im:read", "im:write", "links:read",
    "links:write", "users:read",
)  # fmt: skip


class FakeSlack:
    """`scopes` of the bot's token, `subscriptions` of the app, `bot`: its name. Use as `async with`."""

    app_id = "A0000RITBOT"
    app_token = "xapp-1-A0000RITBOT-fake"
    signing_secret = "8f742231b10e8888abcd99yyyzzz85a5"
    client_id = "1.2"
    client_secret = "client-secret"

    def __init__(
        self,
        *,
        port: int = 0,
        scopes: Iterable[str] = SCOPES,
        subscriptions: Iterable[str] = SCOPE_OF,
        rates: bool = True,
        bot: str = "ritbot",
    ) -> None:
        self.clock = Clock()
        self.state = State(self.clock)
        self.faults = Faults()
        self.rates = Rates(self.clock, on=rates)
        self.socket = SocketMode(self.app_id)
        self.deliveries = Deliveries(self.clock, self._carrier)
        self.events = Events(self.state, self.deliveries, self.app_id, subscriptions)
        credentials = {
            "app_id": self.app_id,
            "app_token": self.app_token,
            "client_id": self.client_id,
            "client_secret": self.client_secret,
        }
        self.sign_in = SignIn(self.state, self.client_id, self.client_secret)
        self.api = WebApi(self.state, self.events, self.rates, self.faults, self.socket, self.sign_in, credentials)
        self.webhook: Webhook | None = None
        self.url = ""
        self._scopes = frozenset(scopes)
        self._bot = bot
        self._port = port
        self._runner: web.AppRunner | None = None
        self._home = self.team("Acme")
        self.installation = self._installed(self._home)
        self.state.installations[self._home.id] = self.installation

    # --- opening and closing

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.get("/link", self.socket.link), *self.api.routes(), *self.sign_in.routes()]

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.add_routes(self.routes())
        self._runner = web.AppRunner(application, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.deliveries.stop()
        await self.socket.close()
        if self._runner is not None:
            await self._runner.cleanup()

    # --- how the app reaches it

    @property
    def base_url(self) -> str:
        return f"{self.url}/api/"

    @property
    def bot_token(self) -> str:
        return self.installation.token

    @property
    def bot_user(self) -> str:
        return self.installation.bot_user

    def over_http(self, *urls: str) -> Webhook:
        """From now on payloads go to this URL, or to each of these in turn, signed, instead of over sockets."""
        self.webhook = Webhook(urls, self.signing_secret)
        return self.webhook

    # --- who and what is there

    def team(self, name: str, *, enterprise: str = "") -> Team:
        """`enterprise`: the id of the organisation that it belongs to."""
        for team in self.state.teams.values():
            if team.name == name:
                return team
        team = Team(self.state.name("T"), name, name.lower().replace(" ", "-"), enterprise)
        self.state.teams[team.id] = team
        return team

    def oauth_code(self, team: Team, *, organisation: bool = False) -> str:
        """Someone of another workspace, or of its organisation, agreed to install the app: what the redirect carries as
        `code`."""
        code = uuid.uuid4().hex
        self.state.codes[code] = self._installed(team)
        self.state.codes[code].organisation = organisation
        return code

    def installed_in(self, channel: Channel) -> Installation:
        """The installation in the channel's own workspace, else the first one."""
        return self.state.installations.get(channel.team, self.installation)

    def person(self, name: str, *, team: Team | None = None, guest: Guest = "", admin: bool = False) -> Person:
        for user in self.state.users.values():
            if user.name == name:
                return Person(self, user)
        return Person(self, self._user(name, team or self._home, guest=guest, admin=admin))

    def other_bot(self, name: str) -> Person:
        """A bot that is not the app."""
        user = self._user(name, self._home)
        user.bot_id = self.state.name("B")
        return Person(self, user)

    def channel(
        self,
        name: str,
        *,
        private: bool = False,
        archived: bool = False,
        members: Sequence[Person] | None = None,
        with_bot: bool = True,
        shared_with: Sequence[Team] = (),
        team: Team | None = None,
    ) -> Channel:
        """Without `members` every person is in it, those too who are made later. `team`: of another workspace."""
        for channel in self.state.channels.values():
            if channel.name == name and channel.kind != "direct":
                return channel
        own, shared = (team or self._home).id, {other.id for other in shared_with}
        bot_user = self.state.installations.get(own, self.installation).bot_user
        users = [one for one in self.state.users.values() if one.id != bot_user]
        people = [one for one in users if one.team == own or one.team in shared]
        inside = {one.id for one in (people if members is None else members)}
        if with_bot:
            inside.add(bot_user)
        channel = Channel(self.state.name("C"), own, name, "private" if private else "public", inside)
        channel.archived, channel.shared_with = archived, shared
        channel.creator = next(iter(sorted(inside - {bot_user})), "")
        self.state.channels[channel.id] = channel
        if members is None:
            self.state.open_to_all.add(channel.id)
        self.state.changed()
        return channel

    def group(self, handle: str, *members: Person) -> str:
        """A user group; its id is what <!subteam^…> names."""
        name = self.state.name("S")
        self.state.groups[name] = {"handle": handle, "name": handle, "users": [one.id for one in members]}
        return name

    def uninstall(self, installation: Installation | None = None) -> None:
        gone = installation or self.installation
        self.events.uninstalled(gone)
        gone.revoked = True

    # --- what is to be seen

    def thread(self, channel: Channel, root: Message | str) -> list[Message]:
        """Oldest first, the root among them, and ephemeral ones (`only_for`)."""
        return self.state.thread(channel.id, root.root if isinstance(root, Message) else root)

    def said_in(self, channel: Channel) -> list[Message]:
        return self.state.in_channel(channel.id)

    def status(self, channel: Channel, root: Message | str) -> Status | None:
        return self.state.status(channel.id, root.root if isinstance(root, Message) else root)

    def calls(self, method: str = "") -> list[Recorded]:
        return [call for call in self.api.calls if method in ("", call.method)]

    # --- what happens to it

    def expire_streams(self) -> None:
        """Every open stream ends now, as Slack's own end after some minutes."""
        for message in self.state.messages.values():
            messages.expire(self.state, message)

    async def settled(self) -> None:
        """All that was sent is acknowledged, or given up."""
        await self.deliveries.settled()

    async def until(self, condition: Callable[[], object], *, patience: float = WITHIN_SECONDS) -> None:
        """Wait until it holds; fails after `patience` seconds."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f"It did not come to pass within {patience} s; calls: {self._last_calls()}"
            await asyncio.sleep(0.01)

    def response_url(self, url: ResponseUrl) -> str:
        name = uuid.uuid4().hex
        self.state.response_urls[name] = url
        return f"{self.url}/respond/{name}"

    def respond(self, url: ResponseUrl, answer: str | Json | None) -> None:
        """What an acknowledgement of a command says, if it says anything."""
        if not answer:
            return
        error, _ = messages.respond(self.state, url, {"text": answer} if isinstance(answer, str) else answer)
        assert not error, f"Slack would refuse what the command was acknowledged with: {error}"

    def _carrier(self) -> Carrier:
        return self.webhook or self.socket

    def _installed(self, team: Team) -> Installation:
        bot = self._user(self._bot, team)
        bot.bot_id = self.state.name("B")
        return Installation(team.id, f"xoxb-{team.id}-{bot.id}-fake", bot.id, bot.bot_id, self._scopes)

    def _user(self, name: str, team: Team, *, guest: Guest = "", admin: bool = False) -> User:
        user = User(self.state.name("U"), team.id, name, guest=guest, admin=admin)
        self.state.users[user.id] = user
        for channel in self.state.channels.values():
            if channel.id in self.state.open_to_all and team.id in (channel.team, *channel.shared_with):
                channel.members.add(user.id)
        return user

    def _last_calls(self) -> list[str]:
        return [f"{call.method} {call.error or call.status}" for call in self.api.calls[-8:]]
